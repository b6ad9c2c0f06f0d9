/* SPDX-License-Identifier: MIT
 *
 * tables_avx512.h: tables that fit in registers, for isa_avx512vbmi.c. The table is loaded once, under a mask, so that no byte
 * behind it is read; each step permutes it by the indices of one output vector. Indices of 4 and 8 bytes are narrowed by byte
 * permutes of two sources: on one CPU that was measured they are faster than the instructions made for narrowing.
 */
#ifndef GATHER_KERNEL_TABLES_AVX512_H
#define GATHER_KERNEL_TABLES_AVX512_H

/* Up to four registers of table. */
typedef struct {
  __m512i part[4];
} table_512;

GATHER_INLINE table_512 load_table(const char *data, int64_t bytes) {
  table_512 t;
  for (int i = 0; i < 4; i++) {
    int64_t left = bytes - i * 64;
    __mmask64 lanes = left >= 64 ? ~(__mmask64)0 : left > 0 ? ((__mmask64)1 << left) - 1 : 0;
    t.part[i] = _mm512_maskz_loadu_epi8(lanes, data + (left > 0 ? i * 64 : 0));
  }
  return t;
}

/* One output vector of elements of each size, from indices as wide as the elements. registers: 1, 2 or 4 hold the table. */
GATHER_INLINE __m512i pick_1(const table_512 *t, __m512i at, int registers) {
  if (registers == 1) return _mm512_permutexvar_epi8(at, t->part[0]);
  __m512i low = _mm512_permutex2var_epi8(t->part[0], at, t->part[1]);
  if (registers == 2) return low;
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, _mm512_permutex2var_epi8(t->part[2], at, t->part[3]));
}

GATHER_INLINE __m512i pick_2(const table_512 *t, __m512i at, int registers) {
  if (registers == 1) return _mm512_permutexvar_epi16(at, t->part[0]);
  __m512i low = _mm512_permutex2var_epi16(t->part[0], at, t->part[1]);
  if (registers == 2) return low;
  return _mm512_mask_blend_epi16(_mm512_test_epi16_mask(at, _mm512_set1_epi16(64)), low,
                                 _mm512_permutex2var_epi16(t->part[2], at, t->part[3]));
}

GATHER_INLINE __m512i pick_4(const table_512 *t, __m512i at, int registers) {
  if (registers == 1) return _mm512_permutexvar_epi32(at, t->part[0]);
  __m512i low = _mm512_permutex2var_epi32(t->part[0], at, t->part[1]);
  if (registers == 2) return low;
  return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), low,
                                 _mm512_permutex2var_epi32(t->part[2], at, t->part[3]));
}

GATHER_INLINE __m512i pick_8(const table_512 *t, __m512i at, int registers) {
  if (registers == 1) return _mm512_permutexvar_epi64(at, t->part[0]);
  __m512i low = _mm512_permutex2var_epi64(t->part[0], at, t->part[1]);
  if (registers == 2) return low;
  return _mm512_mask_blend_epi64(_mm512_test_epi64_mask(at, _mm512_set1_epi64(16)), low,
                                 _mm512_permutex2var_epi64(t->part[2], at, t->part[3]));
}

/* indices_<width of the index>_<size of the element>: as many indices as an output vector has elements, as lanes of that size. */
GATHER_INLINE __m512i indices_1_1(const char *i) { return _mm512_loadu_si512(i); }
GATHER_INLINE __m512i indices_1_2(const char *i) { return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)i)); }
GATHER_INLINE __m512i indices_1_4(const char *i) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)i)); }
GATHER_INLINE __m512i indices_1_8(const char *i) { return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)i)); }

/* Byte number k of the result is byte k * step of two registers. */
GATHER_INLINE __m512i every(int step) {
  char at[64];
  for (int k = 0; k < 64; k++) at[k] = (char)(k * step);
  return _mm512_loadu_si512(at);
}

GATHER_INLINE __m512i two(const char *i, int64_t number, __m512i at) {
  return _mm512_permutex2var_epi8(_mm512_loadu_si512(i + number * 128), at, _mm512_loadu_si512(i + number * 128 + 64));
}

GATHER_INLINE __m512i indices_4_1(const char *i) {
  const __m512i at = every(4);
  return _mm512_inserti64x4(two(i, 0, at), _mm512_castsi512_si256(two(i, 1, at)), 1);
}
GATHER_INLINE __m512i indices_4_2(const char *i) {
  const __m512i at = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14,
                                      12, 10, 8, 6, 4, 2, 0);
  return _mm512_permutex2var_epi16(_mm512_loadu_si512(i), at, _mm512_loadu_si512(i + 64));
}
GATHER_INLINE __m512i indices_4_4(const char *i) { return _mm512_loadu_si512(i); }
GATHER_INLINE __m512i indices_4_8(const char *i) { return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)i)); }

