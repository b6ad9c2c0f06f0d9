/* SPDX-License-Identifier: MIT
 *
 * sixteen_avx2.h: sixteen float32 in two registers of AVX2, for sixteen.tmpl.h.
 */
#ifndef GATHER_KERNEL_SIXTEEN_AVX2_H
#define GATHER_KERNEL_SIXTEEN_AVX2_H

#include "core/kernel/sixteen_x86.h"

typedef struct {
  __m256 low, high;
} floats_avx2;
#define FLOATS floats_avx2

GATHER_INLINE FLOATS of_signed(BYTES q) {
  return (FLOATS){_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q)), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(q, q)))};
}
GATHER_INLINE FLOATS of_unsigned(BYTES q) {
  return (FLOATS){_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(q)), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_unpackhi_epi64(q, q)))};
}

#define WITH_ONE(name, operation)                                                     \
  GATHER_INLINE FLOATS name(FLOATS a, float b) {                                      \
    const __m256 all = _mm256_set1_ps(b);                                             \
    return (FLOATS){_mm256_##operation(a.low, all), _mm256_##operation(a.high, all)}; \
  }
WITH_ONE(times, mul_ps)
WITH_ONE(plus, add_ps)
WITH_ONE(less, sub_ps)
#undef WITH_ONE

GATHER_INLINE FLOATS fused(FLOATS a, float scale, float bias) {
  const __m256 s = _mm256_set1_ps(scale), b = _mm256_set1_ps(bias);
  return (FLOATS){_mm256_fmadd_ps(a.low, s, b), _mm256_fmadd_ps(a.high, s, b)};
}

GATHER_INLINE FLOATS sixteen_at(const float *in) { return (FLOATS){_mm256_loadu_ps(in), _mm256_loadu_ps(in + 8)}; }

GATHER_INLINE __m256 eight_of(FLOATS table, __m256i q) {
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table.low, q), _mm256_permutevar8x32_ps(table.high, q),
                          _mm256_castsi256_ps(_mm256_slli_epi32(q, 28)));
}
/* Floats of the table; q is below 16. */
GATHER_INLINE FLOATS pick_floats(FLOATS table, BYTES q) {
  return (FLOATS){eight_of(table, _mm256_cvtepu8_epi32(q)), eight_of(table, _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(q, q)))};
}

/* Picking floats takes as long as scaling them. */
#define FLOAT_TABLES 0

GATHER_INLINE void put_f32(char *out, FLOATS v) {
  _mm256_storeu_ps((void *)out, v.low);
  _mm256_storeu_ps((void *)(out + 32), v.high);
}
#define PAST_STORES 1
GATHER_INLINE void put_f32_past(char *out, FLOATS v) {
  if ((uintptr_t)out % 64 != 0) {
    put_f32(out, v);
    return;
  }
  _mm256_stream_ps((void *)out, v.low);
  _mm256_stream_ps((void *)(out + 32), v.high);
}
GATHER_INLINE void put_f16(char *out, FLOATS v) {
  _mm_storeu_si128((void *)out, _mm256_cvtps_ph(v.low, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128((void *)(out + 16), _mm256_cvtps_ph(v.high, _MM_FROUND_TO_NEAREST_INT));
}

/* In the upper half of each lane. What is not a number stays none. */
GATHER_INLINE __m256i nearest_bf16(__m256 v) {
  const __m256i bits = _mm256_castps_si256(v), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
  const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), none);
}
GATHER_INLINE void put_bf16(char *out, FLOATS v) {
  const __m256i low = _mm256_srli_epi32(nearest_bf16(v.low), 16), high = _mm256_srli_epi32(nearest_bf16(v.high), 16);
  _mm256_storeu_si256((void *)out, _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xD8));
}

#endif
