/* SPDX-License-Identifier: MIT
 *
 * isa_sve.c: 64-bit Arm with vectors of a length known at run time: the gather instruction, and tables in one register. Indices
 * are widened by the portable loops, which compilers write for NEON: in vectors of 128 bits those of SVE take more instructions. Empty for
 * other CPU families, and if the compiler cannot use SVE in single functions.
 */
#include <string.h>

#include "core/kernel/copy.h"
#include "core/kernel/kernel.h"

#if GATHER_ISA_SVE
#include <arm_sve.h>

GATHER_TARGET_BEGIN("+sve")

/* Loads and stores need no alignment. */
GATHER_INLINE svuint32_t u32_at(svbool_t lanes, const char *in) { return svld1_u32(lanes, (const void *)in); }
GATHER_INLINE svuint64_t u64_at(svbool_t lanes, const char *in) { return svld1_u64(lanes, (const void *)in); }

/* As many indices as there are lanes of 4 or 8 bytes, from number j on, in the lanes that are on. */
GATHER_INLINE svuint32_t lanes_4_u32(svbool_t some, const char *indices, int64_t j, int64_t last) {
  (void)last;
  return u32_at(some, indices + j * 4);
}
GATHER_INLINE svuint32_t lanes_4_u64(svbool_t some, const char *indices, int64_t j, int64_t last) {
  const int64_t half = (int64_t)svcntd();
  svuint64_t low = u64_at(svwhilelt_b64_s64(j, last), indices + j * 8);
  svuint64_t high = u64_at(svwhilelt_b64_s64(j + half, last), indices + (j + half) * 8);
  (void)some;
  return svuzp1_u32(svreinterpret_u32_u64(low), svreinterpret_u32_u64(high));
}
GATHER_INLINE svuint64_t lanes_8_u32(svbool_t some, const char *indices, int64_t j) {
  return svld1uw_u64(some, (const void *)(indices + j * 4));
}
GATHER_INLINE svuint64_t lanes_8_u64(svbool_t some, const char *indices, int64_t j) { return u64_at(some, indices + j * 8); }

/* Offsets of 4 bytes hold 32 steps along the data and the table; only vectors of 2048 bits have more lanes. */
#define BY_VECTOR(w)                                                                                      \
  static void instruction_4_##w(const gather_span *s) {                                                   \
    const int64_t lanes = svcntw() < 32 ? (int64_t)svcntw() : 32;                                         \
    const svint32_t along = svindex_s32(0, (int32_t)s->data_step);                                        \
    for (int64_t i = 0; i < s->rounds; i++) {                                                             \
      const char *data = s->data + i * s->data_round, *indices = s->indices + i * s->index_round;         \
      char *out = s->out + i * s->out_round;                                                              \
      for (int64_t j = 0; j < s->count; j += lanes) {                                                     \
        const int64_t last = s->count - j < lanes ? s->count : j + lanes;                                 \
        const svbool_t some = svwhilelt_b32_s64(j, last);                                                 \
        const svint32_t row = svreinterpret_s32_u32(lanes_4_##w(some, indices, j, last));                 \
        const svint32_t at = svmla_n_s32_x(some, along, row, (int32_t)s->axis_step);                      \
        const char *base = data + j * s->data_step;                                                       \
        svst1_u32(some, (void *)(out + j * 4), svld1_gather_s32offset_u32(some, (const void *)base, at)); \
      }                                                                                                   \
    }                                                                                                     \
  }                                                                                                       \
  static void instruction_8_##w(const gather_span *s) {                                                   \
    const int64_t lanes = (int64_t)svcntd();                                                              \
    const svint64_t along = svindex_s64(0, s->data_step);                                                 \
    for (int64_t i = 0; i < s->rounds; i++) {                                                             \
      const char *data = s->data + i * s->data_round, *indices = s->indices + i * s->index_round;         \
      char *out = s->out + i * s->out_round;                                                              \
      for (int64_t j = 0; j < s->count; j += lanes) {                                                     \
        const svbool_t some = svwhilelt_b64_s64(j, s->count);                                             \
        const svint64_t row = svreinterpret_s64_u64(lanes_8_##w(some, indices, j));                       \
        const svint64_t at = svmla_n_s64_x(some, along, row, s->axis_step);                               \
        const char *base = data + j * s->data_step;                                                       \
        svst1_u64(some, (void *)(out + j * 8), svld1_gather_s64offset_u64(some, (const void *)base, at)); \
      }                                                                                                   \
    }                                                                                                     \
  }
BY_VECTOR(u32)
BY_VECTOR(u64)

