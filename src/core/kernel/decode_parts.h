/* SPDX-License-Identifier: MIT
 *
 * decode_parts.h: what decoders share, portable and by vectors: scales of blocks, numbers of groups.
 */
#ifndef GATHER_KERNEL_DECODE_PARTS_H
#define GATHER_KERNEL_DECODE_PARTS_H

#include "core/kernel/decode.h"
#include "core/kernel/float_bits.h"

/* 2^(e - 128), half the value of an E8M0; 0 and 1 are subnormal, and 255 is no special case. */
GATHER_INLINE float half_of_e8m0(uint32_t e) { return gather_float_of(e < 2 ? UINT32_C(0x200000) << e : (e - 1) << 23); }

/* Half the value of an E4M3 whose sign is ignored; 0x7f, which is not a number, is 0. */
GATHER_INLINE float half_of_ue4m3(uint32_t e) {
  const int fraction = (int)(e & 7u), exponent = (int)(e >> 3 & 15u);
  if (e == 0x7f) return 0;
  if (exponent == 0) return gather_times((float)fraction, 0x1p-10f);
  return gather_times((float)(fraction + 8), gather_float_of((uint32_t)(exponent - 11 + 127) << 23));
}

/* Scale g of Q3_K: 4 low bits in the first eight bytes, 2 high bits in the last four. */
GATHER_INLINE int q3_scale(const unsigned char *in, int g) {
  return (in[g & 7] >> (g < 8 ? 0 : 4) & 15) | (in[8 + (g & 3)] >> 2 * (g >> 2) & 3) << 4;
}

/* The numbers of a group. Without its array a step does nothing: x - 0, x * 1 and x + -0 are x, for zeros of both signs too. */
typedef struct {
  float zero, scale, bias;
} step_numbers;

GATHER_INLINE step_numbers numbers_of(const gather_codes *c, int64_t group) {
  const step_numbers n = {c->zero ? c->zero[group] : 0.0f, c->scale ? c->scale[group] : 1.0f, c->bias ? c->bias[group] : -0.0f};
  return n;
}

#endif
