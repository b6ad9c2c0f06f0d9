/* SPDX-License-Identifier: MIT
 *
 * bits.h: moving elements that are smaller than a byte, by their number.
 */
#ifndef GATHER_KERNEL_BITS_H
#define GATHER_KERNEL_BITS_H

#include "base/compiler.h"
#include "gather/gather.h"

/* How elements are packed: fields of gather_type_info. */
typedef struct gather_bit_layout {
  gather_packing packing;
  int32_t bits, group_len, group_bytes;
  int32_t group_shift; /* group_len is 2 to this power */
} gather_bit_layout;

/* Copies `len` elements from number `from` of `data` to number `to` of `out`. Numbers may be negative. Bits of other
 * elements in the first and last byte do not change. */
void gather_bits_copy(const gather_bit_layout *layout, char *out, int64_t to, const char *data, int64_t from,
                      int64_t len);

/* The source of single elements: number from + j * data_step + row * axis_step of `data`. */
typedef struct gather_bit_pick {
  char *out;
  const char *data;
  int64_t from, data_step, axis_step;
} gather_bit_pick;

/* Moves the elements of rows[j] to element number to + j of the output, for j in [0, count). */
void gather_bits_pick(const gather_bit_layout *layout, const gather_bit_pick *pick, int64_t to, const int64_t *rows,
                      int64_t count);

/* Writes `value` to `len` elements from number `to`. */
void gather_bits_fill(const gather_bit_layout *layout, char *out, int64_t to, unsigned value, int64_t len);

#endif
