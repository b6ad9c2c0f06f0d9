/* SPDX-License-Identifier: MIT
 *
 * float_bits.h: float32 arithmetic that is the same everywhere, and its conversions from and to halves. Each function has its
 * result in a variable: so a compiler neither fuses it with its neighbours nor keeps it wider.
 */
#ifndef GATHER_KERNEL_FLOAT_BITS_H
#define GATHER_KERNEL_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

GATHER_INLINE float gather_times(float a, float b) {
  const float product = a * b;
  return product;
}

GATHER_INLINE float gather_plus(float a, float b) {
  const float sum = a + b;
  return sum;
}

GATHER_INLINE float gather_minus(float a, float b) {
  const float difference = a - b;
  return difference;
}

GATHER_INLINE float gather_float_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

GATHER_INLINE uint32_t gather_bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

/* Numbers in little-endian memory. */
GATHER_INLINE uint32_t gather_little16(const unsigned char *in) { return (uint32_t)in[0] | (uint32_t)in[1] << 8; }
GATHER_INLINE uint32_t gather_little32(const unsigned char *in) { return gather_little16(in) | gather_little16(in + 2) << 16; }

/* The value of a float16. */
GATHER_INLINE float gather_half_value(uint32_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
  if (rest < 0x400u) { /* subnormal: a multiple of 2^-24 */
    const float small = gather_times((float)(int32_t)rest, 0x1p-24f);
    return gather_float_of(gather_bits_of(small) | sign);
  }
  if (rest < 0x7c00u) return gather_float_of(sign | ((rest << 13) + 0x38000000u));
  return gather_float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13 | (rest > 0x7c00u ? 0x400000u : 0));
}
GATHER_INLINE float gather_half_at(const unsigned char *in) { return gather_half_value(gather_little16(in)); }

/* To the nearest float16, ties to even; too large ones become infinite. */
GATHER_INLINE uint16_t gather_half_nearest(float number) {
  const uint32_t bits = gather_bits_of(number), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  uint32_t half;
  if (rest > 0x7f800000u)
    half = 0x7e00u | (rest >> 13 & 0x3ffu);
  else if (rest >= 0x477ff000u) /* 65520 and more */
    half = 0x7c00u;
  else if (rest >= 0x38800000u) /* normal: the exponent's bias changes, 13 bits are rounded off */
    half = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  else { /* a multiple of 2^-24: adding 0.5 leaves it in the lowest bits of the sum, rounded */
    const float sum = gather_plus(gather_float_of(rest), 0.5f);
    half = gather_bits_of(sum) - 0x3f000000u;
  }
  return (uint16_t)(sign | half);
}

/* To the nearest bfloat16, ties to even. */
GATHER_INLINE uint16_t gather_bfloat_nearest(float number) {
  const uint32_t bits = gather_bits_of(number);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#endif
