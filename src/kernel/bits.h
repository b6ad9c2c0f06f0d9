/* SPDX-License-Identifier: MIT
 *
 * bits.h: moving elements that are smaller than a byte, by their number.
 */
#ifndef GATHER_KERNEL_BITS_H
#define GATHER_KERNEL_BITS_H

#include "gather/gather.h"

/* How elements are packed: fields of gather_type_info. */
typedef struct gather_bit_layout {
  gather_packing packing;
  int32_t bits, group_len, group_bytes;
  int32_t group_shift; /* group_len is 2 to this power */
} gather_bit_layout;

/* Copies `len` elements from number `from` of `data` to number `to` of `out`. Numbers may be negative. Bits of other elements
 * in the first and last byte stay as they are. */
void gather_bits_copy(const gather_bit_layout *layout, char *out, int64_t to, const char *data, int64_t from,
                      int64_t len);

/* Writes `value` to `len` elements from number `to`. */
void gather_bits_fill(const gather_bit_layout *layout, char *out, int64_t to, unsigned value, int64_t len);

#endif
