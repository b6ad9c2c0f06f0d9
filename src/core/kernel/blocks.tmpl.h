/* SPDX-License-Identifier: MIT
 *
 * blocks.tmpl.h: decodes GGUF's blocks of less than 256 elements. Included by the instruction sets that compile it for themselves;
 * blocks_k.tmpl.h has the blocks of 256. Layouts: siblings of each other, given above each function; all numbers are little-endian.
 *
 * static void blocks_NAME(const unsigned char *in, int64_t count, void *out): `count` blocks to float32.
 */
#include "core/kernel/decode_parts.h"

/* Stores element i; the output need not be aligned. */
GATHER_INLINE void put(char *out, int i, float value) { memcpy(out + (size_t)i * sizeof value, &value, sizeof value); }

/* Defines blocks_NAME from a function that decodes one block. */
#define BLOCKS(NAME, len, bytes)                                                \
  static void blocks_##NAME(const unsigned char *in, int64_t count, void *to) { \
    char *out = to;                                                             \
    for (; count > 0; count--, in += (bytes), out += (len) * sizeof(float)) {   \
      block_##NAME(in, out);                                                    \
    }                                                                           \
  }

GATHER_INLINE int low4(unsigned byte) { return (int)(byte & 15u); }
GATHER_INLINE int high4(unsigned byte) { return (int)(byte >> 4); }

/* d float16, 16 bytes: byte j has element j in its low half and element j + 16 in its high half. */
GATHER_INLINE void block_Q4_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int j = 0; j < 16; j++) put(out, j, gather_times(d, (float)(low4(in[2 + j]) - 8)));
  for (int j = 0; j < 16; j++) put(out, j + 16, gather_times(d, (float)(high4(in[2 + j]) - 8)));
}
BLOCKS(Q4_0, 32, 18)

/* d, m float16, 16 bytes as Q4_0. */
GATHER_INLINE void block_Q4_1(const unsigned char *in, char *out) {
  const float d = gather_half_at(in), m = gather_half_at(in + 2);
  for (int j = 0; j < 16; j++) put(out, j, gather_plus(gather_times(d, (float)low4(in[4 + j])), m));
  for (int j = 0; j < 16; j++) put(out, j + 16, gather_plus(gather_times(d, (float)high4(in[4 + j])), m));
}
BLOCKS(Q4_1, 32, 20)

/* The code of element j and of element j + 16, whose bits 4 are bits j and j + 16 of `high`. */
GATHER_INLINE int low5(unsigned byte, uint32_t high, int j) { return low4(byte) | (int)(high >> j & 1u) << 4; }
GATHER_INLINE int high5(unsigned byte, uint32_t high, int j) { return high4(byte) | (int)(high >> (j + 16) & 1u) << 4; }

/* d float16, 32 high bits, 16 bytes as Q4_0. */
GATHER_INLINE void block_Q5_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  const uint32_t high = gather_little32(in + 2);
  for (int j = 0; j < 16; j++) {
    put(out, j, gather_times(d, (float)(low5(in[6 + j], high, j) - 16)));
    put(out, j + 16, gather_times(d, (float)(high5(in[6 + j], high, j) - 16)));
  }
}
BLOCKS(Q5_0, 32, 22)

/* d, m float16, 32 high bits, 16 bytes as Q4_0. */
GATHER_INLINE void block_Q5_1(const unsigned char *in, char *out) {
  const float d = gather_half_at(in), m = gather_half_at(in + 2);
  const uint32_t high = gather_little32(in + 4);
  for (int j = 0; j < 16; j++) {
    put(out, j, gather_plus(gather_times(d, (float)low5(in[8 + j], high, j)), m));
    put(out, j + 16, gather_plus(gather_times(d, (float)high5(in[8 + j], high, j)), m));
  }
}
BLOCKS(Q5_1, 32, 24)

GATHER_INLINE int signed8(unsigned byte) { return (int)(byte ^ 128u) - 128; }

/* d float16, 32 signed bytes. */
GATHER_INLINE void block_Q8_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int j = 0; j < 32; j++) put(out, j, gather_times((float)signed8(in[2 + j]), d));
}
BLOCKS(Q8_0, 32, 34)

/* The values of IQ4_NL and IQ4_XS: ggml's kvalues_iq4nl. */
static const float IQ4_VALUES[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* d float16, 16 bytes as Q4_0. */
GATHER_INLINE void block_IQ4_NL(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int j = 0; j < 16; j++) {
    put(out, j, gather_times(d, IQ4_VALUES[low4(in[2 + j])]));
    put(out, j + 16, gather_times(d, IQ4_VALUES[high4(in[2 + j])]));
  }
}
BLOCKS(IQ4_NL, 32, 18)

/* Twice the values of E2M1 (OCP MX 1.0, table of FP4): whole numbers. The reference has no negative zero. */
static const float E2M1_DOUBLED[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* e, 16 bytes as Q4_0. */
GATHER_INLINE void block_MXFP4(const unsigned char *in, char *out) {
  const float d = half_of_e8m0(in[0]);
  for (int j = 0; j < 16; j++) {
    put(out, j, gather_times(d, E2M1_DOUBLED[low4(in[1 + j])]));
    put(out, j + 16, gather_times(d, E2M1_DOUBLED[high4(in[1 + j])]));
  }
}
BLOCKS(MXFP4, 32, 17)

/* Four scales, then four times 8 bytes: byte j has element j in its low half and element j + 8 in its high half. */
GATHER_INLINE void block_NVFP4(const unsigned char *in, char *out) {
  for (int part = 0; part < 4; part++) {
    const float d = half_of_ue4m3(in[part]);
    const unsigned char *codes = in + 4 + 8 * part;
    for (int j = 0; j < 8; j++) {
      put(out, 16 * part + j, gather_times(d, E2M1_DOUBLED[low4(codes[j])]));
      put(out, 16 * part + j + 8, gather_times(d, E2M1_DOUBLED[high4(codes[j])]));
    }
  }
}
BLOCKS(NVFP4, 64, 36)

/* d float16, 128 bits, the first in the lowest. */
GATHER_INLINE void block_Q1_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int j = 0; j < 128; j++) put(out, j, in[2 + j / 8] >> (j & 7) & 1 ? d : -d);
}
BLOCKS(Q1_0, 128, 18)

/* d float16, 64 codes of 2 bits, the first in the lowest. */
GATHER_INLINE void block_Q2_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  for (int j = 0; j < 64; j++) put(out, j, gather_times(d, (float)((in[2 + j / 4] >> 2 * (j & 3) & 3) - 1)));
}
BLOCKS(Q2_0, 64, 18)
