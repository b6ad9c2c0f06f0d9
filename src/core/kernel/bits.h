/* SPDX-License-Identifier: MIT
 *
 * bits.h: moving elements that are smaller than a byte, by their number.
 */
#ifndef GATHER_KERNEL_BITS_H
#define GATHER_KERNEL_BITS_H

#include "core/base/compiler.h"
#include "gather/gather.h"

/* How elements are packed: fields of gather_type_info. */
typedef struct gather_bit_layout {
  gather_packing packing;
  int32_t bits, group_len, group_bytes;
  int32_t group_shift; /* group_len is 2 to this power */
} gather_bit_layout;

/* Every layout: GATHER_LAYOUT(name, packing, bits, group_len, group_bytes, group_shift). */
#define GATHER_LAYOUTS_LIST(GATHER_LAYOUT)      \
  GATHER_LAYOUT(low_1, LOW_FIRST, 1, 8, 1, 3)   \
  GATHER_LAYOUT(low_2, LOW_FIRST, 2, 4, 1, 2)   \
  GATHER_LAYOUT(low_4, LOW_FIRST, 4, 2, 1, 1)   \
  GATHER_LAYOUT(high_1, HIGH_FIRST, 1, 8, 1, 3) \
  GATHER_LAYOUT(high_2, HIGH_FIRST, 2, 4, 1, 2) \
  GATHER_LAYOUT(high_4, HIGH_FIRST, 4, 2, 1, 1) \
  GATHER_LAYOUT(split_3, SPLIT_3, 3, 8, 3, 3)   \
  GATHER_LAYOUT(split_6, SPLIT_6, 6, 4, 3, 2)   \
  GATHER_LAYOUT(stream_6, STREAM, 6, 4, 3, 2)
enum {
#define GATHER_LAYOUT(name, packing, bits, group_len, group_bytes, group_shift) GATHER_LAYOUT_##name,
  GATHER_LAYOUTS_LIST(GATHER_LAYOUT)
#undef GATHER_LAYOUT
      GATHER_LAYOUTS
};
/* The number of a layout in that list. */
GATHER_INLINE int gather_bit_layout_number(const gather_bit_layout *layout) {
#define GATHER_LAYOUT(name, layout_packing, layout_bits, group_len, group_bytes, group_shift) \
  if (layout->packing == GATHER_PACKING_##layout_packing && layout->bits == (layout_bits)) return GATHER_LAYOUT_##name;
  GATHER_LAYOUTS_LIST(GATHER_LAYOUT)
#undef GATHER_LAYOUT
  return -1;
}

/* Copies `len` elements from number `from` of `data` to number `to` of `out`. Numbers may be negative. Bits of other
 * elements in the first and last byte do not change. */
void gather_bits_copy(const gather_bit_layout *layout, char *out, int64_t to, const char *data, int64_t from, int64_t len);

/* Writes `value` to `len` elements from number `to`. */
void gather_bits_fill(const gather_bit_layout *layout, char *out, int64_t to, unsigned value, int64_t len);

/* Kernels that copy the elements of these numbers to `count` elements of whole bytes; count is a multiple of 8, and best one of 128. */
typedef void (*gather_pick_fn)(const char *data, const int64_t *elements, int64_t count, char *out);
/* Rows of more elements move faster as ranges. */
enum { GATHER_PICK_ROW = 8 };

/* Copies them to `count` elements from number `to`. */
void gather_bits_pick(const gather_bit_layout *layout, gather_pick_fn pick, char *out, int64_t to, const char *data,
                      const int64_t *elements, int64_t count);

#endif
