/* SPDX-License-Identifier: MIT
 *
 * sixteen_blocks_k.tmpl.h: blocks of 256 elements, for one instruction set and one type of the output: after
 * sixteen_blocks.tmpl.h, with its parameters.
 */

/* 128 elements: four planes of two bits in 32 bytes. */
GATHER_INLINE void NAME(q2_k_block)(const unsigned char *in, char *out) {
  const float d = half_at(in + 80), least = half_at(in + 82);
  float scales[16], minima[16];
  for (int g = 0; g < 16; g++) {
    scales[g] = gather_times(d, (float)(in[g] & 15));
    minima[g] = gather_times(least, (float)(in[g] >> 4));
  }
  for (int g = 0; g < 16; g += 8) {
    BYTES a = load(in + 16 + 4 * g), b = load(in + 32 + 4 * g);
    for (int k = g; k < g + 8; k += 2, a = down(a, 2), b = down(b, 2)) {
      TAKEN(OUT(16 * k), both(a, every(3)), scales[k], minima[k]);
      TAKEN(OUT(16 * k + 16), both(b, every(3)), scales[k + 1], minima[k + 1]);
    }
  }
}
EACH_BLOCK(q2_k, 256, 84)

/* As Q2_K, with a third bit of its own, which is the same for all bytes of a plane. */
GATHER_INLINE void NAME(q3_k_block)(const unsigned char *in, char *out) {
  const float d = half_at(in + 108);
  float scales[16];
  for (int g = 0; g < 16; g++) scales[g] = gather_times(d, (float)(q3_scale(in + 96, g) - 32));
  BYTES high_a = load(in), high_b = load(in + 16);
  for (int g = 0; g < 16; g += 8) {
    BYTES a = load(in + 32 + 4 * g), b = load(in + 48 + 4 * g);
    for (int k = g; k < g + 8; k += 2, a = down(a, 2), b = down(b, 2), high_a = down(high_a, 1), high_b = down(high_b, 1)) {
      SCALED(OUT(16 * k), minus(either(both(a, every(3)), up(both(high_a, every(1)), 2)), every(4)), scales[k]);
      SCALED(OUT(16 * k + 16), minus(either(both(b, every(3)), up(both(high_b, every(1)), 2)), every(4)), scales[k + 1]);
    }
  }
}
EACH_BLOCK(q3_k, 256, 110)

GATHER_INLINE void NAME(q4_k_block)(const unsigned char *in, char *out) {
  float d[8], m[8];
  scales_of_k4(in, d, m);
  for (int g = 0; g < 8; g += 2) {
    const BYTES a = load(in + 16 + 16 * g), b = load(in + 32 + 16 * g);
#if FLOAT_TABLES
    const FLOATS low = less(times(sixteen_at(LEVELS_NONE), d[g]), m[g]);
    const FLOATS high = less(times(sixteen_at(LEVELS_NONE), d[g + 1]), m[g + 1]);
    NAME(put)(OUT(32 * g), pick_low(low, a));
    NAME(put)(OUT(32 * g + 16), pick_low(low, b));
    NAME(put)(OUT(32 * g + 32), pick_high(high, a));
    NAME(put)(OUT(32 * g + 48), pick_high(high, b));
#else
    TAKEN(OUT(32 * g), both(a, every(15)), d[g], m[g]);
    TAKEN(OUT(32 * g + 16), both(b, every(15)), d[g], m[g]);
    TAKEN(OUT(32 * g + 32), both(down(a, 4), every(15)), d[g + 1], m[g + 1]);
    TAKEN(OUT(32 * g + 48), both(down(b, 4), every(15)), d[g + 1], m[g + 1]);
#endif
  }
}
EACH_BLOCK(q4_k, 256, 144)

