/* SPDX-License-Identifier: MIT
 *
 * zarr_fill.c: fill values of Zarr: JSON that stands for the bytes of an element.
 */
#include "io/format/zarr/zarr.h"

#ifdef GATHER_HAVE_JANSSON

#include <string.h>

static gather_status wrong(gather_zarr_reading *r) {
  const int64_t bytes = r->at.end - r->at.at;
  return GATHER_ZARR_WRONG(r, "the fill value %.*s does not fit elements of type %.40s", bytes < 60 ? (int)bytes : 60,
                           (const char *)r->json.bytes + r->at.at, r->tensor->type_name);
}

/* ---- bytes */

static void put_bits(uint64_t bits, int64_t bytes, bool big_endian, char *out) {
  for (int64_t i = 0; i < bytes; i++, bits >>= 8) out[big_endian ? bytes - 1 - i : i] = (char)(unsigned char)(bits & 0xff);
}

/* The bits of a number as a float of fewer bits, rounded to the nearest, of two to the even one. */
static uint64_t narrow(double number, int exponent_bits, int mantissa_bits) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  const uint64_t sign = bits >> 63 << (exponent_bits + mantissa_bits), mantissa = bits & ((UINT64_C(1) << 52) - 1);
  const uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << mantissa_bits;
  const int stored = (int)(bits >> 52 & 0x7ff);
  if (stored == 0x7ff) return sign | infinity | (mantissa ? UINT64_C(1) << (mantissa_bits - 1) : 0);
  int exponent = stored - 1023 + (1 << (exponent_bits - 1)) - 1, shift = 52 - mantissa_bits;
  const uint64_t whole = mantissa | UINT64_C(1) << 52;
  if (exponent < 1) {
    shift += 1 - exponent;
    exponent = 1;
  }
  if (shift > 54) return sign;
  const uint64_t half = UINT64_C(1) << (shift - 1), rest = whole & ((half << 1) - 1);
  uint64_t rounded = whole >> shift;
  if (rest > half || (rest == half && (rounded & 1))) rounded++;
  rounded += (uint64_t)(exponent - 1) << mantissa_bits; /* the leading bit, if there is one, adds to the exponent */
  return sign | (rounded < infinity ? rounded : infinity);
}

static uint64_t float_bits(const gather_zarr_type *type, double number) {
  float shorter = (float)number;
  uint32_t bits;
  uint64_t wide;
  memcpy(&bits, &shorter, sizeof bits);
  memcpy(&wide, &number, sizeof wide);
  if (type->type == GATHER_TYPE_BFLOAT16) return narrow(number, 8, 7);
  return type->unit_bytes == 2 ? narrow(number, 5, 10) : type->unit_bytes == 4 ? bits : wide;
}

/* ---- numbers */

/* A whole number of 64 bits with its sign; false if the text is none. Jansson has no numbers of 64 bits without a sign. */
static bool read_whole(const char *text, int64_t bytes, bool *negative, uint64_t *magnitude) {
  int64_t i = 0;
  *magnitude = 0;
  *negative = bytes > 1 && text[0] == '-';
  for (i = *negative; i < bytes; i++) {
    const unsigned digit = (unsigned)(unsigned char)text[i] - '0';
    if (digit > 9 || *magnitude > (UINT64_MAX - digit) / 10) return false;
    *magnitude = *magnitude * 10 + digit;
  }
  return bytes > 0;
}

static bool put_whole(const gather_zarr_type *type, bool negative, uint64_t magnitude, char *out) {
  const int bits = (int)(8 * type->unit_bytes);
  const bool is_signed = type->kind != 'u';
  const uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
  if (negative ? !(is_signed ? magnitude <= most + 1 : magnitude == 0) : magnitude > most) return false;
  put_bits(negative ? ~magnitude + 1 : magnitude, type->unit_bytes, type->big_endian, out);
  return true;
}

static int hex_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "0x7fc00000": the bits of a float. */
static bool put_hex(const gather_zarr_type *type, const char *text, char *out) {
  uint64_t bits = 0;
  if (strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * (size_t)type->unit_bytes) return false;
  for (text += 2; *text; text++) {
    const int digit = hex_of(*text);
    if (digit < 0) return false;
    bits = bits << 4 | (unsigned)digit;
  }
  put_bits(bits, type->unit_bytes, type->big_endian, out);
  return true;
}

