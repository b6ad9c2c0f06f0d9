/* SPDX-License-Identifier: MIT
 *
 * onnx_tensor.c: reads a TensorProto: its type, shape and name, and where its values are.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/tensor.h"
#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

const gather_type_info *gather_onnx_type(uint64_t number) {
  for (int32_t i = 1;; i++) {
    const gather_type_info *info = gather_type_get((gather_type)i);
    if (!info) return NULL;
    if (info->onnx != 0 && (uint64_t)info->onnx == number) return info;
  }
}

static gather_status add_length(gather_onnx *onnx, gather_onnx_parts *parts, int64_t offset, uint64_t value) {
  int64_t length = (int64_t)value;
  if (length < 0) return GATHER_ONNX_WRONG(onnx, offset, "a length is negative: %" PRId64, length);
  if (parts->rank == GATHER_MAX_RANK)
    return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, offset, "more than %d dimensions",
                            GATHER_MAX_RANK);
  parts->shape[parts->rank++] = length;
  return GATHER_OK;
}

static gather_status read_lengths(gather_onnx *onnx, const gather_proto_field *field, gather_onnx_parts *parts) {
  if (field->wire == GATHER_PROTO_VARINT) return add_length(onnx, parts, field->offset, field->value);
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  gather_proto list = field->inner;
  while (list.at < list.end) {
    int64_t offset = list.at;
    uint64_t value = 0;
    const char *wrong = gather_proto_packed(&list, GATHER_PROTO_VARINT, &value);
    if (wrong) return GATHER_ONNX_WRONG(onnx, list.at, "%s", wrong);
    GATHER_TRY(add_length(onnx, parts, offset, value));
  }
  return GATHER_OK;
}

/* A non-negative decimal number. */
static gather_status read_decimal(gather_onnx *onnx, const gather_proto_field *field, int64_t *number) {
  const char *text = NULL;
  GATHER_TRY(gather_onnx_text(onnx, field, &text));
  int64_t value = 0;
  bool good = text[0] != '\0';
  for (const char *at = text; good && *at; at++) {
    int digit = *at - '0';
    good = digit >= 0 && digit <= 9 && value <= (INT64_MAX - digit) / 10;
    if (good) value = value * 10 + digit;
  }
  if (!good) return GATHER_ONNX_WRONG(onnx, field->offset, "invalid offset or length '%.60s' of external data", text);
  *number = value;
  return GATHER_OK;
}

/* A key and its value; other keys than location, offset and length are skipped. */
static gather_status read_external(gather_onnx *onnx, gather_proto message, gather_onnx_parts *parts) {
  const char *key = "";
  gather_proto_field field, value = {0};
  for (;;) {
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) break;
    if (field.number == 1) GATHER_TRY(gather_onnx_text(onnx, &field, &key));
    if (field.number == 2) value = field;
  }
  if (value.number == 0) return GATHER_OK;
  if (strcmp(key, "location") == 0) return gather_onnx_text(onnx, &value, &parts->location);
  if (strcmp(key, "offset") == 0) return read_decimal(onnx, &value, &parts->data_offset);
  if (strcmp(key, "length") == 0) return read_decimal(onnx, &value, &parts->data_length);
  return GATHER_OK;
}

static gather_proto_wire wire_of_values(uint32_t number) {
  if (number == 4) return GATHER_PROTO_FIXED32;
  return number == 10 ? GATHER_PROTO_FIXED64 : GATHER_PROTO_VARINT;
}

