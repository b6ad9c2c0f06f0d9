/* SPDX-License-Identifier: MIT
 *
 * isa_avx2.c: rows of 1, 2, 32 and more bytes, non-temporal stores, validation, also while rows move, register tables, and the gather
 * instruction. Other rows gain nothing from wider registers. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/bits_element.h"
#if !defined(GATHER_ONLY_GATHER)
#include "core/kernel/combine.h"
#endif
#include "core/kernel/copy.h"
#include "core/kernel/index_types.h"
#include "core/kernel/kernel.h"

#if GATHER_ISA_AVX2
#include <immintrin.h>

/* Without optimisation gcc's gather instructions are macros, whose masks change their sign. */
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

GATHER_TARGET_BEGIN("avx2")
#include "core/kernel/tables_avx2.h"

#include "core/kernel/wide_x86.h"

#define INDEX uint32_t
#define SUFFIX u32
#define SHORTEST_ROW 32
#include "core/kernel/rows.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define SHORTEST_ROW 32
#include "core/kernel/rows.tmpl.h"

#define WITHIN_BY MOST
#define WITHIN_BY_64 BITS
#include "core/kernel/within.tmpl.h"

/* There is no maximum of numbers of 8 bytes, but of their halves; the high ones must be 0. */
static bool within_halves_u64(const char *indices, int64_t count, bool many, uint64_t limit) {
  if (limit > UINT32_MAX) return within_u64(indices, count, many, limit);
  __m256i low = _mm256_setzero_si256(), high = low;
  int64_t j = 0;
  for (; j + 8 <= count; j += 8) {
    if (many) GATHER_PREFETCH(indices + j * 8 + GATHER_INDEX_PREFETCH);
    low = _mm256_max_epu32(low, _mm256_loadu_si256((const void *)(indices + j * 8)));
    high = _mm256_max_epu32(high, _mm256_loadu_si256((const void *)(indices + j * 8 + 32)));
  }
  const __m256i most = _mm256_max_epu32(low, high), last = _mm256_set1_epi64x((long long)(limit - 1));
  const __m256i below = _mm256_cmpeq_epi32(_mm256_max_epu32(most, last), last);
  return _mm256_movemask_epi8(below) == -1 && within_u64(indices + j * 8, count - j, false, limit);
}

#include "core/kernel/fold.tmpl.h"

GATHER_INLINE void nontemporal_line(char *out, const char *in) {
  __m256i low = _mm256_loadu_si256((const void *)in), high = _mm256_loadu_si256((const void *)(in + 32));
  _mm256_stream_si256((void *)out, low);
  _mm256_stream_si256((void *)(out + 32), high);
}

#include "core/kernel/stores_x86.h"
#define NONTEMPORAL_WHOLE 1

/* Bit k is set if lane k has the expected value. */
GATHER_INLINE unsigned equal_u32(const char *in, __m256i wanted) {
  __m256i same = _mm256_cmpeq_epi32(_mm256_loadu_si256((const void *)in), wanted);
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(same));
}

GATHER_INLINE unsigned equal_u64(const char *in, __m256i wanted) {
  __m256i same = _mm256_cmpeq_epi64(_mm256_loadu_si256((const void *)in), wanted);
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
}

GATHER_INLINE int follow_u32(const char *indices, uint32_t first) {
  __m256i low = _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  unsigned same = equal_u32(indices, low);
  same |= equal_u32(indices + 32, _mm256_add_epi32(low, _mm256_set1_epi32(8))) << 8;
  return __builtin_ctz(~same);
}

GATHER_INLINE int follow_u64(const char *indices, uint64_t first) {
  __m256i wanted = _mm256_add_epi64(_mm256_set1_epi64x((long long)first), _mm256_setr_epi64x(0, 1, 2, 3));
  unsigned same = 0;
  for (int k = 0; k < 4; k++, wanted = _mm256_add_epi64(wanted, _mm256_set1_epi64x(4)))
    same |= equal_u64(indices + k * 32, wanted) << (4 * k);
  return __builtin_ctz(~same);
}

#include "core/kernel/nontemporals.tmpl.h"

#if !GATHER_SMALL
static void fence(void) { _mm_sfence(); }
#endif

#define BELOW_VECTORS 1
#include "core/kernel/below.tmpl.h"
#if !GATHER_SMALL
#include "core/kernel/checked.tmpl.h"
#endif
#include "core/kernel/elements_x86.h"

