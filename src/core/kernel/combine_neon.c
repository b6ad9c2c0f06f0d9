/* SPDX-License-Identifier: MIT
 *
 * combine_neon.c: the kernels that combine halves, and sums that are rounded once, by NEON. All else compilers make of plain C. Empty for
 * other CPU families.
 */
#include <string.h>

#include "core/kernel/combine_number.h"
#include "core/kernel/combine_vector.h"
#include "core/kernel/combine_walk.h"

#if GATHER_ISA_NEON && !defined(GATHER_ONLY_GATHER)
#include <arm_neon.h>

GATHER_INLINE uint16x4_t four_at(const char *in) { return vreinterpret_u16_u8(vld1_u8((const uint8_t *)in)); }
GATHER_INLINE void put_four(char *out, uint16x4_t a) { vst1_u8((uint8_t *)out, vreinterpret_u8_u16(a)); }

GATHER_INLINE float32x4_t load_f16_8(const char *in) { return vcvt_f32_f16(vreinterpret_f16_u16(four_at(in))); }
GATHER_INLINE void store_f16_8(char *out, float32x4_t a) { put_four(out, vreinterpret_u16_f16(vcvt_f16_f32(a))); }
/* One float16. */
GATHER_INLINE float wide_f16(gather_half half) { return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half))), 0); }
GATHER_INLINE gather_half narrow_f16(float number) { return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(number))), 0); }

GATHER_INLINE float32x4_t load_bf16_8(const char *in) { return vreinterpretq_f32_u32(vshll_n_u16(four_at(in), 16)); }
/* NaN stays NaN: gather_narrow_bf16. */
GATHER_INLINE void store_bf16_8(char *out, float32x4_t a) {
  const uint32x4_t bits = vreinterpretq_u32_f32(a), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
  const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
  put_four(out, vshrn_n_u32(vbslq_u32(vceqq_f32(a, a), rounded, quiet), 16));
}

GATHER_INLINE float64x2_t load_f32_8(const char *in) { return vcvt_f64_f32(vreinterpret_f32_u8(vld1_u8((const uint8_t *)in))); }
GATHER_INLINE void store_f32_8(char *out, float64x2_t a) { vst1_u8((uint8_t *)out, vreinterpret_u8_f32(vcvt_f32_f64(a))); }

#define LONGEST 16
#define LONGEST_HALF 8
#define WIDE_F16 wide_f16
#define NARROW_F16 narrow_f16
#define ONLY_HALVES
#include "core/kernel/combine.tmpl.h"

#include "core/kernel/combine_wide.tmpl.h"

const gather_combining gather_combining_neon = {
    .elements = HALF_SLOTS(elements),
    .rows = HALF_SLOTS(rows),
    .wide = WIDE_SLOTS,
};
#endif
