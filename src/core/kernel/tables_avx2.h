/* SPDX-License-Identifier: MIT
 *
 * tables_avx2.h: register tables for isa_avx2.c. AVX2 selects bytes from tables of 16 (vpshufb), so a table is split: plane e holds
 * byte e of every element, in groups of 16 elements. 32 indices are narrowed to bytes, select from each plane, and the planes are
 * interleaved to elements.
 */
#ifndef GATHER_KERNEL_TABLES_AVX2_H
#define GATHER_KERNEL_TABLES_AVX2_H

/* Group k of plane e is number k * E + e. Groups 0 and 8 are stored as they are, others as their difference (exclusive or) from the
 * group before. Both halves of a register hold the same group. */
enum { TABLE_HALF = 8, TABLE_BYTES = 256, TABLE_STEP = 32 };
typedef struct {
  __m256i groups[TABLE_BYTES / 16];
} table_256;

GATHER_INLINE __m256i load_256(const char *in) { return _mm256_loadu_si256((const void *)in); }

/* The number of groups is a power of two; this is its logarithm. len: elements of the table. */
GATHER_INLINE int table_groups_log2(int64_t len) { return (len > 16) + (len > 32) + (len > 64) + (len > 128); }

/* Takes bytes alternately from the first half of E vectors and from the second, separately in each half of the registers. log2(E)
 * times turns planes into elements; four times turns 16 elements into planes. */
GATHER_INLINE void interleave(__m256i *v, int E) {
  __m256i next[8];
  for (int i = 0; i < E / 2; i++) {
    next[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + E / 2]);
    next[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + E / 2]);
  }
  for (int i = 0; i < E / 2 * 2; i++) v[i] = next[i];
}

GATHER_INLINE void load_table(table_256 *t, const gather_span *s, int E, int groups) {
  const int whole = groups * E * 16;
  char room[TABLE_BYTES];
  const char *bytes = s->data;
  __m256i before[8];
  if (s->table_bytes < whole) {
    memset(room, 0, (size_t)whole);
    memcpy(room, s->data, (size_t)s->table_bytes);
    bytes = room;
  }
  for (int k = 0; k < groups; k++) {
    __m256i v[8];
    for (int e = 0; e < E; e++) v[e] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(bytes + (k * E + e) * 16)));
    for (int turn = 0; turn < 4; turn++) interleave(v, E);
    for (int e = 0; e < E; e++) {
      t->groups[k * E + e] = k % TABLE_HALF ? _mm256_xor_si256(v[e], before[e]) : v[e];
      before[e] = v[e];
    }
  }
}

/* Bytes number `at` of each plane. 16 is subtracted from the index for each group, and vpshufb gives 0 for a negative one, so an
 * element collects the differences up to its own group. That works for seven bits; the eighth selects the half of the plane. A tree
 * of blends is as fast on AMD's CPUs, but Intel's need two operations for each. */
GATHER_INLINE void pick(const table_256 *t, __m256i at, int E, int groups, __m256i *planes) {
  const bool two = groups > TABLE_HALF;
  const int half = two ? TABLE_HALF : groups;
  __m256i x = two ? _mm256_and_si256(at, _mm256_set1_epi8(0x7f)) : at, high[8];
  for (int k = 0; k < half; k++) {
    for (int e = 0; e < E; e++) {
      const __m256i low_byte = _mm256_shuffle_epi8(t->groups[k * E + e], x);
      planes[e] = k ? _mm256_xor_si256(planes[e], low_byte) : low_byte;
      if (!two) continue;
      const __m256i high_byte = _mm256_shuffle_epi8(t->groups[(TABLE_HALF + k) * E + e], x);
      high[e] = k ? _mm256_xor_si256(high[e], high_byte) : high_byte;
    }
    x = _mm256_sub_epi8(x, _mm256_set1_epi8(16));
  }
  for (int e = 0; two && e < E; e++) planes[e] = _mm256_blendv_epi8(planes[e], high[e], at);
}

