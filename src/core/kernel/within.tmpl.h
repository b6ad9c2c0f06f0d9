/* SPDX-License-Identifier: MIT
 *
 * within.tmpl.h: whether all indices of a run are below a limit, for each width, once per instruction set; loops that
 * compilers vectorise. The including file defines WITHIN_BY and, for indices of 8 bytes, WITHIN_BY_64, as MOST or BITS:
 *
 *   MOST  the largest index: one operation, where the instruction set has a maximum of that width
 *   BITS  the highest bit of an index or of limit - 1 - index: three operations that every instruction set has
 *
 * Two results, one for each half: with a single one, each vector would wait for the one before. The halves of an odd number
 * share an index. Many indices come from memory, which reads one sequence faster than two.
 */
#define WITHIN_ADD_MOST(w, sum, index) sum = index > sum ? index : sum
#define WITHIN_ADD_BITS(w, sum, index) sum = (uint##w##_t)(sum | (index | (uint##w##_t)(last - index)))
#define WITHIN_END_MOST(w) (low > high ? low : high) <= last
#define WITHIN_END_BITS(w) (low | high) >> (w - 1) == 0

#define WITHIN(w, BY)                                                                                                       \
  static bool within_u##w(const char *indices, int64_t count, bool many, uint64_t limit) {                                  \
    enum { WIDTH = w / 8, BLOCK = 1024 / WIDTH /* prefetched at a time */ };                                                \
    const uint##w##_t last = (uint##w##_t)(limit - 1);                                                                      \
    uint##w##_t low = 0, high = 0, index, other;                                                                            \
    const int64_t half = many ? count : count / 2;                                                                          \
    for (int64_t j = 0; j < count - half; j++) {                                                                            \
      memcpy(&index, indices + j * WIDTH, WIDTH), memcpy(&other, indices + (half + j) * WIDTH, WIDTH);                      \
      WITHIN_ADD_##BY(w, low, index);                                                                                       \
      WITHIN_ADD_##BY(w, high, other);                                                                                      \
    }                                                                                                                       \
    for (int64_t first = 0; many && first < count; first += BLOCK) {                                                        \
      const int64_t end = count - first < BLOCK ? count : first + BLOCK;                                                    \
      for (int at = 0; at < BLOCK * WIDTH; at += 64) GATHER_PREFETCH(indices + first * WIDTH + GATHER_INDEX_PREFETCH + at); \
      for (int64_t j = first; j < end; j++) {                                                                               \
        memcpy(&index, indices + j * WIDTH, WIDTH);                                                                         \
        WITHIN_ADD_##BY(w, low, index);                                                                                     \
      }                                                                                                                     \
    }                                                                                                                       \
    return WITHIN_END_##BY(w);                                                                                              \
  }
#define WITHIN_EACH(w, BY) WITHIN(w, BY)
WITHIN_EACH(8, WITHIN_BY)
WITHIN_EACH(16, WITHIN_BY)
WITHIN_EACH(32, WITHIN_BY)
WITHIN_EACH(64, WITHIN_BY_64)
#undef WITHIN
#undef WITHIN_EACH
#undef WITHIN_ADD_MOST
#undef WITHIN_ADD_BITS
#undef WITHIN_END_MOST
#undef WITHIN_END_BITS

#if !GATHER_SMALL
/* gather_narrow_indices_fn */
static bool narrow_indices(const char *restrict indices, int64_t count, uint64_t limit, uint8_t *restrict bytes) {
  enum { BLOCK = 128 /* indices prefetched at a time */ };
  const uint64_t last = limit - 1;
  uint64_t seen = 0, index;
  for (int64_t first = 0; first < count; first += BLOCK) {
    const int64_t end = count - first < BLOCK ? count : first + BLOCK;
    for (int at = 0; at < BLOCK * 8; at += 64) GATHER_PREFETCH(indices + first * 8 + GATHER_INDEX_PREFETCH + at);
    for (int64_t j = first; j < end; j++) {
      memcpy(&index, indices + j * 8, 8);
      seen |= index | (last - index);
      bytes[j] = (uint8_t)index;
    }
  }
  return seen >> 63 == 0;
}
#endif

#define WITHIN_SLOTS \
  { within_u8, within_u16, within_u32, within_u64 }
