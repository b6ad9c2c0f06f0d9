/* SPDX-License-Identifier: MIT
 *
 * duck_convert.c: elements as they are in a file become elements of SQL: byte order, unpacking, widening. Every conversion is exact.
 */
#include <string.h>

#include "duck_rows.h"

enum { BLOCK = 1024 }; /* elements at a time, a multiple of every group of a packed type */

/* ---- byte order */

static void swap_items(unsigned char *items, int64_t len, int64_t bytes) {
  for (int64_t i = 0; i < len; i++, items += bytes)
    for (int64_t low = 0, high = bytes - 1; low < high; low++, high--) {
      unsigned char kept = items[low];
      items[low] = items[high];
      items[high] = kept;
    }
}

/* ---- widening */

static float from_bits(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* float16 as float32: the exponents differ by 112. A subnormal one is its 10 bits times 2^-24. */
static float from_float16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16, body = half & 0x7fffu;
  if (body >= 0x7c00u) return from_bits(sign | 0x7f800000u | (body & 0x3ffu) << 13);
  if (body >= 0x400u) return from_bits(sign | (body + (112u << 10)) << 13);
  float small = (float)body * 0x1p-24f;
  return sign ? -small : small;
}

static void widen_16(const duck_layout *layout, const unsigned char *from, int64_t len, float *to) {
  bool brain = layout->type == GATHER_TYPE_BFLOAT16;
  for (int64_t i = 0; i < len; i++) {
    uint16_t bits;
    memcpy(&bits, from + 2 * i, sizeof bits);
    to[i] = brain ? from_bits((uint32_t)bits << 16) : from_float16(bits);
  }
}

/* Up to BLOCK elements in the machine's byte order become those of layout->element. */
static void widen(const duck_layout *layout, const unsigned char *from, int64_t len, void *to) {
  const gather_type_info *info = gather_type_get(layout->type);
  bool small_float = info->kind == GATHER_KIND_FLOAT && info->bits <= 8;
  if (layout->type == GATHER_TYPE_FLOAT16 || layout->type == GATHER_TYPE_BFLOAT16)
    widen_16(layout, from, len, to);
  else if (small_float || info->packing != GATHER_PACKING_BYTES)
    gather_duck_unpack(layout, from, len, to);
  else
    memcpy(to, from, (size_t)(len * gather_duck_element_bytes(layout->element)));
  if (layout->element == DUCK_ELEMENT_BOOL) /* DuckDB knows 0 and 1 only */
    for (int64_t i = 0; i < len; i++) ((uint8_t *)to)[i] = ((uint8_t *)to)[i] != 0;
}

/* ---- the type of the target */

#define CONVERT(from_type, to_type)                                \
  do {                                                             \
    const from_type *source = from;                                \
    to_type *out = to;                                             \
    for (int64_t i = 0; i < len; i++) out[i] = (to_type)source[i]; \
  } while (0)
#define CONVERT_FROM(to_type)     \
  switch (element) {              \
    case DUCK_ELEMENT_BOOL:       \
    case DUCK_ELEMENT_UINT8:      \
      CONVERT(uint8_t, to_type);  \
      break;                      \
    case DUCK_ELEMENT_INT8:       \
      CONVERT(int8_t, to_type);   \
      break;                      \
    case DUCK_ELEMENT_INT16:      \
      CONVERT(int16_t, to_type);  \
      break;                      \
    case DUCK_ELEMENT_UINT16:     \
      CONVERT(uint16_t, to_type); \
      break;                      \
    case DUCK_ELEMENT_INT32:      \
      CONVERT(int32_t, to_type);  \
      break;                      \
    case DUCK_ELEMENT_UINT32:     \
      CONVERT(uint32_t, to_type); \
      break;                      \
    case DUCK_ELEMENT_INT64:      \
      CONVERT(int64_t, to_type);  \
      break;                      \
    case DUCK_ELEMENT_UINT64:     \
      CONVERT(uint64_t, to_type); \
      break;                      \
    case DUCK_ELEMENT_FLOAT:      \
      CONVERT(float, to_type);    \
      break;                      \
    case DUCK_ELEMENT_DOUBLE:     \
      CONVERT(double, to_type);   \
      break;                      \
    case DUCK_ELEMENT_UTF32:      \
    case DUCK_ELEMENT_TEXT:       \
    case DUCK_ELEMENT_BYTES:      \
      break;                      \
  }

