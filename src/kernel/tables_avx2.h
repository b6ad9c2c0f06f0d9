/* SPDX-License-Identifier: MIT
 *
 * tables_avx2.h: register tables for isa_avx2.c. Bytes are selected by shuffles of 16; a blend selects the part of the
 * table by the high bits of the index. Larger elements use permutes of 8 lanes of 4 bytes in the same way.
 */
#ifndef GATHER_KERNEL_TABLES_AVX2_H
#define GATHER_KERNEL_TABLES_AVX2_H

/* The table as two registers of 32 bytes each, and as four whose halves are the same 16 bytes. */
typedef struct {
  __m256i part[4], twice[4];
} table_256;

GATHER_INLINE __m256i load_256(const char *in) { return _mm256_loadu_si256((const void *)in); }

GATHER_INLINE table_256 load_table(const gather_span *s) {
  char bytes[128] = {0};
  table_256 t;
  memcpy(bytes, s->data, (size_t)s->table_bytes);
  for (int i = 0; i < 4; i++) {
    t.part[i] = load_256(bytes + i * 32);
    t.twice[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(bytes + i * 16)));
  }
  return t;
}

/* One output vector from indices as wide as the elements. registers: 1, 2 or 4 parts hold the table. A blend looks at the top bit
 * of a lane: the index's bit that tells the parts is shifted there. */
GATHER_INLINE __m256i pick_1(const table_256 *t, __m256i at, int registers) {
  __m256i low = _mm256_shuffle_epi8(t->twice[0], at);
  if (registers == 1) return low;
  const __m256i bit_4 = _mm256_slli_epi16(at, 3);
  low = _mm256_blendv_epi8(low, _mm256_shuffle_epi8(t->twice[1], at), bit_4);
  if (registers == 2) return low;
  __m256i high = _mm256_blendv_epi8(_mm256_shuffle_epi8(t->twice[2], at), _mm256_shuffle_epi8(t->twice[3], at), bit_4);
  return _mm256_blendv_epi8(low, high, _mm256_slli_epi16(at, 2));
}

GATHER_INLINE __m256i blend_4(__m256i low, __m256i high, __m256i at, int bit) {
  return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                              _mm256_castsi256_ps(_mm256_slli_epi32(at, 31 - bit))));
}

GATHER_INLINE __m256i pick_4(const table_256 *t, __m256i at, int registers) {
  __m256i low = _mm256_permutevar8x32_epi32(t->part[0], at);
  if (registers == 1) return low;
  low = blend_4(low, _mm256_permutevar8x32_epi32(t->part[1], at), at, 3);
  if (registers == 2) return low;
  __m256i high =
      blend_4(_mm256_permutevar8x32_epi32(t->part[2], at), _mm256_permutevar8x32_epi32(t->part[3], at), at, 3);
  return blend_4(low, high, at, 4);
}

/* An element of two bytes is bytes 2i and 2i + 1, one of eight lanes 2i and 2i + 1. */
GATHER_INLINE __m256i pick_2(const table_256 *t, __m256i at, int registers) {
  at = _mm256_add_epi16(at, at);
  return pick_1(t, _mm256_or_si256(_mm256_or_si256(at, _mm256_slli_epi16(at, 8)), _mm256_set1_epi16(0x0100)),
                registers);
}

GATHER_INLINE __m256i pick_8(const table_256 *t, __m256i at, int registers) {
  at = _mm256_add_epi64(at, at);
  at = _mm256_or_si256(_mm256_or_si256(at, _mm256_slli_epi64(at, 32)), _mm256_set1_epi64x((long long)1 << 32));
  return pick_4(t, at, registers);
}

/* indices_<width of the index>_<size of the element>: as many indices as an output vector has elements, as lanes of that size.
 * Narrowing works on halves of registers, so that the order is mended at the end. */
GATHER_INLINE __m256i indices_1_1(const char *i) { return load_256(i); }
GATHER_INLINE __m256i indices_1_2(const char *i) { return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)i)); }
GATHER_INLINE __m256i indices_1_4(const char *i) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)i)); }
GATHER_INLINE __m256i indices_1_8(const char *i) {
  int32_t four;
  memcpy(&four, i, sizeof four);
  return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}

/* Of 16 indices of 4 bytes, words 0-3 and 8-11, then 4-7 and 12-15. */
GATHER_INLINE __m256i words_4(const char *i) { return _mm256_packus_epi32(load_256(i), load_256(i + 32)); }
GATHER_INLINE __m256i indices_4_1(const char *i) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words_4(i), words_4(i + 64)), order);
}
GATHER_INLINE __m256i indices_4_2(const char *i) { return _mm256_permute4x64_epi64(words_4(i), 0xd8); }
GATHER_INLINE __m256i indices_4_4(const char *i) { return load_256(i); }
GATHER_INLINE __m256i indices_4_8(const char *i) { return _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)i)); }