#define PICK_NARROWEST 1
#include "core/kernel/pick.tmpl.h"

#include "core/kernel/widen.tmpl.h"

#if !defined(GATHER_ONLY_GATHER)
/* ---- tuples: four numbers in one register */

enum { LANES = 4 };
typedef __m256i numbers_avx2;
#define NUMBERS numbers_avx2

GATHER_INLINE NUMBERS load_8(const char *in) { return _mm256_loadu_si256((const void *)in); }
GATHER_INLINE NUMBERS load_4(const char *in) { return _mm256_cvtepi32_epi64(_mm_loadu_si128((const void *)in)); }
GATHER_INLINE void store_numbers(int64_t *out, NUMBERS a) { _mm256_storeu_si256((void *)out, a); }
GATHER_INLINE NUMBERS every_number(int64_t value) { return _mm256_set1_epi64x(value); }
GATHER_INLINE NUMBERS plus_numbers(NUMBERS a, NUMBERS b) { return _mm256_add_epi64(a, b); }
GATHER_INLINE NUMBERS product(NUMBERS a, NUMBERS b) { return _mm256_mul_epi32(a, b); }
GATHER_INLINE NUMBERS wrap(NUMBERS a, NUMBERS back) {
  return _mm256_add_epi64(a, _mm256_and_si256(_mm256_cmpgt_epi64(_mm256_setzero_si256(), a), back));
}
/* The sign is set where one is outside. */
GATHER_INLINE NUMBERS worst(NUMBERS seen, NUMBERS moved, NUMBERS last) {
  return _mm256_or_si256(_mm256_or_si256(seen, moved), _mm256_sub_epi64(last, moved));
}
GATHER_INLINE bool any_outside(NUMBERS seen, NUMBERS last) {
  (void)last;
  return _mm256_movemask_pd(_mm256_castsi256_pd(seen)) != 0;
}
GATHER_INLINE NUMBERS periodic(int period, int vector, const int64_t *values) {
  int64_t lanes[LANES];
  for (int k = 0; k < LANES; k++) lanes[k] = values[(LANES * vector + k) % period];
  return _mm256_loadu_si256((const void *)lanes);
}

/* Sums of neighbours: of a, b, a, b. */
GATHER_INLINE NUMBERS add_pairs(NUMBERS a, NUMBERS b) { return _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)); }
GATHER_INLINE NUMBERS add_2(const NUMBERS *p) { return _mm256_permute4x64_epi64(add_pairs(p[0], p[1]), 0xD8); }
GATHER_INLINE NUMBERS add_4(const NUMBERS *p) {
  const NUMBERS low = add_pairs(p[0], p[1]), high = add_pairs(p[2], p[3]);
  return _mm256_add_epi64(_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31));
}
/* Number c of tuple t is in lane (3t + c) % 4: each lane takes column c from the one register that has it there, and lanes are
 * put into the tuples' order. */
GATHER_INLINE NUMBERS add_3(const NUMBERS *p) {
  const NUMBERS a = _mm256_blend_epi32(_mm256_blend_epi32(p[0], p[1], 0x30), p[2], 0x0C);
  const NUMBERS b = _mm256_blend_epi32(_mm256_blend_epi32(p[0], p[1], 0xC3), p[2], 0x30);
  const NUMBERS c = _mm256_blend_epi32(_mm256_blend_epi32(p[0], p[1], 0x0C), p[2], 0xC3);
  return _mm256_add_epi64(_mm256_permute4x64_epi64(a, 0x6C),
                          _mm256_add_epi64(_mm256_permute4x64_epi64(b, 0xB1), _mm256_permute4x64_epi64(c, 0xC6)));
}

#include "core/kernel/tuples.tmpl.h"

#include "core/kernel/tuples_vector.tmpl.h"
#endif

/* ---- the gather instruction, for elements of 4 bytes: those of 8, four at a time, gain nothing */

