/* SPDX-License-Identifier: MIT
 *
 * safetensors.c: reads safetensors files: a length of eight bytes, a header in JSON, and the tensors' elements,
 * little-endian and row-major. Source: the format's description and its reference implementation, safetensors 0.8.
 */
#include "io/format/safetensors/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/tensor.h"

#ifdef GATHER_HAVE_JANSSON

enum { LENGTH_BYTES = 8 };

static gather_status read_length(gather_safetensors *st, const gather_map *map) {
  const gather_json *json = &st->json;
  int64_t length = 0;
  st->map = map;
  st->size = map->size;
  GATHER_TRY(gather_map_need(map, 0, LENGTH_BYTES + 1, json->error));
  if (map->size < LENGTH_BYTES)
    return GATHER_JSON_WRONG(json, map->size, "the file is truncated: it has no complete header");
  for (int i = 3; i >= 0; i--) length = length << 8 | map->bytes[i];
  if (memcmp(map->bytes + 4, "\0\0\0\0", 4) != 0 || length > GATHER_SAFETENSORS_JSON_MAX)
    return GATHER_JSON_WRONG(json, 0, "the header is longer than %d bytes, which the format does not allow",
                             GATHER_SAFETENSORS_JSON_MAX);
  st->data_at = LENGTH_BYTES + length;
  if (st->data_at > map->size)
    return GATHER_JSON_WRONG(json, map->size,
                             "the file is truncated: the header needs %" PRId64 " bytes, the file has %" PRId64,
                             st->data_at, map->size);
  if (length == 0 || map->bytes[LENGTH_BYTES] != '{')
    return GATHER_JSON_WRONG(json, LENGTH_BYTES, "the header does not begin with '{'");
  return gather_map_need(map, LENGTH_BYTES, length, json->error);
}

/* ---- the entry of a tensor */

#define WRONG(st, tensor, span, sentence) \
  GATHER_JSON_WRONG(&(st)->json, (span)->said_at, "the tensor '%.100s' " sentence, (tensor)->name)

static const gather_type_info *find_type(const char *name) {
  for (int32_t i = 1;; i++) {
    const gather_type_info *info = gather_type_get((gather_type)i);
    if (!info || (info->safetensors && strcmp(info->safetensors, name) == 0)) return info;
  }
}

static gather_status read_type(const gather_safetensors *st, const json_t *tree, gather_file_tensor *tensor,
                               const gather_file_span *span) {
  const char *name = json_string_value(json_object_get(tree, "dtype"));
  if (!name || name[0] == '\0') return WRONG(st, tensor, span, "has no dtype");
  const gather_type_info *info = find_type(name);
  tensor->tensor.flags = GATHER_FILE_VIEW;
  tensor->tensor.type = info ? info->type : GATHER_TYPE_OPAQUE;
  tensor->type_name = info ? info->name : gather_arena_text(&st->json.file->arena, name, strlen(name));
  if (GATHER_BIG_ENDIAN && info && info->bits > 8) tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return tensor->type_name ? GATHER_OK : GATHER_JSON_NO_MEMORY(&st->json);
}

static gather_status read_shape(const gather_safetensors *st, const json_t *tree, gather_file_tensor *tensor,
                                const gather_file_span *span) {
  const json_t *list = json_object_get(tree, "shape");
  if (!json_is_array(list)) return WRONG(st, tensor, span, "has no shape");
  size_t rank = json_array_size(list);
  if (rank > GATHER_MAX_RANK)
    return gather_fail_file(st->json.error, GATHER_UNSUPPORTED, st->json.name, span->said_at,
                            "the tensor '%.100s' has more than %d dimensions", tensor->name, GATHER_MAX_RANK);
  int64_t *shape = gather_arena_take(&st->json.file->arena, (int64_t)rank, (int64_t)sizeof *shape);
  if (!shape) return GATHER_JSON_NO_MEMORY(&st->json);
  for (size_t d = 0; d < rank; d++) {
    const json_t *length = json_array_get(list, d);
    if (!json_is_integer(length) || json_integer_value(length) < 0)
      return WRONG(st, tensor, span, "has a shape with a length that is not a non-negative integer");
    shape[d] = (int64_t)json_integer_value(length);
  }
  tensor->tensor.rank = (int32_t)rank;
  tensor->tensor.shape = shape;
  return GATHER_OK;
}

