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

GATHER_INLINE void wide_copy_long(char *restrict out, const char *restrict in, size_t bytes) {
  for (size_t at = 0; at + 64 < bytes; at += 64) wide_copy_64(out + at, in + at, 64);
  wide_copy_64(out + bytes - 64, in + bytes - 64, 64);
}

#undef GATHER_WIDE
#define GATHER_WIDE wide_copy

#endif
