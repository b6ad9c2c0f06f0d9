/* SPDX-License-Identifier: MIT
 *
 * bag_neon.c: embedding bags by NEON. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/bag.h"
#include "core/kernel/copy.h"

#if GATHER_ISA_NEON && !GATHER_SMALL && !defined(GATHER_ONLY_GATHER)
#include <arm_neon.h>

/* Vectors of 16 bytes are short: one of these has two registers. */
enum { BAG_LANES_f32 = 8, BAG_LANES_f64 = 4 };
typedef struct {
  float32x4_t low, high;
} floats_bag_neon;
typedef struct {
  float64x2_t low, high;
} doubles_bag_neon;
#define FLOATS floats_bag_neon
#define DOUBLES doubles_bag_neon

/* Elements have any alignment: they are loaded as bytes. */
GATHER_INLINE uint8x16_t sixteen(const char *at) { return vld1q_u8((const uint8_t *)at); }
GATHER_INLINE FLOATS load_f32(const char *at) {
  return (FLOATS){vreinterpretq_f32_u8(sixteen(at)), vreinterpretq_f32_u8(sixteen(at + 16))};
}
GATHER_INLINE FLOATS load_half(const char *at) {
  const float16x8_t halves = vreinterpretq_f16_u8(sixteen(at));
  return (FLOATS){vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)};
}
GATHER_INLINE FLOATS load_bfloat(const char *at) {
  const uint16x8_t halves = vreinterpretq_u16_u8(sixteen(at));
  return (FLOATS){vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(halves), 16)), vreinterpretq_f32_u32(vshll_high_n_u16(halves, 16))};
}
GATHER_INLINE DOUBLES load_f64(const char *at) {
  return (DOUBLES){vreinterpretq_f64_u8(sixteen(at)), vreinterpretq_f64_u8(sixteen(at + 16))};
}
GATHER_INLINE DOUBLES load_wide(const char *at) {
  const float32x4_t floats = vreinterpretq_f32_u8(sixteen(at));
  return (DOUBLES){vcvt_f64_f32(vget_low_f32(floats)), vcvt_high_f64_f32(floats)};
}

GATHER_INLINE void put_f32(char *at, FLOATS v) {
  vst1q_u8((uint8_t *)at, vreinterpretq_u8_f32(v.low));
  vst1q_u8((uint8_t *)at + 16, vreinterpretq_u8_f32(v.high));
}
GATHER_INLINE void put_half(char *at, FLOATS v) {
  vst1q_u8((uint8_t *)at, vreinterpretq_u8_f16(vcombine_f16(vcvt_f16_f32(v.low), vcvt_f16_f32(v.high))));
}
/* What is not a number stays none. */
GATHER_INLINE uint16x4_t bfloats_of(float32x4_t v) {
  const uint32x4_t bits = vreinterpretq_u32_f32(v), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
  return vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, vorrq_u32(bits, vdupq_n_u32(0x400000))), 16);
}
GATHER_INLINE void put_bfloat(char *at, FLOATS v) {
  vst1q_u8((uint8_t *)at, vreinterpretq_u8_u16(vcombine_u16(bfloats_of(v.low), bfloats_of(v.high))));
}
GATHER_INLINE void put_f64(char *at, DOUBLES v) {
  vst1q_u8((uint8_t *)at, vreinterpretq_u8_f64(v.low));
  vst1q_u8((uint8_t *)at + 16, vreinterpretq_u8_f64(v.high));
}
GATHER_INLINE void put_wide(char *at, DOUBLES v) {
  vst1q_u8((uint8_t *)at, vreinterpretq_u8_f32(vcombine_f32(vcvt_f32_f64(v.low), vcvt_f32_f64(v.high))));
}

GATHER_INLINE FLOATS acc_f32(const float *at) { return (FLOATS){vld1q_f32(at), vld1q_f32(at + 4)}; }
GATHER_INLINE DOUBLES acc_f64(const double *at) { return (DOUBLES){vld1q_f64(at), vld1q_f64(at + 2)}; }
GATHER_INLINE void keep_f32(float *at, FLOATS v) { vst1q_f32(at, v.low), vst1q_f32(at + 4, v.high); }
GATHER_INLINE void keep_f64(double *at, DOUBLES v) { vst1q_f64(at, v.low), vst1q_f64(at + 2, v.high); }
GATHER_INLINE FLOATS every_f32(float a) { return (FLOATS){vdupq_n_f32(a), vdupq_n_f32(a)}; }
GATHER_INLINE DOUBLES every_f64(double a) { return (DOUBLES){vdupq_n_f64(a), vdupq_n_f64(a)}; }

#define OF_BOTH(name, operation)                                                                                                           \
  GATHER_INLINE FLOATS name##_f32(FLOATS a, FLOATS b) { return (FLOATS){operation##_f32(a.low, b.low), operation##_f32(a.high, b.high)}; } \
  GATHER_INLINE DOUBLES name##_f64(DOUBLES a, DOUBLES b) {                                                                                 \
    return (DOUBLES){operation##_f64(a.low, b.low), operation##_f64(a.high, b.high)};                                                      \
  }
OF_BOTH(plus, vaddq)
OF_BOTH(times, vmulq)
OF_BOTH(divide, vdivq)

GATHER_INLINE float32x4_t higher_4(float32x4_t row, float32x4_t acc) {
  return vbslq_f32(vornq_u32(vcgtq_f32(row, acc), vceqq_f32(row, row)), row, acc);
}
GATHER_INLINE float64x2_t higher_2(float64x2_t row, float64x2_t acc) {
  return vbslq_f64(vornq_u64(vcgtq_f64(row, acc), vceqq_f64(row, row)), row, acc);
}
GATHER_INLINE FLOATS higher_f32(FLOATS row, FLOATS acc) { return (FLOATS){higher_4(row.low, acc.low), higher_4(row.high, acc.high)}; }
GATHER_INLINE DOUBLES higher_f64(DOUBLES row, DOUBLES acc) { return (DOUBLES){higher_2(row.low, acc.low), higher_2(row.high, acc.high)}; }

#include "core/kernel/bag_vectors.tmpl.h"

const gather_bagging gather_bagging_neon = BAG_SLOTS;
#endif
