/* SPDX-License-Identifier: MIT
 *
 * safetensors_write.c: writes the header of a safetensors file: its length in eight bytes, and JSON padded with spaces
 * so that the elements begin at a multiple of 8. For one tensor the bytes are those of the reference implementation
 * (safetensors 0.8).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/text/utf8.h"

enum { LENGTH_BYTES = 8, ALIGN = 8, NUMBER_BYTES = 21, HEADER_MAX = 100 * 1000 * 1000 };
/* As long as the longest name of a type. */
typedef union longest_dtype {
#define GATHER_TYPE(ENUM, number, name, kind, bits, packing, onnx, onnx_name, ort, openvino, precision, npy, dlpack, safetensors) \
  char ENUM[sizeof(safetensors)];
#include "gather/type.def"
#undef GATHER_TYPE
} longest_dtype;
/* The text of an entry without its name and the digits of its shape. */
enum { FRAME_BYTES = sizeof "\"\":{\"dtype\":\"\",\"shape\":[],\"data_offsets\":[,]}," + sizeof(longest_dtype) + 2 * NUMBER_BYTES };

static bool carries(const gather_type_info *type) { return type->safetensors != NULL; }

static gather_status check_name(const char *name, gather_error *error) {
  size_t bytes = strlen(name);
  if (bytes > HEADER_MAX || gather_utf8_check(name, (int64_t)bytes) >= 0)
    return gather_fail_input(error, GATHER_USAGE, "output", "a tensor's name in a safetensors file must be UTF-8");
  if (strcmp(name, "__metadata__") == 0)
    return gather_fail_input(error, GATHER_USAGE, "output", "a tensor in a safetensors file cannot be called __metadata__");
  return GATHER_OK;
}

/* Readers do not support a tensor that ends within a byte. */
static gather_status check_bits(const gather_writing *what, gather_error *error) {
  const gather_type_info *type = gather_type_get(what->type);
  int64_t bits = type->bits % 8;
  for (int32_t d = 0; d < what->rank; d++) bits = bits * (what->shape[d] % 8) % 8;
  if (bits == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                           "a tensor in a safetensors file must end on a whole byte, and this one of %s does not; use raw "
                           "or pb",
                           type->name);
}

/* A name as a JSON string, with quotes; at most six bytes per byte. */
static char *put_name(char *at, const char *name) {
  static const char SHORT[] = "\bb\tt\nn\ff\rr\"\"\\\\";
  *at++ = '"';
  for (; *name; name++) {
    const char *escape = SHORT;
    while (*escape && *escape != *name) escape += 2;
    if (*escape) {
      *at++ = '\\';
      *at++ = escape[1];
    } else if ((unsigned char)*name < 0x20) {
      at += snprintf(at, 7, "\\u%04x", (unsigned)(unsigned char)*name);
    } else {
      *at++ = *name;
    }
  }
  *at++ = '"';
  return at;
}

/* Appends to the header, which is large enough (room_of). */
GATHER_PRINTF(3, 4) static char *put(char *at, const char *end, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  at += vsnprintf(at, (size_t)(end - at), format, arguments);
  va_end(arguments);
  return at;
}

static char *put_tensor(char *at, const char *end, const gather_writing *what, const gather_writing_place *place) {
  at = put_name(at, gather_safetensors_name(what));
  at = put(at, end, ":{\"dtype\":\"%s\",\"shape\":[", gather_type_get(what->type)->safetensors);
  for (int32_t d = 0; d < what->rank; d++) at = put(at, end, "%s%" PRId64, d ? "," : "", what->shape[d]);
  return put(at, end, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", place->at, place->at + place->bytes);
}

/* The maximum bytes of a header; -1 if readers would refuse it. */
static int64_t room_of(const gather_writing *tensors, int64_t count, int64_t align) {
  int64_t room = LENGTH_BYTES + 3;
  for (int64_t i = 0; i < count; i++) {
    int64_t name = (int64_t)strlen(gather_safetensors_name(&tensors[i]));
    room += name * 6 + FRAME_BYTES + tensors[i].rank * NUMBER_BYTES;
    if (name > HEADER_MAX / 6 || room > HEADER_MAX) return -1;
  }
  room = (room + align) / align * align;
  return room - LENGTH_BYTES <= HEADER_MAX ? room : -1;
}

static gather_status check_tensors(const gather_writing *tensors, int64_t count, gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    GATHER_TRY(check_name(gather_safetensors_name(&tensors[i]), error));
    GATHER_TRY(check_bits(&tensors[i], error));
  }
  return GATHER_OK;
}

static gather_status make_aligned(const gather_writing *tensors, const gather_writing_place *const *order, int64_t count,
                                  int64_t align_bytes, gather_header *header, gather_error *error) {
  GATHER_TRY(check_tensors(tensors, count, error));
  const int64_t align = align_bytes > ALIGN ? align_bytes : ALIGN;
  if (align > HEADER_MAX)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                             "the header of a safetensors file has at most %d bytes: its elements cannot be aligned to "
                             "%" PRId64,
                             HEADER_MAX, align);
  int64_t room = room_of(tensors, count, align);
  if (room < 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                             "the header of a safetensors file has at most %d bytes, and these names are too long", HEADER_MAX);
  header->bytes = gather_alloc(room);
  if (!header->bytes) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the file's header");
  char *at = header->bytes + LENGTH_BYTES;
  *at++ = '{';
  for (int64_t i = 0; i < count; i++) {
    if (i > 0) *at++ = ',';
    at = put_tensor(at, header->bytes + room, &tensors[order[i]->number], order[i]);
  }
  *at++ = '}';
  while ((at - header->bytes) % align != 0) *at++ = ' ';
  header->size = at - header->bytes;
  uint64_t length = (uint64_t)(header->size - LENGTH_BYTES);
  for (int i = 0; i < LENGTH_BYTES; i++) header->bytes[i] = (char)(unsigned char)(length >> (8 * i) & 0xff);
  return GATHER_OK;
}

static gather_status make_headers(const gather_writing *tensors, const gather_writing_place *const *order, int64_t count,
                                  gather_header *header, gather_error *error) {
  return make_aligned(tensors, order, count, 0, header, error);
}

static gather_status make_header(const gather_writing *what, int64_t align_bytes, int64_t data_bytes, gather_header *header,
                                 gather_error *error) {
  const gather_writing_place place = {.number = 0, .at = 0, .bytes = data_bytes}, *order = &place;
  return make_aligned(what, &order, 1, align_bytes, header, error);
}

const gather_format_writer gather_safetensors_writer = {carries, make_header, make_headers};
