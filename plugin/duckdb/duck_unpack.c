/* SPDX-License-Identifier: MIT
 *
 * duck_unpack.c: elements of 8 bits or less: from the groups of whole bytes that hold them to numbers. Layouts: gather_packing.
 */
#include "duck_rows.h"

typedef uint8_t unpacker(const unsigned char *from, int64_t i, int bits);

static uint8_t whole(const unsigned char *from, int64_t i, int bits) {
  (void)bits;
  return from[i];
}

static uint8_t low_first(const unsigned char *from, int64_t i, int bits) {
  int64_t each = 8 / bits;
  return (uint8_t)(from[i / each] >> (i % each * bits) & ((1 << bits) - 1));
}

static uint8_t high_first(const unsigned char *from, int64_t i, int bits) {
  int64_t each = 8 / bits;
  return (uint8_t)(from[i / each] >> (8 - bits - i % each * bits) & ((1 << bits) - 1));
}

/* Eight in three bytes: two planes of low pairs, one of high bits, the first value in the highest. */
static uint8_t split_3(const unsigned char *from, int64_t i, int bits) {
  const unsigned char *group = from + i / 8 * 3;
  int64_t place = i % 8;
  (void)bits;
  return (uint8_t)((group[place / 4] >> (6 - place % 4 * 2) & 3) | (group[2] >> (7 - place) & 1) << 2);
}

/* Four in three bytes: two of low nibbles, one of high pairs. */
static uint8_t split_6(const unsigned char *from, int64_t i, int bits) {
  const unsigned char *group = from + i / 4 * 3;
  int64_t place = i % 4;
  (void)bits;
  return (uint8_t)((group[place / 2] >> (4 - place % 2 * 4) & 15) | (group[2] >> (6 - place * 2) & 3) << 4);
}

/* Four in three bytes, one number of 24 bits. */
static uint8_t stream(const unsigned char *from, int64_t i, int bits) {
  const unsigned char *group = from + i / 4 * 3;
  uint32_t word = (uint32_t)(group[0] | group[1] << 8 | group[2] << 16);
  return (uint8_t)(word >> (i % 4 * bits) & 63);
}

static unpacker *unpacker_of(gather_packing packing) {
  switch (packing) {
    case GATHER_PACKING_LOW_FIRST:
      return low_first;
    case GATHER_PACKING_HIGH_FIRST:
      return high_first;
    case GATHER_PACKING_SPLIT_3:
      return split_3;
    case GATHER_PACKING_SPLIT_6:
      return split_6;
    case GATHER_PACKING_STREAM:
      return stream;
    case GATHER_PACKING_BYTES:
      break;
  }
  return whole;
}

static uint8_t extended(uint8_t code, int bits) {
  int sign = 1 << (bits - 1);
  return (uint8_t)((code ^ sign) - sign);
}

void gather_duck_unpack(const duck_layout *layout, const unsigned char *from, int64_t len, void *to) {
  const gather_type_info *info = gather_type_get(layout->type);
  unpacker *unpack = unpacker_of(info->packing);
  for (int64_t i = 0; i < len; i++) {
    uint8_t code = unpack(from, i, info->bits);
    if (info->kind == GATHER_KIND_FLOAT)
      ((float *)to)[i] = layout->values[code];
    else
      ((uint8_t *)to)[i] = info->kind == GATHER_KIND_INT ? extended(code, info->bits) : code;
  }
}

void gather_duck_list_values(duck_layout *layout) {
  const gather_type_info *info = gather_type_get(layout->type);
  if (info->kind != GATHER_KIND_FLOAT || info->bits > 8) return;
  for (int code = 0; code < 1 << info->bits; code++) {
    uint8_t element = (uint8_t)code;
    double value = 0;
    if (gather_float_read(layout->type, &element, &value)) layout->values[code] = (float)value;
  }
}
