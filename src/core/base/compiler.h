/* SPDX-License-Identifier: MIT
 *
 * compiler.h: every compiler extension of the library, behind a macro that is empty elsewhere.
 */
#ifndef GATHER_BASE_COMPILER_H
#define GATHER_BASE_COMPILER_H

#if defined(__GNUC__)
#define GATHER_INLINE static inline __attribute__((always_inline, unused))
#if defined(__MINGW32__) && !defined(__clang__) /* there `printf` means the C library's of long ago */
#define GATHER_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define GATHER_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
#define GATHER_LIKELY(x) __builtin_expect(!!(x), 1)
#define GATHER_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GATHER_COLD __attribute__((cold, noinline))
#define GATHER_SHARED __attribute__((noinline, unused)) /* by several callers: no copy in each */
#else
#define GATHER_INLINE static inline
#define GATHER_PRINTF(text, first)
#define GATHER_LIKELY(x) (x)
#define GATHER_UNLIKELY(x) (x)
#define GATHER_COLD
#define GATHER_SHARED
#endif

/* The compiler knows nothing of the value of an integer afterwards: it makes no copies of a loop for what it could know. */
#if defined(__GNUC__)
#define GATHER_OPAQUE(integer) __asm__("" : "+r"(integer))
#else
#define GATHER_OPAQUE(integer) ((void)0)
#endif

/* What a build may leave out (cmake/core_options.cmake, docs/embed/two-files.md): GATHER_NO_CODECS leaves no quantised rows;
 * GATHER_ONLY_GATHER only Gather and GatherElements, without the former too; GATHER_NO_THREADS, no threads of the pool; GATHER_SMALL=1
 * leaves out what only makes kernels faster: copies of loops, non-temporal stores, the register tables of AVX2, and AVX-512;
 * -DGATHER_ISA_AVX2=0 and its like, an instruction set (below). */
#if defined(GATHER_ONLY_GATHER) && !defined(GATHER_NO_CODECS)
#define GATHER_NO_CODECS
#endif
#if !defined(GATHER_SMALL)
#define GATHER_SMALL 0
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define GATHER_X86 1
#else
#define GATHER_X86 0
#endif

/* Tells the CPU that this is a loop that waits for another thread. */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define GATHER_PAUSE() __builtin_ia32_pause()
#elif defined(__GNUC__) && defined(__aarch64__)
#define GATHER_PAUSE() __asm__ volatile("yield")
#else
#define GATHER_PAUSE() ((void)0)
#endif

#if defined(__GNUC__) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define GATHER_ARM64 1
#else
#define GATHER_ARM64 0
#endif

/* Whether functions can be compiled for SVE if the build is not; clang before 16 cannot, because of its header. Only Linux is asked
 * whether the CPU has it (src/core/kernel/dispatch.c). -DGATHER_ARM64_SVE=0 is for compilers that wrongly claim support. */
#if !defined(GATHER_ARM64_SVE) && GATHER_ARM64 && defined(__linux__) && defined(__has_include)
#if __has_include(<arm_sve.h>) && (!defined(__clang__) || __clang_major__ >= 16)
#define GATHER_ARM64_SVE 1
#endif
#endif
#if !defined(GATHER_ARM64_SVE)
#define GATHER_ARM64_SVE 0
#endif

/* Of each row of isa.def, whether this build has its kernels: 1 where the target can have them, unless the build says 0. */
#define GATHER_ISA_PORTABLE 1
#if !GATHER_X86
#undef GATHER_ISA_AVX2
#define GATHER_ISA_AVX2 0
#elif !defined(GATHER_ISA_AVX2)
#define GATHER_ISA_AVX2 1
#endif
#if !GATHER_X86 || GATHER_SMALL
#undef GATHER_ISA_AVX512
#define GATHER_ISA_AVX512 0
#elif !defined(GATHER_ISA_AVX512)
#define GATHER_ISA_AVX512 1
#endif
#if !GATHER_X86 || GATHER_SMALL
#undef GATHER_ISA_AVX512VBMI
#define GATHER_ISA_AVX512VBMI 0
#elif !defined(GATHER_ISA_AVX512VBMI)
#define GATHER_ISA_AVX512VBMI 1
#endif
#if !GATHER_ARM64
#undef GATHER_ISA_NEON
#define GATHER_ISA_NEON 0
#elif !defined(GATHER_ISA_NEON)
#define GATHER_ISA_NEON 1
#endif
#if !GATHER_ARM64_SVE
#undef GATHER_ISA_SVE
#define GATHER_ISA_SVE 0
#elif !defined(GATHER_ISA_SVE)
#define GATHER_ISA_SVE 1
#endif

/* Functions between these two are compiled for the named instruction set, whatever the flags of the build. Include
 * headers before. */
#if defined(__clang__)
#define GATHER_PRAGMA(x) _Pragma(#x)
#define GATHER_TARGET_BEGIN(features) GATHER_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define GATHER_TARGET_END GATHER_PRAGMA(clang attribute pop)
#elif defined(__GNUC__)
#define GATHER_PRAGMA(x) _Pragma(#x)
#define GATHER_TARGET_BEGIN(features) GATHER_PRAGMA(GCC push_options) GATHER_PRAGMA(GCC target(features))
#define GATHER_TARGET_END GATHER_PRAGMA(GCC pop_options)
#endif

#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GATHER_BIG_ENDIAN 1
#else
#define GATHER_BIG_ENDIAN 0
#endif

#endif
