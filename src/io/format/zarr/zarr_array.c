/* SPDX-License-Identifier: MIT
 *
 * zarr_array.c: descriptions of arrays: .zarray of Zarr 2, zarr.json of Zarr 3. What is not supported is refused by name, since a part that
 * is overlooked would give wrong elements.
 */
#include "io/format/zarr/zarr.h"

#ifdef GATHER_HAVE_JANSSON

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- members */

static bool is_null(const gather_zarr_reading *r, gather_json_part part) {
  return part.end == 0 || (part.end - part.at == 4 && memcmp(r->json.bytes + part.at, "null", 4) == 0);
}

/* Parses a member; fails if it is not there. */
static gather_status load(gather_zarr_reading *r, const gather_zarr_member *member, json_t **tree) {
  *tree = NULL;
  if (member->part.end == 0) return GATHER_ZARR_WRONG(r, "the array has no '%s'", member->name);
  r->at = member->part;
  return gather_json_load(&r->json, member->part, tree);
}

/* Parses a member and lets a function read it. */
static gather_status read_member(gather_zarr_reading *r, const gather_zarr_member *member,
                                 gather_status (*read)(gather_zarr_reading *r, const json_t *tree)) {
  json_t *tree = NULL;
  GATHER_TRY(load(r, member, &tree));
  const gather_status status = read(r, tree);
  json_decref(tree);
  return status;
}

/* ---- shapes */

static gather_status read_shape(gather_zarr_reading *r, const json_t *list) {
  gather_tensor *tensor = &r->tensor->tensor;
  if (!json_is_array(list)) return GATHER_ZARR_WRONG(r, "the shape is not a list");
  const size_t rank = json_array_size(list);
  if (rank > GATHER_MAX_RANK) return GATHER_ZARR_REFUSE(r, "more than %d dimensions are not supported", GATHER_MAX_RANK);
  int64_t *shape = gather_arena_take(&r->json.file->arena, (int64_t)rank + 1, (int64_t)sizeof *shape);
  if (!shape) return GATHER_JSON_NO_MEMORY(&r->json);
  tensor->rank = (int32_t)rank;
  const gather_status status = gather_zarr_lengths(r, list, "the shape", 0, shape);
  tensor->rank = status == GATHER_OK ? (int32_t)rank : 0;
  tensor->shape = shape;
  return status;
}

/* Type and shape are known: whether the elements can be counted. */
static gather_status count_bytes(gather_zarr_reading *r) {
  if (gather_tensor_check(&r->tensor->tensor, NULL) != GATHER_OK) return GATHER_ZARR_WRONG(r, "the lengths of the array are too large");
  r->tensor->bytes = gather_tensor_bytes(&r->tensor->tensor);
  return GATHER_OK;
}

static gather_status read_chunk(gather_zarr_reading *r, const json_t *list) {
  gather_chunks *chunks = &r->array->chunks;
  const gather_tensor *tensor = &r->tensor->tensor;
  const bool is_empty = r->tensor->bytes == 0;
  chunks->rank = tensor->rank > 0 ? tensor->rank : 1;
  chunks->shape[0] = chunks->chunk[0] = 1; /* of a scalar */
  GATHER_TRY(gather_zarr_lengths(r, list, "the shape of chunks", is_empty ? 0 : 1, chunks->chunk));
  for (int32_t d = 0; d < tensor->rank; d++) chunks->shape[d] = tensor->shape[d];
  return GATHER_OK;
}

/* ---- version 2 */

/* Keeps the description as .npy has it, in quotes, and without. */
static gather_status keep_descr(gather_zarr_reading *r, const char *text, bool is_number) {
  char quoted[80];
  gather_arena *arena = &r->json.file->arena;
  (void)snprintf(quoted, sizeof quoted, "'%.70s'", text);
  r->tensor->descr = gather_arena_text(arena, quoted, strlen(quoted));
  r->tensor->type_name = is_number ? r->tensor->type_name : gather_arena_text(arena, text, strlen(text));
  return r->tensor->descr && r->tensor->type_name ? GATHER_OK : GATHER_JSON_NO_MEMORY(&r->json);
}

