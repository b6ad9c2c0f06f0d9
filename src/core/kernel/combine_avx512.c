/* SPDX-License-Identifier: MIT
 *
 * combine_avx512.c: the kernels that combine by AVX-512. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/combine_number.h"
#include "core/kernel/combine_vector.h"
#include "core/kernel/combine_walk.h"

#if GATHER_ISA_AVX512 && !defined(GATHER_ONLY_GATHER)
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#include "core/kernel/combine_x86.h"

GATHER_INLINE __m512 load_f16_32(const char *in) { return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)in)); }
GATHER_INLINE void store_f16_32(char *out, __m512 a) { _mm256_storeu_si256((void *)out, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)); }

GATHER_INLINE __m512 load_bf16_32(const char *in) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)in)), 16));
}
GATHER_INLINE void store_bf16_32(char *out, __m512 a) {
  const __m512i bits = _mm512_castps_si512(a), high = _mm512_srli_epi32(bits, 16);
  const __m512i up = _mm512_add_epi32(_mm512_and_si512(high, _mm512_set1_epi32(1)), _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, up), 16);
  const __m512i lanes = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), high, _mm512_set1_epi32(0x40));
  _mm256_storeu_si256((void *)out, _mm512_cvtepi32_epi16(lanes));
}

GATHER_INLINE __m512d load_f32_32(const char *in) { return _mm512_cvtps_pd(_mm256_loadu_ps((const void *)in)); }
GATHER_INLINE void store_f32_32(char *out, __m512d a) { _mm256_storeu_ps((void *)out, _mm512_cvtpd_ps(a)); }

#define LONGEST 64
#define LONGEST_HALF 32
#define WIDE_F16 wide_f16
#define NARROW_F16 narrow_f16
#include "core/kernel/combine.tmpl.h"

#include "core/kernel/combine_wide.tmpl.h"
GATHER_TARGET_END

const gather_combining gather_combining_avx512 = {
    .elements = HALF_SLOTS(elements),
    .rows = ALL_SLOTS(rows),
    .wide = WIDE_SLOTS,
};
#endif
