/* SPDX-License-Identifier: MIT
 *
 * blocks_k.tmpl.h: decodes GGUF's blocks of 256 elements, as blocks.tmpl.h, which is included before.
 */

/* scales[16] (low half: scale, high half: minimum), 64 bytes, d, dmin float16. 128 elements are four planes of 2 bits in 32 bytes;
 * 16 elements share a scale. */
GATHER_INLINE void block_Q2_K(const unsigned char *in, char *out) {
  const float d = gather_half_at(in + 80), dmin = gather_half_at(in + 82);
  for (int g = 0; g < 16; g++) {
    const float scale = gather_times(d, (float)low4(in[g])), m = gather_times(dmin, (float)high4(in[g]));
    const unsigned char *codes = in + 16 + 32 * (g / 8) + 16 * (g & 1);
    const int shift = (g >> 1 & 3) * 2;
    for (int j = 0; j < 16; j++) put(out, 16 * g + j, gather_minus(gather_times(scale, (float)(codes[j] >> shift & 3)), m));
  }
}
BLOCKS(Q2_K, 256, 84)

/* hmask[32], 64 bytes as Q2_K, 12 bytes of scales, d float16. A bit of the mask that is 0 subtracts 4. */
GATHER_INLINE void block_Q3_K(const unsigned char *in, char *out) {
  const float d = gather_half_at(in + 108);
  for (int g = 0; g < 16; g++) {
    const float scale = gather_times(d, (float)(q3_scale(in + 96, g) - 32));
    const unsigned char *codes = in + 32 + 32 * (g / 8) + 16 * (g & 1), *mask = in + 16 * (g & 1);
    const int shift = (g >> 1 & 3) * 2, plane = g >> 1;
    for (int j = 0; j < 16; j++)
      put(out, 16 * g + j, gather_times(scale, (float)((codes[j] >> shift & 3) + (mask[j] >> plane & 1) * 4 - 4)));
  }
}
BLOCKS(Q3_K, 256, 110)

/* Scale and minimum g of Q4_K and Q5_K: 6 bits each. */
GATHER_INLINE void q4_scale(const unsigned char *in, int g, int *scale, int *m) {
  if (g < 4) {
    *scale = in[g] & 63, *m = in[g + 4] & 63;
  } else {
    *scale = (in[g + 4] & 15) | in[g - 4] >> 6 << 4;
    *m = in[g + 4] >> 4 | in[g] >> 6 << 4;
  }
}

/* d, dmin float16, 12 bytes of scales, 128 bytes: of 64 elements, the first 32 are the low halves of 32 bytes, the others the high
 * ones. 32 elements share a scale. */
GATHER_INLINE void block_Q4_K(const unsigned char *in, char *out) {
  const float d = gather_half_at(in), dmin = gather_half_at(in + 2);
  for (int g = 0; g < 8; g++) {
    int s, m;
    q4_scale(in + 4, g, &s, &m);
    const float scale = gather_times(d, (float)s), least = gather_times(dmin, (float)m);
    const unsigned char *codes = in + 16 + 32 * (g / 2);
    const int shift = (g & 1) * 4;
    for (int j = 0; j < 32; j++) put(out, 32 * g + j, gather_minus(gather_times(scale, (float)(codes[j] >> shift & 15)), least));
  }
}
BLOCKS(Q4_K, 256, 144)

/* d, dmin float16, 12 bytes of scales, 32 bytes whose bit g is bit 4 of the codes of group g, 128 bytes as Q4_K. */
GATHER_INLINE void block_Q5_K(const unsigned char *in, char *out) {
  const float d = gather_half_at(in), dmin = gather_half_at(in + 2);
  for (int g = 0; g < 8; g++) {
    int s, m;
    q4_scale(in + 4, g, &s, &m);
    const float scale = gather_times(d, (float)s), least = gather_times(dmin, (float)m);
    const unsigned char *codes = in + 48 + 32 * (g / 2), *high = in + 16;
    const int shift = (g & 1) * 4;
    for (int j = 0; j < 32; j++) {
      const int q = (codes[j] >> shift & 15) | (high[j] >> g & 1) << 4;
      put(out, 32 * g + j, gather_minus(gather_times(scale, (float)q), least));
    }
  }
}
BLOCKS(Q5_K, 256, 176)

