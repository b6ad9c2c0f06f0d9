/* SPDX-License-Identifier: MIT
 *
 * value.c: the V of fill=V as one element of a tensor's type: a number, true or false, 1+2j, text, or 0x and the bytes.
 */
#include "value.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "json.h"

/* Reverses the bytes of each of the parts an element has (complex numbers have two). */
static void swap(unsigned char *element, size_t part_bytes, size_t parts) {
  for (size_t k = 0; k < parts; k++, element += part_bytes)
    for (size_t i = 0, j = part_bytes - 1; i < j; i++, j--) {
      unsigned char c = element[i];
      element[i] = element[j];
      element[j] = c;
    }
}

bool gather_cli_bool(const char *text, unsigned char *element) {
  bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  *element = yes;
  return yes || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool put_integer(const gather_type_info *type, const char *text, void *element) {
  bool negative;
  uint64_t magnitude;
  return gather_cli_integer(text, &negative, &magnitude) &&
         gather_cli_encode_integer(type->kind == GATHER_KIND_INT, type->bits, negative, magnitude, element);
}

static bool put_float(gather_type type, const char *text, void *element) {
  const char *end;
  double number;
  bool finite;
  if (!gather_cli_double(text, &end, &number, &finite) || *end) return false;
  return gather_cli_encode_float(type, number, finite, element);
}

static bool is_j(char c) { return c == 'j' || c == 'J'; }

/* One summand of a complex number; a lone sign before j means 1. */
static bool read_part(const char *text, const char **end, double *number) {
  bool finite;
  const char *p = text + (*text == '-' || *text == '+');
  if (is_j(*p)) {
    *number = *text == '-' ? -1 : 1;
    *end = p;
    return true;
  }
  return gather_cli_double(text, end, number, &finite);
}

/* 1+2j, 2j, 1 */
static bool put_complex(gather_type type, const char *text, unsigned char *element) {
  double part[2] = {0, 0}, number;
  const char *p;
  if (!read_part(text, &p, &number)) return false;
  part[is_j(*p)] = number;
  if (*p == '+' || *p == '-') {
    if (!read_part(p, &p, &part[1]) || !is_j(*p)) return false;
  }
  if (is_j(*p)) p++;
  if (*p) return false;
  gather_type real = type == GATHER_TYPE_COMPLEX64 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT64;
  size_t bytes = type == GATHER_TYPE_COMPLEX64 ? 4 : 8;
  return gather_cli_encode_float(real, part[0], false, element) && gather_cli_encode_float(real, part[1], false, element + bytes);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool put_hex(const char *text, unsigned char *element, size_t bytes) {
  if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return false;
  text += 2;
  if (strlen(text) / 2 != bytes || strlen(text) % 2) return false;
  for (size_t i = 0; i < bytes; i++, text += 2) {
    int high = hex_digit(text[0]), low = hex_digit(text[1]);
    if (high < 0 || low < 0) return false;
    element[i] = (unsigned char)(high * 16 + low);
  }
  return true;
}

static bool put_text(const char *text, unsigned char *element, size_t bytes) {
  size_t len = strlen(text);
  if (len > bytes) return false;
  memcpy(element, text, len); /* the rest is zero */
  return true;
}

static void put_code(uint32_t code, bool big_endian, unsigned char *element) {
  for (int i = 0; i < 4; i++) element[big_endian ? 3 - i : i] = (unsigned char)(code >> (8 * i));
}

/* NumPy's U: four bytes for each character, in the byte order of the descr. */
static bool put_unicode(const char *text, bool big_endian, unsigned char *element, size_t bytes) {
  for (size_t at = 0; *text; at += 4) {
    uint32_t code = 0;
    int len = gather_cli_utf8(text, &code);
    if (len == 0 || at + 4 > bytes) return false;
    put_code(code, big_endian, element + at);
    text += len;
  }
  return true;
}

/* Dates and time spans are 64-bit counts; NaT is INT64_MIN. */
static bool put_time(const char *text, bool big_endian, unsigned char *element) {
  bool negative;
  uint64_t magnitude;
  int64_t number = INT64_MIN;
  if (strcmp(text, "NaT") != 0) {
    if (!gather_cli_integer(text, &negative, &magnitude)) return false;
    if (!gather_cli_encode_integer(true, 64, negative, magnitude, &number)) return false;
  }
  uint64_t code = (uint64_t)number;
  for (int i = 0; i < 8; i++) element[big_endian ? 7 - i : i] = (unsigned char)(code >> (8 * i));
  return true;
}

/* The npy descr of elements without one of our types, without its quotes, from its byte order on; "" if there is none. Names of
 * other formats' types are not descrs. */
static const char *descr_of(const gather_file_tensor *like) {
  if (like->descr) return like->descr + (*like->descr == '\'');
  return like->type_name && *like->type_name && strchr("<>|=", *like->type_name) ? like->type_name : "";
}

/* Elements without one of our types: by their npy descr. */
static bool put_opaque(const gather_file_tensor *like, const char *text, unsigned char *element) {
  const char *descr = descr_of(like);
  size_t bytes = (size_t)like->tensor.item_bytes;
  bool big_endian = *descr == '>', ordered = *descr && strchr("<>|=", *descr);
  char kind = ordered ? descr[1] : *descr;
  if (kind == 'S' || kind == 'a') return put_text(text, element, bytes);
  if (kind == 'U') return put_unicode(text, big_endian, element, bytes);
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X'); /* bytes, not a number */
  if ((kind == 'M' || kind == 'm') && !hex) return put_time(text, big_endian, element);
  return put_hex(text, element, bytes);
}

static bool put(const gather_file_tensor *like, const gather_type_info *type, const char *text, void *element) {
  gather_string string = {text, strlen(text)};
  switch (type->kind) {
    case GATHER_KIND_BOOL:
      return gather_cli_bool(text, element);
    case GATHER_KIND_INT:
    case GATHER_KIND_UINT:
      return put_integer(type, text, element);
    case GATHER_KIND_FLOAT:
      return put_float(type->type, text, element);
    case GATHER_KIND_COMPLEX:
      return put_complex(type->type, text, element);
    case GATHER_KIND_STRING:
      memcpy(element, &string, sizeof string);
      return true;
    default:
      return put_opaque(like, text, element);
  }
}

/* A valid fill value of that kind, for the message. */
static const char *expected(const gather_type_info *type, const char *descr) {
  switch (type->kind) {
    case GATHER_KIND_BOOL:
      return "true or false";
    case GATHER_KIND_INT:
    case GATHER_KIND_UINT:
      return "an integer in its range";
    case GATHER_KIND_COMPLEX:
      return "a number such as 1+2j";
    case GATHER_KIND_OPAQUE:
      descr += strspn(descr, "<>|=");
      if (*descr == 'M' || *descr == 'm') return "an integer in its units, NaT, or 0x and its bytes";
      return strchr("SUa", *descr) ? "UTF-8 text that fits its elements" : "0x and the bytes of one element";
    default:
      return "a number that it can hold";
  }
}

gather_status gather_cli_value(const gather_file_tensor *like, const char *text, void **element, gather_error *error) {
  const gather_type_info *type = gather_type_get(like->tensor.type);
  bool opaque = type->kind == GATHER_KIND_OPAQUE;
  size_t bytes = opaque ? (size_t)like->tensor.item_bytes : type->bits < 8 ? 1 : (size_t)type->bits / 8;
  *element = calloc(1, bytes ? bytes : 1);
  if (!*element) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the fill value");
  if (!put(like, type, text, *element))
    return gather_cli_fail(error, GATHER_USAGE, "fill=%.100s: %s cannot hold that; it takes %s", text, like->type_name,
                           expected(type, descr_of(like)));
  size_t parts = type->kind == GATHER_KIND_COMPLEX ? 2 : 1;
  if (!opaque && like->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) swap(*element, bytes / parts, parts);
  return GATHER_OK;
}