static gather_status set_type(gather_zarr_reading *r, gather_type type, int64_t item_bytes, bool big_endian) {
  gather_tensor *tensor = &r->tensor->tensor;
  const gather_type_info *info = type == GATHER_TYPE_OPAQUE ? NULL : gather_type_get(type);
  tensor->type = type;
  tensor->item_bytes = item_bytes;
  if (info) r->tensor->type_name = info->name;
  if (info && r->array->type.unit_bytes > 1 && big_endian != (GATHER_BIG_ENDIAN != 0)) tensor->flags |= GATHER_TENSOR_BYTE_SWAPPED;
  r->array->type.type = type;
  r->array->type.item_bytes = r->array->chunks.item_bytes = item_bytes;
  r->array->type.big_endian = big_endian;
  return GATHER_OK;
}

static gather_status read_dtype(gather_zarr_reading *r, const json_t *tree) {
  enum { LONGEST = 64 };
  const char *text = json_string_value(tree);
  gather_literal literal;
  gather_descr descr = {0};
  if (json_is_array(tree)) return GATHER_ZARR_REFUSE(r, "elements with fields are not supported");
  if (!text || json_string_length(tree) != strlen(text) || strlen(text) > LONGEST)
    return GATHER_ZARR_WRONG(r, "the dtype is not a string of a type");
  const gather_literal_text whole = {text, (int64_t)strlen(text)};
  gather_literal_init(&literal, text, whole.bytes);
  if (text[strspn(text, "<>|=")] == 'O')
    return GATHER_ZARR_REFUSE(r, "elements of variable length (the dtype '%.64s') are not supported", text);
  if (!gather_descr_plain(&literal, 0, whole, &descr))
    return gather_fail_file(r->json.error, literal.status, r->json.name, r->at.at, "the dtype '%.64s': %s", text, literal.message);
  const char letter = text[strspn(text, "<>|=")];
  if (!letter || !strchr("biufcSaUVMm?", letter) || strchr("=", text[0]) || descr.item_bytes < 1)
    return GATHER_ZARR_REFUSE(r, "elements of the dtype '%.64s' are not supported", text);
  gather_zarr_type *type = &r->array->type;
  type->kind = letter == 'm' ? 'M' : letter == 'a' ? 'S' : letter == '?' ? 'b' : letter;
  type->unit_bytes = letter == 'U' ? 4 : letter == 'c' ? descr.item_bytes / 2 : strchr("SV", type->kind) ? 1 : descr.item_bytes;
  GATHER_TRY(set_type(r, descr.type, descr.item_bytes, text[0] == '>'));
  return keep_descr(r, text, descr.type != GATHER_TYPE_OPAQUE);
}

static gather_status read_order(gather_zarr_reading *r, const json_t *tree) {
  const char *order = json_string_value(tree);
  gather_chunks *chunks = &r->array->chunks;
  if (!order || (strcmp(order, "C") != 0 && strcmp(order, "F") != 0)) return GATHER_ZARR_WRONG(r, "the order is neither C nor F");
  int64_t stride = chunks->item_bytes;
  for (int32_t d = 0; order[0] == 'F' && d < chunks->rank; stride *= chunks->chunk[d++]) chunks->strides[d] = stride;
  return GATHER_OK;
}

static gather_status read_separator(gather_zarr_reading *r, const json_t *tree) {
  const char *separator = json_string_value(tree);
  if (!separator || strlen(separator) != 1 || !strchr("./", separator[0]))
    return GATHER_ZARR_WRONG(r, "the separator is neither '.' nor '/'");
  r->array->separator = separator[0];
  return GATHER_OK;
}

static gather_status read_filters(gather_zarr_reading *r, const gather_zarr_member *filters, const gather_zarr_member *compressor,
                                  const char *dtype) {
  json_t *list = NULL, *last = NULL;
  gather_status status = is_null(r, filters->part) ? GATHER_OK : load(r, filters, &list);
  if (status == GATHER_OK && !is_null(r, compressor->part)) status = load(r, compressor, &last);
  if (status == GATHER_OK) status = gather_zarr_filters(r, list, last, dtype);
  json_decref(list);
  json_decref(last);
  return status;
}

static gather_status measure(gather_zarr_reading *r) {
  gather_chunks *chunks = &r->array->chunks;
  return gather_chunks_measure(chunks, r->tensor->name, -1, r->json.error);
}

