/* SPDX-License-Identifier: MIT
 *
 * isa_avx512.c: rows of 1, 2, 64 and more bytes, non-temporal stores, validation, and the gather instruction. Empty for other
 * CPU families.
 */
#include <string.h>

#include "core/kernel/bits_element.h"
#if !defined(GATHER_ONLY_GATHER)
#include "core/kernel/combine.h"
#endif
#include "core/kernel/copy.h"
#include "core/kernel/index_types.h"
#include "core/kernel/kernel.h"

#if GATHER_ISA_AVX512
#include <immintrin.h>

/* Without optimisation gcc's gather instructions are macros, whose masks change their sign. */
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

GATHER_TARGET_BEGIN("avx2,avx512f,avx512bw,avx512dq,avx512vl")

#include "core/kernel/wide_x86.h"

#define INDEX uint32_t
#define SUFFIX u32
#define SHORTEST_ROW 64
#include "core/kernel/rows.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define SHORTEST_ROW 64
#include "core/kernel/rows.tmpl.h"

/* Two loads, because one of 64 bytes takes longer on AMD's Zen 4 where lines come from memory. */
GATHER_INLINE void nontemporal_line(char *out, const char *in) {
  const __m512i low = _mm512_castsi256_si512(wide_load(in));
  _mm512_stream_si512((void *)out, _mm512_inserti64x4(low, wide_load(in + 32), 1));
}

#include "core/kernel/stores_x86.h"
#define NONTEMPORAL_WHOLE 1

GATHER_INLINE int follow_u32(const char *indices, uint32_t first) {
  const __m512i count_up = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i wanted = _mm512_add_epi32(_mm512_set1_epi32((int)first), count_up);
  return __builtin_ctz(_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(indices), wanted) | 0x10000u);
}

GATHER_INLINE int follow_u64(const char *indices, uint64_t first) {
  const __m512i count_up = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  __m512i low = _mm512_add_epi64(_mm512_set1_epi64((long long)first), count_up);
  __m512i high = _mm512_add_epi64(low, _mm512_set1_epi64(8));
  unsigned differ = _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(indices), low);
  differ |= (unsigned)_mm512_cmpneq_epi64_mask(_mm512_loadu_si512(indices + 64), high) << 8;
  return __builtin_ctz(differ | 0x10000u);
}

#include "core/kernel/nontemporals.tmpl.h"

static void fence(void) { _mm_sfence(); }

#define BELOW_VECTORS 2
#include "core/kernel/below.tmpl.h"
#include "core/kernel/elements_x86.h"

GATHER_INLINE void put(char *out, __m512i value, bool past) {
  if (past)
    _mm512_stream_si512((void *)out, value);
  else
    _mm512_storeu_si512(out, value);
}

/* Sixteen indices of either width as 32-bit lanes. */
GATHER_INLINE __m512i sixteen_lanes(const char *indices, int width) {
  const __m512i low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  if (width == 4) return _mm512_loadu_si512(indices);
  return _mm512_permutex2var_epi32(_mm512_loadu_si512(indices), low, _mm512_loadu_si512(indices + 64));
}

/* Sixteen elements of 4 or 8 bytes. */
GATHER_INLINE void pick_sixteen(char *out, const char *data, __m512i at, int bytes, bool past) {
  if (bytes == 4) {
    put(out, _mm512_i32gather_epi32(at, data, 1), past);
  } else {
    put(out, _mm512_i32gather_epi64(_mm512_castsi512_si256(at), data, 1), past);
    put(out + 64, _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), data, 1), past);
  }
}

GATHER_INLINE __m512i numbers_all(int n) { return _mm512_set1_epi32(n); }
GATHER_INLINE __m512i numbers_from(int start, int step) {
  const __m512i count_up = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(numbers_all(start), _mm512_mullo_epi32(count_up, numbers_all(step)));
}
GATHER_INLINE void pick_lanes(char *out, const char *data, const char *indices, int width, int bytes, __m512i step, __m512i along,
                              bool past) {
  pick_sixteen(out, data, _mm512_add_epi32(_mm512_mullo_epi32(sixteen_lanes(indices, width), step), along), bytes, past);
}

typedef __m512i lanes_avx512;
#define INSTRUCTION_NUMBERS lanes_avx512
#define INSTRUCTION_LANES 16
#include "core/kernel/instruction.tmpl.h"
INSTRUCTION(u32, 4, 4)
INSTRUCTION(u32, 4, 8)
INSTRUCTION(u64, 8, 4)
INSTRUCTION(u64, 8, 8)
CHECKED_INSTRUCTION(u32, 4, 4)
CHECKED_INSTRUCTION(u32, 4, 8)
CHECKED_INSTRUCTION(u64, 8, 4)
CHECKED_INSTRUCTION(u64, 8, 8)