static gather_status read_place(const gather_safetensors *st, const json_t *tree, const gather_file_tensor *tensor,
                                gather_file_span *span) {
  const json_t *pair = json_object_get(tree, "data_offsets");
  const json_t *begin = json_array_get(pair, 0), *end = json_array_get(pair, 1);
  if (json_array_size(pair) != 2 || !json_is_integer(begin) || !json_is_integer(end))
    return WRONG(st, tensor, span, "has no pair of data_offsets");
  span->begin = (int64_t)json_integer_value(begin);
  span->end = (int64_t)json_integer_value(end);
  if (span->begin < 0 || span->end < span->begin)
    return WRONG(st, tensor, span, "has data_offsets that are not a range");
  if (span->end <= st->size - st->data_at) return GATHER_OK;
  return GATHER_JSON_WRONG(&st->json, st->size,
                           "the file is truncated: the tensor '%.100s' needs bytes %" PRId64 " to %" PRId64
                           " after the header; only %" PRId64 " bytes follow it",
                           tensor->name, span->begin, span->end, st->size - st->data_at);
}

/* NumPy's descr for opaque bytes. */
static gather_status set_descr(const gather_safetensors *st, gather_file_tensor *tensor) {
  char text[32];
  (void)snprintf(text, sizeof text, "'|V%" PRId64 "'", tensor->tensor.item_bytes);
  tensor->descr = gather_arena_text(&st->json.file->arena, text, strlen(text));
  return tensor->descr ? GATHER_OK : GATHER_JSON_NO_MEMORY(&st->json);
}

/* A dtype without a name here: its elements are opaque if they are whole bytes. */
static gather_status size_unknown(const gather_safetensors *st, int64_t len, gather_file_tensor *tensor,
                                  const gather_file_span *span) {
  gather_error why;
  int64_t bytes = span->end - span->begin;
  tensor->tensor.item_bytes = len > 0 ? bytes / len : 1;
  if (tensor->tensor.item_bytes * len == bytes && (bytes > 0 || len == 0)) {
    tensor->bytes = bytes;
    return set_descr(st, tensor);
  }
  tensor->tensor.item_bytes = 0;
  (void)gather_fail_file(&why, GATHER_UNSUPPORTED, st->json.name, span->said_at,
                         "the tensor '%.100s' has the unknown dtype '%.40s', and its %" PRId64
                         " elements do not take whole bytes of the %" PRId64,
                         tensor->name, tensor->type_name, len, bytes);
  return gather_file_unreadable(st->json.file, &why, tensor, st->json.error);
}

static gather_status check_size(const gather_safetensors *st, gather_file_tensor *tensor,
                                const gather_file_span *span) {
  int64_t len;
  if (!gather_shape_len(tensor->tensor.rank, tensor->tensor.shape, &len))
    return WRONG(st, tensor, span, "has a size that does not fit in 64 bits");
  if (tensor->tensor.type == GATHER_TYPE_OPAQUE) return size_unknown(st, len, tensor, span);
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return WRONG(st, tensor, span, "has a size that does not fit in 64 bits");
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  if (tensor->bytes == span->end - span->begin) return GATHER_OK;
  return GATHER_JSON_WRONG(&st->json, span->said_at,
                           "the tensor '%.100s' needs %" PRId64 " bytes, its data_offsets give it %" PRId64,
                           tensor->name, tensor->bytes, span->end - span->begin);
}

static gather_status read_tree(const gather_safetensors *st, const json_t *tree, gather_file_tensor *tensor,
                               gather_file_span *span) {
  GATHER_TRY(read_type(st, tree, tensor, span));
  GATHER_TRY(read_shape(st, tree, tensor, span));
  GATHER_TRY(read_place(st, tree, tensor, span));
  GATHER_TRY(check_size(st, tensor, span));
  tensor->offset = st->data_at + span->begin;
  return gather_file_point(st->json.file, st->map, tensor->offset, tensor, st->json.error);
}

