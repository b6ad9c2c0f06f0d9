/* SPDX-License-Identifier: MIT
 *
 * widen.tmpl.h: widens indices of each type to row numbers of 8 bytes, once per instruction set; loops that compilers
 * vectorise.
 */
#define WIDEN(type, suffix, ENUM, is_signed)                                                                          \
  static void widen_##suffix(const char *restrict indices, int64_t count, int64_t axis_len, int64_t *restrict rows) { \
    (void)axis_len;                                                                                                   \
    for (int64_t j = 0; j < count; j++) {                                                                             \
      type index;                                                                                                     \
      memcpy(&index, indices + j * (int64_t)sizeof index, sizeof index);                                              \
      int64_t row = (int64_t)index;                                                                                   \
      rows[j] = row + WIDEN_##is_signed(row, axis_len);                                                               \
    }                                                                                                                 \
  }
#define WIDEN_1(row, axis_len) ((row) < 0 ? (axis_len) : 0)
#define WIDEN_0(row, axis_len) 0
GATHER_INDEX_TYPES_LIST(WIDEN)
#undef WIDEN
#undef WIDEN_1
#undef WIDEN_0
#define WIDEN_SLOTS \
  { widen_i8, widen_i16, widen_i32, widen_i64, widen_u8, widen_u16, widen_u32, widen_u64 }
