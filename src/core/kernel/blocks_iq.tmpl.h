/* SPDX-License-Identifier: MIT
 *
 * blocks_iq.tmpl.h: decodes GGUF's blocks of 256 elements whose codes number the vectors of a code book, as blocks.tmpl.h, which is
 * included before.
 */
#include "core/kernel/codebooks.h"

/* The signs of eight elements from seven bits: the eighth makes their number even. A set bit is a minus. */
GATHER_INLINE unsigned even_signs(unsigned seven) {
  unsigned parity = seven ^ seven >> 4;
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return seven | (parity & 1u) << 7;
}

/* Stores (scale * value) with its sign: value k of a vector is values[bits k]. */
GATHER_INLINE void put_vector_signed(char *out, int at, const float *values, unsigned vector, int bits, int len, float scale,
                                     unsigned signs) {
  for (int k = 0; k < len; k++) {
    const float number = gather_times(scale, values[vector >> bits * k & ((1u << bits) - 1)]);
    put(out, at + k, signs >> k & 1 ? -number : number);
  }
}

/* (d * (0.5 + s)) * factor */
GATHER_INLINE float half_step(float d, unsigned s, float factor) {
  return gather_times(gather_times(d, gather_plus(0.5f, (float)s)), factor);
}

/* d float16; for each 32 elements 4 bytes, numbers of vectors, and 32 bits: four times 7 signs, then the scale. */
GATHER_INLINE void block_IQ2_XXS(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int g = 0; g < 8; g++) {
    const unsigned char *codes = in + 2 + 8 * g;
    const uint32_t rest = gather_little32(codes + 4);
    const float scale = half_step(d, rest >> 28, 0.25f);
    for (int v = 0; v < 4; v++)
      put_vector_signed(out, 32 * g + 8 * v, IQ2_XXS_VALUES, IQ2_XXS_VECTORS[codes[v]], 2, 8, scale, even_signs(rest >> 7 * v & 127u));
  }
}
BLOCKS(IQ2_XXS, 256, 66)

/* d float16, 32 times 16 bits: the number of a vector (9 bits), 7 signs; 8 bytes of scales, 4 bits for each 16 elements. */
GATHER_INLINE void block_IQ2_XS(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int v = 0; v < 32; v++) {
    const unsigned code = gather_little16(in + 2 + 2 * v);
    const float scale = half_step(d, (unsigned)in[66 + v / 4] >> 4 * (v >> 1 & 1) & 15u, 0.25f);
    put_vector_signed(out, 8 * v, IQ2_XS_VALUES, IQ2_XS_VECTORS[code & 511u], 2, 8, scale, even_signs(code >> 9));
  }
}
BLOCKS(IQ2_XS, 256, 74)

/* d float16, 32 numbers of vectors, 32 bytes of signs, 8 bytes with 2 high bits of each number, 8 bytes of scales as IQ2_XS. */
GATHER_INLINE void block_IQ2_S(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int v = 0; v < 32; v++) {
    const unsigned code = in[2 + v] | ((unsigned)in[66 + v / 4] >> 2 * (v & 3) & 3u) << 8;
    const float scale = half_step(d, (unsigned)in[74 + v / 4] >> 4 * (v >> 1 & 1) & 15u, 0.25f);
    put_vector_signed(out, 8 * v, IQ2_S_VALUES, IQ2_S_VECTORS[code], 2, 8, scale, in[34 + v]);
  }
}
BLOCKS(IQ2_S, 256, 82)

/* d float16, 64 numbers of vectors of 4 elements; for each 32 elements 32 bits as IQ2_XXS. */
GATHER_INLINE void block_IQ3_XXS(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int g = 0; g < 8; g++) {
    const uint32_t rest = gather_little32(in + 66 + 4 * g);
    const float scale = half_step(d, rest >> 28, 0.5f);
    for (int v = 0; v < 8; v++)
      put_vector_signed(out, 32 * g + 4 * v, IQ3_XXS_VALUES, IQ3_XXS_VECTORS[in[2 + 8 * g + v]], 3, 4, scale,
                        even_signs(rest >> 7 * (v / 2) & 127u) >> 4 * (v & 1));
  }
}
BLOCKS(IQ3_XXS, 256, 98)

/* d float16, 64 numbers of vectors of 4 elements, 8 bytes with the high bit of each, 32 bytes of signs, 4 bytes of scales: 4 bits for
 * each 32 elements. */