/* bytes_<width of the index>: 32 indices as bytes. Packs work on halves of registers; a permute at the end restores the order. */
GATHER_INLINE __m256i bytes_1(const char *i) { return load_256(i); }

/* Of 16 indices words 0 to 3 and 8 to 11, then the others. */
GATHER_INLINE __m256i words_4(const char *i) { return _mm256_packus_epi32(load_256(i), load_256(i + 32)); }
GATHER_INLINE __m256i bytes_4(const char *i) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words_4(i), words_4(i + 64)), order);
}

/* Of 8 indices the low halves of 0, 1, 4, 5, then of 2, 3, 6, 7. */
GATHER_INLINE __m256i halves_8(const char *i) {
  return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(load_256(i)), _mm256_castsi256_ps(load_256(i + 32)), 0x88));
}
GATHER_INLINE __m256i words_8(const char *i) { return _mm256_packus_epi32(halves_8(i), halves_8(i + 64)); }
GATHER_INLINE __m256i indices_8_4(const char *i) { return _mm256_permute4x64_epi64(halves_8(i), 0xd8); }
GATHER_INLINE __m256i bytes_8(const char *i) {
  const __m256i mixed = _mm256_permute4x64_epi64(_mm256_packus_epi16(words_8(i), words_8(i + 128)), 0xd8);
  return _mm256_shuffle_epi8(
      mixed, _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
}

/* spread_<E>: the order of indices that interleaving turns into consecutive elements of E bytes. */
GATHER_INLINE __m256i spread_1(__m256i at) { return at; }
GATHER_INLINE __m256i spread_2(__m256i at) { return _mm256_permute4x64_epi64(at, 0xd8); }
GATHER_INLINE __m256i spread_4(__m256i at) { return _mm256_permutevar8x32_epi32(at, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)); }
GATHER_INLINE __m256i spread_8(__m256i at) {
  const __m256i pairs =
      _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(at, pairs), 0xd8);
}

GATHER_INLINE void put_vector(char *out, __m256i value, bool nontemporal) {
  if (nontemporal)
    _mm256_stream_si256((void *)out, value);
  else
    _mm256_storeu_si256((void *)out, value);
}

/* 32 elements. */
GATHER_INLINE void put_elements(const table_256 *t, __m256i at, char *out, int E, int groups, bool nontemporal) {
  __m256i v[8];
  pick(t, at, E, groups, v);
  for (int size = 1; size < E; size *= 2) interleave(v, E);
  for (int e = 0; e < E; e++) put_vector(out + e * 32, v[e], nontemporal);
}

/* steps: `count` elements, a multiple of TABLE_STEP; returns how many moved. limit: of indices that nobody has validated, else 0. some:
 * fewer, through a copy of their indices. */
#define TABLE_STEPS(W, E, GROUPS)                                                                                            \
  static int64_t steps_##W##_##E##_##GROUPS(const table_256 *t, const char *indices, char *out, int64_t count, bool many,    \
                                            bool nontemporal, uint64_t limit) {                                              \
    for (int64_t j = 0; j < count; j += TABLE_STEP) {                                                                        \
      for (int at = 0; many && at < TABLE_STEP * W; at += 64) GATHER_PREFETCH(indices + j * W + GATHER_INDEX_PREFETCH + at); \
      if (W > 1 && limit > 0 && !all_below(indices + j * W, W, TABLE_STEP, limit)) return j;                                 \
      put_elements(t, spread_##E(bytes_##W(indices + j * W)), out + j * E, E, GROUPS, nontemporal);                          \
    }                                                                                                                        \
    return count;                                                                                                            \
  }                                                                                                                          \
  static void some_##W##_##E##_##GROUPS(const table_256 *t, const char *indices, char *out, int64_t count) {                 \
    char copy[TABLE_STEP * W] = {0}, picked[TABLE_STEP * E];                                                                 \
    memcpy(copy, indices, (size_t)(count * W));                                                                              \
    steps_##W##_##E##_##GROUPS(t, copy, picked, TABLE_STEP, false, false, 0);                                                \
    memcpy(out, picked, (size_t)(count * E));                                                                                \
  }

