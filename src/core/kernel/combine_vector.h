/* SPDX-License-Identifier: MIT
 *
 * combine_vector.h: vectors of numbers as gcc and clang have them, and the functions of combine_number.h for these: the same operations,
 * each rounded once.
 */
#ifndef GATHER_KERNEL_COMBINE_VECTOR_H
#define GATHER_KERNEL_COMBINE_VECTOR_H

#include <stdint.h>

#include "core/base/compiler.h"

/* The longest vectors that plain C makes of instructions; 0: it would make single numbers. */
#if defined(__GNUC__) && !GATHER_BIG_ENDIAN && \
    (defined(__SSE2__) || defined(__ARM_NEON) && defined(__aarch64__) || defined(__wasm_simd128__))
#define GATHER_VECTOR_BYTES 16
#else
#define GATHER_VECTOR_BYTES 0
#endif

#if defined(__GNUC__)
/* gather_v_<type>_<bytes>, and the integers gather_m_<type>_<bytes> of its comparisons. */
#define GATHER_VECTOR(bytes, suffix, type, mask)                                        \
  typedef type gather_v_##suffix##_##bytes __attribute__((vector_size(bytes), unused)); \
  typedef mask gather_m_##suffix##_##bytes __attribute__((vector_size(bytes), unused));
#define GATHER_VECTORS(suffix, type, mask) \
  GATHER_VECTOR(8, suffix, type, mask)     \
  GATHER_VECTOR(16, suffix, type, mask)    \
  GATHER_VECTOR(32, suffix, type, mask)    \
  GATHER_VECTOR(64, suffix, type, mask)
GATHER_VECTORS(b8, uint8_t, int8_t)
GATHER_VECTORS(u8, uint8_t, int8_t)
GATHER_VECTORS(u16, uint16_t, int16_t)
GATHER_VECTORS(u32, uint32_t, int32_t)
GATHER_VECTORS(u64, uint64_t, int64_t)
GATHER_VECTORS(i8, int8_t, int8_t)
GATHER_VECTORS(i16, int16_t, int16_t)
GATHER_VECTORS(i32, int32_t, int32_t)
GATHER_VECTORS(i64, int64_t, int64_t)
GATHER_VECTORS(f32, float, int32_t)
GATHER_VECTORS(f64, double, int64_t)
#undef GATHER_VECTOR
#undef GATHER_VECTORS
#endif

/* a = a and b reduced; N: their type, M: that of masks. */
#define GATHER_VECTOR_add(N, M) a = a + b;
#define GATHER_VECTOR_sub(N, M) a = a - b;
#define GATHER_VECTOR_mul(N, M) a = a * b;
#define GATHER_VECTOR_TAKE(N, M, condition) \
  const M take = (M)(condition);            \
  a = (N)(((M)b & take) | ((M)a & ~take));
#define GATHER_VECTOR_min(N, M) GATHER_VECTOR_TAKE(N, M, b < a)
#define GATHER_VECTOR_max(N, M) GATHER_VECTOR_TAKE(N, M, b > a)
#define GATHER_VECTOR_float_add GATHER_VECTOR_add
#define GATHER_VECTOR_float_sub GATHER_VECTOR_sub
#define GATHER_VECTOR_float_mul GATHER_VECTOR_mul
#define GATHER_VECTOR_float_min(N, M) GATHER_VECTOR_TAKE(N, M, (b < a) | (b != b))
#define GATHER_VECTOR_float_max(N, M) GATHER_VECTOR_TAKE(N, M, (b > a) | (b != b))
#define GATHER_VECTOR_bool_add(N, M) a = (N)(((a | b) != 0) & 1);
#define GATHER_VECTOR_bool_sub(N, M) a = (N)(((a != 0) ^ (b != 0)) & 1);
#define GATHER_VECTOR_bool_mul(N, M) a = (N)(((a != 0) & (b != 0)) & 1);

#endif