/* Only called with pairs that gather_duck_target_holds. */
static void convert_block(duck_element element, duck_target target, const void *from, int64_t len, void *to) {
  switch (target) {
    case DUCK_TARGET_FLOAT:
      CONVERT_FROM(float) break;
    case DUCK_TARGET_DOUBLE:
      CONVERT_FROM(double) break;
    case DUCK_TARGET_BIGINT:
      CONVERT_FROM(int64_t) break;
    case DUCK_TARGET_UBIGINT:
      CONVERT_FROM(uint64_t) break;
    case DUCK_TARGET_EXACT:
      memcpy(to, from, (size_t)(len * gather_duck_element_bytes(element)));
      break;
    case DUCK_TARGET_VARCHAR:
    case DUCK_TARGET_BLOB:
      break;
  }
}

bool gather_duck_is_plain(const duck_layout *layout, duck_target target) {
  if (gather_duck_target_type(target, layout->element) != gather_duck_element_type(layout->element)) return false;
  return layout->element != DUCK_ELEMENT_BOOL && layout->item_bytes == gather_duck_element_bytes(layout->element);
}

/* The bytes of a block of elements in the file. */
static int64_t block_bytes(const duck_layout *layout, int64_t len) {
  int64_t bytes = len * layout->item_bytes;
  if (layout->item_bytes == 0 && gather_type_bytes(layout->type, 0, len, &bytes) != GATHER_OK) bytes = 0;
  return bytes;
}

void gather_duck_convert(const duck_layout *layout, duck_target target, void *from, int64_t len, void *to) {
  int64_t step = gather_duck_target_bytes(target, layout->element);
  if (layout->swapped) swap_items(from, len, layout->item_bytes);
  if (from == to) return;
  for (int64_t first = 0; first < len; first += BLOCK) {
    int64_t count = len - first < BLOCK ? len - first : BLOCK;
    double native[BLOCK]; /* room for any element */
    unsigned char *block = (unsigned char *)from + block_bytes(layout, first);
    widen(layout, block, count, native);
    convert_block(layout->element, target, native, count, (char *)to + first * step);
  }
}

/* ---- text */

static int64_t put_utf8(uint32_t point, char *text) {
  if (point < 0x80) {
    text[0] = (char)point;
    return 1;
  }
  int tail = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  for (int i = tail; i > 0; i--, point >>= 6) text[i] = (char)(0x80 | (point & 0x3f));
  text[0] = (char)(lead[tail] | point);
  return tail + 1;
}

static int64_t utf32_text(const duck_layout *layout, const unsigned char *element, char *text) {
  int64_t characters = layout->item_bytes / 4, bytes = 0;
  for (; characters > 0; characters--) { /* without the zeros at the end */
    const unsigned char *last = element + 4 * (characters - 1);
    if (last[0] | last[1] | last[2] | last[3]) break;
  }
  for (int64_t i = 0; i < characters; i++) {
    uint32_t point;
    unsigned char word[4];
    memcpy(word, element + 4 * i, 4);
    if (layout->swapped) swap_items(word, 1, 4);
    memcpy(&point, word, 4);
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return -1;
    bytes += put_utf8(point, text + bytes);
  }
  return bytes;
}

/* The bytes of the UTF-8 sequence at `text`, 0 if there is none. */
static int64_t utf8_bytes(const unsigned char *text, int64_t room) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  int64_t bytes = text[0] < 0x80 ? 1 : (text[0] & 0xe0) == 0xc0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 4;
  if (bytes == 1) return 1;
  if (bytes > room || (bytes == 4 && (text[0] & 0xf8) != 0xf0)) return 0;
  uint32_t point = text[0] & (0x7fu >> bytes);
  for (int64_t i = 1; i < bytes; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    point = point << 6 | (text[i] & 0x3fu);
  }
  if (point < least[bytes] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0;
  return bytes;
}

int64_t gather_duck_element_text(const duck_layout *layout, const void *element, char *text) {
  const unsigned char *bytes = element;
  if (layout->element == DUCK_ELEMENT_UTF32) return utf32_text(layout, bytes, text);
  int64_t len = layout->item_bytes;
  while (len > 0 && bytes[len - 1] == 0) len--;
  for (int64_t i = 0, step; i < len; i += step) {
    step = utf8_bytes(bytes + i, len - i);
    if (step == 0) return -1;
  }
  memcpy(text, bytes, (size_t)len);
  return len;
}
