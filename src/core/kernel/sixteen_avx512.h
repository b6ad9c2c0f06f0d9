/* SPDX-License-Identifier: MIT
 *
 * sixteen_avx512.h: sixteen float32 in one register of AVX-512, for sixteen.tmpl.h.
 */
#ifndef GATHER_KERNEL_SIXTEEN_AVX512_H
#define GATHER_KERNEL_SIXTEEN_AVX512_H

#include "core/kernel/sixteen_x86.h"

typedef __m512 floats_avx512;
#define FLOATS floats_avx512

GATHER_INLINE FLOATS of_signed(BYTES q) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q)); }
GATHER_INLINE FLOATS of_unsigned(BYTES q) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(q)); }
GATHER_INLINE FLOATS times(FLOATS a, float b) { return _mm512_mul_ps(a, _mm512_set1_ps(b)); }
GATHER_INLINE FLOATS plus(FLOATS a, float b) { return _mm512_add_ps(a, _mm512_set1_ps(b)); }
GATHER_INLINE FLOATS less(FLOATS a, float b) { return _mm512_sub_ps(a, _mm512_set1_ps(b)); }

GATHER_INLINE FLOATS fused(FLOATS a, float scale, float bias) { return _mm512_fmadd_ps(a, _mm512_set1_ps(scale), _mm512_set1_ps(bias)); }

GATHER_INLINE FLOATS sixteen_at(const float *in) { return _mm512_loadu_ps(in); }
/* Floats of the table; q is below 16. */
GATHER_INLINE FLOATS pick_floats(FLOATS table, BYTES q) { return _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(q), table); }

/* Floats of two tables, picked by the lower and by the upper halves of bytes: so the levels of a group are scaled, not its elements. */
#define FLOAT_TABLES 1
GATHER_INLINE FLOATS pick_low(FLOATS table, BYTES q) { return pick_floats(table, q); } /* the instruction reads four bits */
GATHER_INLINE FLOATS pick_high(FLOATS table, BYTES q) {
  return _mm512_permutexvar_ps(_mm512_srli_epi32(_mm512_cvtepu8_epi32(q), 4), table);
}

GATHER_INLINE void put_f32(char *out, FLOATS v) { _mm512_storeu_ps((void *)out, v); }
#define PAST_STORES 1
GATHER_INLINE void put_f32_past(char *out, FLOATS v) {
  if ((uintptr_t)out % 64 == 0)
    _mm512_stream_ps((void *)out, v);
  else
    put_f32(out, v);
}
/* With a mask of all: gcc's macro without one is an implicit conversion, where nothing is optimised. */
GATHER_INLINE void put_f16(char *out, FLOATS v) {
  _mm256_storeu_si256((void *)out, _mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT));
}
/* The instruction for it makes subnormal numbers 0. What is not a number stays none. */
GATHER_INLINE void put_bf16(char *out, FLOATS v) {
  const __m512i bits = _mm512_castps_si512(v), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
  const __mmask16 none = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i all = _mm512_mask_or_epi32(rounded, none, bits, _mm512_set1_epi32(0x400000));
  _mm256_storeu_si256((void *)out, _mm512_cvtepi32_epi16(_mm512_srli_epi32(all, 16)));
}

#endif
