/* SPDX-License-Identifier: MIT
 *
 * cpu.c: detects the features of the CPU once. The cached word is global state.
 */
#include <stdatomic.h>

#include "kernel/kernel.h"

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#include <cpuid.h>
#endif
#if defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>
#endif

enum { KNOWN = 1 << 30 };

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
/* Not by __builtin_cpu_supports: clang 14 does not know the name. */
static bool has_f16c(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}
#endif

static uint32_t ask(void) {
  uint32_t bits = 0;
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) bits |= GATHER_CPU_SSE42;
  /* CPUs with AVX2 have the other two; a virtual machine may hide them. */
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()) bits |= GATHER_CPU_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    bits |= GATHER_CPU_AVX512;
  if (__builtin_cpu_supports("avx512vbmi")) bits |= GATHER_CPU_VBMI;
#elif defined(__aarch64__)
  bits |= GATHER_CPU_NEON; /* part of the architecture */
#if defined(__linux__)
  /* HWCAP_SVE of the kernel's interface. */
  if (getauxval(AT_HWCAP) & (1ul << 22)) bits |= GATHER_CPU_SVE;
#endif
#elif defined(__linux__) && defined(__arm__)
  if (getauxval(AT_HWCAP) & (1ul << 12)) bits |= GATHER_CPU_NEON;
#endif
  return bits;
}

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

const char *gather_cpu_features(void) {
  /* Each set of features that can occur has its own constant, so that nothing is built at run time. */
  uint32_t bits = gather_cpu_bits();
  if (bits & GATHER_CPU_VBMI) return "sse4.2 avx2 avx512 avx512vbmi";
  if (bits & GATHER_CPU_AVX512) return "sse4.2 avx2 avx512";
  if (bits & GATHER_CPU_AVX2) return "sse4.2 avx2";
  if (bits & GATHER_CPU_SSE42) return "sse4.2";
  if (bits & GATHER_CPU_SVE) return "neon sve";
  if (bits & GATHER_CPU_NEON) return "neon";
  return "";
}