/* The first `lanes` of sixteen indices as 32-bit lanes, and of sixteen elements. */
GATHER_INLINE __m512i some_lanes(const char *indices, int width, __mmask16 lanes) {
  if (width == 4) return _mm512_maskz_loadu_epi32(lanes, indices);
  const __m256i low = _mm512_cvtepi64_epi32(_mm512_maskz_loadu_epi64((__mmask8)lanes, indices));
  const __m256i high = _mm512_cvtepi64_epi32(_mm512_maskz_loadu_epi64((__mmask8)(lanes >> 8), indices + 64));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
GATHER_INLINE void pick_some(char *out, const char *data, __m512i at, int bytes, __mmask16 lanes) {
  const __m512i zero = _mm512_setzero_si512();
  const __mmask8 low = (__mmask8)lanes, high = (__mmask8)(lanes >> 8);
  if (bytes == 4) {
    _mm512_mask_storeu_epi32(out, lanes, _mm512_mask_i32gather_epi32(zero, lanes, at, data, 1));
  } else {
    _mm512_mask_storeu_epi64(out, low, _mm512_mask_i32gather_epi64(zero, low, _mm512_castsi512_si256(at), data, 1));
    _mm512_mask_storeu_epi64(out + 64, high, _mm512_mask_i32gather_epi64(zero, high, _mm512_extracti64x4_epi64(at, 1), data, 1));
  }
}

/* Rounds of 1 to 16 elements, as many at a time as fit in a vector: their places in the data repeat. Steps are per vector: only pointers
 * change in the loops. */
GATHER_INLINE void instruction_short(const gather_span *s, int width, int bytes) {
  const int64_t count = s->count, data_round = s->data_round, at_once = count <= 16 ? 16 / count : 1;
  const unsigned some = count <= 16 ? (1u << (at_once * count)) - 1 : 0;
  const bool many = s->many, past = s->nontemporal && ((uintptr_t)s->out & 63) == 0;
  const char *restrict data = s->data, *restrict indices = s->indices;
  char *restrict out = s->out;
  int64_t left = s->rounds;
  int32_t places[16] = {0};
  for (int64_t round = 0, k = 0; some >> k; round++)
    for (int64_t j = 0; j < count; j++, k++) places[k] = (int32_t)(round * data_round + j * s->data_step);
  const __m512i along = _mm512_loadu_si512(places), step = numbers_all((int)s->axis_step);
#define WHOLE(past)                                                                                            \
  for (; left >= at_once; left -= at_once) {                                                                   \
    for (int at = 0; many && at < 16 * width; at += 64) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH + at); \
    pick_lanes(out, data, indices, width, bytes, step, along, past);                                           \
    data += at_once * data_round, indices += 16 * width, out += 16 * bytes;                                    \
  }
  if (some == 0xffff && past)
    WHOLE(true)
  else if (some == 0xffff)
    WHOLE(false)
#undef WHOLE
  for (; some && left >= at_once; left -= at_once) {
    for (int at = 0; many && at < 16 * width; at += 64) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH + at);
    const __m512i rows = some_lanes(indices, width, (__mmask16)some);
    pick_some(out, data, _mm512_add_epi32(_mm512_mullo_epi32(rows, step), along), bytes, (__mmask16)some);
    data += at_once * data_round, indices += at_once * s->index_round, out += at_once * s->out_round;
  }
  for (; left > 0; left--, data += data_round, indices += s->index_round, out += s->out_round)
    for (int64_t j = 0; j < count; j++)
      memcpy(out + j * bytes, data + j * s->data_step + gather_row(indices, width, j) * s->axis_step, (size_t)bytes);
}

#define INSTRUCTION_ROUNDS(w, width, E) \
  static void instruction_rounds_##E##_##w(const gather_span *s) { instruction_short(s, width, E); }
INSTRUCTION_ROUNDS(u32, 4, 4)
INSTRUCTION_ROUNDS(u32, 4, 8)
INSTRUCTION_ROUNDS(u64, 8, 4)
INSTRUCTION_ROUNDS(u64, 8, 8)

#include "core/kernel/fold.tmpl.h"
#define PICK_NARROWEST 1
#include "core/kernel/pick.tmpl.h"
#include "core/kernel/widen.tmpl.h"
#define WITHIN_BY MOST
#define WITHIN_BY_64 MOST
#include "core/kernel/within.tmpl.h"

#if !defined(GATHER_ONLY_GATHER)
/* ---- tuples: eight numbers in one register */

enum { LANES = 8 };
typedef __m512i numbers_avx512;
#define NUMBERS numbers_avx512

