/* SPDX-License-Identifier: MIT
 *
 * bits.c: ranges of elements of 1 to 6 bits, which move as words, and what does not fill whole bytes of the output.
 */
#include "core/kernel/bits.h"

#include <string.h>

#include "core/kernel/bits_element.h"

static void set_part(char *byte, int shift, int bits, unsigned value) {
  unsigned mask = ((1u << bits) - 1) << shift;
  *byte = (char)(unsigned char)(((unsigned char)*byte & ~mask) | ((value << shift) & mask));
}

static void put_split(char *group, int slot, int low, int high, unsigned value) {
  const int per_byte = 8 / low;
  set_part(&group[slot / per_byte], 8 - low - low * (slot % per_byte), low, value & ((1u << low) - 1));
  set_part(&group[2], 8 - high - high * slot, high, value >> low);
}

static void put_stream(char *group, int slot, unsigned value) {
  int byte = 6 * slot / 8, shift = 6 * slot % 8, low = shift > 2 ? 8 - shift : 6;
  set_part(&group[byte], shift, low, value & ((1u << low) - 1));
  if (low < 6) set_part(&group[byte + 1], 0, 6 - low, value >> low & 63);
}

static void put(const gather_bit_layout *l, char *out, int64_t element, unsigned value) {
  int slot;
  char *group = out + gather_bits_group(l, element, &slot);
  switch (l->packing) {
    case GATHER_PACKING_LOW_FIRST:
      set_part(group, slot * l->bits, l->bits, value);
      return;
    case GATHER_PACKING_HIGH_FIRST:
      set_part(group, 8 - l->bits - slot * l->bits, l->bits, value);
      return;
    case GATHER_PACKING_SPLIT_3:
      put_split(group, slot, 2, 1, value);
      return;
    case GATHER_PACKING_SPLIT_6:
      put_split(group, slot, 4, 2, value);
      return;
    case GATHER_PACKING_STREAM:
      put_stream(group, slot, value);
      return;
    case GATHER_PACKING_BYTES:
      return;
  }
}

void gather_bits_fill(const gather_bit_layout *layout, char *out, int64_t to, unsigned value, int64_t len) {
  for (int64_t i = 0; i < len; i++) put(layout, out, to + i, value);
}

/* ---- single elements */

static void pick_each(const gather_bit_layout *l, char *out, int64_t to, const char *data, const int64_t *elements, int64_t count) {
  for (int64_t j = 0; j < count; j++) put(l, out, to + j, gather_bits_get(l, data, elements[j]));
}

/* One by one up to a number that is a multiple of eight, then eights, then the rest. */
void gather_bits_pick(const gather_bit_layout *layout, gather_pick_fn pick, char *out, int64_t to, const char *data,
                      const int64_t *elements, int64_t count) {
  const int64_t before = -to & 7, head = before < count ? before : count, eights = (count - head) & ~(int64_t)7;
  pick_each(layout, out, to, data, elements, head);
  to += head, elements += head, count -= head;
  if (eights > 0) pick(data, elements, eights, out + to / 8 * layout->bits);
  pick_each(layout, out, to + eights, data, elements + eights, count - eights);
}

/* ---- ranges of streams: all elements follow one another, from the lowest bit of each byte on or from the highest */

/* Eight bytes as a number: the first byte is its lowest, or its highest. */
GATHER_INLINE uint64_t in_order(uint64_t word, bool low_first) {
  if (low_first != GATHER_BIG_ENDIAN) return word;
  word = (word & 0x00ff00ff00ff00ff) << 8 | (word >> 8 & 0x00ff00ff00ff00ff);
  word = (word & 0x0000ffff0000ffff) << 16 | (word >> 16 & 0x0000ffff0000ffff);
  return word << 32 | word >> 32;
}

/* Less than a byte of output; numbers of bits. */
static void copy_part(char *out, int64_t to, const char *data, int64_t from, int len, bool low_first) {
  const unsigned char *at = (const unsigned char *)data + (from >> 3);
  const int shift = (int)(from & 7), to_shift = (int)(to & 7);
  if (len == 0) return;
  const unsigned first = at[0], second = shift + len > 8 ? at[1] : 0, mask = (1u << len) - 1;
  const unsigned part = low_first ? (first | second << 8) >> shift : (first << 8 | second) >> (16 - shift - len);
  set_part(out + (to >> 3), low_first ? to_shift : 8 - to_shift - len, len, part & mask);
}

