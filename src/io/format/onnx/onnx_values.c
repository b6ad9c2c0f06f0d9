/* SPDX-License-Identifier: MIT
 *
 * onnx_values.c: the values of a TensorProto: a view of the file or of its external data, or numbers decoded from a
 * list.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/tensor.h"
#include "io/format/onnx/onnx.h"

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

/* The number of list values for a tensor: parts of complex numbers, bytes of packed types and 6-bit elements are
 * separate values. */
static int64_t list_length(const gather_file_tensor *tensor) {
  const gather_type_info *info = gather_type_get(tensor->tensor.type);
  int64_t len = gather_tensor_len(&tensor->tensor);
  if (info->packing == GATHER_PACKING_STREAM) return len;
  if (gather_type_is_packed(info)) return tensor->bytes;
  return info->kind == GATHER_KIND_COMPLEX ? 2 * len : len;
}

static gather_status set_view(gather_onnx *onnx, const gather_map *map, int64_t offset, gather_file_tensor *tensor) {
  const gather_type_info *info = gather_type_get(tensor->tensor.type);
  tensor->offset = offset;
  if (GATHER_BIG_ENDIAN && !gather_type_is_packed(info) && info->bits > 8)
    tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return gather_file_point(onnx->file, map, offset, tensor, onnx->error);
}

/* The bytes of elements in a file: of the last group of a packed stream only the used ones. */
static int64_t stored_bytes(const gather_file_tensor *tensor) {
  static const int64_t UNUSED[4] = {0, 2, 1, 0};
  if (gather_type_get(tensor->tensor.type)->packing != GATHER_PACKING_STREAM) return tensor->bytes;
  return tensor->bytes - UNUSED[gather_tensor_len(&tensor->tensor) % 4];
}

/* A view of `size` bytes at `offset` of a file that has all stored bytes; a copy if the file ends within the last
 * group. */
static gather_status use_bytes(gather_onnx *onnx, const gather_map *map, int64_t size, int64_t offset,
                               gather_file_tensor *tensor) {
  uint8_t *copy = NULL;
  if (tensor->bytes <= size - offset) return set_view(onnx, map, offset, tensor);
  tensor->offset = offset; /* a packed type, which has no byte order */
  GATHER_TRY(gather_onnx_take(onnx, tensor->bytes, 1, &copy));
  GATHER_TRY(gather_map_need(map, offset, size - offset, onnx->error));
  memcpy(copy, map->bytes + offset, (size_t)(size - offset));
  tensor->tensor.data = copy;
  return GATHER_OK;
}

static gather_status read_raw(gather_onnx *onnx, const gather_onnx_parts *parts, gather_file_tensor *tensor) {
  if (tensor->tensor.type == GATHER_TYPE_STRING)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[RAW],
                             "tensor '%.100s' has strings in raw_data, which ONNX does not allow", parts->name);
  if (parts->counts[RAW] < stored_bytes(tensor))
    return GATHER_ONNX_WRONG(onnx, parts->offsets[RAW],
                             "tensor '%.100s' needs %" PRId64 " bytes; raw_data has %" PRId64, parts->name,
                             stored_bytes(tensor), parts->counts[RAW]);
  /* raw_data is singular: the last one counts, wherever empty lists of other fields are. */
  return GATHER_OK;
}

/* Stores one number in native byte order. */
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

/* Stores element `at` of a stream of 6-bit elements; its bytes are zero at the start. */
static void store_six(uint64_t value, int64_t at, uint8_t *bytes) {
  uint32_t code = (uint32_t)(value & 63) << at * 6 % 8;
  bytes[at * 6 / 8] |= (uint8_t)(code & 0xff);
  if (code > 0xff) bytes[at * 6 / 8 + 1] |= (uint8_t)(code >> 8);
}

static void store_next(target *to, uint64_t value) {
  if (to->info.packing == GATHER_PACKING_STREAM)
    store_six(value, to->at, to->bytes);
  else
    store(&to->info, value, to->bytes + to->at * to->unit);
  to->at++;
}

