/* SPDX-License-Identifier: MIT
 *
 * three_words.h: two rows of 12 bytes or one of 24 become three words of 8 bytes, with non-temporal stores; `out` is aligned to a word.
 * For little-endian machines. Included with the target on, after nontemporal_word(out, word). Rows of 3 and 6 bytes gain nothing.
 */
#ifndef GATHER_KERNEL_THREE_WORDS_H
#define GATHER_KERNEL_THREE_WORDS_H

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
