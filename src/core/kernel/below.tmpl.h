/* SPDX-License-Identifier: MIT
 *
 * below.tmpl.h: whether the next few indices are below a limit, for kernels that validate as they move (checked.tmpl.h). Included once per
 * instruction set. within.tmpl.h is for all indices of a run.
 *
 * Parameter: BELOW_VECTORS   2: by AVX-512, 1: by AVX2, 0: by plain C, which compilers vectorise
 *
 * all_below(indices, width, count, limit): count is a constant, a power of two from 8 on, with AVX2 from 4 on; the limit is at least 1,
 * and at most BELOW_MOST(width).
 */
#if BELOW_VECTORS == 2
#define BELOW_MOST(width) UINT32_MAX

GATHER_INLINE bool all_below(const char *indices, int width, int count, uint64_t limit) {
  const __m512i last = width == 4 ? _mm512_set1_epi32((int)(limit - 1)) : _mm512_set1_epi64((long long)(limit - 1));
  if (count * width == 32) return _mm256_cmpgt_epu32_mask(wide_load(indices), _mm512_castsi512_si256(last)) == 0;
  __m512i most = _mm512_loadu_si512(indices);
  for (int at = 64; at < count * width; at += 64) most = _mm512_max_epu32(most, _mm512_loadu_si512(indices + at));
  return _mm512_cmpgt_epu32_mask(most, last) == 0;
}
#elif BELOW_VECTORS == 1
/* There is no maximum of numbers of 8 bytes, but of their halves; the high ones must be 0. */
#define BELOW_MOST(width) UINT32_MAX

GATHER_INLINE bool all_below(const char *indices, int width, int count, uint64_t limit) {
  const __m256i last = width == 4 ? _mm256_set1_epi32((int)(limit - 1)) : _mm256_set1_epi64x((long long)(limit - 1));
  if (count * width == 16) {
    const __m128i few = _mm_loadu_si128((const void *)indices), low = _mm256_castsi256_si128(last);
    return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_max_epu32(few, low), low)) == 0xffff;
  }
  __m256i most = wide_load(indices);
  for (int at = 32; at < count * width; at += 32) most = _mm256_max_epu32(most, wide_load(indices + at));
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(most, last), last)) == -1;
}
#else
#define BELOW_MOST(width) (UINT64_C(1) << (8 * (width)-1))

/* The highest bit of an index, or of what is left to the last one. */
GATHER_INLINE bool all_below(const char *indices, int width, int count, uint64_t limit) {
  uint32_t narrow = 0, narrow_index;
  uint64_t wide = 0, index;
  for (int k = 0; k < count && width == 4; k++) {
    memcpy(&narrow_index, indices + k * 4, 4);
    narrow |= narrow_index | ((uint32_t)(limit - 1) - narrow_index);
  }
  for (int k = 0; k < count && width == 8; k++) {
    memcpy(&index, indices + k * 8, 8);
    wide |= index | (limit - 1 - index);
  }
  return (narrow >> 31 | wide >> 63) == 0;
}
#endif

/* The same for any number. Inline in the function of each width, which is no copy in each kernel. */
GATHER_INLINE bool number_below(const char *indices, int width, int64_t count, uint64_t limit) {
  enum { GROUP = 16 };
  bool below = true;
  int64_t j = 0;
  for (; j + GROUP <= count; j += GROUP) below &= all_below(indices + j * width, width, GROUP, limit);
  for (; j < count; j++) below &= (uint64_t)gather_row(indices, width, j) < limit;
  return below;
}

static GATHER_SHARED bool first_below_4(const char *indices, int64_t count, uint64_t limit) {
  return number_below(indices, 4, count, limit);
}
static GATHER_SHARED bool first_below_8(const char *indices, int64_t count, uint64_t limit) {
  return number_below(indices, 8, count, limit);
}

GATHER_INLINE bool first_below(const char *indices, int width, int64_t count, uint64_t limit) {
  if (count == 0) return true;
  return width == 4 ? first_below_4(indices, count, limit) : first_below_8(indices, count, limit);
}

#define CHECKED_TABLE_SLOTS                                                         \
  {                                                                                 \
    {checked_table_4_1, checked_table_4_2, checked_table_4_4, checked_table_4_8}, { \
      checked_table_8_1, checked_table_8_2, checked_table_8_4, checked_table_8_8    \
    }                                                                               \
  }