/* Whole bytes of the output, from a source that starts `shift` bits into a byte. */
GATHER_INLINE void copy_shifted(char *out, const char *data, int shift, int64_t bytes, bool low_first) {
  const unsigned char *in = (const unsigned char *)data;
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    const uint64_t more = in[i + 8];
    uint64_t word;
    memcpy(&word, in + i, sizeof word);
    word = in_order(word, low_first);
    word = in_order(low_first ? word >> shift | more << (64 - shift) : word << shift | more >> (8 - shift), low_first);
    memcpy(out + i, &word, sizeof word);
  }
  for (; i < bytes; i++)
    out[i] = (char)(unsigned char)(low_first ? in[i] >> shift | in[i + 1] << (8 - shift) : in[i] << shift | in[i + 1] >> (8 - shift));
}

static void copy_stream(char *out, int64_t to, const char *data, int64_t from, int64_t len, bool low_first) {
  const int64_t before = -to & 7, head = before < len ? before : len, bytes = (len - head) >> 3;
  copy_part(out, to, data, from, (int)head, low_first);
  to += head, from += head, len -= head;
  char *whole = out + (to >> 3);
  const char *source = data + (from >> 3);
  const int shift = (int)(from & 7);
  if (bytes > 0 && shift == 0)
    memcpy(whole, source, (size_t)bytes);
  else if (low_first)
    copy_shifted(whole, source, shift, bytes, true);
  else
    copy_shifted(whole, source, shift, bytes, false);
  copy_part(out, to + 8 * bytes, data, from + 8 * bytes, (int)(len & 7), low_first);
}

/* ---- ranges of split groups */

static void copy_elements(const gather_bit_layout *l, char *out, int64_t to, const char *data, int64_t from, int64_t len) {
  for (int64_t i = 0; i < len; i++) put(l, out, to + i, gather_bits_get(l, data, from + i));
}

/* Whole groups of the output, from a source that starts at another slot: each plane is shifted. */
static void copy_groups(char *out, const char *data, int low_shift, int high_shift, int64_t groups) {
  const unsigned char *in = (const unsigned char *)data;
  for (int64_t i = 0; i < groups; i++, in += 3, out += 3) {
    const uint32_t low = (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[3] << 8 | in[4];
    const uint32_t shifted = low << low_shift;
    out[0] = (char)(unsigned char)(shifted >> 24), out[1] = (char)(unsigned char)(shifted >> 16);
    out[2] = (char)(unsigned char)(in[2] << high_shift | in[5] >> (8 - high_shift));
  }
}

static void copy_split(const gather_bit_layout *l, char *out, int64_t to, const char *data, int64_t from, int64_t len) {
  const int64_t before = -to & (l->group_len - 1), head = before < len ? before : len;
  const int64_t groups = (len - head) >> l->group_shift, moved = groups * l->group_len;
  const int low = l->packing == GATHER_PACKING_SPLIT_3 ? 2 : 4;
  int slot;
  copy_elements(l, out, to, data, from, head);
  to += head, from += head, len -= head;
  char *whole = out + gather_bits_group(l, to, &slot);
  const char *source = data + gather_bits_group(l, from, &slot);
  if (groups > 0 && slot == 0)
    memcpy(whole, source, (size_t)(groups * l->group_bytes));
  else
    copy_groups(whole, source, slot * low, slot * (l->bits - low), groups);
  copy_elements(l, out, to + moved, data, from + moved, len - moved);
}

void gather_bits_copy(const gather_bit_layout *layout, char *out, int64_t to, const char *data, int64_t from, int64_t len) {
  const int64_t bits = layout->bits;
  if (layout->packing == GATHER_PACKING_SPLIT_3 || layout->packing == GATHER_PACKING_SPLIT_6)
    copy_split(layout, out, to, data, from, len);
  else
    copy_stream(out, to * bits, data, from * bits, len * bits, layout->packing != GATHER_PACKING_HIGH_FIRST);
}