static bool put_float(const gather_zarr_type *type, const json_t *value, char *out) {
  static const struct {
    const char *name;
    uint64_t bits; /* of a float64 */
  } NAMES[] = {{"NaN", UINT64_C(0x7ff8) << 48}, {"Infinity", UINT64_C(0x7ff0) << 48}, {"-Infinity", UINT64_C(0xfff0) << 48}};
  const char *text = json_string_value(value);
  double number = json_number_value(value);
  if (!text && !json_is_number(value)) return false;
  if (text) {
    size_t i = 0;
    while (i < sizeof NAMES / sizeof *NAMES && strcmp(NAMES[i].name, text) != 0) i++;
    if (i == sizeof NAMES / sizeof *NAMES) return put_hex(type, text, out);
    memcpy(&number, &NAMES[i].bits, sizeof number);
  }
  put_bits(float_bits(type, number), type->unit_bytes, type->big_endian, out);
  return true;
}

/* A number, or the two of a complex one. */
static bool put_complex(const gather_zarr_type *type, const json_t *value, char *out) {
  if (!json_is_array(value)) return put_float(type, value, out); /* the imaginary part is 0 */
  return json_array_size(value) == 2 && put_float(type, json_array_get(value, 0), out) &&
         put_float(type, json_array_get(value, 1), out + type->unit_bytes);
}

/* ---- texts */

static int base64_of(char c) {
  static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c ? strchr(ALPHABET, c) : NULL;
  return found ? (int)(found - ALPHABET) : -1;
}

/* Bytes in base 64, at most those of an element; what is missing is zero. */
static bool put_base64(const gather_zarr_type *type, const char *text, char *out) {
  size_t length = strlen(text);
  if (length % 4 != 0) return false;
  for (int pads = 0; pads < 2 && length > 0 && text[length - 1] == '='; pads++) length--;
  if ((uint64_t)length / 4 * 3 + length % 4 * 3 / 4 > (uint64_t)type->item_bytes) return false;
  uint32_t bits = 0;
  int waiting = 0;
  for (size_t i = 0; i < length; i++) {
    const int digit = base64_of(text[i]);
    if (digit < 0) return false;
    bits = (bits << 6 | (unsigned)digit) & 0xffff;
    waiting += 6;
    if (waiting < 8) continue;
    waiting -= 8;
    *out++ = (char)(unsigned char)(bits >> waiting & 0xff);
  }
  return true;
}

/* NumPy's texts of 4 bytes a character. Jansson's are UTF-8. */
static bool put_text(const gather_zarr_type *type, const char *text, char *out) {
  for (int64_t left = type->item_bytes; *text; left -= 4, out += 4) {
    const unsigned char first = (unsigned char)*text++;
    const int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t character = more ? first & (0x3fu >> more) : first;
    for (int i = 0; i < more; i++) character = character << 6 | ((unsigned char)*text++ & 0x3f);
    if (left < 4) return false;
    put_bits(character, 4, type->big_endian, out);
  }
  return true;
}

/* The bytes of r16 and its like, as numbers. */
static bool put_list(const gather_zarr_type *type, const json_t *list, char *out) {
  if (json_array_size(list) != (size_t)type->item_bytes) return false;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *byte = json_array_get(list, i);
    if (!json_is_integer(byte) || json_integer_value(byte) < 0 || json_integer_value(byte) > 255) return false;
    out[i] = (char)(unsigned char)json_integer_value(byte);
  }
  return true;
}

/* ---- any */

static bool put_value(const gather_zarr_type *type, const json_t *value, char *out) {
  const char *text = json_string_value(value);
  switch (type->kind) {
    case 'b':
      *out = json_is_true(value);
      return json_is_boolean(value);
    case 'f':
      return put_float(type, value, out);
    case 'c':
      return put_complex(type, value, out);
    case 'U':
      return text && strlen(text) == json_string_length(value) && put_text(type, text, out);
    case 'S':
    case 'V':
      return text ? put_base64(type, text, out) : json_is_array(value) && put_list(type, value, out);
    default:
      return false; /* whole numbers are read before */
  }
}

gather_status gather_zarr_fill(gather_zarr_reading *r) {
  const gather_zarr_type *type = &r->array->type;
  const char *text = (const char *)r->json.bytes + r->at.at;
  bool negative = false, good = false;
  uint64_t magnitude = 0;
  json_t *value = NULL;
  char *out = gather_arena_take(&r->json.file->arena, type->item_bytes + 1, 1);
  if (!out) return GATHER_JSON_NO_MEMORY(&r->json);
  if (strchr("iuM", type->kind)) {
    const bool is_none = type->kind == 'M' && r->at.end - r->at.at == 5 && memcmp(text, "\"NaT\"", 5) == 0;
    if (is_none) text = "-9223372036854775808"; /* NumPy's NaT */
    good = read_whole(text, is_none ? (int64_t)strlen(text) : r->at.end - r->at.at, &negative, &magnitude) &&
           put_whole(type, negative, magnitude, out);
  } else {
    GATHER_TRY(gather_json_load(&r->json, r->at, &value));
    good = put_value(type, value, out);
    json_decref(value);
  }
  if (!good) return wrong(r);
  r->array->chunks.fill = out;
  return GATHER_OK;
}

#endif
