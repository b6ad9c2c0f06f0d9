/* SPDX-License-Identifier: MIT
 *
 * pick.tmpl.h: packed elements by their numbers, once per instruction set; one function per layout (GATHER_LAYOUTS_LIST), where shifts
 * and masks are constants. 128 elements at a time: their bytes are gathered one by one, then loops that compilers vectorise shift each
 * element to the end of its byte, and join them to the bytes of the output. The rest by eights: eight elements of n bits are n
 * bytes in every layout.
 *
 * Parameter (undefined again at the end):
 *   PICK_NARROWEST  elements of fewer bits move by eights, and so do groups of several bytes unless it is 1: short vectors take too
 *                   many steps
 */
enum { PICK_STEP = 128 /* less, and vectors wait for the stores of their bytes */ };

/* ---- eight */

/* Where element `k` of eight is in their bytes, as one number whose first byte is the lowest (LOW_FIRST, STREAM) or the highest. */
GATHER_INLINE uint64_t pick_place(const gather_bit_layout *l, int k, uint64_t value) {
  switch (l->packing) {
    case GATHER_PACKING_LOW_FIRST:
    case GATHER_PACKING_STREAM:
      return value << k * l->bits;
    case GATHER_PACKING_HIGH_FIRST:
      return value << (7 - k) * l->bits;
    case GATHER_PACKING_SPLIT_3:
      return (value & 3) << (22 - 2 * k) | (value >> 2) << (7 - k);
    case GATHER_PACKING_SPLIT_6:
      return ((value & 15) << (20 - 4 * (k % 4)) | (value >> 4) << (6 - 2 * (k % 4))) << 24 * (1 - k / 4);
    case GATHER_PACKING_BYTES:
      break;
  }
  return 0;
}

GATHER_INLINE void pick_eight(const gather_bit_layout *l, const char *data, const int64_t *elements, char *out) {
  const bool low_first = l->packing == GATHER_PACKING_LOW_FIRST || l->packing == GATHER_PACKING_STREAM;
  uint64_t eight = 0;
  for (int k = 0; k < 8; k++) eight |= pick_place(l, k, gather_bits_get(l, data, elements[k]));
  for (int i = 0; i < l->bits; i++) out[i] = (char)(unsigned char)(eight >> 8 * (low_first ? i : l->bits - 1 - i));
}

/* ---- 128 elements of 1, 2 or 4 bits, or their planes */

/* The byte of each element; `plane` is added to it: 2 for the second plane of split groups. per_byte: elements of the plane in a byte.
 * Stored by eights: a CPU stores one byte per cycle, but loads two or three. */
GATHER_INLINE void pick_bytes(const gather_bit_layout *l, const char *data, const int64_t *elements, int plane, int per_byte,
                              uint8_t *bytes) {
  for (int j = 0; j < PICK_STEP; j += 8) {
    uint64_t eight = 0;
    for (int k = 0; k < 8; k++) {
      int slot;
      const int64_t group = gather_bits_group(l, elements[j + k], &slot);
      const uint64_t byte = (uint8_t)data[group + plane + slot / per_byte];
      eight |= byte << 8 * (GATHER_BIG_ENDIAN ? 7 - k : k);
    }
    memcpy(bytes + j, &eight, sizeof eight);
  }
}

/* Halves the byte until only the element is left: bit 0 of its slot says which half of the last step. */
GATHER_INLINE void pick_values(int bits, bool low_first, const int64_t *elements, uint8_t *bytes) {
  uint8_t slots[PICK_STEP];
  for (int j = 0; j < PICK_STEP; j++) slots[j] = (uint8_t)(low_first ? elements[j] : ~elements[j]);
  for (int half = 4; half >= bits; half /= 2)
    for (int j = 0; j < PICK_STEP; j++) bytes[j] = (uint8_t)(slots[j] & (half / bits) ? bytes[j] >> half : bytes[j]);
  for (int j = 0; j < PICK_STEP; j++) bytes[j] = (uint8_t)(bytes[j] & ((1 << bits) - 1));
}

/* Joins pairs of values of `bits` bits. */
GATHER_INLINE void pick_pairs(int bits, bool low_first, const uint8_t *restrict values, int count, uint8_t *restrict pairs) {
  for (int j = 0; j < count; j++)
    pairs[j] = (uint8_t)(low_first ? values[2 * j] | values[2 * j + 1] << bits : values[2 * j] << bits | values[2 * j + 1]);
}