GATHER_INLINE void block_IQ3_S(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int v = 0; v < 64; v++) {
    const unsigned code = in[2 + v] | ((unsigned)in[66 + v / 8] >> (v & 7) & 1u) << 8;
    const unsigned s = (unsigned)in[106 + v / 16] >> 4 * (v >> 3 & 1) & 15u;
    put_vector_signed(out, 4 * v, IQ3_S_VALUES, IQ3_S_VECTORS[code], 3, 4, gather_times(d, (float)(1 + 2 * s)),
                      (unsigned)in[74 + v / 2] >> 4 * (v & 1));
  }
}
BLOCKS(IQ3_S, 256, 110)

/* Stores scale * (value + shift) for a vector of IQ1_S; both types of IQ1 use them. */
GATHER_INLINE void put_vector_shifted(char *out, int at, unsigned code, float scale, float shift) {
  for (int k = 0; k < 8; k++) {
    const float value = IQ1_S_VALUES[IQ1_S_VECTORS[code] >> 2 * k & 3];
    put(out, at + k, gather_times(scale, gather_plus(value, shift)));
  }
}

/* d float16, 32 numbers of vectors; for each 32 elements 16 bits: four times 3 high bits of a number, 3 of the scale, the sign of the
 * shift. */
GATHER_INLINE void block_IQ1_S(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int v = 0; v < 32; v++) {
    const unsigned rest = gather_little16(in + 34 + v / 4 * 2);
    const unsigned code = in[2 + v] | (rest >> 3 * (v & 3) & 7u) << 8;
    put_vector_shifted(out, 8 * v, code, gather_times(d, (float)(2 * (rest >> 12 & 7u) + 1)), rest & 0x8000u ? -0.125f : 0.125f);
  }
}
BLOCKS(IQ1_S, 256, 50)

/* 32 numbers of vectors; 4 bits for each: 3 high bits, the sign of the shift; four times 16 bits: four scales of 3 bits, each for 16
 * elements, then 4 bits of d, a float16 whose lowest bits come first. */
GATHER_INLINE void block_IQ1_M(const unsigned char *in, char *out) {
  uint32_t half = 0;
  for (int k = 0; k < 4; k++) half |= gather_little16(in + 48 + 2 * k) >> 12 << 4 * k;
  const float d = gather_half_value(half);
  for (int v = 0; v < 32; v++) {
    const unsigned rest = (unsigned)in[32 + v / 2] >> 4 * (v & 1) & 15u;
    const unsigned s = gather_little16(in + 48 + v / 8 * 2) >> 3 * (v >> 1 & 3) & 7u;
    put_vector_shifted(out, 8 * v, in[v] | (rest & 7u) << 8, gather_times(d, (float)(2 * s + 1)), rest & 8u ? -0.125f : 0.125f);
  }
}
BLOCKS(IQ1_M, 256, 56)

#define BLOCKS_SLOTS                                                                                                         \
  {                                                                                                                          \
    [GATHER_CODEC_Q4_0] = {blocks_Q4_0}, [GATHER_CODEC_Q4_1] = {blocks_Q4_1}, [GATHER_CODEC_Q5_0] = {blocks_Q5_0},           \
    [GATHER_CODEC_Q5_1] = {blocks_Q5_1}, [GATHER_CODEC_Q8_0] = {blocks_Q8_0}, [GATHER_CODEC_Q2_K] = {blocks_Q2_K},           \
    [GATHER_CODEC_Q3_K] = {blocks_Q3_K}, [GATHER_CODEC_Q4_K] = {blocks_Q4_K}, [GATHER_CODEC_Q5_K] = {blocks_Q5_K},           \
    [GATHER_CODEC_Q6_K] = {blocks_Q6_K}, [GATHER_CODEC_Q8_K] = {blocks_Q8_K}, [GATHER_CODEC_IQ4_NL] = {blocks_IQ4_NL},       \
    [GATHER_CODEC_IQ4_XS] = {blocks_IQ4_XS}, [GATHER_CODEC_TQ1_0] = {blocks_TQ1_0}, [GATHER_CODEC_TQ2_0] = {blocks_TQ2_0},   \
    [GATHER_CODEC_MXFP4] = {blocks_MXFP4}, [GATHER_CODEC_NVFP4] = {blocks_NVFP4}, [GATHER_CODEC_Q1_0] = {blocks_Q1_0},       \
    [GATHER_CODEC_Q2_0] = {blocks_Q2_0}, [GATHER_CODEC_IQ2_XXS] = {blocks_IQ2_XXS}, [GATHER_CODEC_IQ2_XS] = {blocks_IQ2_XS}, \
    [GATHER_CODEC_IQ2_S] = {blocks_IQ2_S}, [GATHER_CODEC_IQ3_XXS] = {blocks_IQ3_XXS}, [GATHER_CODEC_IQ3_S] = {blocks_IQ3_S}, \
    [GATHER_CODEC_IQ1_S] = {blocks_IQ1_S}, [GATHER_CODEC_IQ1_M] = {blocks_IQ1_M},                                            \
  }