GATHER_INLINE __m256i numbers_all(int n) { return _mm256_set1_epi32(n); }
GATHER_INLINE __m256i numbers_from(int start, int step) {
  return _mm256_add_epi32(numbers_all(start), _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), numbers_all(step)));
}
GATHER_INLINE void pick_lanes(char *out, const char *data, const char *indices, int width, int bytes, __m256i step, __m256i along,
                              bool past) {
  const __m256i lanes = width == 4 ? load_256(indices) : indices_8_4(indices);
  (void)bytes;
  put_vector(out, _mm256_i32gather_epi32((const void *)data, _mm256_add_epi32(_mm256_mullo_epi32(lanes, step), along), 1), past);
}

typedef __m256i lanes_avx2;
#define INSTRUCTION_NUMBERS lanes_avx2
#define INSTRUCTION_LANES 8
#include "core/kernel/instruction.tmpl.h"
INSTRUCTION(u32, 4, 4)
INSTRUCTION(u64, 8, 4)
#if !GATHER_SMALL
CHECKED_INSTRUCTION(u32, 4, 4)
CHECKED_INSTRUCTION(u64, 8, 4)

TABLE(1, 1)
TABLE(1, 2)
TABLE(1, 4)
TABLE(1, 8)
TABLE(4, 1)
TABLE(4, 2)
TABLE(4, 4)
TABLE(4, 8)
TABLE(8, 1)
TABLE(8, 2)
TABLE(8, 4)
TABLE(8, 8)
CHECKED_TABLE(4, 1)
CHECKED_TABLE(4, 2)
CHECKED_TABLE(4, 4)
CHECKED_TABLE(4, 8)
CHECKED_TABLE(8, 1)
CHECKED_TABLE(8, 2)
CHECKED_TABLE(8, 4)
CHECKED_TABLE(8, 8)

#include "core/kernel/round_tables_avx2.h"

#include "core/kernel/round_tables.tmpl.h"
#endif

GATHER_TARGET_END

#define ROWS_OF(w) \
  { elements_1_##w, elements_2_##w, NULL, NULL, NULL, NULL, NULL, NULL, NULL, rows_32_##w, rows_33_to_63_##w, rows_64_##w, rows_long_##w }

const gather_isa gather_isa_avx2 = {
    .name = "avx2",
    .rows = {ROWS_OF(u32), ROWS_OF(u64)},
    .gather_instruction = {{instruction_4_u32}, {instruction_4_u64}},
#if !GATHER_SMALL
    .checked_instruction = {{checked_instruction_4_u32}, {checked_instruction_4_u64}},
    .table = {{table_1_1, table_1_2, table_1_4, table_1_8},
              {table_4_1, table_4_2, table_4_4, table_4_8},
              {table_8_1, table_8_2, table_8_4, table_8_8}},
    .checked_table = CHECKED_TABLE_SLOTS,
    .table_bytes = {TABLE_BYTES, TABLE_BYTES, TABLE_BYTES, TABLE_BYTES},
    .round_table = ROUND_TABLE_SLOTS,
    .checked_round_table = CHECKED_ROUND_TABLE_SLOTS,
    .round_table_bytes = {64, 64, 128, 128},
    .nontemporal = {NONTEMPORAL_OF(u32, streamed), NONTEMPORAL_OF(u64, streamed)},
    .interleaved = {interleaved_u32, interleaved_u64},
    .vectors_nontemporal = true,
    .nontemporal_runs = {nontemporal_runs_u32, nontemporal_runs_u64},
    .checked = {CHECKED_OF(u32, picked), CHECKED_OF(u64, picked)},
    .checked_nontemporal = {CHECKED_STREAMED_OF(u32), CHECKED_STREAMED_OF(u64)},
    .nontemporal_copy = nontemporal_copy,
    .fence = fence,
#endif
    .runs = {runs_u32, runs_u64},
#if !GATHER_SMALL
    .narrow_indices = narrow_indices,
#endif
    .within = {within_u8, within_u16, within_u32, within_halves_u64},
    .fold = FOLD_SLOTS,
    .widen = WIDEN_SLOTS,
    .pick = PICK_SLOTS,
#if !defined(GATHER_ONLY_GATHER)
    .tuples_within = TUPLES_WITHIN_SLOTS,
    .tuples_fold = TUPLES_FOLD_SLOTS,
    .combine = &gather_combining_avx2,
#endif
#if !defined(GATHER_NO_CODECS)
    .decode = &gather_decoding_avx2,
#endif
#if !defined(GATHER_ONLY_GATHER) && !GATHER_SMALL
    .bag = &gather_bagging_avx2,
#endif
};
#endif
