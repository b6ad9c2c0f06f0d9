/* SPDX-License-Identifier: MIT
 *
 * combine_number.h: one element and one update, reduced. Every instruction set gives the same bits; which NaN a result is, is not promised.
 *
 * Integers wrap around: they are computed unsigned. Halves are computed in float32 and rounded to nearest even at each step. The minimum
 * and the maximum keep the element, unless the update is really smaller or larger, or NaN: of -0 and +0 the first one is kept. Of bool
 * only whether a byte is 0 counts, and the result is 0 or 1.
 */
#ifndef GATHER_KERNEL_COMBINE_NUMBER_H
#define GATHER_KERNEL_COMBINE_NUMBER_H

#include <stdint.h>
#include <string.h>

#include "core/kernel/combine_vector.h"
#include "core/kernel/float_bits.h"

/* float16 and bfloat16 are their bits. */
typedef uint8_t gather_bool8;
typedef uint16_t gather_half;
typedef uint16_t gather_bfloat;

/* ---- halves without branches, so that compilers make vectors of them; the bits of float_bits.h, but for the kind of a NaN */

GATHER_INLINE float gather_wide_f16(gather_half half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
  /* A subnormal is a multiple of 2^-24: the fraction of a number of 2^-14, from which 2^-14 is taken away. */
  const uint32_t small = gather_bits_of(gather_minus(gather_float_of(rest << 13 | 0x38800000u), 0x1p-14f));
  const uint32_t normal = (rest << 13) + (rest < 0x7c00u ? 0x38000000u : 0x70000000u);
  return gather_float_of(sign | (rest < 0x400u ? small : normal));
}

GATHER_INLINE gather_half gather_narrow_f16(float number) {
  const uint32_t bits = gather_bits_of(number), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  const uint32_t small = gather_bits_of(gather_plus(gather_float_of(rest), 0.5f)) - 0x3f000000u;
  const uint32_t normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  const uint32_t finite = rest < 0x38800000u ? small : normal, large = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return (gather_half)(sign | (rest < 0x477ff000u ? finite : large));
}

GATHER_INLINE float gather_wide_bf16(gather_bfloat number) { return gather_float_of((uint32_t)number << 16); }

GATHER_INLINE gather_bfloat gather_narrow_bf16(float number) {
  const uint32_t bits = gather_bits_of(number), rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return (gather_bfloat)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded >> 16);
}

/* float32 in float64. */
GATHER_INLINE double gather_wide_f32(float number) { return (double)number; }
GATHER_INLINE float gather_narrow_f32(double number) {
  const float nearest = (float)number;
  return nearest;
}

/* ---- gather_<reduction>_<type>(element, update) */

#define GATHER_COMBINE_NUMBERS(name, suffix, type, expression)              \
  GATHER_INLINE type gather_##name##_##suffix(const type a, const type b) { \
    const type result = (type)(expression);                                 \
    return result;                                                          \
  }

GATHER_COMBINE_NUMBERS(add, b8, gather_bool8, (a | b) != 0)
GATHER_COMBINE_NUMBERS(sub, b8, gather_bool8, (a != 0) != (b != 0))
GATHER_COMBINE_NUMBERS(mul, b8, gather_bool8, (a != 0) & (b != 0))

/* uint16_t would be multiplied as int, which overflows. */
#define GATHER_COMBINE_WRAPPING(suffix, type)                \
  GATHER_COMBINE_NUMBERS(add, suffix, type, (uint64_t)a + b) \
  GATHER_COMBINE_NUMBERS(sub, suffix, type, (uint64_t)a - b) \
  GATHER_COMBINE_NUMBERS(mul, suffix, type, (uint64_t)a *b)
GATHER_COMBINE_WRAPPING(u8, uint8_t)
GATHER_COMBINE_WRAPPING(u16, uint16_t)
GATHER_COMBINE_WRAPPING(u32, uint32_t)
GATHER_COMBINE_WRAPPING(u64, uint64_t)

/* Extremes without a branch, which compilers make of a number that is stored where it was loaded: which one is kept is random. word: has
 * every number of the type, in a register. */
