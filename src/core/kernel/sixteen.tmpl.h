/* SPDX-License-Identifier: MIT
 *
 * sixteen.tmpl.h: decoders that work on sixteen elements at a time, for every type of the output. Included once per instruction
 * set, with the target on, after one of sixteen_avx2.h, sixteen_avx512.h and sixteen_neon.h, which define what vectors do, and with
 * PAST_STORES 1 non-temporal stores (put_f32_past). The
 * layouts are described in blocks.tmpl.h and blocks_k.tmpl.h; every operation on floats is the one of the portable decoders, in
 * their order, so the bits are too.
 */
#if FLOAT_TABLES
typedef float level;
static const level LEVELS_NONE[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
typedef signed char level;
#endif
static const level LEVELS_CENTRED[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
static const level LEVELS_IQ4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const level LEVELS_E2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

#define PUTS(type)                                                                                                            \
  GATHER_INLINE void scaled_##type(char *out, BYTES q, float d) { put_##type(out, times(of_signed(q), d)); }                  \
  GATHER_INLINE void added_##type(char *out, BYTES q, float d, float m) { put_##type(out, plus(times(of_signed(q), d), m)); } \
  GATHER_INLINE void taken_##type(char *out, BYTES q, float d, float m) { put_##type(out, less(times(of_signed(q), d), m)); }
PUTS(f32)
PUTS(f16)
PUTS(bf16)
#if PAST_STORES
PUTS(f32_past)
#endif
#undef PUTS

/* Sixteen elements of the lower halves of bytes, sixteen of the upper ones. */
#if FLOAT_TABLES
#define HALVES_OF(type)                                                                                   \
  GATHER_INLINE void halves_##type(char *low, char *high, BYTES q, FLOATS table) {                        \
    put_##type(low, pick_low(table, q));                                                                  \
    put_##type(high, pick_high(table, q));                                                                \
  }                                                                                                       \
  GATHER_INLINE void halves_scaled_##type(char *low, char *high, BYTES q, const float *levels, float d) { \
    halves_##type(low, high, q, times(sixteen_at(levels), d));                                            \
  }                                                                                                       \
  GATHER_INLINE void halves_added_##type(char *low, char *high, BYTES q, float d, float m) {              \
    halves_##type(low, high, q, plus(times(sixteen_at(LEVELS_NONE), d), m));                              \
  }
#else
#define HALVES_OF(type)                                                                                         \
  GATHER_INLINE void halves_scaled_##type(char *low, char *high, BYTES q, const signed char *levels, float d) { \
    const BYTES table = load(levels);                                                                           \
    scaled_##type(low, pick(table, both(q, every(15))), d);                                                     \
    scaled_##type(high, pick(table, both(down(q, 4), every(15))), d);                                           \
  }                                                                                                             \
  GATHER_INLINE void halves_added_##type(char *low, char *high, BYTES q, float d, float m) {                    \
    added_##type(low, both(q, every(15)), d, m);                                                                \
    added_##type(high, both(down(q, 4), every(15)), d, m);                                                      \
  }
#endif
HALVES_OF(f32)
HALVES_OF(f16)
HALVES_OF(bf16)
#if PAST_STORES
HALVES_OF(f32_past)
#endif
#undef HALVES_OF

/* Eight scales and minima of Q4_K and Q5_K, times d and dmin. */
GATHER_INLINE void scales_of_k4(const unsigned char *in, float *d, float *m) {
  const float all = half_at(in), least = half_at(in + 2);
  const uint32_t a = gather_little32(in + 4), b = gather_little32(in + 8), c = gather_little32(in + 12);
  const uint32_t low = 0x0F0F0F0Fu, top = 0x30303030u, six = 0x3F3F3F3Fu;
  const uint32_t scales[2] = {a & six, (c & low) | (a >> 2 & top)}, minima[2] = {b & six, (c >> 4 & low) | (b >> 2 & top)};
  unsigned char each[16];
  memcpy(each, scales, 8), memcpy(each + 8, minima, 8);
  for (int i = 0; i < 8; i++) d[i] = (float)each[i], m[i] = (float)each[8 + i];
  for (int i = 0; i < 8; i++) d[i] = gather_times(all, d[i]), m[i] = gather_times(least, m[i]);
}

#define SUFFIX f32
#define OUT_BYTES 4
#include "core/kernel/sixteen_blocks.tmpl.h"
#include "core/kernel/sixteen_blocks_k.tmpl.h"
#include "core/kernel/sixteen_codes.tmpl.h"

#define SUFFIX f16
#define OUT_BYTES 2
#include "core/kernel/sixteen_blocks.tmpl.h"
#include "core/kernel/sixteen_blocks_k.tmpl.h"
#include "core/kernel/sixteen_codes.tmpl.h"

#define SUFFIX bf16
#define OUT_BYTES 2
#include "core/kernel/sixteen_blocks.tmpl.h"
#include "core/kernel/sixteen_blocks_k.tmpl.h"
#include "core/kernel/sixteen_codes.tmpl.h"

#if PAST_STORES
#define SUFFIX f32_past
#define OUT_BYTES 4
#include "core/kernel/sixteen_blocks.tmpl.h"
#include "core/kernel/sixteen_blocks_k.tmpl.h"
#include "core/kernel/sixteen_codes.tmpl.h"

#define OF_TYPES(name) \
  { name##_f32, name##_f16, name##_bf16, name##_f32_past }
#else
#define OF_TYPES(name) \
  { name##_f32, name##_f16, name##_bf16, NULL }
#endif
#define SIXTEEN_BLOCKS                                                                                                        \
  {                                                                                                                           \
    [GATHER_CODEC_Q4_0] = OF_TYPES(q4_0), [GATHER_CODEC_Q4_1] = OF_TYPES(q4_1), [GATHER_CODEC_Q5_0] = OF_TYPES(q5_0),         \
    [GATHER_CODEC_Q5_1] = OF_TYPES(q5_1), [GATHER_CODEC_Q8_0] = OF_TYPES(q8_0), [GATHER_CODEC_Q2_K] = OF_TYPES(q2_k),         \
    [GATHER_CODEC_Q3_K] = OF_TYPES(q3_k), [GATHER_CODEC_Q4_K] = OF_TYPES(q4_k), [GATHER_CODEC_Q5_K] = OF_TYPES(q5_k),         \
    [GATHER_CODEC_Q6_K] = OF_TYPES(q6_k), [GATHER_CODEC_Q8_K] = OF_TYPES(q8_k), [GATHER_CODEC_IQ4_NL] = OF_TYPES(iq4_nl),     \
    [GATHER_CODEC_IQ4_XS] = OF_TYPES(iq4_xs), [GATHER_CODEC_TQ2_0] = OF_TYPES(tq2_0), [GATHER_CODEC_MXFP4] = OF_TYPES(mxfp4), \
    [GATHER_CODEC_NVFP4] = OF_TYPES(nvfp4), [GATHER_CODEC_Q1_0] = OF_TYPES(q1_0)                                              \
  }
#define SIXTEEN_CODES                                                                                                       \
  {                                                                                                                         \
    [GATHER_CODES_U8] = OF_TYPES(codes_u8), [GATHER_CODES_S8] = OF_TYPES(codes_s8), [GATHER_CODES_T4] = OF_TYPES(codes_t4), \
    [GATHER_CODES_F8] = OF_TYPES(codes_f8)                                                                                  \
  }
#define SIXTEEN_DECODERS                                                   \
  {                                                                        \
    SIXTEEN_BLOCKS, SIXTEEN_CODES, { NULL, narrow_f16, narrow_bf16, NULL } \
  }