GATHER_INLINE NUMBERS load_8(const char *in) { return _mm512_loadu_si512(in); }
GATHER_INLINE NUMBERS load_4(const char *in) { return _mm512_cvtepi32_epi64(_mm256_loadu_si256((const void *)in)); }
GATHER_INLINE void store_numbers(int64_t *out, NUMBERS a) { _mm512_storeu_si512(out, a); }
GATHER_INLINE NUMBERS every_number(int64_t value) { return _mm512_set1_epi64(value); }
GATHER_INLINE NUMBERS plus_numbers(NUMBERS a, NUMBERS b) { return _mm512_add_epi64(a, b); }
GATHER_INLINE NUMBERS product(NUMBERS a, NUMBERS b) { return _mm512_mul_epi32(a, b); }
GATHER_INLINE NUMBERS wrap(NUMBERS a, NUMBERS back) {
  return _mm512_min_epu64(a, _mm512_add_epi64(a, back)); /* a number below 0 is a large one, and back makes it small */
}
/* The largest one, unsigned. */
GATHER_INLINE NUMBERS worst(NUMBERS seen, NUMBERS moved, NUMBERS last) {
  (void)last;
  return _mm512_max_epu64(seen, moved);
}
GATHER_INLINE bool any_outside(NUMBERS seen, NUMBERS last) { return _mm512_cmpgt_epu64_mask(seen, last) != 0; }
GATHER_INLINE NUMBERS periodic(int period, int vector, const int64_t *values) {
  int64_t lanes[LANES];
  for (int k = 0; k < LANES; k++) lanes[k] = values[(LANES * vector + k) % period];
  return _mm512_loadu_si512(lanes);
}

/* Sums of neighbours in two registers. */
GATHER_INLINE NUMBERS add_pairs(NUMBERS a, NUMBERS b) {
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return _mm512_add_epi64(_mm512_permutex2var_epi64(a, even, b), _mm512_permutex2var_epi64(a, odd, b));
}
GATHER_INLINE NUMBERS add_2(const NUMBERS *p) { return add_pairs(p[0], p[1]); }
GATHER_INLINE NUMBERS add_4(const NUMBERS *p) { return add_pairs(add_pairs(p[0], p[1]), add_pairs(p[2], p[3])); }
/* Number c of tuple t is in lane (3t + c) % 8: each lane takes column c from the one register that has it there, and lanes are
 * put into the tuples' order. */
GATHER_INLINE NUMBERS add_3(const NUMBERS *p) {
  const __m512i first = _mm512_setr_epi64(0, 3, 6, 1, 4, 7, 2, 5), second = _mm512_setr_epi64(1, 4, 7, 2, 5, 0, 3, 6),
                third = _mm512_setr_epi64(2, 5, 0, 3, 6, 1, 4, 7);
  const __m512i a = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(p[0], 0x92, p[1]), 0x24, p[2]);
  const __m512i b = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(p[0], 0x24, p[1]), 0x49, p[2]);
  const __m512i c = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(p[0], 0x49, p[1]), 0x92, p[2]);
  return _mm512_add_epi64(_mm512_permutexvar_epi64(first, a),
                          _mm512_add_epi64(_mm512_permutexvar_epi64(second, b), _mm512_permutexvar_epi64(third, c)));
}

#include "core/kernel/tuples.tmpl.h"

#include "core/kernel/tuples_vector.tmpl.h"
#endif

GATHER_TARGET_END

#define ROWS_OF(w) \
  { elements_1_##w, elements_2_##w, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, rows_64_##w, rows_long_##w }

const gather_isa gather_isa_avx512 = {
    .name = "avx512",
    .rows = {ROWS_OF(u32), ROWS_OF(u64)},
    .gather_instruction = {{instruction_4_u32, instruction_8_u32}, {instruction_4_u64, instruction_8_u64}},
    .checked_instruction = {{checked_instruction_4_u32, checked_instruction_8_u32}, {checked_instruction_4_u64, checked_instruction_8_u64}},
    .gather_instruction_rounds = {{instruction_rounds_4_u32, instruction_rounds_8_u32},
                                  {instruction_rounds_4_u64, instruction_rounds_8_u64}},
    .nontemporal = {NONTEMPORAL_OF(u32, streamed), NONTEMPORAL_OF(u64, streamed)},
    .interleaved = {interleaved_u32, interleaved_u64},
    .vectors_nontemporal = true,
    .runs = {runs_u32, runs_u64},
    .nontemporal_runs = {nontemporal_runs_u32, nontemporal_runs_u64},
    .nontemporal_copy = nontemporal_copy,
    .fence = fence,
    .narrow_indices = narrow_indices,
    .within = WITHIN_SLOTS,
    .fold = FOLD_SLOTS,
    .widen = WIDEN_SLOTS,
    .pick = PICK_SLOTS,
#if !defined(GATHER_ONLY_GATHER)
    .tuples_within = TUPLES_WITHIN_SLOTS,
    .tuples_fold = TUPLES_FOLD_SLOTS,
    .combine = &gather_combining_avx512,
#endif
#if !defined(GATHER_NO_CODECS)
    .decode = &gather_decoding_avx512,
#endif
#if !defined(GATHER_ONLY_GATHER)
    .bag = &gather_bagging_avx512,
#endif
};
#endif
