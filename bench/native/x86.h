/* SPDX-License-Identifier: MIT
 *
 * x86.h: whether this is an x86-64, and functions for instruction sets the build does not ask for.
 */
#ifndef GATHER_BENCH_X86_H
#define GATHER_BENCH_X86_H

#if defined(__GNUC__) && defined(__x86_64__)
#define BENCH_X86 1
#include <cpuid.h>
#include <immintrin.h>
#define GATHER_BENCH_TARGET(features) __attribute__((target(features)))
#else
#define BENCH_X86 0
#endif

#endif