/* With non-temporal stores the first elements align the output. Returns how many moved. */
#define TABLE_ROUNDS(W, E, GROUPS)                                                                                                         \
  TABLE_STEPS(W, E, GROUPS)                                                                                                                \
  static int64_t table_##W##_##E##_##GROUPS(const gather_span *s, uint64_t limit) {                                                        \
    const int64_t count = s->count;                                                                                                        \
    table_256 t;                                                                                                                           \
    load_table(&t, s, E, GROUPS);                                                                                                          \
    for (int64_t i = 0; i < s->rounds; i++) {                                                                                              \
      const char *indices = s->indices + i * s->index_round;                                                                               \
      char *out = s->out + i * s->out_round;                                                                                               \
      const int64_t apart = (int64_t)(-(uintptr_t)out & 31) / E;                                                                           \
      const bool nontemporal = s->nontemporal && (uintptr_t)out % E == 0 && apart < count;                                                 \
      const int64_t head = nontemporal ? apart : 0, whole = (count - head) / TABLE_STEP * TABLE_STEP;                                      \
      if (limit > 0 && !first_below(indices, W, head, limit)) return i * count;                                                            \
      if (head > 0) some_##W##_##E##_##GROUPS(&t, indices, out, head);                                                                     \
      const int64_t moved = head + steps_##W##_##E##_##GROUPS(&t, indices + head * W, out + head * E, whole, s->many, nontemporal, limit); \
      if (moved < head + whole) return i * count + moved;                                                                                  \
      if (limit > 0 && !first_below(indices + moved * W, W, count - moved, limit)) return i * count + moved;                               \
      if (moved < count) some_##W##_##E##_##GROUPS(&t, indices + moved * W, out + moved * E, count - moved);                               \
    }                                                                                                                                      \
    return s->rounds * count;                                                                                                              \
  }

/* Indices, output and table are dense. A table of TABLE_BYTES has 16 / E groups. */
#define TABLES_8(W) TABLE_ROUNDS(W, 8, 1) TABLE_ROUNDS(W, 8, 2)
#define TABLES_4(W) TABLE_ROUNDS(W, 4, 1) TABLE_ROUNDS(W, 4, 2) TABLE_ROUNDS(W, 4, 4)
#define TABLES_2(W) TABLE_ROUNDS(W, 2, 1) TABLE_ROUNDS(W, 2, 2) TABLE_ROUNDS(W, 2, 4) TABLE_ROUNDS(W, 2, 8)
#define TABLES_1(W) TABLE_ROUNDS(W, 1, 1) TABLE_ROUNDS(W, 1, 2) TABLE_ROUNDS(W, 1, 4) TABLE_ROUNDS(W, 1, 8) TABLE_ROUNDS(W, 1, 16)
#define NAMES_8(name) name##_1, name##_2
#define NAMES_4(name) NAMES_8(name), name##_4
#define NAMES_2(name) NAMES_4(name), name##_8
#define NAMES_1(name) NAMES_2(name), name##_16
#define TABLE(W, E)                                                                        \
  TABLES_##E(W) static int64_t any_table_##W##_##E(const gather_span *s, uint64_t limit) { \
    static const gather_checked_fn by_groups[] = {NAMES_##E(table_##W##_##E)};             \
    return by_groups[table_groups_log2(s->table_bytes / E)](s, limit);                     \
  }                                                                                        \
  static void table_##W##_##E(const gather_span *s) { any_table_##W##_##E(s, 0); }
#define CHECKED_TABLE(W, E)                                                      \
  static int64_t checked_table_##W##_##E(const gather_span *s, uint64_t limit) { \
    return limit > BELOW_MOST(W) ? 0 : any_table_##W##_##E(s, limit);            \
  }

#endif
