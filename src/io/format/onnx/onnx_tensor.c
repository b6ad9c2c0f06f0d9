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

/* The wire type of one number of a list. */
static gather_proto_wire wire_of(uint32_t number) {
  return number == FLOATS ? GATHER_PROTO_FIXED32 : number == DOUBLES ? GATHER_PROTO_FIXED64 : GATHER_PROTO_VARINT;
}

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
  if (GATHER_BIG_ENDIAN && !gather_type_is_packed(info) && info->bits > 8) tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
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
static gather_status use_bytes(gather_onnx *onnx, const gather_map *map, int64_t size, int64_t offset, gather_file_tensor *tensor) {
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
    return GATHER_ONNX_WRONG(onnx, parts->offsets[RAW], "tensor '%.100s' has strings in raw_data, which ONNX does not allow", parts->name);
  if (parts->counts[RAW] < stored_bytes(tensor))
    return GATHER_ONNX_WRONG(onnx, parts->offsets[RAW], "tensor '%.100s' needs %" PRId64 " bytes; raw_data has %" PRId64, parts->name,
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
  gather_proto_wire wire;
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

static gather_status store_field(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  target *to = into;
  if (field->wire != GATHER_PROTO_BYTES) {
    store_next(to, field->value);
    return GATHER_OK;
  }
  gather_proto list = field->inner;
  while (list.at < list.end) {
    uint64_t value = 0;
    const char *wrong = gather_proto_packed(&list, to->wire, &value);
    if (wrong) return GATHER_ONNX_WRONG(onnx, list.at, "%s", wrong);
    store_next(to, value);
  }
  return GATHER_OK;
}

static gather_status unpack(gather_onnx *onnx, gather_proto message, uint32_t number, gather_file_tensor *tensor) {
  const gather_onnx_row rows[] = {{number, GATHER_ONNX_OTHER, 0, store_field}, {0}};
  target to = {.wire = wire_of(number), .info = *gather_type_get(tensor->tensor.type)};
  to.unit = unit_of(&to.info);
  if (to.info.kind == GATHER_KIND_COMPLEX) to.info.bits /= 2;
  GATHER_TRY(gather_onnx_take(onnx, tensor->bytes, 1, &to.bytes));
  tensor->tensor.data = to.bytes;
  return gather_onnx_read(onnx, message, rows, &to);
}

static gather_status read_list(gather_onnx *onnx, gather_proto message, const tensor_parts *parts, uint32_t number,
                               gather_file_tensor *tensor) {
  int64_t expected = list_length(tensor), len = 0;
  gather_string *strings = NULL;
  if (parts->counts[number] != expected)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' needs %" PRId64 " values; it has %" PRId64, parts->name,
                             expected, parts->counts[number]);
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
    if (*number != 0) return GATHER_ONNX_WRONG(onnx, parts->offsets[NUMBERS[i]], "tensor '%.100s' has values in two fields", parts->name);
    *number = NUMBERS[i];
  }
  return GATHER_OK;
}

static gather_status check_field(gather_onnx *onnx, const tensor_parts *parts, uint32_t number, bool empty) {
  if (parts->external && number != 0)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' has both values and external data", parts->name);
  if (parts->external && parts->type->type == GATHER_TYPE_STRING)
    return GATHER_ONNX_WRONG(onnx, parts->external_offset, "tensor '%.100s' has strings as external data, which ONNX does not allow",
                             parts->name);
  if (empty && number != 0)
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' has values but no elements", parts->name);
  if (!empty && number == 0 && !parts->external)
    return GATHER_ONNX_WRONG(onnx, parts->offset, "tensor '%.100s' has elements but no values", parts->name);
  if (number != 0 && number != RAW && number != list_of(parts->type->type))
    return GATHER_ONNX_WRONG(onnx, parts->offsets[number], "tensor '%.100s' of type %s has its values in field %u", parts->name,
                             parts->type->name, (unsigned)number);
  return GATHER_OK;
}

static gather_status use_raw(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  return use_bytes(onnx, field->inner.map, field->inner.end, field->inner.at, into);
}

