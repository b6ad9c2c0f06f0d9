/* SPDX-License-Identifier: MIT
 *
 * sixteen_blocks.tmpl.h: blocks of less than 256 elements, for one instruction set and one type of the output.
 *
 * Parameters: SUFFIX f32, f16 or bf16; OUT_BYTES of an element of the output. sixteen_codes.tmpl.h, the last of the three files,
 * undefines them.
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)
#define OUT(n) (out + (n)*OUT_BYTES)
#define SCALED NAME(scaled)
#define ADDED NAME(added)
#define TAKEN NAME(taken)

/* `count` blocks of LEN elements in BYTES bytes: `in` and `out` are at each of them in turn. */
#define EACH_BLOCK(codec, LEN, BYTES)                                                               \
  static void NAME(codec)(const unsigned char *in, int64_t count, void *to) {                       \
    char *out = to;                                                                                 \
    for (; count > 0; count--, in += (BYTES), out += (LEN)*OUT_BYTES) NAME(codec##_block)(in, out); \
  }

GATHER_INLINE void NAME(q4_0_block)(const unsigned char *in, char *out) {
  NAME(halves_scaled)(OUT(0), OUT(16), load(in + 2), LEVELS_CENTRED, half_at(in));
}
EACH_BLOCK(q4_0, 32, 18)

GATHER_INLINE void NAME(q4_1_block)(const unsigned char *in, char *out) {
  NAME(halves_added)(OUT(0), OUT(16), load(in + 4), half_at(in), half_at(in + 2));
}
EACH_BLOCK(q4_1, 32, 20)

/* The fifth bits of sixteen elements. */
GATHER_INLINE BYTES NAME(fifth)(const unsigned char *in) { return both(spread(gather_little16(in)), every(16)); }

GATHER_INLINE void NAME(q5_0_block)(const unsigned char *in, char *out) {
  const float d = half_at(in);
  const BYTES q = load(in + 6);
  SCALED(OUT(0), minus(either(both(q, every(15)), NAME(fifth)(in + 2)), every(16)), d);
  SCALED(OUT(16), minus(either(both(down(q, 4), every(15)), NAME(fifth)(in + 4)), every(16)), d);
}
EACH_BLOCK(q5_0, 32, 22)

GATHER_INLINE void NAME(q5_1_block)(const unsigned char *in, char *out) {
  const float d = half_at(in), m = half_at(in + 2);
  const BYTES q = load(in + 8);
  ADDED(OUT(0), either(both(q, every(15)), NAME(fifth)(in + 4)), d, m);
  ADDED(OUT(16), either(both(down(q, 4), every(15)), NAME(fifth)(in + 6)), d, m);
}
EACH_BLOCK(q5_1, 32, 24)

GATHER_INLINE void NAME(q8_0_block)(const unsigned char *in, char *out) {
  const float d = half_at(in);
  SCALED(OUT(0), load(in + 2), d);
  SCALED(OUT(16), load(in + 18), d);
}
EACH_BLOCK(q8_0, 32, 34)

GATHER_INLINE void NAME(iq4_nl_block)(const unsigned char *in, char *out) {
  NAME(halves_scaled)(OUT(0), OUT(16), load(in + 2), LEVELS_IQ4, half_at(in));
}
EACH_BLOCK(iq4_nl, 32, 18)

GATHER_INLINE void NAME(mxfp4_block)(const unsigned char *in, char *out) {
  NAME(halves_scaled)(OUT(0), OUT(16), load(in + 1), LEVELS_E2M1, half_of_e8m0(in[0]));
}
EACH_BLOCK(mxfp4, 32, 17)

GATHER_INLINE void NAME(nvfp4_block)(const unsigned char *in, char *out) {
  for (int part = 0; part < 4; part++) {
    const BYTES q = load_8(in + 4 + 8 * part), each = both(join(q, down(q, 4)), every(15));
    const float d = half_of_ue4m3(in[part]);
#if FLOAT_TABLES
    NAME(put)(OUT(16 * part), pick_floats(times(sixteen_at(LEVELS_E2M1), d), each));
#else
    SCALED(OUT(16 * part), pick(load(LEVELS_E2M1), each), d);
#endif
  }
}
EACH_BLOCK(nvfp4, 64, 36)

/* A bit that is set is 1, one that is not -1. */
GATHER_INLINE void NAME(q1_0_block)(const unsigned char *in, char *out) {
  const float d = half_at(in);
  for (int part = 0; part < 8; part++) {
    const BYTES set = either(spread(gather_little16(in + 2 + 2 * part)), every(1)); /* -1 or 1 */
    SCALED(OUT(16 * part), minus(every(0), set), d);
  }
}
EACH_BLOCK(q1_0, 128, 18)
