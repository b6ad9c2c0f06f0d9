/* SPDX-License-Identifier: MIT
 *
 * sixteen_x86.h: vectors of 16 bytes for the decoders of sixteen.tmpl.h, by SSE 4.1. Included with the target on, which has F16C.
 */
#ifndef GATHER_KERNEL_SIXTEEN_X86_H
#define GATHER_KERNEL_SIXTEEN_X86_H

typedef __m128i bytes_x86;
#define BYTES bytes_x86

GATHER_INLINE BYTES load(const void *in) { return _mm_loadu_si128(in); }
GATHER_INLINE BYTES load_8(const void *in) { return _mm_loadl_epi64(in); } /* the upper half is 0 */
GATHER_INLINE BYTES every(int value) { return _mm_set1_epi8((char)value); }
GATHER_INLINE BYTES both(BYTES a, BYTES b) { return _mm_and_si128(a, b); }
GATHER_INLINE BYTES either(BYTES a, BYTES b) { return _mm_or_si128(a, b); }
GATHER_INLINE BYTES minus(BYTES a, BYTES b) { return _mm_sub_epi8(a, b); }
/* Bits of neighbours come in: they are to be masked. bits is a constant. */
#define down(a, bits) _mm_srli_epi16(a, bits)
#define up(a, bits) _mm_slli_epi16(a, bits)
/* Bytes of the table; q is below 16. */
GATHER_INLINE BYTES pick(BYTES table, BYTES q) { return _mm_shuffle_epi8(table, q); }
GATHER_INLINE BYTES zip_low(BYTES a, BYTES b) { return _mm_unpacklo_epi8(a, b); }
GATHER_INLINE BYTES zip_high(BYTES a, BYTES b) { return _mm_unpackhi_epi8(a, b); }
GATHER_INLINE BYTES join(BYTES low, BYTES high) { return _mm_unpacklo_epi64(low, high); } /* their lower halves */

/* Byte k is 255 if bit k is set. */
GATHER_INLINE BYTES spread(uint32_t bits) {
  const BYTES each = _mm_set1_epi64x((long long)0x8040201008040201u);
  const BYTES where = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  return _mm_cmpeq_epi8(_mm_and_si128(_mm_shuffle_epi8(_mm_cvtsi32_si128((int)bits), where), each), each);
}

GATHER_INLINE float half_at(const unsigned char *in) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128((int)gather_little16(in)))); }

#endif