static gather_status store_field(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire,
                                 target *to) {
  if (field->wire != GATHER_PROTO_BYTES) {
    store_next(to, field->value);
    return GATHER_OK;
  }
  gather_proto list = field->inner;
  while (list.at < list.end) {
    uint64_t value = 0;
    const char *wrong = gather_proto_packed(&list, wire, &value);
    if (wrong) return GATHER_ONNX_WRONG(onnx, list.at, "%s", wrong);
    store_next(to, value);
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
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' needs %" PRId64 " values; it has %" PRId64,
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
    return set_view(onnx, parts->view.map, parts->view.at, tensor);
  }
  return unpack(onnx, message, number, tensor);
}

/* The field with the values; 0 if there is none. */
static gather_status find_values(gather_onnx *onnx, const gather_onnx_parts *parts, uint32_t *number) {
  static const uint8_t NUMBERS[] = {FLOATS, INT32S, STRINGS, INT64S, RAW, DOUBLES, UINT64S};
  *number = 0;
  for (size_t i = 0; i < sizeof NUMBERS; i++) {
    if (parts->counts[NUMBERS[i]] == 0) continue;
    if (*number != 0)
      return GATHER_ONNX_WRONG(onnx, parts->offsets[NUMBERS[i]], "tensor '%.100s' has values in two fields",
                               parts->name);
    *number = NUMBERS[i];
  }
  return GATHER_OK;
}

static gather_status check_field(gather_onnx *onnx, const gather_onnx_parts *parts, uint32_t number, bool empty) {
  if (parts->external && number != 0)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' has both values and external data",
                             parts->name);
  if (parts->external && parts->type->type == GATHER_TYPE_STRING)
    return GATHER_ONNX_WRONG(onnx, parts->external_offset,
                             "tensor '%.100s' has strings as external data, which ONNX does not allow", parts->name);
  if (empty && number != 0)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' has values but no elements", parts->name);
  if (!empty && number == 0 && !parts->external)
    return GATHER_ONNX_WRONG(onnx, parts->offset, "tensor '%.100s' has elements but no values", parts->name);
  if (number != 0 && number != RAW && number != list_of(parts->type->type))
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' of type %s has its values in field %u",
                             parts->name, parts->type->name, (unsigned)number);
  return GATHER_OK;
}

/* The last raw_data; parts->view may be of another field after it. */
static gather_status view_raw(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == RAW) GATHER_TRY(use_bytes(onnx, field.inner.map, field.inner.end, field.inner.at, tensor));
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
    return GATHER_ONNX_WRONG(onnx, at, "the external data of tensor '%.100s' have no location", parts->name);
  if (tensor->bytes == 0) return GATHER_OK;
  const int64_t needed = stored_bytes(tensor);
  const gather_map *map = NULL;
  int64_t offset = parts->data_offset < 0 ? 0 : parts->data_offset;
  int64_t length =
      parts->data_length <= 0 ? needed : parts->data_length; /* 0: as the shape says, as ONNX Runtime reads it */
  gather_error why;
  tensor->offset = offset;
  GATHER_TRY(gather_file_sibling(onnx->file, parts->location, at, parts->name, tensor, &map, onnx->error));
  if (!map) return GATHER_OK;
  if (length < needed) {
    (void)gather_fail_file(&why, GATHER_FILE_MALFORMED, onnx->file->name, at,
                           "tensor '%.100s' needs %" PRId64 " bytes; it has %" PRId64 " in '%.100s'", parts->name,
                           needed, length, parts->location);
    return gather_file_unreadable(onnx->file, &why, tensor, onnx->error);
  }
  if (offset <= map->size && length <= map->size - offset) return use_bytes(onnx, map, map->size, offset, tensor);
  (void)gather_fail_file(&why, GATHER_FILE_MALFORMED, onnx->file->name, at,
                         "tensor '%.100s' needs %" PRId64 " bytes at byte %" PRId64 " of '%.100s', which has %" PRId64,
                         parts->name, length, offset, parts->location, map->size);
  return gather_file_unreadable(onnx->file, &why, tensor, onnx->error);
}

#endif