/* Counts a field's values. Packed numbers of fixed size are not read. */
static gather_status count_values(gather_onnx *onnx, const gather_proto_field *field, gather_onnx_parts *parts) {
  int64_t *count = &parts->counts[field->number], bytes = field->inner.end - field->inner.at;
  gather_proto_wire wire = wire_of_values(field->number);
  parts->offsets[field->number] = field->offset;
  if (field->number == 6 || field->number == 9) {
    GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
    *count = field->number == 9 ? bytes : *count + 1;
  } else if (field->wire == GATHER_PROTO_BYTES && wire != GATHER_PROTO_VARINT) {
    int64_t size = wire == GATHER_PROTO_FIXED32 ? 4 : 8;
    if (bytes % size != 0)
      return GATHER_ONNX_WRONG(onnx, field->offset, "a packed list of numbers ends within a number");
    *count += bytes / size;
  } else {
    GATHER_TRY(gather_onnx_numbers(onnx, field, wire, NULL, count));
  }
  if (field->wire == GATHER_PROTO_BYTES) parts->view = field->inner;
  parts->chunks++;
  return GATHER_OK;
}

static gather_status read_field(gather_onnx *onnx, const gather_proto_field *field, gather_onnx_parts *parts) {
  switch (field->number) {
    case 1:
      return read_lengths(onnx, field, parts);
    case 2:
      parts->type_offset = field->offset;
      parts->type_number = field->value;
      return gather_onnx_is(onnx, field, GATHER_PROTO_VARINT);
    case 3:
      return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, field->offset,
                              "tensor segments are not supported");
    case 4:
    case 5:
    case 6:
    case 7:
    case 9:
    case 10:
    case 11:
      return count_values(onnx, field, parts);
    case 8:
      return gather_onnx_text(onnx, field, &parts->name);
    case 13:
      GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
      parts->external_offset = field->offset;
      return read_external(onnx, field->inner, parts);
    case 14:
      GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_VARINT));
      if (field->value > 1) return GATHER_ONNX_WRONG(onnx, field->offset, "data_location is neither 0 nor 1");
      parts->external = field->value == 1;
      return GATHER_OK;
    default:
      return GATHER_OK;
  }
}

gather_status gather_onnx_parts_read(gather_onnx *onnx, gather_proto message, gather_onnx_parts *parts) {
  *parts = (gather_onnx_parts){.offset = message.at,
                               .name = "",
                               .type_offset = message.at,
                               .external_offset = message.at,
                               .data_offset = -1,
                               .data_length = -1};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) break;
    GATHER_TRY(read_field(onnx, &field, parts));
  }
  parts->type = gather_onnx_type(parts->type_number);
  if (parts->type) return GATHER_OK;
  if (parts->type_number == 0) return GATHER_ONNX_WRONG(onnx, parts->type_offset, "a tensor has no type");
  return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, parts->type_offset,
                          "a tensor has the unknown type %" PRIu64, parts->type_number);
}

gather_status gather_onnx_made(gather_onnx *onnx, gather_type type, const void *data, int64_t len, int64_t offset,
                               gather_file_tensor *tensor) {
  int64_t *shape = NULL;
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *shape, &shape));
  shape[0] = len;
  *tensor = (gather_file_tensor){.name = "", .type_name = gather_type_get(type)->name, .offset = offset};
  tensor->tensor = (gather_tensor){.data = (void *)(uintptr_t)data,
                                   .type = type,
                                   .rank = len < 0 ? 0 : 1,
                                   .shape = len < 0 ? NULL : shape,
                                   .flags = GATHER_FILE_VIEW};
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  return GATHER_OK;
}

gather_status gather_onnx_tensor(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor) {
  gather_onnx_parts parts;
  GATHER_TRY(gather_onnx_parts_read(onnx, message, &parts));
  int64_t *shape = NULL;
  GATHER_TRY(gather_onnx_take(onnx, parts.rank, sizeof *shape, &shape));
  memcpy(shape, parts.shape, (size_t)parts.rank * sizeof *shape);
  *tensor = (gather_file_tensor){.name = parts.name, .type_name = parts.type->name, .offset = parts.offset};
  tensor->tensor =
      (gather_tensor){.type = parts.type->type, .rank = parts.rank, .shape = shape, .flags = GATHER_FILE_VIEW};
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return GATHER_ONNX_WRONG(onnx, parts.offset, "the lengths of tensor '%.100s' are too large", parts.name);
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  return gather_onnx_values(onnx, message, &parts, tensor);
}

#endif
