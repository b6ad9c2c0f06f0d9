/* SPDX-License-Identifier: MIT
 *
 * within.tmpl.h: whether all of a run of indices are below a limit, for indices of every width, once per instruction set; loops that
 * compilers turn into vectors. An index that is not below it has the highest bit of its own or of limit - 1 - index: three
 * operations that every instruction set has for every width, where a largest index, which is the other way to find out, is
 * several for 8 bytes.
 */
#define WITHIN(w)                                                                          \
  static bool within_u##w(const char *indices, int64_t count, bool many, uint64_t limit) { \
    enum { WIDTH = w / 8, BLOCK = 1024 / WIDTH /* that are prefetched at a time */ };      \
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