#define GATHER_COMBINE_EXTREME(name, suffix, type, word, before)            \
  GATHER_INLINE type gather_##name##_##suffix(const type a, const type b) { \
    word result = b before a ? b : a;                                       \
    GATHER_OPAQUE(result);                                                  \
    return (type)result;                                                    \
  }
#define GATHER_COMBINE_ORDERED(suffix, type, word)   \
  GATHER_COMBINE_EXTREME(min, suffix, type, word, <) \
  GATHER_COMBINE_EXTREME(max, suffix, type, word, >)
GATHER_COMBINE_ORDERED(u8, uint8_t, uint32_t)
GATHER_COMBINE_ORDERED(u16, uint16_t, uint32_t)
GATHER_COMBINE_ORDERED(u32, uint32_t, uint32_t)
GATHER_COMBINE_ORDERED(u64, uint64_t, uint64_t)
GATHER_COMBINE_ORDERED(i8, int8_t, int32_t)
GATHER_COMBINE_ORDERED(i16, int16_t, int32_t)
GATHER_COMBINE_ORDERED(i32, int32_t, int32_t)
GATHER_COMBINE_ORDERED(i64, int64_t, int64_t)

/* Those of floats in the first lane of a vector. */
#if GATHER_VECTOR_BYTES > 0
#define GATHER_COMBINE_FLOAT_EXTREME(name, suffix, type, before)                            \
  GATHER_INLINE type gather_##name##_##suffix(const type element, const type update) {      \
    gather_v_##suffix##_16 a = {element}, b = {update};                                     \
    GATHER_VECTOR_float_##name(gather_v_##suffix##_16, gather_m_##suffix##_16) return a[0]; \
  }
#else
#define GATHER_COMBINE_FLOAT_EXTREME(name, suffix, type, before) \
  GATHER_COMBINE_NUMBERS(name, suffix, type, ((b before a) | (b != b)) ? b : a)
#endif
#define GATHER_COMBINE_FLOATS(suffix, type)          \
  GATHER_COMBINE_NUMBERS(add, suffix, type, a + b)   \
  GATHER_COMBINE_NUMBERS(sub, suffix, type, a - b)   \
  GATHER_COMBINE_NUMBERS(mul, suffix, type, a *b)    \
  GATHER_COMBINE_FLOAT_EXTREME(min, suffix, type, <) \
  GATHER_COMBINE_FLOAT_EXTREME(max, suffix, type, >)
GATHER_COMBINE_FLOATS(f32, float)
GATHER_COMBINE_FLOATS(f64, double)

/* Complex numbers: sums are those of their parts, as floats. A product has four products of parts, each rounded; no infinity is mended. */
typedef struct gather_complex64 {
  float real, imaginary;
} gather_complex64;
typedef struct gather_complex128 {
  double real, imaginary;
} gather_complex128;

/* gcc 12 makes one fused instruction of sums and differences of products, also where it must not: the real part is hidden from it. */
GATHER_INLINE float gather_alone_f32(float number) {
  uint32_t bits = gather_bits_of(number);
  GATHER_OPAQUE(bits);
  return gather_float_of(bits);
}
GATHER_INLINE double gather_alone_f64(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  GATHER_OPAQUE(bits);
  memcpy(&number, &bits, sizeof bits);
  return number;
}

#define GATHER_COMBINE_COMPLEX(suffix, type, part)                                                                              \
  GATHER_INLINE type gather_mul_##suffix(const type a, const type b) {                                                          \
    const type result = {                                                                                                       \
        gather_alone_##part(gather_sub_##part(gather_mul_##part(a.real, b.real), gather_mul_##part(a.imaginary, b.imaginary))), \
        gather_add_##part(gather_mul_##part(a.real, b.imaginary), gather_mul_##part(a.imaginary, b.real))};                     \
    return result;                                                                                                              \
  }
GATHER_COMBINE_COMPLEX(c64, gather_complex64, f32)
GATHER_COMBINE_COMPLEX(c128, gather_complex128, f64)

#undef GATHER_COMBINE_NUMBERS
#undef GATHER_COMBINE_WRAPPING
#undef GATHER_COMBINE_ORDERED
#undef GATHER_COMBINE_EXTREME
#undef GATHER_COMBINE_FLOAT_EXTREME
#undef GATHER_COMBINE_FLOATS
#undef GATHER_COMBINE_COMPLEX

#endif
