/* SPDX-License-Identifier: MIT
 *
 * fold.tmpl.h: the range of a run of indices of each width, once per instruction set; loops that compilers vectorise.
 * For runs with negative indices or indices out of range; the others are validated by within.tmpl.h.
 */
#define FOLD(w)                                                                                                \
  static void fold_u##w(const char *indices, int64_t count, uint64_t shift, uint64_t *most, uint64_t *signs) { \
    uint##w##_t largest = (uint##w##_t) * most, bits = (uint##w##_t) * signs, add = (uint##w##_t)shift;        \
    for (int64_t j = 0; j < count; j++) {                                                                      \
      uint##w##_t index, moved;                                                                                \
      memcpy(&index, indices + j * (w / 8), sizeof index);                                                     \
      moved = (uint##w##_t)(index + add);                                                                      \
      largest = moved > largest ? moved : largest;                                                             \
      bits = (uint##w##_t)(bits | index);                                                                      \
    }                                                                                                          \
    *most = largest, *signs = bits;                                                                            \
  }
FOLD(8)
FOLD(16)
FOLD(32)
FOLD(64)
#undef FOLD
#define FOLD_SLOTS \
  { fold_u8, fold_u16, fold_u32, fold_u64 }