/* Joins values to PICK_STEP * bits / 8 bytes. */
GATHER_INLINE void pick_join(int bits, bool low_first, const uint8_t *values, uint8_t *bytes) {
  uint8_t of_2[PICK_STEP / 2], of_4[PICK_STEP / 2];
  int count = PICK_STEP / 2;
  if (bits == 1) pick_pairs(1, low_first, values, count, of_2), values = of_2, count /= 2;
  if (bits <= 2) pick_pairs(2, low_first, values, count, of_4), values = of_4, count /= 2;
  pick_pairs(4, low_first, values, count, bytes);
}

GATHER_INLINE void pick_plane(const gather_bit_layout *l, const char *data, const int64_t *elements, int plane, int bits, uint8_t *out) {
  const bool low_first = l->packing == GATHER_PACKING_LOW_FIRST;
  uint8_t bytes[PICK_STEP];
  pick_bytes(l, data, elements, plane, plane ? l->group_len : 8 / bits, bytes);
  pick_values(bits, low_first, elements, bytes);
  pick_join(bits, low_first, bytes, out);
}

GATHER_INLINE void pick_split(const gather_bit_layout *l, const char *data, const int64_t *elements, char *out) {
  const int low = l->packing == GATHER_PACKING_SPLIT_3 ? 2 : 4;
  uint8_t lows[PICK_STEP / 2], highs[PICK_STEP / 4];
  pick_plane(l, data, elements, 0, low, lows);
  pick_plane(l, data, elements, 2, low / 2, highs);
  for (int i = 0; i < PICK_STEP / l->group_len; i++) {
    out[3 * i] = (char)lows[2 * i], out[3 * i + 1] = (char)lows[2 * i + 1];
    out[3 * i + 2] = (char)highs[i];
  }
}

/* ---- 128 elements of a stream of 6 bits */

/* Each is within two bytes; those of slots 0 to 3 start at bits 0, 6, 4 and 10 of these. */
GATHER_INLINE void pick_stream(const gather_bit_layout *l, const char *data, const int64_t *elements, char *out) {
  uint16_t pairs[PICK_STEP];
  for (int j = 0; j < PICK_STEP; j++) {
    int slot;
    const uint8_t *at = (const uint8_t *)data + gather_bits_group(l, elements[j], &slot) + (slot >> 1);
    pairs[j] = (uint16_t)(at[0] | at[1] << 8);
  }
  for (int j = 0; j < PICK_STEP; j++) {
    const uint16_t pair = (uint16_t)(elements[j] & 1 ? pairs[j] >> 6 : pairs[j]);
    pairs[j] = (uint16_t)((elements[j] & 2 ? pair >> 4 : pair) & 63);
  }
  for (int j = 0; j < PICK_STEP; j += 4, out += 3) {
    const uint32_t group = pairs[j] | (uint32_t)pairs[j + 1] << 6 | (uint32_t)pairs[j + 2] << 12 | (uint32_t)pairs[j + 3] << 18;
    out[0] = (char)(uint8_t)group, out[1] = (char)(uint8_t)(group >> 8), out[2] = (char)(uint8_t)(group >> 16);
  }
}

/* Whether 128 at a time are faster than eights. */
GATHER_INLINE bool pick_suits(const gather_bit_layout *l) {
  return PICK_NARROWEST == 1 || (l->group_bytes == 1 && l->bits >= PICK_NARROWEST);
}

GATHER_INLINE void pick_step(const gather_bit_layout *l, const char *data, const int64_t *elements, char *out) {
  if (l->packing == GATHER_PACKING_STREAM)
    pick_stream(l, data, elements, out);
  else if (l->group_bytes > 1)
    pick_split(l, data, elements, out);
  else
    pick_plane(l, data, elements, 0, l->bits, (uint8_t *)out);
}

#define PICK(name, packed, nbits, len, nbytes, shift)                                                             \
  static void pick_##name(const char *data, const int64_t *elements, int64_t count, char *out) {                  \
    const gather_bit_layout layout = {GATHER_PACKING_##packed, nbits, len, nbytes, shift};                        \
    int64_t j = 0;                                                                                                \
    if (pick_suits(&layout))                                                                                      \
      for (; j + PICK_STEP <= count; j += PICK_STEP) pick_step(&layout, data, elements + j, out + j / 8 * nbits); \
    for (; j < count; j += 8) pick_eight(&layout, data, elements + j, out + j / 8 * nbits);                       \
  }
GATHER_LAYOUTS_LIST(PICK)
#undef PICK
#undef PICK_NARROWEST

#define PICK_SLOT(name, packed, nbits, len, nbytes, shift) pick_##name,
#define PICK_SLOTS \
  { GATHER_LAYOUTS_LIST(PICK_SLOT) }
