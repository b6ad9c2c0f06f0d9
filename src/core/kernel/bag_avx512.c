/* SPDX-License-Identifier: MIT
 *
 * bag_avx512.c: embedding bags by AVX-512. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/bag.h"
#include "core/kernel/copy.h"

#if GATHER_ISA_AVX512 && !defined(GATHER_ONLY_GATHER)
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")

enum { BAG_LANES_f32 = 16, BAG_LANES_f64 = 8 };
typedef __m512 floats_bag_avx512;
typedef __m512d doubles_bag_avx512;
#define FLOATS floats_bag_avx512
#define DOUBLES doubles_bag_avx512

/* With a mask of all: gcc's macros without one are implicit conversions, where nothing is optimised. */
GATHER_INLINE FLOATS load_f32(const char *at) { return _mm512_loadu_ps((const void *)at); }
GATHER_INLINE FLOATS load_half(const char *at) { return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)at)); }
GATHER_INLINE FLOATS load_bfloat(const char *at) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)at)), 16));
}
GATHER_INLINE DOUBLES load_f64(const char *at) { return _mm512_loadu_pd((const void *)at); }
GATHER_INLINE DOUBLES load_wide(const char *at) { return _mm512_cvtps_pd(_mm256_loadu_ps((const void *)at)); }

GATHER_INLINE void put_f32(char *at, FLOATS v) { _mm512_storeu_ps((void *)at, v); }
GATHER_INLINE void put_half(char *at, FLOATS v) {
  _mm256_storeu_si256((void *)at, _mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT));
}
/* The instruction for it makes subnormal numbers 0. What is not a number stays none. */
GATHER_INLINE void put_bfloat(char *at, FLOATS v) {
  const __m512i bits = _mm512_castps_si512(v), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
  const __mmask16 none = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i all = _mm512_mask_or_epi32(rounded, none, bits, _mm512_set1_epi32(0x400000));
  _mm256_storeu_si256((void *)at, _mm512_cvtepi32_epi16(_mm512_srli_epi32(all, 16)));
}
GATHER_INLINE void put_f64(char *at, DOUBLES v) { _mm512_storeu_pd((void *)at, v); }
GATHER_INLINE void put_wide(char *at, DOUBLES v) { _mm256_storeu_ps((void *)at, _mm512_cvtpd_ps(v)); }

GATHER_INLINE FLOATS acc_f32(const float *at) { return _mm512_loadu_ps(at); }
GATHER_INLINE DOUBLES acc_f64(const double *at) { return _mm512_loadu_pd(at); }
GATHER_INLINE void keep_f32(float *at, FLOATS v) { _mm512_storeu_ps(at, v); }
GATHER_INLINE void keep_f64(double *at, DOUBLES v) { _mm512_storeu_pd(at, v); }
GATHER_INLINE FLOATS every_f32(float a) { return _mm512_set1_ps(a); }
GATHER_INLINE DOUBLES every_f64(double a) { return _mm512_set1_pd(a); }
GATHER_INLINE FLOATS plus_f32(FLOATS a, FLOATS b) { return _mm512_add_ps(a, b); }
GATHER_INLINE DOUBLES plus_f64(DOUBLES a, DOUBLES b) { return _mm512_add_pd(a, b); }
GATHER_INLINE FLOATS times_f32(FLOATS a, FLOATS b) { return _mm512_mul_ps(a, b); }
GATHER_INLINE DOUBLES times_f64(DOUBLES a, DOUBLES b) { return _mm512_mul_pd(a, b); }
GATHER_INLINE FLOATS divide_f32(FLOATS a, FLOATS b) { return _mm512_div_ps(a, b); }
GATHER_INLINE DOUBLES divide_f64(DOUBLES a, DOUBLES b) { return _mm512_div_pd(a, b); }
GATHER_INLINE FLOATS higher_f32(FLOATS row, FLOATS acc) {
  const __mmask16 taken = _mm512_cmp_ps_mask(row, acc, _CMP_GT_OQ) | _mm512_cmp_ps_mask(row, row, _CMP_UNORD_Q);
  return _mm512_mask_blend_ps(taken, acc, row);
}
GATHER_INLINE DOUBLES higher_f64(DOUBLES row, DOUBLES acc) {
  const __mmask8 taken = (__mmask8)(_mm512_cmp_pd_mask(row, acc, _CMP_GT_OQ) | _mm512_cmp_pd_mask(row, row, _CMP_UNORD_Q));
  return _mm512_mask_blend_pd(taken, acc, row);
}

#include "core/kernel/bag_vectors.tmpl.h"

GATHER_TARGET_END

const gather_bagging gather_bagging_avx512 = BAG_SLOTS;
#endif
