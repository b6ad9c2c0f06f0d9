/* SPDX-License-Identifier: MIT
 *
 * isa_neon.c: 64-bit Arm: register tables of up to 64 bytes, non-temporal stores. Rows and validation are as fast in
 * plain C. Empty for other CPU families.
 */
#include <string.h>

#if !defined(GATHER_ONLY_GATHER)
#include "core/kernel/combine.h"
#endif
#include "core/kernel/copy.h"
#include "core/kernel/kernel.h"

#if GATHER_ISA_NEON
#include <arm_neon.h>

GATHER_INLINE uint8x16_t bytes_at(const char *in) { return vld1q_u8((const uint8_t *)in); }
GATHER_INLINE uint16x8_t u16_at(const char *in) { return vreinterpretq_u16_u8(bytes_at(in)); }
GATHER_INLINE uint32x4_t u32_at(const char *in) { return vreinterpretq_u32_u8(bytes_at(in)); }
GATHER_INLINE uint64x2_t u64_at(const char *in) { return vreinterpretq_u64_u8(bytes_at(in)); }

/* C has no such store; compilers have it under different names. */
GATHER_INLINE void nontemporal_line(char *out, const char *in) {
  uint8x16_t a = bytes_at(in), b = bytes_at(in + 16), c = bytes_at(in + 32), d = bytes_at(in + 48);
  __asm__ volatile("stnp %q1, %q2, [%0]\n\tstnp %q3, %q4, [%0, #32]" : : "r"(out), "w"(a), "w"(b), "w"(c), "w"(d) : "memory");
}

/* How many of 16 lanes, from the front, are all ones: four bits of each are tested. */
GATHER_INLINE int ones(const uint32x4_t same[4]) {
  uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(same[0]), vreinterpretq_u16_u32(same[1]));
  uint16x8_t high = vuzp1q_u16(vreinterpretq_u16_u32(same[2]), vreinterpretq_u16_u32(same[3]));
  uint8x16_t all = vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
  uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(all), 4)), 0);
  return bits == UINT64_MAX ? 16 : __builtin_ctzll(~bits) / 4;
}

GATHER_INLINE int follow_u32(const char *indices, uint32_t first) {
  static const uint32_t count_up[4] = {0, 1, 2, 3};
  uint32x4_t same[4], wanted = vaddq_u32(vdupq_n_u32(first), vld1q_u32(count_up));
  for (int k = 0; k < 4; k++, wanted = vaddq_u32(wanted, vdupq_n_u32(4))) same[k] = vceqq_u32(u32_at(indices + k * 16), wanted);
  return ones(same);
}

GATHER_INLINE int follow_u64(const char *indices, uint64_t first) {
  static const uint64_t count_up[2] = {0, 1};
  uint32x4_t same[4], half[8];
  uint64x2_t wanted = vaddq_u64(vdupq_n_u64(first), vld1q_u64(count_up));
  for (int k = 0; k < 8; k++, wanted = vaddq_u64(wanted, vdupq_n_u64(2)))
    half[k] = vreinterpretq_u32_u64(vceqq_u64(u64_at(indices + k * 16), wanted));
  for (int k = 0; k < 4; k++) same[k] = vuzp1q_u32(half[2 * k], half[2 * k + 1]);
  return ones(same);
}

#include "core/kernel/nontemporals.tmpl.h"

/* These stores are ordered like all others: no fence is needed. */
#if !GATHER_SMALL
static void fence(void) {}
#endif

/* Tables: the last bytes of the four registers are zeros where the table is shorter. */
GATHER_INLINE uint8x16x4_t load_table(const gather_span *s) {
  char bytes[64] = {0};
  uint8x16x4_t t;
  memcpy(bytes, s->data, (size_t)s->table_bytes);
  for (int i = 0; i < 4; i++) t.val[i] = bytes_at(bytes + i * 16);
  return t;
}

/* Sixteen bytes of the table by their numbers. registers: 1, 2 or 4 hold the table. */
GATHER_INLINE uint8x16_t pick_1(const uint8x16x4_t *t, uint8x16_t at, int registers) {
  if (registers == 1) return vqtbl1q_u8(t->val[0], at);
  const uint8x16x2_t two = {{t->val[0], t->val[1]}};
  return registers == 2 ? vqtbl2q_u8(two, at) : vqtbl4q_u8(*t, at);
}

