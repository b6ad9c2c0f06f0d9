/* SPDX-License-Identifier: MIT
 *
 * within.tmpl.h: whether all indices of a run are below a limit, for each width, once per instruction set; loops that
 * compilers vectorise. An index is not below the limit if the highest bit of it or of limit - 1 - index is set: three
 * operations that every instruction set has for every width. A maximum, the alternative, needs several for 8 bytes.
 */
#define WITHIN(w)                                                                          \
  static bool within_u##w(const char *indices, int64_t count, bool many, uint64_t limit) { \
    enum { WIDTH = w / 8, BLOCK = 1024 / WIDTH /* prefetched at a time */ };               \
    const uint##w##_t last = (uint##w##_t)(limit - 1);                                     \
    uint##w##_t bits = 0;                                                                  \
    for (int64_t j = 0; j < count;) {                                                      \
      const int64_t end = !many || count - j < BLOCK ? count : j + BLOCK;                  \
      for (int at = 0; many && at < BLOCK * WIDTH; at += 64)                               \
        GATHER_PREFETCH(indices + j * WIDTH + GATHER_INDEX_PREFETCH + at);                 \
      for (; j < end; j++) {                                                               \
        uint##w##_t index;                                                                 \
        memcpy(&index, indices + j * WIDTH, sizeof index);                                 \
        bits = (uint##w##_t)(bits | index | (uint##w##_t)(last - index));                  \
      }                                                                                    \
    }                                                                                      \
    return bits >> (w - 1) == 0;                                                           \
  }
WITHIN(8)
WITHIN(16)
WITHIN(32)
WITHIN(64)
#undef WITHIN
#define WITHIN_SLOTS \
  { within_u8, within_u16, within_u32, within_u64 }