/* ql[128], qh[64], 16 signed scales, d float16. Group g of 32 elements: of 128, the first 64 are low halves of 64 bytes of ql, the
 * others high ones; 2 bits of 32 bytes of qh. */
GATHER_INLINE void block_Q6_K(const unsigned char *in, char *out) {
  const float d = gather_half_at(in + 208);
  for (int g = 0; g < 16; g++) {
    const float scale = gather_times(d, (float)signed8(in[192 + g]));
    const unsigned char *low = in + 64 * (g / 8) + 16 * (g & 3), *high = in + 128 + 32 * (g / 8) + 16 * (g & 1);
    const int shift = (g >> 2 & 1) * 4, high_shift = (g >> 1 & 3) * 2;
    for (int j = 0; j < 16; j++) {
      const int q = (low[j] >> shift & 15) | (high[j] >> high_shift & 3) << 4;
      put(out, 16 * g + j, gather_times(scale, (float)(q - 32)));
    }
  }
}
BLOCKS(Q6_K, 256, 210)

/* d float32, 256 signed bytes, 16 sums of 16 bits, which values do not need. */
GATHER_INLINE void block_Q8_K(const unsigned char *in, char *out) {
  const float d = gather_float_of(gather_little32(in));
  for (int j = 0; j < 256; j++) put(out, j, gather_times(d, (float)signed8(in[4 + j])));
}
BLOCKS(Q8_K, 256, 292)

/* d float16, high bits of the scales (16 bits), low bits (4 bytes), 128 bytes: of 32 elements, the first 16 are the low halves of 16
 * bytes, the others the high ones. */
GATHER_INLINE void block_IQ4_XS(const unsigned char *in, char *out) {
  const float d = gather_half_at(in);
  const uint32_t high = gather_little16(in + 2);
  for (int g = 0; g < 8; g++) {
    const int s = (in[4 + g / 2] >> 4 * (g & 1) & 15) | (int)(high >> 2 * g & 3u) << 4;
    const float scale = gather_times(d, (float)(s - 32));
    const unsigned char *codes = in + 8 + 16 * g;
    for (int j = 0; j < 16; j++) {
      put(out, 32 * g + j, gather_times(scale, IQ4_VALUES[low4(codes[j])]));
      put(out, 32 * g + j + 16, gather_times(scale, IQ4_VALUES[high4(codes[j])]));
    }
  }
}
BLOCKS(IQ4_XS, 256, 136)

/* Digit k of a byte is the number of 256/3 in the byte times 3^k modulo 256, less 1. */
GATHER_INLINE void ternary(const unsigned char *in, int bytes, int digits, float d, char *out) {
  unsigned power = 1;
  for (int k = 0; k < digits; k++, power *= 3)
    for (int j = 0; j < bytes; j++) put(out, k * bytes + j, gather_times(d, (float)((int)(((in[j] * power & 255u) * 3) >> 8) - 1)));
}

/* 32 bytes of five digits, 16 of five, 4 of four, then d float16. The first digits of all bytes of a part come first. */
GATHER_INLINE void block_TQ1_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in + 52);
  ternary(in, 32, 5, d, out);
  ternary(in + 32, 16, 5, d, out + 160 * sizeof(float));
  ternary(in + 48, 4, 4, d, out + 240 * sizeof(float));
}
BLOCKS(TQ1_0, 256, 54)

/* 64 bytes, then d float16: 128 elements are four planes of 2 bits in 32 bytes. */
GATHER_INLINE void block_TQ2_0(const unsigned char *in, char *out) {
  const float d = gather_half_at(in + 64);
  for (int part = 0; part < 2; part++)
    for (int plane = 0; plane < 4; plane++)
      for (int j = 0; j < 32; j++)
        put(out, 128 * part + 32 * plane + j, gather_times(d, (float)((in[32 * part + j] >> 2 * plane & 3) - 1)));
}
BLOCKS(TQ2_0, 256, 66)