static gather_status use_external(gather_onnx *onnx, const tensor_parts *parts, gather_file_tensor *tensor) {
  const int64_t at = parts->external_offset;
  if (!parts->location) return GATHER_ONNX_WRONG(onnx, at, "the external data of tensor '%.100s' have no location", parts->name);
  if (tensor->bytes == 0) return GATHER_OK;
  const int64_t needed = stored_bytes(tensor);
  const gather_map *map = NULL;
  int64_t offset = parts->data_offset < 0 ? 0 : parts->data_offset;
  int64_t length = parts->data_length <= 0 ? needed : parts->data_length; /* 0: as the shape says, as ONNX Runtime reads it */
  gather_error why;
  tensor->offset = offset;
  GATHER_TRY(gather_file_sibling(onnx->file, parts->location, at, parts->name, tensor, &map, onnx->error));
  if (!map) return GATHER_OK;
  if (length < needed) {
    (void)gather_fail_file(&why, GATHER_FILE_MALFORMED, onnx->file->name, at,
                           "tensor '%.100s' needs %" PRId64 " bytes; it has %" PRId64 " in '%.100s'", parts->name, needed, length,
                           parts->location);
    return gather_file_unreadable(onnx->file, &why, tensor, onnx->error);
  }
  if (offset <= map->size && length <= map->size - offset) return use_bytes(onnx, map, map->size, offset, tensor);
  (void)gather_fail_file(&why, GATHER_FILE_MALFORMED, onnx->file->name, at,
                         "tensor '%.100s' needs %" PRId64 " bytes at byte %" PRId64 " of '%.100s', which has %" PRId64, parts->name, length,
                         offset, parts->location, map->size);
  return gather_file_unreadable(onnx->file, &why, tensor, onnx->error);
}

/* Finds the values of a tensor; its type, shape and size are set. */
static gather_status read_values(gather_onnx *onnx, gather_proto message, const tensor_parts *parts, gather_file_tensor *tensor) {
  uint32_t number = 0;
  bool empty = gather_tensor_len(&tensor->tensor) == 0;
  GATHER_TRY(find_values(onnx, parts, &number));
  GATHER_TRY(check_field(onnx, parts, number, empty));
  if (parts->external) return use_external(onnx, parts, tensor);
  if (empty) return GATHER_OK;
  if (number != RAW) return read_list(onnx, message, parts, number, tensor);
  GATHER_TRY(read_raw(onnx, parts, tensor));
  return gather_onnx_each(onnx, message, RAW, use_raw, tensor); /* the last one; parts->view may be of another field */
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
    return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, offset, "more than %d dimensions", GATHER_MAX_RANK);
  parts->shape[parts->rank++] = length;
  return GATHER_OK;
}

static gather_status read_lengths(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  tensor_parts *parts = into;
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
typedef struct external_entry {
  const char *key;
  gather_proto_field value;
} external_entry;

static gather_status read_external(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  static const gather_onnx_row FIELDS[] = {
      {1, GATHER_ONNX_TEXT, offsetof(external_entry, key), NULL}, {2, GATHER_ONNX_FIELD, offsetof(external_entry, value), NULL}, {0}};
  tensor_parts *parts = into;
  external_entry e = {.key = ""};
  parts->external_offset = field->offset;
  GATHER_TRY(gather_onnx_read(onnx, field->inner, FIELDS, &e));
  if (e.value.number == 0) return GATHER_OK;
  if (strcmp(e.key, "location") == 0) return gather_onnx_text(onnx, &e.value, &parts->location);
  if (strcmp(e.key, "offset") == 0) return read_decimal(onnx, &e.value, &parts->data_offset);
  if (strcmp(e.key, "length") == 0) return read_decimal(onnx, &e.value, &parts->data_length);
  return GATHER_OK;
}

/* Counts a field's values. Packed numbers of fixed size are not read. */
static gather_status count_values(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  tensor_parts *parts = into;
  int64_t *count = &parts->counts[field->number], bytes = field->inner.end - field->inner.at;
  gather_proto_wire wire = wire_of(field->number);
  parts->offsets[field->number] = field->offset;
  if (field->number == STRINGS || field->number == RAW) {
    GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
    *count = field->number == RAW ? bytes : *count + 1;
  } else if (field->wire == GATHER_PROTO_BYTES && wire != GATHER_PROTO_VARINT) {
    int64_t size = wire == GATHER_PROTO_FIXED32 ? 4 : 8;
    if (bytes % size != 0) return GATHER_ONNX_WRONG(onnx, field->offset, "a packed list of numbers ends within a number");
    *count += bytes / size;
  } else {
    GATHER_TRY(gather_onnx_numbers(onnx, field, wire, NULL, count));
  }
  if (field->wire == GATHER_PROTO_BYTES) parts->view = field->inner;
  parts->chunks++;
  return GATHER_OK;
}

static gather_status read_type_number(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  tensor_parts *parts = into;
  parts->type_offset = field->offset;
  parts->type_number = field->value;
  return gather_onnx_is(onnx, field, GATHER_PROTO_VARINT);
}

static gather_status refuse_segment(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  (void)into;
  return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, field->offset, "tensor segments are not supported");
}

