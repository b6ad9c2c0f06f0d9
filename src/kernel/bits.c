/* SPDX-License-Identifier: MIT
 *
 * bits.c: elements of 1 to 6 bits. An element's number gives its group (the bytes that contain whole elements) and its
 * slot in the group. Runs that start on a group in both tensors move as bytes.
 */
#include "kernel/bits.h"

#include <string.h>

/* Floor division and its remainder: element -1 is the last one of the previous group. An arithmetic shift of a negative
 * number is implementation-defined; all known compilers have it. */
static int64_t group_of(const gather_bit_layout *l, int64_t element, int *slot) {
  *slot = (int)(element & (l->group_len - 1));
  return element >> l->group_shift;
}

/* The bits [shift, shift + bits) of a byte. */
static unsigned part(unsigned char byte, int shift, int bits) { return (unsigned)(byte >> shift) & ((1u << bits) - 1); }

static void set_part(unsigned char *byte, int shift, int bits, unsigned value) {
  unsigned mask = ((1u << bits) - 1) << shift;
  *byte = (unsigned char)((*byte & ~mask) | ((value << shift) & mask));
}

/* OpenVINO's u3: eight values in three bytes. Bytes 0 and 1 hold the low two bits of values 0 to 3 and 4 to 7, byte 2 the high
 * bits; the first value stands on top each time. */
static unsigned get_split_3(const unsigned char *group, int slot) {
  return part(group[slot / 4], 6 - 2 * (slot % 4), 2) | part(group[2], 7 - slot, 1) << 2;
}

static void put_split_3(unsigned char *group, int slot, unsigned value) {
  set_part(&group[slot / 4], 6 - 2 * (slot % 4), 2, value & 3);
  set_part(&group[2], 7 - slot, 1, value >> 2);
}

/* OpenVINO's u6: four values in three bytes. Bytes 0 and 1 hold low nibbles, byte 2 the high two bits; the first on top. */
static unsigned get_split_6(const unsigned char *group, int slot) {
  return part(group[slot / 2], 4 - 4 * (slot % 2), 4) | part(group[2], 6 - 2 * slot, 2) << 4;
}

static void put_split_6(unsigned char *group, int slot, unsigned value) {
  set_part(&group[slot / 2], 4 - 4 * (slot % 2), 4, value & 15);
  set_part(&group[2], 6 - 2 * slot, 2, value >> 4);
}

/* ONNX's 6-bit floats: four values are one little-endian number of three bytes, the first in its lowest bits. */
static unsigned get_stream(const unsigned char *group, int slot) {
  uint32_t word = group[0] | (uint32_t)group[1] << 8 | (uint32_t)group[2] << 16;
  return word >> 6 * slot & 63;
}

static void put_stream(unsigned char *group, int slot, unsigned value) {
  int byte = 6 * slot / 8, shift = 6 * slot % 8, low = shift > 2 ? 8 - shift : 6;
  set_part(&group[byte], shift, low, value & ((1u << low) - 1));
  if (low < 6) set_part(&group[byte + 1], 0, 6 - low, value >> low & 63);
}

static unsigned get(const gather_bit_layout *l, const unsigned char *base, int64_t element) {
  int slot;
  const unsigned char *group = base + group_of(l, element, &slot) * l->group_bytes;
  switch (l->packing) {
    case GATHER_PACKING_LOW_FIRST:
      return part(*group, slot * l->bits, l->bits);
    case GATHER_PACKING_HIGH_FIRST:
      return part(*group, 8 - (slot + 1) * l->bits, l->bits);
    case GATHER_PACKING_SPLIT_3:
      return get_split_3(group, slot);
    case GATHER_PACKING_SPLIT_6:
      return get_split_6(group, slot);
    case GATHER_PACKING_STREAM:
      return get_stream(group, slot);
    case GATHER_PACKING_BYTES:
      break;
  }
  return 0;
}

static void put(const gather_bit_layout *l, unsigned char *base, int64_t element, unsigned value) {
  int slot;
  unsigned char *group = base + group_of(l, element, &slot) * l->group_bytes;
  switch (l->packing) {
    case GATHER_PACKING_LOW_FIRST:
      set_part(group, slot * l->bits, l->bits, value);
      return;
    case GATHER_PACKING_HIGH_FIRST:
      set_part(group, 8 - (slot + 1) * l->bits, l->bits, value);
      return;
    case GATHER_PACKING_SPLIT_3:
      put_split_3(group, slot, value);
      return;
    case GATHER_PACKING_SPLIT_6:
      put_split_6(group, slot, value);
      return;
    case GATHER_PACKING_STREAM:
      put_stream(group, slot, value);
      return;
    case GATHER_PACKING_BYTES:
      return;
  }
}

static void copy_elements(const gather_bit_layout *l, unsigned char *out, int64_t to, const unsigned char *data,
                          int64_t from, int64_t len) {
  for (int64_t i = 0; i < len; i++) put(l, out, to + i, get(l, data, from + i));
}

