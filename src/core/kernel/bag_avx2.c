/* SPDX-License-Identifier: MIT
 *
 * bag_avx2.c: embedding bags by AVX2, with F16C, which every CPU with AVX2 has. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/bag.h"
#include "core/kernel/copy.h"

#if GATHER_ISA_AVX2 && !GATHER_SMALL && !defined(GATHER_ONLY_GATHER)
#include <immintrin.h>

/* Without FMA: no compiler can fuse a product and a sum. */
GATHER_TARGET_BEGIN("avx2,f16c")

enum { BAG_LANES_f32 = 8, BAG_LANES_f64 = 4 };
typedef __m256 floats_bag_avx2;
typedef __m256d doubles_bag_avx2;
#define FLOATS floats_bag_avx2
#define DOUBLES doubles_bag_avx2

GATHER_INLINE FLOATS load_f32(const char *at) { return _mm256_loadu_ps((const void *)at); }
GATHER_INLINE FLOATS load_half(const char *at) { return _mm256_cvtph_ps(_mm_loadu_si128((const void *)at)); }
GATHER_INLINE DOUBLES load_f64(const char *at) { return _mm256_loadu_pd((const void *)at); }
GATHER_INLINE DOUBLES load_wide(const char *at) { return _mm256_cvtps_pd(_mm_loadu_ps((const void *)at)); }

GATHER_INLINE void put_f32(char *at, FLOATS v) { _mm256_storeu_ps((void *)at, v); }
GATHER_INLINE void put_half(char *at, FLOATS v) { _mm_storeu_si128((void *)at, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }
GATHER_INLINE void put_f64(char *at, DOUBLES v) { _mm256_storeu_pd((void *)at, v); }
GATHER_INLINE void put_wide(char *at, DOUBLES v) { _mm_storeu_ps((void *)at, _mm256_cvtpd_ps(v)); }

GATHER_INLINE FLOATS acc_f32(const float *at) { return _mm256_loadu_ps(at); }
GATHER_INLINE DOUBLES acc_f64(const double *at) { return _mm256_loadu_pd(at); }
GATHER_INLINE void keep_f32(float *at, FLOATS v) { _mm256_storeu_ps(at, v); }
GATHER_INLINE void keep_f64(double *at, DOUBLES v) { _mm256_storeu_pd(at, v); }
GATHER_INLINE FLOATS every_f32(float a) { return _mm256_set1_ps(a); }
GATHER_INLINE DOUBLES every_f64(double a) { return _mm256_set1_pd(a); }
GATHER_INLINE FLOATS plus_f32(FLOATS a, FLOATS b) { return _mm256_add_ps(a, b); }
GATHER_INLINE DOUBLES plus_f64(DOUBLES a, DOUBLES b) { return _mm256_add_pd(a, b); }
GATHER_INLINE FLOATS times_f32(FLOATS a, FLOATS b) { return _mm256_mul_ps(a, b); }
GATHER_INLINE DOUBLES times_f64(DOUBLES a, DOUBLES b) { return _mm256_mul_pd(a, b); }
GATHER_INLINE FLOATS divide_f32(FLOATS a, FLOATS b) { return _mm256_div_ps(a, b); }
GATHER_INLINE DOUBLES divide_f64(DOUBLES a, DOUBLES b) { return _mm256_div_pd(a, b); }
/* The instruction gives its second operand unless the first is larger. */
GATHER_INLINE FLOATS higher_f32(FLOATS row, FLOATS acc) {
  return _mm256_blendv_ps(_mm256_max_ps(row, acc), row, _mm256_cmp_ps(row, row, _CMP_UNORD_Q));
}
GATHER_INLINE DOUBLES higher_f64(DOUBLES row, DOUBLES acc) {
  return _mm256_blendv_pd(_mm256_max_pd(row, acc), row, _mm256_cmp_pd(row, row, _CMP_UNORD_Q));
}

/* Sixteen bfloat16, those of even numbers and those of odd ones apart: a shift or a mask makes each a float32, and no element moves. */
enum { BAG_LANES_bfloat = 16, BAG_MOST_bfloat = 4 };
typedef struct {
  __m256 even, odd;
} pairs_bag_avx2;
#define BFLOATS pairs_bag_avx2

GATHER_INLINE __m256i high_halves(__m256i a) { return _mm256_and_si256(a, _mm256_set1_epi32((int)0xFFFF0000u)); }
GATHER_INLINE BFLOATS load_bfloat(const char *at) {
  const __m256i bits = _mm256_loadu_si256((const void *)at);
  return (BFLOATS){_mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)), _mm256_castsi256_ps(high_halves(bits))};
}
/* In the upper half of each lane. What is not a number stays none. */
GATHER_INLINE __m256i nearest_bfloat(__m256 v) {
  const __m256i bits = _mm256_castps_si256(v), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
  const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), none);
}
GATHER_INLINE void put_bfloat(char *at, BFLOATS v) {
  const __m256i even = _mm256_srli_epi32(nearest_bfloat(v.even), 16), odd = high_halves(nearest_bfloat(v.odd));
  _mm256_storeu_si256((void *)at, _mm256_or_si256(even, odd));
}
GATHER_INLINE BFLOATS acc_bfloat(const float *at) { return (BFLOATS){acc_f32(at), acc_f32(at + 8)}; }
GATHER_INLINE void keep_bfloat(float *at, BFLOATS v) { keep_f32(at, v.even), keep_f32(at + 8, v.odd); }
GATHER_INLINE BFLOATS every_bfloat(float a) { return (BFLOATS){every_f32(a), every_f32(a)}; }
#define OF_BOTH(name) \
  GATHER_INLINE BFLOATS name##_bfloat(BFLOATS a, BFLOATS b) { return (BFLOATS){name##_f32(a.even, b.even), name##_f32(a.odd, b.odd)}; }
OF_BOTH(plus)
OF_BOTH(times)
OF_BOTH(divide)
OF_BOTH(higher)

#include "core/kernel/bag_vectors.tmpl.h"

GATHER_TARGET_END

const gather_bagging gather_bagging_avx2 = BAG_SLOTS;
#endif
