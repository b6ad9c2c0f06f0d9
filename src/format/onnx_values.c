/* SPDX-License-Identifier: MIT
 *
 * onnx_values.c: the values of a TensorProto: a view of the file or of one beside it, or numbers taken out of their list.
 */
#include <inttypes.h>
#include <string.h>

#include "base/tensor.h"
#include "format/onnx.h"

#ifdef GATHER_HAVE_NANOPB

enum { FLOATS = 4, INT32S = 5, STRINGS = 6, INT64S = 7, RAW = 9, DOUBLES = 10, UINT64S = 11 };

static uint32_t list_of(gather_type type) {
  switch (type) {
    case GATHER_TYPE_FLOAT32:
    case GATHER_TYPE_COMPLEX64:
      return FLOATS;
    case GATHER_TYPE_FLOAT64:
    case GATHER_TYPE_COMPLEX128:
      return DOUBLES;
    case GATHER_TYPE_INT64:
      return INT64S;
    case GATHER_TYPE_UINT32:
    case GATHER_TYPE_UINT64:
      return UINT64S;
    case GATHER_TYPE_STRING:
      return STRINGS;
    default:
      return INT32S;
  }
}

/* How many values the list of a type has: parts of complex numbers and bytes of packed types stand one by one. */
static int64_t list_length(const gather_file_tensor *tensor) {
  const gather_type_info *info = gather_type_get(tensor->tensor.type);
  if (gather_type_is_packed(info)) return tensor->bytes;
  int64_t len = gather_tensor_len(&tensor->tensor);
  return info->kind == GATHER_KIND_COMPLEX ? 2 * len : len;
}

static void set_view(gather_file_tensor *tensor, const uint8_t *bytes, int64_t offset) {
  const gather_type_info *info = gather_type_get(tensor->tensor.type);
  tensor->tensor.data = (void *)(uintptr_t)(bytes + offset);
  tensor->offset = offset;
  if (GATHER_BIG_ENDIAN && !gather_type_is_packed(info) && info->bits > 8)
    tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
}

static gather_status read_raw(gather_onnx *onnx, const gather_onnx_parts *parts, gather_file_tensor *tensor) {
  if (tensor->tensor.type == GATHER_TYPE_STRING)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[RAW], "tensor '%.100s' holds strings as raw bytes", parts->name);
  if (parts->counts[RAW] < tensor->bytes)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[RAW],
                             "tensor '%.100s' needs %" PRId64 " bytes and has %" PRId64 " raw ones", parts->name,
                             tensor->bytes, parts->counts[RAW]);
  /* raw_data is singular: the last one stands, wherever empty lists of other fields are. */
  return GATHER_OK;
}

/* One number in the machine's own byte order. */
static void store(const gather_type_info *info, uint64_t value, uint8_t *target) {
  const uint8_t u8 = (uint8_t)(info->type == GATHER_TYPE_BOOL ? (uint32_t)value != 0 : value & 0xff);
  const uint16_t u16 = (uint16_t)value;
  const uint32_t u32 = (uint32_t)value;
  if (gather_type_is_packed(info) || info->bits == 8)
    *target = u8;
  else if (info->bits == 16)
    memcpy(target, &u16, sizeof u16);
  else if (info->bits == 32)
    memcpy(target, &u32, sizeof u32);
  else
    memcpy(target, &value, sizeof value);
}

/* Bytes of one value of a list. */
static int64_t unit_of(const gather_type_info *info) {
  if (gather_type_is_packed(info)) return 1;
  return info->kind == GATHER_KIND_COMPLEX ? info->bits / 16 : info->bits / 8;
}

typedef struct target {
  uint8_t *bytes;
  int64_t at, unit;
  gather_type_info info; /* of one value: the parts of a complex number are floats */
} target;

static gather_status store_field(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire,
                                 target *to) {
  if (field->wire != GATHER_PROTO_BYTES) {
    store(&to->info, field->value, to->bytes + to->at++ * to->unit);
    return GATHER_OK;
  }
  gather_proto list = field->inner;
  while (list.at < list.end) {
    uint64_t value = 0;
    const char *wrong = gather_proto_packed(&list, wire, &value);
    if (wrong) return GATHER_ONNX_WRONG(onnx, list.at, "%s", wrong);
    store(&to->info, value, to->bytes + to->at++ * to->unit);
  }
  return GATHER_OK;
}

static gather_status unpack(gather_onnx *onnx, gather_proto message, uint32_t number, gather_file_tensor *tensor) {
  target to = {.info = *gather_type_get(tensor->tensor.type)};
  to.unit = unit_of(&to.info);
  if (to.info.kind == GATHER_KIND_COMPLEX) to.info.bits /= 2;
  GATHER_TRY(gather_onnx_take(onnx, tensor->bytes, 1, &to.bytes));
  tensor->tensor.data = to.bytes;
  gather_proto_wire wire = number == FLOATS    ? GATHER_PROTO_FIXED32
                           : number == DOUBLES ? GATHER_PROTO_FIXED64
                                               : GATHER_PROTO_VARINT;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == number) GATHER_TRY(store_field(onnx, &field, wire, &to));
  }
}

