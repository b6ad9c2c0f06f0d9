/* SPDX-License-Identifier: MIT
 *
 * bits_element.h: single elements of less than a byte. An element's number gives its group (the bytes that contain whole elements)
 * and its slot in the group. Where the layout is a constant, so are the shifts and masks.
 */
#ifndef GATHER_KERNEL_BITS_ELEMENT_H
#define GATHER_KERNEL_BITS_ELEMENT_H

#include "core/kernel/bits.h"

/* Floor division and its remainder: element -1 is the last one of the previous group. An arithmetic shift of a negative
 * number is implementation-defined; all known compilers have it. */
GATHER_INLINE int64_t gather_bits_group(const gather_bit_layout *l, int64_t element, int *slot) {
  *slot = (int)(element & (l->group_len - 1));
  return (element >> l->group_shift) * l->group_bytes;
}

/* OpenVINO's u3 and u6 divide a value between two planes of a group: bytes 0 and 1 contain the low bits of all values, byte 2 the high
 * ones; the first value is in the highest bits of each. */
GATHER_INLINE unsigned gather_bits_get_split(const unsigned char *group, int slot, int low, int high) {
  const int per_byte = 8 / low;
  unsigned bottom = (unsigned)group[slot / per_byte] >> (8 - low - low * (slot % per_byte)) & ((1u << low) - 1);
  unsigned top = (unsigned)group[2] >> (8 - high - high * slot) & ((1u << high) - 1);
  return bottom | top << low;
}

/* ONNX's 6-bit floats: four values are one little-endian number of three bytes, the first in its lowest bits. Each is within two
 * bytes. */
GATHER_INLINE unsigned gather_bits_get_stream(const unsigned char *group, int slot) {
  const int byte = slot >> 1;
  return (group[byte] | (unsigned)group[byte + 1] << 8) >> (6 * slot - 8 * byte) & 63;
}

GATHER_INLINE unsigned gather_bits_get(const gather_bit_layout *l, const char *data, int64_t element) {
  int slot;
  const unsigned char *group = (const unsigned char *)data + gather_bits_group(l, element, &slot);
  const unsigned mask = (1u << l->bits) - 1;
  switch (l->packing) {
    case GATHER_PACKING_LOW_FIRST:
      return (unsigned)*group >> slot * l->bits & mask;
    case GATHER_PACKING_HIGH_FIRST:
      return (unsigned)*group >> (8 - l->bits - slot * l->bits) & mask;
    case GATHER_PACKING_SPLIT_3:
      return gather_bits_get_split(group, slot, 2, 1);
    case GATHER_PACKING_SPLIT_6:
      return gather_bits_get_split(group, slot, 4, 2);
    case GATHER_PACKING_STREAM:
      return gather_bits_get_stream(group, slot);
    case GATHER_PACKING_BYTES:
      break;
  }
  return 0;
}

#endif