static gather_status describe_2(gather_zarr_reading *r, gather_json_part object) {
  enum { FORMAT, SHAPE, CHUNKS, DTYPE, COMPRESSOR, FILTERS, FILL, ORDER, SEPARATOR, COUNT };
  gather_zarr_member of[COUNT] = {{"zarr_format", {0}}, {"shape", {0}},      {"chunks", {0}},
                                  {"dtype", {0}},       {"compressor", {0}}, {"filters", {0}},
                                  {"fill_value", {0}},  {"order", {0}},      {"dimension_separator", {0}}};
  GATHER_TRY(gather_zarr_members(&r->json, object, false, of, COUNT));
  r->array->separator = '.';
  GATHER_TRY(read_member(r, &of[SHAPE], read_shape));
  GATHER_TRY(read_member(r, &of[DTYPE], read_dtype));
  GATHER_TRY(count_bytes(r));
  GATHER_TRY(read_member(r, &of[CHUNKS], read_chunk));
  if (r->tensor->bytes == 0) return GATHER_OK;
  GATHER_TRY(measure(r));
  GATHER_TRY(read_member(r, &of[ORDER], read_order));
  if (of[SEPARATOR].part.end > 0) GATHER_TRY(read_member(r, &of[SEPARATOR], read_separator));
  GATHER_TRY(read_filters(r, &of[FILTERS], &of[COMPRESSOR], r->tensor->descr));
  r->at = of[FILL].part;
  return is_null(r, of[FILL].part) ? GATHER_OK : gather_zarr_fill(r);
}

/* ---- version 3 */

/* A name, or an object with a name and a configuration (NULL if there is none). Returns the name; NULL: it is neither. */
static const char *name_of(const json_t *tree, const json_t **configuration) {
  *configuration = json_object_get(tree, "configuration");
  return json_string_value(json_is_string(tree) ? tree : json_object_get(tree, "name"));
}

/* Types whose names NumPy or extensions of Zarr have. */
static const struct {
  const char *name;
  char kind;
  gather_type type;
} TYPES[] = {
    {"bool", 'b', GATHER_TYPE_BOOL},       {"int8", 'i', GATHER_TYPE_INT8},           {"int16", 'i', GATHER_TYPE_INT16},
    {"int32", 'i', GATHER_TYPE_INT32},     {"int64", 'i', GATHER_TYPE_INT64},         {"uint8", 'u', GATHER_TYPE_UINT8},
    {"uint16", 'u', GATHER_TYPE_UINT16},   {"uint32", 'u', GATHER_TYPE_UINT32},       {"uint64", 'u', GATHER_TYPE_UINT64},
    {"float16", 'f', GATHER_TYPE_FLOAT16}, {"bfloat16", 'f', GATHER_TYPE_BFLOAT16},   {"float32", 'f', GATHER_TYPE_FLOAT32},
    {"float64", 'f', GATHER_TYPE_FLOAT64}, {"complex64", 'c', GATHER_TYPE_COMPLEX64}, {"complex128", 'c', GATHER_TYPE_COMPLEX128},
};

/* "r16": so many bits; 0: the name is none of these. */
static int64_t raw_bits(const char *name) {
  int64_t bits = 0;
  const size_t digits = name[0] == 'r' ? strspn(name + 1, "0123456789") : 0;
  if (digits < 1 || digits > 9 || name[1 + digits] != '\0') return 0;
  for (size_t i = 1; i <= digits; i++) bits = bits * 10 + (name[i] - '0');
  return bits;
}

static gather_status read_raw_type(gather_zarr_reading *r, int64_t bits) {
  char text[32];
  if (bits % 8 != 0) return GATHER_ZARR_WRONG(r, "elements of %" PRId64 " bits do not fill whole bytes", bits);
  r->array->type.kind = 'V';
  r->array->type.unit_bytes = 1;
  (void)snprintf(text, sizeof text, "|V%" PRId64, bits / 8);
  GATHER_TRY(set_type(r, GATHER_TYPE_OPAQUE, bits / 8, false));
  return keep_descr(r, text, false);
}

