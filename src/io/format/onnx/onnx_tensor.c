/* SPDX-License-Identifier: MIT
 *
 * onnx_tensor.c: reads a TensorProto: its type, shape and name, and where its values are.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/tensor.h"
#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

/* The fields of a TensorProto, except for its values. */
typedef struct tensor_parts {
  int64_t offset; /* where it begins */
  const char *name;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  const gather_type_info *type;
  uint64_t type_number;
  int64_t type_offset;
  int64_t counts[12];  /* values in each value field; bytes of raw_data */
  int64_t offsets[12]; /* last position of the field */
  gather_proto view;   /* the content of the last field of packed values or raw data */
  int64_t chunks;      /* number of value fields */
  bool external;
  int64_t external_offset; /* position of the external data entries */
  const char *location;
  int64_t data_offset, data_length; /* -1 = not given */
} tensor_parts;

/* ---- the values: a view of the file or of its external data, or numbers decoded from a list */

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

static gather_status read_raw(gather_onnx *onnx, const tensor_parts *parts, gather_file_tensor *tensor) {
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

static gather_status read_list(gather_onnx *onnx, gather_proto message, const tensor_parts *parts, uint32_t number,
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
static gather_status find_values(gather_onnx *onnx, const tensor_parts *parts, uint32_t *number) {
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

static gather_status check_field(gather_onnx *onnx, const tensor_parts *parts, uint32_t number, bool empty) {
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

static gather_status use_external(gather_onnx *onnx, const tensor_parts *parts, gather_file_tensor *tensor) {
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

/* Finds the values of a tensor; its type, shape and size are set. */
static gather_status read_values(gather_onnx *onnx, gather_proto message, const tensor_parts *parts,
                                 gather_file_tensor *tensor) {
  uint32_t number = 0;
  bool empty = gather_tensor_len(&tensor->tensor) == 0;
  GATHER_TRY(find_values(onnx, parts, &number));
  GATHER_TRY(check_field(onnx, parts, number, empty));
  if (parts->external) return use_external(onnx, parts, tensor);
  if (empty) return GATHER_OK;
  if (number != RAW) return read_list(onnx, message, parts, number, tensor);
  GATHER_TRY(read_raw(onnx, parts, tensor));
  return view_raw(onnx, message, tensor);
}

/* ---- a TensorProto without its values */

/* The type of a TensorProto.DataType; NULL if unknown. */
static const gather_type_info *find_type(uint64_t number) {
  for (int32_t i = 1;; i++) {
    const gather_type_info *info = gather_type_get((gather_type)i);
    if (!info) return NULL;
    if (info->onnx != 0 && (uint64_t)info->onnx == number) return info;
  }
}

static gather_status add_length(gather_onnx *onnx, tensor_parts *parts, int64_t offset, uint64_t value) {
  int64_t length = (int64_t)value;
  if (length < 0) return GATHER_ONNX_WRONG(onnx, offset, "a length is negative: %" PRId64, length);
  if (parts->rank == GATHER_MAX_RANK)
    return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, offset, "more than %d dimensions",
                            GATHER_MAX_RANK);
  parts->shape[parts->rank++] = length;
  return GATHER_OK;
}

static gather_status read_lengths(gather_onnx *onnx, const gather_proto_field *field, tensor_parts *parts) {
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
static gather_status read_external(gather_onnx *onnx, gather_proto message, tensor_parts *parts) {
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
static gather_status count_values(gather_onnx *onnx, const gather_proto_field *field, tensor_parts *parts) {
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

static gather_status read_field(gather_onnx *onnx, const gather_proto_field *field, tensor_parts *parts) {
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

static gather_status read_parts(gather_onnx *onnx, gather_proto message, tensor_parts *parts) {
  *parts = (tensor_parts){.offset = message.at,
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
  parts->type = find_type(parts->type_number);
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
  tensor_parts parts;
  GATHER_TRY(read_parts(onnx, message, &parts));
  int64_t *shape = NULL;
  GATHER_TRY(gather_onnx_take(onnx, parts.rank, sizeof *shape, &shape));
  memcpy(shape, parts.shape, (size_t)parts.rank * sizeof *shape);
  *tensor = (gather_file_tensor){.name = parts.name, .type_name = parts.type->name, .offset = parts.offset};
  tensor->tensor =
      (gather_tensor){.type = parts.type->type, .rank = parts.rank, .shape = shape, .flags = GATHER_FILE_VIEW};
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return GATHER_ONNX_WRONG(onnx, parts.offset, "the lengths of tensor '%.100s' are too large", parts.name);
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  return read_values(onnx, message, &parts, tensor);
}

/* ---- the files of external data beside a remote model, opened several at once */

/* MOST: further files are opened one by one, when a tensor needs them. */
enum { MOST = 256 };

typedef struct locations {
  const char *at[MOST];
  int64_t count;
} locations;

static void add(const gather_onnx *onnx, locations *found, const char *location) {
  if (found->count == MOST || gather_sibling_find(onnx->file, location)) return;
  for (int64_t i = 0; i < found->count; i++)
    if (strcmp(found->at[i], location) == 0) return;
  found->at[found->count++] = location;
}

static gather_status read_graph(gather_onnx *onnx, gather_proto message, uint32_t initializer, locations *found) {
  tensor_parts parts;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != initializer) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_parts(onnx, field.inner, &parts));
    if (parts.external && parts.location) add(onnx, found, parts.location);
  }
}

/* What is wrong with the model is said when its tensors are read, in their order. */
gather_status gather_onnx_external_open(const gather_onnx *onnx, gather_proto graph, uint32_t initializer) {
  locations found = {.count = 0};
  gather_error ignored;
  gather_onnx quiet = *onnx;
  if (!onnx->file->client) return GATHER_OK;
  quiet.error = &ignored;
  (void)read_graph(&quiet, graph, initializer, &found);
  return gather_siblings_map_urls(onnx->file, found.at, found.count, NULL, onnx->error);
}

/* ---- declarations of values: name, type and shape */

/* A length or its name. If both are given, the last counts; a length below 0 is ignored. */
static gather_status read_dim(gather_onnx *onnx, gather_proto message, gather_dim *dim) {
  *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != 1 && field.number != 2) continue;
    *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
    if (field.number == 1) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
      int64_t length = (int64_t)field.value;
      if (length >= 0) *dim = (gather_dim){length, length, NULL};
    } else {
      GATHER_TRY(gather_onnx_text(onnx, &field, &dim->symbol));
      if (dim->symbol[0] == '\0') dim->symbol = NULL;
    }
  }
}

/* A rank above GATHER_MAX_RANK is treated as unknown. */
static gather_status read_shape(gather_onnx *onnx, gather_proto message, gather_value *value) {
  int64_t counts[2];
  gather_dim *dims = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 2, counts));
  value->rank = -1;
  value->dims = NULL;
  if (counts[1] > GATHER_MAX_RANK) return GATHER_OK;
  value->rank = 0;
  if (counts[1] == 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_take(onnx, counts[1], sizeof *dims, &dims));
  value->dims = dims;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != 1) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_dim(onnx, field.inner, &dims[value->rank++]));
  }
}

static gather_status read_tensor_type(gather_onnx *onnx, gather_proto message, gather_value *value) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
      const gather_type_info *info = find_type(field.value);
      value->type = info ? info->type : GATHER_TYPE_NONE;
    } else if (field.number == 2) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
      GATHER_TRY(read_shape(onnx, field.inner, value));
    }
  }
}

/* Types other than tensors (sequence, map, opaque, sparse tensor, optional) are skipped. */
static gather_status read_type(gather_onnx *onnx, gather_proto message, gather_value *value) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number >= 4 && field.number <= 9 && field.number != 6) value->no_tensor = true;
    if (field.number != 1) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_tensor_type(onnx, field.inner, value));
  }
}

gather_status gather_onnx_value(gather_onnx *onnx, gather_proto message, gather_value *value) {
  *value = (gather_value){.name = "", .type = GATHER_TYPE_NONE, .rank = -1};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) GATHER_TRY(gather_onnx_text(onnx, &field, &value->name));
    if (field.number != 2) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_type(onnx, field.inner, value));
  }
}

#endif
