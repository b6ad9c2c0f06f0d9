/* SPDX-License-Identifier: MIT
 *
 * sixteen_neon.h: vectors of 16 bytes, and sixteen float32 in four registers, of 64-bit Arm, for sixteen.tmpl.h.
 */
#ifndef GATHER_KERNEL_SIXTEEN_NEON_H
#define GATHER_KERNEL_SIXTEEN_NEON_H

typedef uint8x16_t bytes_neon;
#define BYTES bytes_neon

GATHER_INLINE BYTES load(const void *in) { return vld1q_u8(in); }
GATHER_INLINE BYTES load_8(const void *in) { return vcombine_u8(vld1_u8(in), vdup_n_u8(0)); }
GATHER_INLINE BYTES every(int value) { return vdupq_n_u8((uint8_t)value); }
GATHER_INLINE BYTES both(BYTES a, BYTES b) { return vandq_u8(a, b); }
GATHER_INLINE BYTES either(BYTES a, BYTES b) { return vorrq_u8(a, b); }
GATHER_INLINE BYTES minus(BYTES a, BYTES b) { return vsubq_u8(a, b); }
#define down(a, bits) vshrq_n_u8(a, bits)
#define up(a, bits) vshlq_n_u8(a, bits)
/* Bytes of the table; q is below 16. */
GATHER_INLINE BYTES pick(BYTES table, BYTES q) { return vqtbl1q_u8(table, q); }
GATHER_INLINE BYTES zip_low(BYTES a, BYTES b) { return vzip1q_u8(a, b); }
GATHER_INLINE BYTES zip_high(BYTES a, BYTES b) { return vzip2q_u8(a, b); }
GATHER_INLINE BYTES join(BYTES low, BYTES high) { return vcombine_u8(vget_low_u8(low), vget_low_u8(high)); }

/* Byte k is 255 if bit k is set. */
GATHER_INLINE BYTES spread(uint32_t bits) {
  const BYTES each = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u));
  return vtstq_u8(vcombine_u8(vdup_n_u8((uint8_t)bits), vdup_n_u8((uint8_t)(bits >> 8))), each);
}

GATHER_INLINE float half_at(const unsigned char *in) { return gather_half_at(in); }

typedef struct {
  float32x4_t part[4];
} floats_neon;
#define FLOATS floats_neon

GATHER_INLINE FLOATS of_16(int16x8_t low, int16x8_t high) {
  return (FLOATS){{vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_high_s16(low)),
                   vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_high_s16(high))}};
}
GATHER_INLINE FLOATS of_signed(BYTES q) {
  const int8x16_t s = vreinterpretq_s8_u8(q);
  return of_16(vmovl_s8(vget_low_s8(s)), vmovl_high_s8(s));
}
GATHER_INLINE FLOATS of_unsigned(BYTES q) {
  return of_16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(q))), vreinterpretq_s16_u16(vmovl_high_u8(q)));
}

#define WITH_ONE(name, operation)                                                                                                  \
  GATHER_INLINE FLOATS name(FLOATS a, float b) {                                                                                   \
    const float32x4_t all = vdupq_n_f32(b);                                                                                        \
    return (FLOATS){{operation(a.part[0], all), operation(a.part[1], all), operation(a.part[2], all), operation(a.part[3], all)}}; \
  }
WITH_ONE(times, vmulq_f32)
WITH_ONE(plus, vaddq_f32)
WITH_ONE(less, vsubq_f32)
#undef WITH_ONE

GATHER_INLINE FLOATS fused(FLOATS a, float scale, float bias) {
  const float32x4_t s = vdupq_n_f32(scale), b = vdupq_n_f32(bias);
  for (int k = 0; k < 4; k++) a.part[k] = vfmaq_f32(b, a.part[k], s);
  return a;
}

GATHER_INLINE FLOATS sixteen_at(const float *in) {
  return (FLOATS){{vld1q_f32(in), vld1q_f32(in + 4), vld1q_f32(in + 8), vld1q_f32(in + 12)}};
}

/* Floats of the table; q is below 16: bytes 4q to 4q + 3 of its 64. */
GATHER_INLINE FLOATS pick_floats(FLOATS table, BYTES q) {
  const uint8x16x4_t in = {{vreinterpretq_u8_f32(table.part[0]), vreinterpretq_u8_f32(table.part[1]), vreinterpretq_u8_f32(table.part[2]),
                            vreinterpretq_u8_f32(table.part[3])}};
  const BYTES first = vshlq_n_u8(q, 2), rest = vreinterpretq_u8_u32(vdupq_n_u32(0x03020100u));
  const BYTES low = vzip1q_u8(first, first), high = vzip2q_u8(first, first);
  const BYTES at[4] = {vzip1q_u8(low, low), vzip2q_u8(low, low), vzip1q_u8(high, high), vzip2q_u8(high, high)};
  FLOATS found;
  for (int k = 0; k < 4; k++) found.part[k] = vreinterpretq_f32_u8(vqtbl4q_u8(in, vaddq_u8(at[k], rest)));
  return found;
}

/* Picking floats takes as long as scaling them. */
#define FLOAT_TABLES 0

#define PAST_STORES 0
GATHER_INLINE void put_f32(char *out, FLOATS v) {
  for (int k = 0; k < 4; k++) vst1q_u8((uint8_t *)out + 16 * k, vreinterpretq_u8_f32(v.part[k]));
}
GATHER_INLINE void put_f16(char *out, FLOATS v) {
  for (int k = 0; k < 4; k++) vst1_u8((uint8_t *)out + 8 * k, vreinterpret_u8_f16(vcvt_f16_f32(v.part[k])));
}
/* What is not a number stays none. */
GATHER_INLINE void put_bf16(char *out, FLOATS v) {
  for (int k = 0; k < 4; k++) {
    const uint32x4_t bits = vreinterpretq_u32_f32(v.part[k]), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
    const uint32x4_t number = vceqq_f32(v.part[k], v.part[k]);
    const uint32x4_t all = vbslq_u32(number, rounded, vorrq_u32(bits, vdupq_n_u32(0x400000)));
    vst1_u8((uint8_t *)out + 8 * k, vreinterpret_u8_u16(vshrn_n_u32(all, 16)));
  }
}

#endif