GATHER_INLINE __m512i indices_8_1(const char *i) {
  const __m512i at = every(8);
  __m512i low = _mm512_inserti32x4(two(i, 0, at), _mm512_castsi512_si128(two(i, 1, at)), 1);
  __m512i high = _mm512_inserti32x4(two(i, 2, at), _mm512_castsi512_si128(two(i, 3, at)), 1);
  return _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
}
GATHER_INLINE __m512i indices_8_2(const char *i) {
  const __m512i at = _mm512_set_epi16(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24,
                                      20, 16, 12, 8, 4, 0);
  __m512i low = _mm512_permutex2var_epi16(_mm512_loadu_si512(i), at, _mm512_loadu_si512(i + 64));
  __m512i high = _mm512_permutex2var_epi16(_mm512_loadu_si512(i + 128), at, _mm512_loadu_si512(i + 192));
  return _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
}
GATHER_INLINE __m512i indices_8_4(const char *i) {
  const __m512i low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_epi32(_mm512_loadu_si512(i), low, _mm512_loadu_si512(i + 64));
}
GATHER_INLINE __m512i indices_8_8(const char *i) { return _mm512_loadu_si512(i); }

GATHER_INLINE void put_vector(char *out, __m512i value, bool nontemporal) {
  if (nontemporal)
    _mm512_stream_si512((void *)out, value);
  else
    _mm512_storeu_si512(out, value);
}

/* Two vectors at a time. `bytes`: of the table. */
#define TABLE_LOOP(W, E, REGISTERS, PAST)                                                                       \
  for (; j + STEP <= count; j += STEP) {                                                                        \
    if (many)                                                                                                   \
      for (int at = 0; at < STEP * W; at += 64) GATHER_PREFETCH(indices + j * W + GATHER_INDEX_PREFETCH + at);  \
    if (limit > 0 && !all_below(indices + j * W, W, STEP, limit)) return i * count + j;                         \
    __m512i first = indices_##W##_##E(indices + j * W), second = indices_##W##_##E(indices + (j + 64 / E) * W); \
    put_vector(out + j * E, pick_##E(&t, first, REGISTERS), PAST);                                              \
    put_vector(out + j * E + 64, pick_##E(&t, second, REGISTERS), PAST);                                        \
  }
#define TABLE_LOOPS(W, E, PAST)   \
  if (s->table_bytes <= 64)       \
    TABLE_LOOP(W, E, 1, PAST)     \
  else if (s->table_bytes <= 128) \
    TABLE_LOOP(W, E, 2, PAST)     \
  else                            \
    TABLE_LOOP(W, E, 4, PAST)

/* Fewer elements than two vectors go through a copy of their indices. */
#define TABLE_SOME(W, E)                                                                                 \
  GATHER_INLINE void some_##W##_##E(const table_512 *t, const char *indices, char *out, int64_t count) { \
    char copy[2 * (64 / E) * W], picked[128];                                                            \
    memset(copy, 0, sizeof copy);                                                                        \
    memcpy(copy, indices, (size_t)(count * W));                                                          \
    _mm512_storeu_si512(picked, pick_##E(t, indices_##W##_##E(copy), 4));                                \
    _mm512_storeu_si512(picked + 64, pick_##E(t, indices_##W##_##E(copy + 64 / E * W), 4));              \
    memcpy(out, picked, (size_t)(count * E));                                                            \
  }

/* Indices and output are dense, the table is. With non-temporal stores the first elements bring the output to a line. Returns how many
 * moved; limit: of indices that nobody has validated, else 0. */
#define TABLE_ROUNDS(W, E)                                                                       \
  TABLE_SOME(W, E)                                                                               \
  static int64_t table_rounds_##W##_##E(const gather_span *s, uint64_t limit) {                  \
    enum { STEP = 2 * (64 / E) };                                                                \
    const table_512 t = load_table(s->data, s->table_bytes);                                     \
    const int64_t count = s->count;                                                              \
    const bool many = s->many;                                                                   \
    for (int64_t i = 0; i < s->rounds; i++) {                                                    \
      const char *indices = s->indices + i * s->index_round;                                     \
      char *out = s->out + i * s->out_round;                                                     \
      const int64_t head = (int64_t)(-(uintptr_t)out & 63) / E;                                  \
      int64_t j = 0;                                                                             \
      if (s->nontemporal && (uintptr_t)out % E == 0 && head < count) {                           \
        if (limit > 0 && !first_below(indices, W, head, limit)) return i * count;                \
        if (head > 0) some_##W##_##E(&t, indices, out, head);                                    \
        j = head;                                                                                \
        TABLE_LOOPS(W, E, true)                                                                  \
      } else {                                                                                   \
        TABLE_LOOPS(W, E, false)                                                                 \
      }                                                                                          \
      if (limit > 0 && !first_below(indices + j * W, W, count - j, limit)) return i * count + j; \
      if (j < count) some_##W##_##E(&t, indices + j * W, out + j * E, count - j);                \
    }                                                                                            \
    return s->rounds * count;                                                                    \
  }                                                                                              \
  static void table_##W##_##E(const gather_span *s) { table_rounds_##W##_##E(s, 0); }
#define CHECKED_TABLE(W, E)                                                      \
  static int64_t checked_table_##W##_##E(const gather_span *s, uint64_t limit) { \
    return limit > BELOW_MOST(W) ? 0 : table_rounds_##W##_##E(s, limit);         \
  }
#define TABLE(W, E) TABLE_ROUNDS(W, E) CHECKED_TABLE(W, E)

#endif
