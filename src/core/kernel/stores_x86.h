/* SPDX-License-Identifier: MIT
 *
 * stores_x86.h: copies of rows (copy.h) with non-temporal stores, for isa_avx2.c and isa_avx512.c: included after
 * nontemporal_line, with the target on. `out` is aligned to the row's size.
 */
#ifndef GATHER_KERNEL_STORES_X86_H
#define GATHER_KERNEL_STORES_X86_H

GATHER_INLINE void nontemporal_4(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  int value;
  memcpy(&value, in, sizeof value);
  _mm_stream_si32((void *)out, value);
}

GATHER_INLINE void nontemporal_8(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  long long value;
  memcpy(&value, in, sizeof value);
  _mm_stream_si64((void *)out, value);
}

GATHER_INLINE void nontemporal_16(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  _mm_stream_si128((void *)out, _mm_loadu_si128((const void *)in));
}

GATHER_INLINE void nontemporal_32(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  _mm256_stream_si256((void *)out, _mm256_loadu_si256((const void *)in));
}

GATHER_INLINE void nontemporal_64(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  nontemporal_line(out, in);
}

GATHER_INLINE void nontemporal_word(char *out, uint64_t word) { _mm_stream_si64((void *)out, (long long)word); }

#endif