/* An element of two bytes is bytes 2i and 2i + 1. */
GATHER_INLINE uint8x16_t pick_2(const uint8x16x4_t *t, uint16x8_t at, int registers) {
  return pick_1(t, vreinterpretq_u8_u16(vmlaq_n_u16(vdupq_n_u16(0x0100), at, 0x0202)), registers);
}

/* indices_<width of the index>_<size of the element>: as many indices as an output vector has elements, as lanes of that size. */
GATHER_INLINE uint8x16_t indices_1_1(const char *i) { return bytes_at(i); }
GATHER_INLINE uint16x8_t indices_1_2(const char *i) { return vmovl_u8(vld1_u8((const uint8_t *)i)); }
GATHER_INLINE uint16x8_t indices_4_2(const char *i) { return vuzp1q_u16(u16_at(i), u16_at(i + 16)); }
GATHER_INLINE uint16x8_t indices_8_2(const char *i) {
  uint32x4_t low = vuzp1q_u32(u32_at(i), u32_at(i + 16)), high = vuzp1q_u32(u32_at(i + 32), u32_at(i + 48));
  return vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}
GATHER_INLINE uint8x16_t narrow(uint16x8_t low, uint16x8_t high) {
  return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}
GATHER_INLINE uint8x16_t indices_4_1(const char *i) { return narrow(indices_4_2(i), indices_4_2(i + 32)); }
GATHER_INLINE uint8x16_t indices_8_1(const char *i) { return narrow(indices_8_2(i), indices_8_2(i + 64)); }

#define TABLE_LOOP(W, E, REGISTERS)                                                                \
  for (; j + 16 / E <= s->count; j += 16 / E) {                                                    \
    if (s->many) GATHER_PREFETCH(indices + j * W + GATHER_INDEX_PREFETCH);                         \
    vst1q_u8((uint8_t *)out + j * E, pick_##E(&t, indices_##W##_##E(indices + j * W), REGISTERS)); \
  }

/* Indices and output are dense, the table is. The last elements, fewer than a vector, go through a copy of their indices. */
#define TABLE(W, E)                                                  \
  static void table_##W##_##E(const gather_span *s) {                \
    const uint8x16x4_t t = load_table(s);                            \
    for (int64_t i = 0; i < s->rounds; i++) {                        \
      const char *indices = s->indices + i * s->index_round;         \
      char *out = s->out + i * s->out_round, last[16 / E * W] = {0}; \
      uint8_t picked[16];                                            \
      int64_t j = 0;                                                 \
      if (s->table_bytes <= 16)                                      \
        TABLE_LOOP(W, E, 1)                                          \
      else if (s->table_bytes <= 32)                                 \
        TABLE_LOOP(W, E, 2)                                          \
      else                                                           \
        TABLE_LOOP(W, E, 4)                                          \
      if (j == s->count) continue;                                   \
      memcpy(last, indices + j * W, (size_t)((s->count - j) * W));   \
      vst1q_u8(picked, pick_##E(&t, indices_##W##_##E(last), 4));    \
      memcpy(out + j * E, picked, (size_t)((s->count - j) * E));     \
    }                                                                \
  }
TABLE(1, 1)
TABLE(1, 2)
TABLE(4, 1)
TABLE(4, 2)
TABLE(8, 1)
TABLE(8, 2)

const gather_isa gather_isa_neon = {
    .name = "neon",
    .table = {{table_1_1, table_1_2}, {table_4_1, table_4_2}, {table_8_1, table_8_2}},
    .table_bytes = {64, 64},
    .runs = {runs_u32, runs_u64},
#if !GATHER_SMALL
    .nontemporal = {NONTEMPORAL_OF(u32, lines), NONTEMPORAL_OF(u64, lines)},
    .interleaved = {interleaved_u32, interleaved_u64},
    .nontemporal_runs = {nontemporal_runs_u32, nontemporal_runs_u64},
    .nontemporal_copy = nontemporal_copy,
    .fence = fence,
#endif
#if !defined(GATHER_ONLY_GATHER)
    .combine = &gather_combining_neon,
#endif
#if !defined(GATHER_NO_CODECS)
    .decode = &gather_decoding_neon,
#endif
#if !defined(GATHER_ONLY_GATHER) && !GATHER_SMALL
    .bag = &gather_bagging_neon,
#endif
};
#endif
