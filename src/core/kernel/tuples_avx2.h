/* SPDX-License-Identifier: MIT
 *
 * tuples_avx2.h: four numbers in one register, for tuples_vector.tmpl.h.
 */
#ifndef GATHER_KERNEL_TUPLES_AVX2_H
#define GATHER_KERNEL_TUPLES_AVX2_H

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
GATHER_INLINE NUMBERS add_pairs(NUMBERS a, NUMBERS b) {
  return _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}
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

#endif