gather_status gather_safetensors_tensor(const gather_safetensors *st, gather_json_part value,
                                        gather_file_tensor *tensor, gather_file_span *span) {
  json_t *tree = NULL;
  if (!gather_json_is(&st->json, value, '{'))
    return GATHER_JSON_WRONG(&st->json, value.at, "the entry of the tensor '%.100s' is not an object", tensor->name);
  GATHER_TRY(gather_json_load(&st->json, value, &tree));
  gather_status status = read_tree(st, tree, tensor, span);
  json_decref(tree);
  return status;
}

/* ---- the header */

/* "__metadata__" does not concern the tensors: it is ignored. */
static gather_status read_members(gather_safetensors *st, gather_json_part header) {
  const gather_json *json = &st->json;
  gather_json_walk walk = {.rest = header};
  for (;;) {
    const char *name = NULL;
    GATHER_TRY(gather_json_next(json, &walk));
    if (walk.ended) return gather_json_end(json, &walk);
    GATHER_TRY(gather_json_text(json, walk.key, "a tensor name", &name));
    if (strcmp(name, "__metadata__") == 0) continue;
    gather_file_tensor *tensor = &st->tensors[st->len];
    gather_file_span *span = &st->spans[st->len++];
    tensor->name = name;
    *span = (gather_file_span){.tensor = tensor, .said_at = walk.key.at};
    GATHER_TRY(gather_safetensors_tensor(st, walk.value, tensor, span));
  }
}

/* Like the reference implementation, this refuses gaps and bytes that belong to no tensor: they reveal a wrong
 * number or hidden content. */
static gather_status check_places(const gather_safetensors *st) {
  int64_t at = 0;
  for (int64_t i = 0; i < st->len; i++) {
    const gather_file_span *span = st->sorted[i];
    if (span->begin != at)
      return GATHER_JSON_WRONG(&st->json, span->said_at,
                               "the tensor '%.100s' begins at byte %" PRId64 " after the header, %s byte %" PRId64,
                               span->tensor->name, span->begin,
                               span->begin < at ? "inside another, which ends at" : "which leaves a gap from", at);
    at = span->end;
  }
  if (at == st->size - st->data_at) return GATHER_OK;
  return GATHER_JSON_WRONG(&st->json, st->data_at + at, "%" PRId64 " bytes after the last tensor belong to no tensor",
                           st->size - st->data_at - at);
}

gather_status gather_safetensors_read(gather_safetensors *st, const gather_map *map) {
  const gather_json *json = &st->json;
  gather_arena *arena = &json->file->arena;
  int64_t most = 0;
  GATHER_TRY(read_length(st, map));
  st->json.bytes = map->bytes;
  gather_json_part header = {LENGTH_BYTES, st->data_at};
  GATHER_TRY(gather_json_check(json, header));
  GATHER_TRY(gather_json_count(json, header, &most));
  st->tensors = gather_arena_take(arena, most, (int64_t)sizeof *st->tensors);
  if (!st->tensors || !gather_file_spans_take(json->file, most, &st->spans, &st->sorted))
    return GATHER_JSON_NO_MEMORY(json);
  GATHER_TRY(read_members(st, header));
  gather_file_spans_by_place(st->sorted, st->len);
  GATHER_TRY(check_places(st));
  gather_file_spans_by_name(st->sorted, st->len);
  return gather_file_spans_differ(st->sorted, st->len, json->name, json->error);
}

gather_status gather_safetensors_open(gather_file *file, gather_error *error) {
  gather_safetensors st = {.json = {.file = file, .name = file->name, .error = error}};
  GATHER_TRY(gather_safetensors_read(&st, &file->map));
  file->tensors = st.tensors;
  file->len = st.len;
  return GATHER_OK;
}

#endif