/* Of 8 indices of 8 bytes, the low halves of 0, 1, 4, 5, then of 2, 3, 6, 7. */
GATHER_INLINE __m256i halves_8(const char *i) {
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(load_256(i)), _mm256_castsi256_ps(load_256(i + 32)), 0x88));
}
/* Of 16: words 0, 1, 4, 5, 8, 9, 12, 13, then the others. */
GATHER_INLINE __m256i words_8(const char *i) { return _mm256_packus_epi32(halves_8(i), halves_8(i + 64)); }
GATHER_INLINE __m256i indices_8_1(const char *i) {
  const __m256i mixed = _mm256_permute4x64_epi64(_mm256_packus_epi16(words_8(i), words_8(i + 128)), 0xd8);
  return _mm256_shuffle_epi8(mixed, _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9,
                                                     2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
}
GATHER_INLINE __m256i indices_8_2(const char *i) {
  const __m256i mixed = _mm256_permute4x64_epi64(words_8(i), 0xd8);
  return _mm256_shuffle_epi8(mixed, _mm256_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15, 0, 1, 2, 3,
                                                     8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15));
}
GATHER_INLINE __m256i indices_8_4(const char *i) { return _mm256_permute4x64_epi64(halves_8(i), 0xd8); }
GATHER_INLINE __m256i indices_8_8(const char *i) { return load_256(i); }

GATHER_INLINE void put_vector(char *out, __m256i value, bool nontemporal) {
  if (nontemporal)
    _mm256_stream_si256((void *)out, value);
  else
    _mm256_storeu_si256((void *)out, value);
}

#define TABLE_LOOP(W, E, REGISTERS, PAST)                                                                      \
  for (; j + STEP <= count; j += STEP) {                                                                       \
    if (many)                                                                                                  \
      for (int at = 0; at < STEP * W; at += 64) GATHER_PREFETCH(indices + j * W + GATHER_INDEX_PREFETCH + at); \
    put_vector(out + j * E, pick_##E(&t, indices_##W##_##E(indices + j * W), REGISTERS), PAST);                \
  }
#define TABLE_LOOPS(W, E, PART, PAST)  \
  if (s->table_bytes <= PART)          \
    TABLE_LOOP(W, E, 1, PAST)          \
  else if (s->table_bytes <= 2 * PART) \
    TABLE_LOOP(W, E, 2, PAST)          \
  else                                 \
    TABLE_LOOP(W, E, 4, PAST)

/* Fewer elements than a vector go through a copy of their indices. */
#define TABLE_SOME(W, E)                                                                                 \
  GATHER_INLINE void some_##W##_##E(const table_256 *t, const char *indices, char *out, int64_t count) { \
    char copy[32 / E * W] = {0}, picked[32];                                                             \
    memcpy(copy, indices, (size_t)(count * W));                                                          \
    _mm256_storeu_si256((void *)picked, pick_##E(t, indices_##W##_##E(copy), 4));                        \
    memcpy(out, picked, (size_t)(count * E));                                                            \
  }

/* Indices and output are dense, the table is. PART: the bytes of one of its registers. With non-temporal stores the first
 * elements bring the output to where such stores may begin. */
#define TABLE(W, E, PART)                                                         \
  TABLE_SOME(W, E)                                                                \
  static void table_##W##_##E(const gather_span *s) {                             \
    enum { STEP = 32 / E };                                                       \
    const table_256 t = load_table(s);                                            \
    const int64_t count = s->count;                                               \
    const bool many = s->many;                                                    \
    for (int64_t i = 0; i < s->rounds; i++) {                                     \
      const char *indices = s->indices + i * s->index_round;                      \
      char *out = s->out + i * s->out_round;                                      \
      const int64_t head = (int64_t)(-(uintptr_t)out & 31) / E;                   \
      int64_t j = 0;                                                              \
      if (s->nontemporal && (uintptr_t)out % E == 0 && head < count) {            \
        if (head > 0) some_##W##_##E(&t, indices, out, head);                     \
        j = head;                                                                 \
        TABLE_LOOPS(W, E, PART, true)                                             \
      } else {                                                                    \
        TABLE_LOOPS(W, E, PART, false)                                            \
      }                                                                           \
      if (j < count) some_##W##_##E(&t, indices + j * W, out + j * E, count - j); \
    }                                                                             \
  }

#endif