/* Whole groups of the output, from a source that starts at another slot. */
static void copy_groups(const gather_bit_layout *l, unsigned char *out, const unsigned char *data, int slot,
                        int64_t groups) {
  int shift = slot * l->bits;
  if (slot == 0)
    memcpy(out, data, (size_t)(groups * l->group_bytes));
  else if (l->packing == GATHER_PACKING_LOW_FIRST)
    for (int64_t i = 0; i < groups; i++) out[i] = (unsigned char)(data[i] >> shift | data[i + 1] << (8 - shift));
  else
    for (int64_t i = 0; i < groups; i++) out[i] = (unsigned char)(data[i] << shift | data[i + 1] >> (8 - shift));
}

void gather_bits_copy(const gather_bit_layout *layout, char *out, int64_t to, const char *data, int64_t from,
                      int64_t len) {
  unsigned char *target = (unsigned char *)out;
  const unsigned char *source = (const unsigned char *)data;
  int slot;
  /* One by one up to the first group of the output, then groups, then the rest. */
  int64_t head = -to & (layout->group_len - 1);
  if (head > len) head = len;
  copy_elements(layout, target, to, source, from, head);
  to += head, from += head, len -= head;
  int64_t groups = len >> layout->group_shift, moved = groups * layout->group_len;
  int64_t to_group = group_of(layout, to, &slot), from_group = group_of(layout, from, &slot);
  /* Groups of several bytes are not shifted. */
  if (groups > 0 && (slot == 0 || layout->group_bytes == 1)) {
    copy_groups(layout, target + to_group * layout->group_bytes, source + from_group * layout->group_bytes, slot,
                groups);
    to += moved, from += moved, len -= moved;
  }
  copy_elements(layout, target, to, source, from, len);
}

void gather_bits_fill(const gather_bit_layout *layout, char *out, int64_t to, unsigned value, int64_t len) {
  for (int64_t i = 0; i < len; i++) put(layout, (unsigned char *)out, to + i, value);
}

/* Single elements of 1, 2 or 4 bits, a whole byte of output at a time. The number of bits and the order are constants here. */
GATHER_INLINE unsigned single(const unsigned char *data, int64_t element, int bits, bool low_first) {
  const int per_byte = 8 / bits, log2_per_byte = bits == 1 ? 3 : bits == 2 ? 2 : 1;
  const int slot = (int)(element & (per_byte - 1));
  return part(data[element >> log2_per_byte], low_first ? slot * bits : 8 - (slot + 1) * bits, bits);
}

GATHER_INLINE int64_t pick_bytes(const gather_bit_pick *p, unsigned char *out, const int64_t *rows, int64_t count,
                                 int bits, bool low_first) {
  const int per_byte = 8 / bits;
  const unsigned char *data = (const unsigned char *)p->data;
  int64_t j = 0;
  for (; j + per_byte <= count; j += per_byte) {
    unsigned byte = 0;
    for (int k = 0; k < per_byte; k++) {
      unsigned value = single(data, p->from + (j + k) * p->data_step + rows[j + k] * p->axis_step, bits, low_first);
      byte |= value << (low_first ? k * bits : 8 - (k + 1) * bits);
    }
    *out++ = (unsigned char)byte;
  }
  return j;
}

static int64_t pick_whole_bytes(const gather_bit_layout *l, const gather_bit_pick *p, unsigned char *out,
                                const int64_t *rows, int64_t count) {
  const bool low_first = l->packing == GATHER_PACKING_LOW_FIRST;
  if (l->group_bytes != 1) return 0;
  switch (l->bits) {
    case 1:
      return low_first ? pick_bytes(p, out, rows, count, 1, true) : pick_bytes(p, out, rows, count, 1, false);
    case 2:
      return low_first ? pick_bytes(p, out, rows, count, 2, true) : pick_bytes(p, out, rows, count, 2, false);
    case 4:
      return low_first ? pick_bytes(p, out, rows, count, 4, true) : pick_bytes(p, out, rows, count, 4, false);
    default:
      return 0;
  }
}

static void pick_each(const gather_bit_layout *l, const gather_bit_pick *p, int64_t to, const int64_t *rows,
                      int64_t first, int64_t last) {
  for (int64_t j = first; j < last; j++)
    put(l, (unsigned char *)p->out, to + j,
        get(l, (const unsigned char *)p->data, p->from + j * p->data_step + rows[j] * p->axis_step));
}

void gather_bits_pick(const gather_bit_layout *layout, const gather_bit_pick *pick, int64_t to, const int64_t *rows,
                      int64_t count) {
  int64_t head = -to & (layout->group_len - 1), done;
  if (head > count) head = count;
  pick_each(layout, pick, to, rows, 0, head);
  gather_bit_pick rest = *pick;
  rest.from += head * pick->data_step;
  int slot;
  unsigned char *out = (unsigned char *)pick->out + group_of(layout, to + head, &slot) * layout->group_bytes;
  done = head + pick_whole_bytes(layout, &rest, out, rows + head, count - head);
  pick_each(layout, pick, to, rows, done, count);
}
