/* SPDX-License-Identifier: MIT
 *
 * round_tables_avx2.h: what round_tables.tmpl.h needs of AVX2; after tables_avx2.h. Bytes and words are selected from 16 bytes that
 * both halves of a register hold, larger elements from a register. A blend selects the register by bits of the index, which are
 * shifted to the top of the lane.
 */
#ifndef GATHER_KERNEL_ROUND_TABLES_AVX2_H
#define GATHER_KERNEL_ROUND_TABLES_AVX2_H

enum { ROUND_VECTOR = 32 };
#define ROUND_PART(size) ((size) <= 2 ? 16 : 32)
typedef __m256i round_vector;

GATHER_INLINE __m256i round_twice(const char *data, __m256i at) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)data)), at);
}

GATHER_INLINE __m256i round_pick_1(const char *data, __m256i at, int registers) {
  __m256i low = round_twice(data, at);
  if (registers == 1) return low;
  const __m256i bit_4 = _mm256_slli_epi16(at, 3);
  low = _mm256_blendv_epi8(low, round_twice(data + 16, at), bit_4);
  if (registers == 2) return low;
  const __m256i high = _mm256_blendv_epi8(round_twice(data + 32, at), round_twice(data + 48, at), bit_4);
  return _mm256_blendv_epi8(low, high, _mm256_slli_epi16(at, 2));
}

GATHER_INLINE __m256i round_blend_4(__m256i low, __m256i high, __m256i at, int bit) {
  return _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), _mm256_castsi256_ps(_mm256_slli_epi32(at, 31 - bit))));
}

GATHER_INLINE __m256i round_pick_4(const char *data, __m256i at, int registers) {
  __m256i low = _mm256_permutevar8x32_epi32(load_256(data), at);
  if (registers == 1) return low;
  low = round_blend_4(low, _mm256_permutevar8x32_epi32(load_256(data + 32), at), at, 3);
  if (registers == 2) return low;
  const __m256i high =
      round_blend_4(_mm256_permutevar8x32_epi32(load_256(data + 64), at), _mm256_permutevar8x32_epi32(load_256(data + 96), at), at, 3);
  return round_blend_4(low, high, at, 4);
}

/* An element of two bytes is bytes 2i and 2i + 1, one of eight lanes 2i and 2i + 1. */
GATHER_INLINE __m256i round_pick(int size, const char *data, __m256i at, int registers) {
  if (size == 2) {
    at = _mm256_add_epi16(at, at);
    at = _mm256_or_si256(_mm256_or_si256(at, _mm256_slli_epi16(at, 8)), _mm256_set1_epi16(0x0100));
  } else if (size == 8) {
    at = _mm256_add_epi64(at, at);
    at = _mm256_or_si256(_mm256_or_si256(at, _mm256_slli_epi64(at, 32)), _mm256_set1_epi64x((long long)1 << 32));
  }
  return size <= 2 ? round_pick_1(data, at, registers) : round_pick_4(data, at, registers);
}

GATHER_INLINE __m256i round_words_8(const char *i) {
  const __m256i order =
      _mm256_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15, 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15);
  return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(words_8(i), 0xd8), order);
}

/* Bytes as lanes. */
GATHER_INLINE __m256i round_indices_1(int size, const char *i) {
  int four;
  if (size == 1) return load_256(i);
  if (size == 2) return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)i));
  if (size == 4) return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)i));
  memcpy(&four, i, sizeof four);
  return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}

GATHER_INLINE __m256i round_indices(int width, int size, const char *i) {
  if (width == 1) return round_indices_1(size, i);
  if (width == 4)
    return size == 1   ? bytes_4(i)
           : size == 2 ? _mm256_permute4x64_epi64(words_4(i), 0xd8)
           : size == 4 ? load_256(i)
                       : _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)i));
  return size == 1 ? bytes_8(i) : size == 2 ? round_words_8(i) : size == 4 ? indices_8_4(i) : load_256(i);
}

GATHER_INLINE __m256i round_add(int size, __m256i a, __m256i b) {
  return size == 1   ? _mm256_add_epi8(a, b)
         : size == 2 ? _mm256_add_epi16(a, b)
         : size == 4 ? _mm256_add_epi32(a, b)
                     : _mm256_add_epi64(a, b);
}

GATHER_INLINE __m256i round_blend(__m256i a, __m256i b, __m256i mask) { return _mm256_blendv_epi8(a, b, mask); }

GATHER_INLINE __m256i round_load(const char *in) { return load_256(in); }

/* The output of a round need not begin on a vector: half of one is stored at a time. */
GATHER_INLINE void round_put(char *out, __m256i value, bool nontemporal) {
  if (!nontemporal) {
    _mm256_storeu_si256((void *)out, value);
    return;
  }
  _mm_stream_si128((void *)out, _mm256_castsi256_si128(value));
  _mm_stream_si128((void *)(out + 16), _mm256_extracti128_si256(value, 1));
}

#endif