static gather_status read_location(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  tensor_parts *parts = into;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_VARINT));
  if (field->value > 1) return GATHER_ONNX_WRONG(onnx, field->offset, "data_location is neither 0 nor 1");
  parts->external = field->value == 1;
  return GATHER_OK;
}

static const gather_onnx_row TENSOR[] = {
    {1, GATHER_ONNX_OTHER, 0, read_lengths},       {2, GATHER_ONNX_OTHER, 0, read_type_number},
    {3, GATHER_ONNX_OTHER, 0, refuse_segment},     {FLOATS, GATHER_ONNX_OTHER, 0, count_values},
    {INT32S, GATHER_ONNX_OTHER, 0, count_values},  {STRINGS, GATHER_ONNX_OTHER, 0, count_values},
    {INT64S, GATHER_ONNX_OTHER, 0, count_values},  {8, GATHER_ONNX_TEXT, offsetof(tensor_parts, name), NULL},
    {RAW, GATHER_ONNX_OTHER, 0, count_values},     {DOUBLES, GATHER_ONNX_OTHER, 0, count_values},
    {UINT64S, GATHER_ONNX_OTHER, 0, count_values}, {13, GATHER_ONNX_MESSAGE, 0, read_external},
    {14, GATHER_ONNX_OTHER, 0, read_location},     {0}};

static gather_status read_parts(gather_onnx *onnx, gather_proto message, tensor_parts *parts) {
  *parts = (tensor_parts){
      .offset = message.at, .name = "", .type_offset = message.at, .external_offset = message.at, .data_offset = -1, .data_length = -1};
  GATHER_TRY(gather_onnx_read(onnx, message, TENSOR, parts));
  parts->type = find_type(parts->type_number);
  if (parts->type) return GATHER_OK;
  if (parts->type_number == 0) return GATHER_ONNX_WRONG(onnx, parts->type_offset, "a tensor has no type");
  return gather_fail_file(onnx->error, GATHER_UNSUPPORTED, onnx->file->name, parts->type_offset, "a tensor has the unknown type %" PRIu64,
                          parts->type_number);
}

gather_status gather_onnx_made(gather_onnx *onnx, gather_type type, const void *data, int64_t len, int64_t offset,
                               gather_file_tensor *tensor) {
  int64_t *shape = NULL;
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *shape, &shape));
  shape[0] = len;
  *tensor = (gather_file_tensor){.name = "", .type_name = gather_type_get(type)->name, .offset = offset};
  tensor->tensor = (gather_tensor){
      .data = (void *)(uintptr_t)data, .type = type, .rank = len < 0 ? 0 : 1, .shape = len < 0 ? NULL : shape, .flags = GATHER_FILE_VIEW};
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
  tensor->tensor = (gather_tensor){.type = parts.type->type, .rank = parts.rank, .shape = shape, .flags = GATHER_FILE_VIEW};
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

static gather_status add_location(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  locations *found = into;
  tensor_parts parts;
  GATHER_TRY(read_parts(onnx, field->inner, &parts));
  if (!parts.external || !parts.location) return GATHER_OK;
  if (found->count == MOST || gather_sibling_find(onnx->file, parts.location)) return GATHER_OK;
  for (int64_t i = 0; i < found->count; i++)
    if (strcmp(found->at[i], parts.location) == 0) return GATHER_OK;
  found->at[found->count++] = parts.location;
  return GATHER_OK;
}

