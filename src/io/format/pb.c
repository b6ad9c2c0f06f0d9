/* SPDX-License-Identifier: MIT
 *
 * pb.c: writes an ONNX TensorProto: a few fields, without a library.
 * Source: onnx.proto: dims = 1, data_type = 2, string_data = 6, name = 8, raw_data = 9.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "io/format/format.h"

/* A field's tag is its number and its wire type: 0 = varint, 2 = length-delimited. */
enum {
  KEY_DIMS = 1 << 3 | 0,
  KEY_DATA_TYPE = 2 << 3 | 0,
  KEY_STRING_DATA = 6 << 3 | 2,
  KEY_NAME = 8 << 3 | 2,
  KEY_RAW_DATA = 9 << 3 | 2,
  VARINT_MAX = 10
};

bool gather_pb_carries(const gather_type_info *type) { return type->onnx != 0; }

gather_status gather_pb_check_size(int64_t bytes, gather_error *error) {
  if (bytes >= 0 && bytes <= INT32_MAX) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                           "a TensorProto (.pb) holds at most 2 GiB; write .npy or .bin");
}

static char *put_varint(char *at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = (char)(unsigned char)(value | 0x80);
  *at++ = (char)(unsigned char)value;
  return at;
}

static int64_t varint_bytes(uint64_t value) {
  int64_t bytes = 1;
  for (; value >= 0x80; value >>= 7) bytes++;
  return bytes;
}

static char *put_text(char *at, int key, const char *text, size_t bytes) {
  *at++ = (char)key;
  at = put_varint(at, bytes);
  if (bytes > 0) memcpy(at, text, bytes);
  return at + bytes;
}

gather_status gather_pb_header(const gather_writing *what, int64_t data_bytes, gather_header *header,
                               gather_error *error) {
  const gather_type_info *type = gather_type_get(what->type);
  const char *name = what->name ? what->name : "";
  int64_t name_bytes = (int64_t)strlen(name);
  if (type->kind == GATHER_KIND_STRING) data_bytes = 0;
  GATHER_TRY(gather_pb_check_size(data_bytes, error));
  GATHER_TRY(gather_pb_check_size(name_bytes, error));
  header->bytes = gather_alloc(name_bytes + (what->rank + 3) * (VARINT_MAX + 1));
  if (!header->bytes) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the file's header");
  char *at = header->bytes;
  for (int32_t d = 0; d < what->rank; d++) {
    *at++ = (char)KEY_DIMS;
    at = put_varint(at, (uint64_t)what->shape[d]);
  }
  *at++ = (char)KEY_DATA_TYPE;
  at = put_varint(at, (uint64_t)type->onnx);
  if (name_bytes > 0) at = put_text(at, KEY_NAME, name, (size_t)name_bytes);
  if (type->kind != GATHER_KIND_STRING) {
    *at++ = (char)KEY_RAW_DATA;
    at = put_varint(at, (uint64_t)data_bytes);
  }
  header->size = at - header->bytes;
  return gather_pb_check_size(header->size + data_bytes, error);
}

int64_t gather_pb_strings_bytes(const gather_string *strings, int64_t len) {
  int64_t total = 0;
  for (int64_t i = 0; i < len; i++) {
    if (strings[i].bytes > INT32_MAX) return -1;
    int64_t bytes = (int64_t)strings[i].bytes;
    if (!gather_add(total, 1 + varint_bytes((uint64_t)bytes) + bytes, &total)) return -1;
  }
  return total;
}

void gather_pb_strings(const gather_string *strings, int64_t len, char *target) {
  for (int64_t i = 0; i < len; i++) target = put_text(target, KEY_STRING_DATA, strings[i].text, strings[i].bytes);
}