static gather_status read_list(gather_onnx *onnx, gather_proto message, const gather_onnx_parts *parts, uint32_t number,
                               gather_file_tensor *tensor) {
  int64_t expected = list_length(tensor), len = 0;
  gather_string *strings = NULL;
  if (parts->counts[number] != expected)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' needs %" PRId64 " values and has %" PRId64,
                             parts->name, expected, parts->counts[number]);
  tensor->offset = parts->offsets[number];
  if (number == STRINGS) {
    GATHER_TRY(gather_onnx_strings(onnx, message, number, &strings, &len));
    tensor->tensor.data = strings;
    return GATHER_OK;
  }
  /* One packed list of numbers of fixed size is a view. */
  int64_t bytes = parts->view.end - parts->view.at;
  if ((number == FLOATS || number == DOUBLES) && parts->chunks == 1 && bytes == tensor->bytes) {
    set_view(tensor, parts->view.bytes, parts->view.at);
    return GATHER_OK;
  }
  return unpack(onnx, message, number, tensor);
}

/* The field that holds the values: 0 where there is none. */
static gather_status find_values(gather_onnx *onnx, const gather_onnx_parts *parts, uint32_t *number) {
  static const uint8_t NUMBERS[] = {FLOATS, INT32S, STRINGS, INT64S, RAW, DOUBLES, UINT64S};
  *number = 0;
  for (size_t i = 0; i < sizeof NUMBERS; i++) {
    if (parts->counts[NUMBERS[i]] == 0) continue;
    if (*number != 0)
      return GATHER_ONNX_WRONG(onnx, parts->offsets[NUMBERS[i]], "tensor '%.100s' has its values twice", parts->name);
    *number = NUMBERS[i];
  }
  return GATHER_OK;
}

static gather_status check_field(gather_onnx *onnx, const gather_onnx_parts *parts, uint32_t number, bool empty) {
  if (parts->external && number != 0)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' has values here and in another file",
                             parts->name);
  if (parts->external && parts->type->type == GATHER_TYPE_STRING)
    return GATHER_ONNX_WRONG(onnx, parts->external_offset, "tensor '%.100s' keeps strings in another file",
                             parts->name);
  if (empty && number != 0)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' has no elements, but values", parts->name);
  if (!empty && number == 0 && !parts->external)
    return GATHER_ONNX_WRONG(onnx, parts->offset, "tensor '%.100s' has elements, but no values", parts->name);
  if (number != 0 && number != RAW && number != list_of(parts->type->type))
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' of type %s has its values in field %u",
                             parts->name, parts->type->name, (unsigned)number);
  return GATHER_OK;
}

/* The last raw_data, which parts do not keep where other fields follow it. */
static gather_status view_raw(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == RAW) set_view(tensor, field.inner.bytes, field.inner.at);
  }
}

gather_status gather_onnx_values(gather_onnx *onnx, gather_proto message, const gather_onnx_parts *parts,
                                 gather_file_tensor *tensor) {
  uint32_t number = 0;
  bool empty = gather_tensor_len(&tensor->tensor) == 0;
  GATHER_TRY(find_values(onnx, parts, &number));
  GATHER_TRY(check_field(onnx, parts, number, empty));
  if (parts->external) return gather_onnx_external(onnx, parts, tensor);
  if (empty) return GATHER_OK;
  if (number != RAW) return read_list(onnx, message, parts, number, tensor);
  GATHER_TRY(read_raw(onnx, parts, tensor));
  return view_raw(onnx, message, tensor);
}

gather_status gather_onnx_external(gather_onnx *onnx, const gather_onnx_parts *parts, gather_file_tensor *tensor) {
  const int64_t at = parts->external_offset;
  if (!parts->location)
    return GATHER_ONNX_WRONG(onnx, at, "tensor '%.100s' does not say in which file its values are", parts->name);
  if (tensor->bytes == 0) return GATHER_OK;
  if (parts->data_length >= 0 && parts->data_length < tensor->bytes)
    return GATHER_ONNX_WRONG(onnx, at, "tensor '%.100s' needs %" PRId64 " bytes and has %" PRId64 " in '%.100s'",
                             parts->name, tensor->bytes, parts->data_length, parts->location);
  const gather_map *map = NULL;
  int64_t offset = parts->data_offset < 0 ? 0 : parts->data_offset;
  int64_t length = parts->data_length < 0 ? tensor->bytes : parts->data_length;
  tensor->offset = offset;
  GATHER_TRY(gather_file_sibling(onnx->file, parts->location, at, parts->name, tensor, &map, onnx->error));
  if (!map) return GATHER_OK;
  if (offset <= map->size && length <= map->size - offset) {
    set_view(tensor, map->bytes, offset);
    return GATHER_OK;
  }
  gather_error why;
  (void)gather_fail_file(&why, GATHER_FILE_MALFORMED, onnx->file->name, at,
                         "tensor '%.100s' needs %" PRId64 " bytes from byte %" PRId64
                         " on of '%.100s', which has %" PRId64,
                         parts->name, length, offset, parts->location, map->size);
  return gather_file_unreadable(onnx->file, &why, tensor, onnx->error);
}

#endif
