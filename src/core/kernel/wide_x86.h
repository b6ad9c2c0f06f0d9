/* SPDX-License-Identifier: MIT
 *
 * wide_x86.h: the copies of copy.h of 32 bytes and more, for isa_avx2.c and isa_avx512.c: included with the target on, before the
 * templates that copy rows. By intrinsics: gcc 12 copies 16 bytes at a time where memcpy's size is a constant, also with AVX2.
 */
#ifndef GATHER_KERNEL_WIDE_X86_H
#define GATHER_KERNEL_WIDE_X86_H

GATHER_INLINE __m256i wide_load(const char *in) { return _mm256_loadu_si256((const void *)in); }
GATHER_INLINE void wide_store(char *out, __m256i value) { _mm256_storeu_si256((void *)out, value); }

GATHER_INLINE void wide_copy_32(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  wide_store(out, wide_load(in));
}

/* 32 bytes from each end. Both loads come first. */
GATHER_INLINE void wide_copy_33_to_63(char *restrict out, const char *restrict in, size_t bytes) {
  const __m256i head = wide_load(in), tail = wide_load(in + bytes - 32);
  wide_store(out, head), wide_store(out + bytes - 32, tail);
}

GATHER_INLINE void wide_copy_64(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  wide_copy_33_to_63(out, in, 64);
}

/* 65 bytes or more. */
GATHER_INLINE void wide_copy_long(char *restrict out, const char *restrict in, size_t bytes) {
  for (size_t at = 0; at + 64 < bytes; at += 64) wide_copy_64(out + at, in + at, 64);
  wide_copy_64(out + bytes - 64, in + bytes - 64, 64);
}

/* 65 bytes or more: all stores but the first and the last are aligned. Rows seldom begin at an address that is a multiple of 32, and then
 * every second store of 32 bytes is in two lines, which takes twice as long if nothing else takes longer: rows from memory gain nothing,
 * and those of 1000 bytes lose 5 to 10 %. */
GATHER_INLINE void wide_copy_aligned(char *restrict out, const char *restrict in, size_t bytes) {
  const __m256i head = wide_load(in), tail = wide_load(in + bytes - 32);
  size_t at = 32 - ((uintptr_t)out & 31);
  wide_store(out, head);
  for (; at + 64 < bytes; at += 64) wide_copy_64(out + at, in + at, 64);
  if (at + 32 < bytes) wide_copy_32(out + at, in + at, 32);
  wide_store(out + bytes - 32, tail);
}

/* The same for more than 32 (vectors - 1) and at most 32 vectors bytes, 3 vectors or more, a constant. whole: exactly
 * 32 vectors bytes, to an aligned place. */
GATHER_INLINE void wide_copy_vectors(char *restrict out, const char *restrict in, size_t bytes, int vectors, bool whole) {
  if (whole) {
    for (int k = 0; k < vectors; k++) wide_copy_32(out + 32 * k, in + 32 * k, 32);
    return;
  }
  const __m256i head = wide_load(in), tail = wide_load(in + bytes - 32);
  const size_t aligned = 32 - ((uintptr_t)out & 31);
  char *const last = out + bytes - 32, *to = out + aligned;
  const char *from = in + aligned;
  wide_store(out, head);
  for (int k = 0; k < vectors - 2; k++, to += 32, from += 32) wide_store(to, wide_load(from));
  if (to < last) wide_store(to, wide_load(from));
  wide_store(last, tail);
}

#undef GATHER_WIDE
#define GATHER_WIDE wide_copy
#define GATHER_VECTORS wide_copy_vectors

#endif
