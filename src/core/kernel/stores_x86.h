/* SPDX-License-Identifier: MIT
 *
 * stores_x86.h: copies of rows (copy.h) with non-temporal stores, for isa_avx2.c and isa_avx512.c: included after
 * nontemporal_line, with the target on. `out` is aligned to the row's size, of rows of 12 and 24 bytes to a word.
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

/* ---- two rows of 12 bytes or one of 24 become three words of 8 bytes. For little-endian machines. Rows of 3 and 6 bytes gain nothing. */

typedef void (*three_words_fn)(char *restrict out, const char *const *rows);

/* The 8 or 4 bytes of an address. */
GATHER_INLINE uint64_t whole_word(const char *in) {
  uint64_t value;
  memcpy(&value, in, sizeof value);
  return value;
}

GATHER_INLINE uint64_t half_word(const char *in) {
  uint32_t value;
  memcpy(&value, in, sizeof value);
  return value;
}

GATHER_INLINE void store_words(char *out, uint64_t first, uint64_t second, uint64_t third) {
  nontemporal_word(out, first), nontemporal_word(out + 8, second), nontemporal_word(out + 16, third);
}

GATHER_INLINE void three_words_12(char *restrict out, const char *const *rows) {
  store_words(out, whole_word(rows[0]), half_word(rows[0] + 8) | half_word(rows[1]) << 32, whole_word(rows[1] + 4));
}

GATHER_INLINE void three_words_24(char *restrict out, const char *const *rows) {
  store_words(out, whole_word(rows[0]), whole_word(rows[0] + 8), whole_word(rows[0] + 16));
}

#endif