/* Types of zarr-python for those of NumPy that have no name. */
static const struct {
  const char *name;
  char letter;
  int64_t unit_bytes;
} NUMPY_TYPES[] = {{"null_terminated_bytes", 'S', 1},
                   {"raw_bytes", 'V', 1},
                   {"fixed_length_utf32", 'U', 4},
                   {"numpy.datetime64", 'M', 8},
                   {"numpy.timedelta64", 'm', 8}};

/* Writes NumPy's description, as if little-endian. */
static bool describe_type(const json_t *options, char letter, int64_t unit_bytes, char *text, size_t bytes) {
  enum { MOST = 1 << 20 };
  const json_t *length = json_object_get(options, "length_bytes"), *scale = json_object_get(options, "scale_factor");
  const char *unit = json_string_value(json_object_get(options, "unit"));
  const int64_t count = (int64_t)json_integer_value(unit_bytes == 8 ? scale : length);
  if (count < 1 || count > MOST || (unit_bytes == 8 && (!unit || strlen(unit) > 8)) || (unit_bytes == 4 && count % 4 != 0)) return false;
  if (unit_bytes < 8)
    (void)snprintf(text, bytes, "%c%c%" PRId64, unit_bytes == 1 ? '|' : '<', letter, count / unit_bytes);
  else if (strcmp(unit, "generic") == 0)
    (void)snprintf(text, bytes, "<%c8", letter);
  else if (count == 1)
    (void)snprintf(text, bytes, "<%c8[%s]", letter, unit);
  else
    (void)snprintf(text, bytes, "<%c8[%" PRId64 "%s]", letter, count, unit);
  return true;
}

static gather_status read_numpy_type(gather_zarr_reading *r, const char *name, char letter, int64_t unit_bytes, const json_t *options) {
  char text[48];
  gather_literal literal;
  gather_descr descr = {0};
  bool good = describe_type(options, letter, unit_bytes, text, sizeof text);
  if (good) {
    gather_literal_init(&literal, text, (int64_t)strlen(text));
    good = gather_descr_plain(&literal, 0, (gather_literal_text){text, (int64_t)strlen(text)}, &descr) && descr.item_bytes >= 1;
  }
  if (!good) return GATHER_ZARR_REFUSE(r, "the data_type '%.60s' is not supported", name);
  r->array->type.kind = letter == 'm' ? 'M' : letter;
  r->array->type.unit_bytes = unit_bytes;
  GATHER_TRY(set_type(r, descr.type, descr.item_bytes, false));
  return keep_descr(r, text, false);
}

/* The codec said that such elements are big-endian. */
static gather_status turn_descr(gather_zarr_reading *r) {
  char text[48];
  const gather_zarr_type *type = &r->array->type;
  if (type->type != GATHER_TYPE_OPAQUE || !type->big_endian || type->unit_bytes == 1) return GATHER_OK;
  (void)snprintf(text, sizeof text, ">%.40s", r->tensor->type_name + 1);
  return keep_descr(r, text, false);
}

static gather_status read_data_type(gather_zarr_reading *r, const json_t *tree) {
  const json_t *configuration;
  const char *name = name_of(tree, &configuration);
  if (!name) return GATHER_ZARR_WRONG(r, "the data_type has no name");
  const int64_t bits = raw_bits(name);
  if (bits > 0) return read_raw_type(r, bits);
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
    if (strcmp(TYPES[i].name, name) != 0) continue;
    const int64_t bytes = gather_type_get(TYPES[i].type)->bits / 8;
    r->array->type.kind = TYPES[i].kind;
    r->array->type.unit_bytes = TYPES[i].kind == 'c' ? bytes / 2 : bytes;
    return set_type(r, TYPES[i].type, bytes, GATHER_BIG_ENDIAN != 0); /* the codec says the byte order */
  }
  for (size_t i = 0; i < sizeof NUMPY_TYPES / sizeof *NUMPY_TYPES; i++)
    if (strcmp(NUMPY_TYPES[i].name, name) == 0)
      return read_numpy_type(r, name, NUMPY_TYPES[i].letter, NUMPY_TYPES[i].unit_bytes, configuration);
  return GATHER_ZARR_REFUSE(r, "elements of the data_type '%.60s' are not supported", name);
}

