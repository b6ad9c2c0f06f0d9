/* SPDX-License-Identifier: MIT
 *
 * dispatch.c: the features of the CPU, and the instruction sets that have kernels. dispatch.h chooses among them.
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "core/kernel/dispatch.h"

/* ---- features of CPUs, detected once. The cached word is global state. */

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#include <cpuid.h>
#endif
#if defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>
#endif

/* The registers of AVX, and those of AVX-512, which macOS keeps from a thread's first use of them on. */
enum { REGISTERS_256 = 0x06 };
#if defined(__APPLE__)
enum { REGISTERS_512 = REGISTERS_256 };
#else
enum { REGISTERS_512 = 0xe6 };
#endif

static bool has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

/* Those of an x86 CPU, from the words of cpuid (leaf 1: ECX; leaf 7: EBX, ECX) and the registers that the system keeps for each thread
 * (XCR0; 0 where it cannot be asked). */
GATHER_INLINE uint32_t bits_of_x86(uint32_t one_c, uint32_t seven_b, uint32_t seven_c, uint32_t kept) {
  /* AVX2 with FMA and F16C: CPUs have all three, but a virtual machine may hide some. */
  const uint32_t sse42 = 1u << 20, avx_fma_f16c = 1u << 28 | 1u << 12 | 1u << 29, avx2 = 1u << 5;
  const uint32_t f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, vbmi = 1u << 1;
  uint32_t bits = has(one_c, sse42) ? GATHER_CPU_SSE42 : 0;
  if (!has(kept, REGISTERS_256) || !has(one_c, avx_fma_f16c) || !has(seven_b, avx2)) return bits;
  bits |= GATHER_CPU_AVX2;
  if (!has(kept, REGISTERS_512) || !has(seven_b, f_dq_bw_vl)) return bits;
  bits |= GATHER_CPU_AVX512;
  return has(seven_c, vbmi) ? bits | GATHER_CPU_VBMI : bits;
}

enum { KNOWN = 1 << 30 };

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))

/* Not by the compiler's own function: clang 14 does not know all names, and its library is missing where another one takes its place.
 * Leaves that the CPU does not have remain 0. */
static uint32_t ask(void) {
  /* The registers that the system keeps for each thread are told by an instruction that CPUs may lack. */
  enum { CAN_BE_ASKED = 1 << 27 };
  uint32_t a = 0, b = 0, c = 0, d = 0, low = 0, high, one_c;
  (void)__get_cpuid(1, &a, &b, &c, &d);
  one_c = c, b = c = 0;
  (void)__get_cpuid_count(7, 0, &a, &b, &c, &d);
  if (one_c & CAN_BE_ASKED) __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return bits_of_x86(one_c, b, c, low);
}

#elif defined(__linux__) && defined(__aarch64__)

/* HWCAP_SVE of the kernel's interface; NEON is part of the architecture. */
static uint32_t ask(void) { return GATHER_CPU_NEON | (getauxval(AT_HWCAP) & (1ul << 22) ? GATHER_CPU_SVE : 0u); }

#elif defined(__aarch64__)

static uint32_t ask(void) { return GATHER_CPU_NEON; }

#elif defined(__linux__) && defined(__arm__)

static uint32_t ask(void) { return getauxval(AT_HWCAP) & (1ul << 12) ? GATHER_CPU_NEON : 0u; }

#else

static uint32_t ask(void) { return 0; }

#endif

uint32_t gather_cpu_bits(void) {
  /* Every thread computes the same value, so relaxed order is enough. */
  static _Atomic uint32_t cached;
  uint32_t bits = atomic_load_explicit(&cached, memory_order_relaxed);
  if (!(bits & KNOWN)) {
    bits = ask() | KNOWN;
    atomic_store_explicit(&cached, bits, memory_order_relaxed);
  }
  return bits & ~(uint32_t)KNOWN;
}

/* The names of features, separated by blanks. */
static const char *features_of(uint32_t bits) {
  /* Each set of features that can occur has its own constant, so that nothing is built at run time. */
  if (bits & GATHER_CPU_VBMI) return "sse4.2 avx2 avx512 avx512vbmi";
  if (bits & GATHER_CPU_AVX512) return "sse4.2 avx2 avx512";
  if (bits & GATHER_CPU_AVX2) return "sse4.2 avx2";
  if (bits & GATHER_CPU_SSE42) return "sse4.2";
  if (bits & GATHER_CPU_SVE) return "neon sve";
  if (bits & GATHER_CPU_NEON) return "neon";
  return "";
}

const char *gather_cpu_features(void) { return features_of(gather_cpu_bits()); }

/* ---- instruction sets */

/* CHOOSE(GATHER_ISA_AVX2, a, b): a if this build has it, else b. */
#define CHOOSE_0(built, none) none
#define CHOOSE_1(built, none) built
#define CHOOSE_BY(is_built, built, none) CHOOSE_##is_built(built, none)
#define CHOOSE(is_built, built, none) CHOOSE_BY(is_built, built, none)

#define GATHER_ISA(name, NAME, features) CHOOSE(GATHER_ISA_##NAME, extern const gather_isa gather_isa_##name;, )
#include "core/kernel/isa.def"
#undef GATHER_ISA

const gather_isa_row gather_isa_rows[GATHER_ISA_ROWS] = {
#define GATHER_ISA(name, NAME, features) \
  {#name, CHOOSE(GATHER_ISA_##NAME, &gather_isa_##name, &gather_isa_portable), CHOOSE(GATHER_ISA_##NAME, features, GATHER_CPU_NONE)},
#include "core/kernel/isa.def"
#undef GATHER_ISA
};

const char *gather_isa_name(void) {
  int i = GATHER_ISA_ROWS - 1;
  while (i > 0 && !(gather_isa_is_built(i) && gather_isa_runs(i))) i--;
  return gather_isa_rows[i].name;
}