/* Whole vectors of indices of each width, as lanes of the element's size. */
GATHER_INLINE svuint16_t indices_4_2(const char *i) {
  const svbool_t all = svptrue_b32();
  svuint32_t low = u32_at(all, i), high = u32_at(all, i + svcntb());
  return svuzp1_u16(svreinterpret_u16_u32(low), svreinterpret_u16_u32(high));
}
GATHER_INLINE svuint16_t indices_8_2(const char *i) {
  const svbool_t all = svptrue_b64();
  const uint64_t bytes = svcntb();
  svuint32_t a = svreinterpret_u32_u64(u64_at(all, i)), b = svreinterpret_u32_u64(u64_at(all, i + bytes));
  svuint32_t c = svreinterpret_u32_u64(u64_at(all, i + 2 * bytes)), d = svreinterpret_u32_u64(u64_at(all, i + 3 * bytes));
  return svuzp1_u16(svreinterpret_u16_u32(svuzp1_u32(a, b)), svreinterpret_u16_u32(svuzp1_u32(c, d)));
}
GATHER_INLINE svuint8_t narrow(svuint16_t low, svuint16_t high) { return svuzp1_u8(svreinterpret_u8_u16(low), svreinterpret_u8_u16(high)); }
GATHER_INLINE svuint8_t indices_4_1(const char *i) { return narrow(indices_4_2(i), indices_4_2(i + 2 * svcntb())); }
GATHER_INLINE svuint8_t indices_8_1(const char *i) { return narrow(indices_8_2(i), indices_8_2(i + 4 * svcntb())); }

GATHER_INLINE svuint8_t table_1(svuint8_t bytes) { return bytes; }
GATHER_INLINE svuint16_t table_2(svuint8_t bytes) { return svreinterpret_u16_u8(bytes); }

/* A table in one register, where it fits; in the shortest vectors it may not, and NEON's four registers take it. */
extern const gather_isa gather_isa_neon;
#define TABLE_BEGIN(W, E, SLOT)                                                                      \
  static void table_##W##_##E(const gather_span *s) {                                                \
    if (s->table_bytes > (int64_t)svcntb()) {                                                        \
      gather_isa_neon.table[SLOT][E - 1](s);                                                         \
      return;                                                                                        \
    }                                                                                                \
    const int64_t lanes = (int64_t)svcntb() / E;                                                     \
    const svuint8_t bytes = svld1_u8(svwhilelt_b8_s64(0, s->table_bytes), (const uint8_t *)s->data); \
    for (int64_t i = 0; i < s->rounds; i++) {                                                        \
      const char *indices = s->indices + i * s->index_round;                                         \
      char *out = s->out + i * s->out_round;

#define TABLE_END \
  }               \
  }

/* BITS: of the element. */
#define TABLE_OF_BYTES(E, BITS, LOAD)                                                                                      \
  TABLE_BEGIN(1, E, GATHER_TABLE_WIDTH_1)                                                                                  \
  for (int64_t j = 0; j < s->count; j += lanes) {                                                                          \
    const svbool_t some = svwhilelt_b##BITS##_s64(j, s->count);                                                            \
    if (s->many) GATHER_PREFETCH(indices + j + GATHER_INDEX_PREFETCH);                                                     \
    svst1_u##BITS(some, (void *)(out + j * E), svtbl_u##BITS(table_##E(bytes), LOAD(some, (const uint8_t *)indices + j))); \
  }                                                                                                                        \
  TABLE_END
TABLE_OF_BYTES(1, 8, svld1_u8)
TABLE_OF_BYTES(2, 16, svld1ub_u16)

/* The last elements go by lanes as wide as their indices (INDEX_BITS): what an index picks stands lowest in its lane, and only
 * that is stored. */
#define TABLE(W, E, INDEX_BITS, BITS, STORE)                                                                                      \
  TABLE_BEGIN(W, E, GATHER_TABLE_WIDTH_##W)                                                                                       \
  int64_t j = 0;                                                                                                                  \
  for (; j + lanes <= s->count; j += lanes) {                                                                                     \
    if (s->many) GATHER_PREFETCH(indices + j * W + GATHER_INDEX_PREFETCH);                                                        \
    svst1_u##BITS(svptrue_b##BITS(), (void *)(out + j * E), svtbl_u##BITS(table_##E(bytes), indices_##W##_##E(indices + j * W))); \
  }                                                                                                                               \
  for (; j < s->count; j += (int64_t)svcntb() / W) {                                                                              \
    const svbool_t some = svwhilelt_b##INDEX_BITS##_s64(j, s->count);                                                             \
    const svuint##INDEX_BITS##_t at = u##INDEX_BITS##_at(some, indices + j * W);                                                  \
    const svuint##BITS##_t picked = svtbl_u##BITS(table_##E(bytes), svreinterpret_u##BITS##_u##INDEX_BITS(at));                   \
    STORE(some, (void *)(out + j * E), svreinterpret_u##INDEX_BITS##_u##BITS(picked));                                            \
  }                                                                                                                               \
  TABLE_END
TABLE(4, 1, 32, 8, svst1b_u32)
TABLE(4, 2, 32, 16, svst1h_u32)
TABLE(8, 1, 64, 8, svst1b_u64)
TABLE(8, 2, 64, 16, svst1h_u64)

GATHER_TARGET_END

const gather_isa gather_isa_sve = {.name = "sve",
                                   .gather_instruction = {{instruction_4_u32, instruction_8_u32}, {instruction_4_u64, instruction_8_u64}},
                                   .table = {{table_1_1, table_1_2}, {table_4_1, table_4_2}, {table_8_1, table_8_2}},
                                   .table_bytes = {64, 64}};
#endif