/* What is wrong with the model is said when its tensors are read, in their order. */
gather_status gather_onnx_external_open(const gather_onnx *onnx, gather_proto graph, uint32_t initializer) {
  locations found = {.count = 0};
  gather_error ignored;
  gather_onnx quiet = *onnx;
  if (!onnx->file->client) return GATHER_OK;
  quiet.error = &ignored;
  const gather_status stopped = gather_onnx_each(&quiet, graph, initializer, add_location, &found);
  (void)stopped;
  return gather_siblings_map_urls(onnx->file, found.at, found.count, NULL, onnx->error);
}

/* ---- declarations of values: name, type and shape */

/* A length or its name. If both are given, the last counts; a length below 0 is ignored. */
static gather_status read_length(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  gather_dim *dim = into;
  const int64_t length = (int64_t)field->value;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_VARINT));
  *dim = length >= 0 ? (gather_dim){length, length, NULL} : (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
  return GATHER_OK;
}

static gather_status read_symbol(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  gather_dim *dim = into;
  *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
  GATHER_TRY(gather_onnx_text(onnx, field, &dim->symbol));
  if (dim->symbol[0] == '\0') dim->symbol = NULL;
  return GATHER_OK;
}

/* The value that is read, and its list of lengths. */
typedef struct declaration {
  gather_value value;
  gather_dim *dims;
} declaration;

static gather_status add_dim(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  static const gather_onnx_row FIELDS[] = {{1, GATHER_ONNX_OTHER, 0, read_length}, {2, GATHER_ONNX_OTHER, 0, read_symbol}, {0}};
  declaration *d = into;
  gather_dim *dim = &d->dims[d->value.rank++];
  *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
  return gather_onnx_read(onnx, field->inner, FIELDS, dim);
}

/* A rank above GATHER_MAX_RANK is treated as unknown. */
static gather_status read_shape(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  declaration *d = into;
  int64_t counts[2];
  GATHER_TRY(gather_onnx_count(onnx, field->inner, 2, counts));
  d->value.rank = counts[1] > GATHER_MAX_RANK ? -1 : 0;
  d->value.dims = NULL;
  if (counts[1] > GATHER_MAX_RANK || counts[1] == 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_take(onnx, counts[1], sizeof *d->dims, &d->dims));
  d->value.dims = d->dims;
  return gather_onnx_each(onnx, field->inner, 1, add_dim, d);
}

static gather_status read_element_type(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  declaration *d = into;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_VARINT));
  const gather_type_info *info = find_type(field->value);
  d->value.type = info ? info->type : GATHER_TYPE_NONE;
  return GATHER_OK;
}

static gather_status read_tensor_type(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  static const gather_onnx_row FIELDS[] = {{1, GATHER_ONNX_OTHER, 0, read_element_type}, {2, GATHER_ONNX_MESSAGE, 0, read_shape}, {0}};
  return gather_onnx_read(onnx, field->inner, FIELDS, into);
}

/* Types other than tensors are skipped. */
static gather_status no_tensor(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  declaration *d = into;
  (void)onnx;
  (void)field;
  d->value.no_tensor = true;
  return GATHER_OK;
}

static gather_status read_type(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  static const gather_onnx_row FIELDS[] = {{1, GATHER_ONNX_MESSAGE, 0, read_tensor_type},
                                           {4, GATHER_ONNX_OTHER, 0, no_tensor}, /* sequence */
                                           {5, GATHER_ONNX_OTHER, 0, no_tensor}, /* map */
                                           {7, GATHER_ONNX_OTHER, 0, no_tensor}, /* opaque */
                                           {8, GATHER_ONNX_OTHER, 0, no_tensor}, /* sparse tensor */
                                           {9, GATHER_ONNX_OTHER, 0, no_tensor}, /* optional */
                                           {0}};
  return gather_onnx_read(onnx, field->inner, FIELDS, into);
}

gather_status gather_onnx_value(gather_onnx *onnx, gather_proto message, gather_value *value) {
  static const gather_onnx_row FIELDS[] = {
      {1, GATHER_ONNX_TEXT, offsetof(declaration, value.name), NULL}, {2, GATHER_ONNX_MESSAGE, 0, read_type}, {0}};
  declaration d = {.value = {.name = "", .type = GATHER_TYPE_NONE, .rank = -1}};
  GATHER_TRY(gather_onnx_read(onnx, message, FIELDS, &d));
  *value = d.value;
  return GATHER_OK;
}

#endif
