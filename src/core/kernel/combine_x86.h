/* SPDX-License-Identifier: MIT
 *
 * combine_x86.h: halves as floats, and float32 as float64, in registers of 16 and 32 bytes, for combine.tmpl.h. Included with the target
 * on, which has AVX2 and F16C.
 */
#ifndef GATHER_KERNEL_COMBINE_X86_H
#define GATHER_KERNEL_COMBINE_X86_H

/* One float16. */
GATHER_INLINE float wide_f16(gather_half half) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half))); }
GATHER_INLINE gather_half narrow_f16(float number) {
  return (gather_half)_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(number), _MM_FROUND_TO_NEAREST_INT), 0);
}

GATHER_INLINE __m128 load_f16_8(const char *in) { return _mm_cvtph_ps(_mm_loadl_epi64((const void *)in)); }
GATHER_INLINE __m256 load_f16_16(const char *in) { return _mm256_cvtph_ps(_mm_loadu_si128((const void *)in)); }
GATHER_INLINE void store_f16_8(char *out, __m128 a) { _mm_storel_epi64((void *)out, _mm_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)); }
GATHER_INLINE void store_f16_16(char *out, __m256 a) { _mm_storeu_si128((void *)out, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)); }

GATHER_INLINE __m128 load_bf16_8(const char *in) {
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const void *)in)));
}
GATHER_INLINE __m256 load_bf16_16(const char *in) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)in)), 16));
}

/* The nearest bfloat16 of each lane, in its lower half. NaN stays NaN: gather_narrow_bf16. */
GATHER_INLINE __m256i nearest_bf16(__m256 a) {
  const __m256i bits = _mm256_castps_si256(a), high = _mm256_srli_epi32(bits, 16);
  const __m256i up = _mm256_add_epi32(_mm256_and_si256(high, _mm256_set1_epi32(1)), _mm256_set1_epi32(0x7fff));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, up), 16), none = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, _mm256_or_si256(high, _mm256_set1_epi32(0x40)), none);
}
GATHER_INLINE void store_bf16_16(char *out, __m256 a) {
  const __m256i lanes = nearest_bf16(a);
  _mm_storeu_si128((void *)out, _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1)));
}
GATHER_INLINE void store_bf16_8(char *out, __m128 a) {
  const __m128i lanes = _mm256_castsi256_si128(nearest_bf16(_mm256_castps128_ps256(a)));
  _mm_storel_epi64((void *)out, _mm_packus_epi32(lanes, lanes));
}

GATHER_INLINE __m128d load_f32_8(const char *in) { return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const void *)in))); }
GATHER_INLINE __m256d load_f32_16(const char *in) { return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_loadu_si128((const void *)in))); }
GATHER_INLINE void store_f32_8(char *out, __m128d a) { _mm_storel_epi64((void *)out, _mm_castps_si128(_mm_cvtpd_ps(a))); }
GATHER_INLINE void store_f32_16(char *out, __m256d a) { _mm_storeu_si128((void *)out, _mm_castps_si128(_mm256_cvtpd_ps(a))); }

#endif
