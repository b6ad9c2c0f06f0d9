/* SPDX-License-Identifier: MIT
 *
 * tuples_avx512.h: eight numbers in one register, for tuples_vector.tmpl.h.
 */
#ifndef GATHER_KERNEL_TUPLES_AVX512_H
#define GATHER_KERNEL_TUPLES_AVX512_H

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

#endif