GATHER_INLINE void NAME(q5_k_block)(const unsigned char *in, char *out) {
  float d[8], m[8];
  scales_of_k4(in, d, m);
  BYTES high_a = load(in + 16), high_b = load(in + 32);
  for (int g = 0; g < 8; g += 2, high_a = down(high_a, 2), high_b = down(high_b, 2)) {
    const BYTES a = load(in + 48 + 16 * g), b = load(in + 64 + 16 * g), low = every(15), fifth = every(16);
    TAKEN(OUT(32 * g), either(both(a, low), both(up(high_a, 4), fifth)), d[g], m[g]);
    TAKEN(OUT(32 * g + 16), either(both(b, low), both(up(high_b, 4), fifth)), d[g], m[g]);
    TAKEN(OUT(32 * g + 32), either(both(down(a, 4), low), both(up(high_a, 3), fifth)), d[g + 1], m[g + 1]);
    TAKEN(OUT(32 * g + 48), either(both(down(b, 4), low), both(up(high_b, 3), fifth)), d[g + 1], m[g + 1]);
  }
}
EACH_BLOCK(q5_k, 256, 176)

GATHER_INLINE void NAME(q6_k_block)(const unsigned char *in, char *out) {
  const float d = half_at(in + 208);
  const BYTES low = every(15), high = every(0x30), zero = every(32);
  float scales[16];
  for (int g = 0; g < 16; g++) scales[g] = (float)(signed char)in[192 + g];
  for (int g = 0; g < 16; g++) scales[g] = gather_times(d, scales[g]);
  for (int g = 0; g < 16; g += (g & 1) ? 7 : 1) {
    const unsigned char *q = in + 8 * (g & 8) + 16 * (g & 1), *two = in + 128 + 4 * (g & 8) + 16 * (g & 1);
    const BYTES a = load(q), b = load(q + 32), h = load(two);
    SCALED(OUT(16 * g), minus(either(both(a, low), both(up(h, 4), high)), zero), scales[g]);
    SCALED(OUT(16 * g + 32), minus(either(both(b, low), both(up(h, 2), high)), zero), scales[g + 2]);
    SCALED(OUT(16 * g + 64), minus(either(both(down(a, 4), low), both(h, high)), zero), scales[g + 4]);
    SCALED(OUT(16 * g + 96), minus(either(both(down(b, 4), low), both(down(h, 2), high)), zero), scales[g + 6]);
  }
}
EACH_BLOCK(q6_k, 256, 210)

GATHER_INLINE void NAME(q8_k_block)(const unsigned char *in, char *out) {
  const float d = gather_float_of(gather_little32(in));
  for (int k = 0; k < 256; k += 16) SCALED(OUT(k), load(in + 4 + k), d);
}
EACH_BLOCK(q8_k, 256, 292)

GATHER_INLINE void NAME(iq4_xs_block)(const unsigned char *in, char *out) {
  const float d = half_at(in);
  const uint32_t high = gather_little16(in + 2);
  for (int g = 0; g < 8; g++) {
    const int scale = (in[4 + g / 2] >> 4 * (g & 1) & 15) | (int)(high >> 2 * g & 3u) << 4;
    NAME(halves_scaled)
    (OUT(32 * g), OUT(32 * g + 16), load(in + 8 + 16 * g), LEVELS_IQ4, gather_times(d, (float)(scale - 32)));
  }
}
EACH_BLOCK(iq4_xs, 256, 136)

GATHER_INLINE void NAME(tq2_0_block)(const unsigned char *in, char *out) {
  const float d = half_at(in + 64);
  for (int part = 0; part < 2; part++, in += 32) {
    BYTES a = load(in), b = load(in + 16);
    for (int plane = 0; plane < 4; plane++, out += 32 * OUT_BYTES, a = down(a, 2), b = down(b, 2)) {
      SCALED(OUT(0), minus(both(a, every(3)), every(1)), d);
      SCALED(OUT(16), minus(both(b, every(3)), every(1)), d);
    }
  }
}
EACH_BLOCK(tq2_0, 256, 66)