static gather_status read_grid(gather_zarr_reading *r, const json_t *tree) {
  const json_t *configuration;
  const char *name = name_of(tree, &configuration);
  if (!name) return GATHER_ZARR_WRONG(r, "the chunk_grid has no name");
  if (strcmp(name, "regular") != 0) return GATHER_ZARR_REFUSE(r, "the chunk_grid '%.60s' is not supported", name);
  return read_chunk(r, json_object_get(configuration, "chunk_shape"));
}

static gather_status read_keys(gather_zarr_reading *r, const json_t *tree) {
  const json_t *configuration;
  const char *name = name_of(tree, &configuration);
  const json_t *separator = json_object_get(configuration, "separator");
  if (!name) return GATHER_ZARR_WRONG(r, "the chunk_key_encoding has no name");
  r->array->key_has_c = strcmp(name, "default") == 0;
  if (!r->array->key_has_c && strcmp(name, "v2") != 0)
    return GATHER_ZARR_REFUSE(r, "the chunk_key_encoding '%.60s' is not supported", name);
  r->array->separator = r->array->key_has_c ? '/' : '.';
  return separator ? read_separator(r, separator) : GATHER_OK;
}

static gather_status read_transformers(gather_zarr_reading *r, const json_t *tree) {
  return json_array_size(tree) == 0 ? GATHER_OK : GATHER_ZARR_REFUSE(r, "storage_transformers are not supported");
}

static gather_status describe_3(gather_zarr_reading *r, gather_json_part object) {
  enum { FORMAT, NODE, SHAPE, TYPE, GRID, KEYS, FILL, CODECS, ATTRIBUTES, TRANSFORMERS, NAMES, COUNT };
  gather_zarr_member of[COUNT] = {
      {"zarr_format", {0}},        {"node_type", {0}},  {"shape", {0}},  {"data_type", {0}},  {"chunk_grid", {0}},
      {"chunk_key_encoding", {0}}, {"fill_value", {0}}, {"codecs", {0}}, {"attributes", {0}}, {"storage_transformers", {0}},
      {"dimension_names", {0}}};
  GATHER_TRY(gather_zarr_members(&r->json, object, true, of, COUNT));
  GATHER_TRY(read_member(r, &of[SHAPE], read_shape));
  GATHER_TRY(read_member(r, &of[TYPE], read_data_type));
  GATHER_TRY(count_bytes(r));
  if (of[TRANSFORMERS].part.end > 0) GATHER_TRY(read_member(r, &of[TRANSFORMERS], read_transformers));
  GATHER_TRY(read_member(r, &of[GRID], read_grid));
  GATHER_TRY(read_member(r, &of[KEYS], read_keys));
  GATHER_TRY(read_member(r, &of[CODECS], gather_zarr_codecs));
  GATHER_TRY(turn_descr(r));
  if (r->tensor->bytes == 0) return GATHER_OK;
  if (of[FILL].part.end == 0) return GATHER_ZARR_WRONG(r, "the array has no 'fill_value'");
  r->at = of[FILL].part;
  return gather_zarr_fill(r);
}

/* What is known of each file on another machine is kept, the beginning that opening it brought too. */
static gather_status check_files(gather_zarr_reading *r) {
  enum { MOST_REMOTE = 1 << 16 };
  if (!r->array->is_remote || r->array->chunks.files_most <= MOST_REMOTE) return GATHER_OK;
  return GATHER_ZARR_REFUSE(r, "chunks in %" PRId64 " files on another machine; at most %d are supported", r->array->chunks.files_most,
                            MOST_REMOTE);
}

gather_status gather_zarr_describe(gather_zarr_reading *r, int version, gather_json_part object) {
  r->at = object;
  r->array->chunks.file = r->json.file;
  r->array->chunks.map = &r->json.file->map;
  GATHER_TRY(version == 2 ? describe_2(r, object) : describe_3(r, object));
  r->array->key_rank = r->tensor->tensor.rank;
  r->array->chunks.files_most = r->array->chunks.count;
  if (r->array->zip) r->array->chunks.files_most = 0;
  if (!r->array->is_sharded || r->array->zip) return check_files(r);
  r->array->chunks.files_most = 1;
  for (int32_t d = 0; d < r->array->chunks.rank; d++) r->array->chunks.files_most *= r->array->shards[d];
  return check_files(r);
}

#endif
