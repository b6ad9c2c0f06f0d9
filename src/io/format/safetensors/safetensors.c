/* SPDX-License-Identifier: MIT
 *
 * safetensors.c: reads safetensors files: a length of eight bytes, a header in JSON, and the tensors' elements, little-endian and row-
 * major; and indices of models in several files.
 * Source: the format's description and its reference implementation, safetensors 0.8.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/compiler.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "io/format/safetensors/safetensors_json.h"
#include "io/format/span.h"

/* ---- recognising files and shard indices by their bytes, also without Jansson, so that the message can say what is missing */

enum { HEADER_AT = 8 };

/* The header length in eight bytes, of which a valid one uses four, and the header's first byte. */
static bool is_file(const gather_map *map) {
  const uint8_t *bytes = map->bytes;
  return map->size > HEADER_AT && bytes[HEADER_AT] == '{' && memcmp(bytes + 4, "\0\0\0\0", 4) == 0;
}

/* Whether a byte of a remote file can be read. */
static bool has(const gather_map *map, int64_t at) { return gather_map_need(map, at, 1, NULL) == GATHER_OK; }

/* JSON with the key "weight_map", anywhere in the object: searches up to the size limit of an index. A longer remote file is none:
 * nobody wants to download that much of it to find out. */
static bool is_index(const gather_map *map) {
  static const char KEY[] = "\"weight_map\"";
  const int64_t most = 100 * 1000 * 1000, key_bytes = (int64_t)sizeof KEY - 1;
  const uint8_t *bytes = map->bytes;
  int64_t at = 0, size = map->size;
  while (at < size && has(map, at) && gather_json_is_blank(bytes[at])) at++;
  if (at == size || !has(map, at) || bytes[at] != '{') return false;
  if (size > most && map->remote) return false;
  if (size > most) size = most;
  if (gather_map_need(map, 0, size, NULL) != GATHER_OK) return false;
  for (const uint8_t *quote; at < size; at = quote - bytes + 1) {
    quote = memchr(bytes + at, '"', (size_t)(size - at));
    if (!quote || size - (quote - bytes) < key_bytes) return false;
    if (memcmp(quote, KEY, (size_t)key_bytes) == 0) return true;
  }
  return false;
}

#ifdef GATHER_HAVE_JANSSON

/* The limit of the reference implementation; also used for an index. */
enum { JSON_MAX = 100 * 1000 * 1000 };

/* ---- a file */

typedef struct safetensors_file {
  gather_json json;
  const gather_map *map;
  int64_t size;    /* of the file */
  int64_t data_at; /* the first byte after the header */
  gather_file_tensor *tensors;
  gather_file_span *spans;         /* one for each tensor */
  const gather_file_span **sorted; /* sorted by name, once all are read */
  int64_t len;
} safetensors_file;

enum { LENGTH_BYTES = 8 };

static gather_status read_length(safetensors_file *st, const gather_map *map) {
  const gather_json *json = &st->json;
  int64_t length = 0;
  st->map = map;
  st->size = map->size;
  GATHER_TRY(gather_map_need(map, 0, LENGTH_BYTES + 1, json->error));
  if (map->size < LENGTH_BYTES) return GATHER_JSON_WRONG(json, map->size, "the file is truncated: it has no complete header");
  for (int i = 3; i >= 0; i--) length = length << 8 | map->bytes[i];
  if (memcmp(map->bytes + 4, "\0\0\0\0", 4) != 0 || length > JSON_MAX)
    return GATHER_JSON_WRONG(json, 0, "the header is longer than %d bytes, which the format does not allow", JSON_MAX);
  st->data_at = LENGTH_BYTES + length;
  if (st->data_at > map->size)
    return GATHER_JSON_WRONG(json, map->size, "the file is truncated: the header needs %" PRId64 " bytes, the file has %" PRId64,
                             st->data_at, map->size);
  if (length == 0 || map->bytes[LENGTH_BYTES] != '{') return GATHER_JSON_WRONG(json, LENGTH_BYTES, "the header does not begin with '{'");
  return gather_map_need(map, LENGTH_BYTES, length, json->error);
}

/* ---- the entry of a tensor */

#define WRONG(st, tensor, span, sentence) GATHER_JSON_WRONG(&(st)->json, (span)->said_at, "the tensor '%.100s' " sentence, (tensor)->name)

static const gather_type_info *find_type(const char *name) {
  for (int32_t i = 1;; i++) {
    const gather_type_info *info = gather_type_get((gather_type)i);
    if (!info || (info->safetensors && strcmp(info->safetensors, name) == 0)) return info;
  }
}

static gather_status read_type(const safetensors_file *st, const json_t *tree, gather_file_tensor *tensor, const gather_file_span *span) {
  const char *name = json_string_value(json_object_get(tree, "dtype"));
  if (!name || name[0] == '\0') return WRONG(st, tensor, span, "has no dtype");
  const gather_type_info *info = find_type(name);
  tensor->tensor.flags = GATHER_FILE_VIEW;
  tensor->tensor.type = info ? info->type : GATHER_TYPE_OPAQUE;
  tensor->type_name = info ? info->name : gather_arena_text(&st->json.file->arena, name, strlen(name));
  if (GATHER_BIG_ENDIAN && info && info->bits > 8) tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return tensor->type_name ? GATHER_OK : GATHER_JSON_NO_MEMORY(&st->json);
}

static gather_status read_shape(const safetensors_file *st, const json_t *tree, gather_file_tensor *tensor, const gather_file_span *span) {
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

static gather_status read_place(const safetensors_file *st, const json_t *tree, const gather_file_tensor *tensor, gather_file_span *span) {
  const json_t *pair = json_object_get(tree, "data_offsets");
  const json_t *begin = json_array_get(pair, 0), *end = json_array_get(pair, 1);
  if (json_array_size(pair) != 2 || !json_is_integer(begin) || !json_is_integer(end))
    return WRONG(st, tensor, span, "has no pair of data_offsets");
  span->begin = (int64_t)json_integer_value(begin);
  span->end = (int64_t)json_integer_value(end);
  if (span->begin < 0 || span->end < span->begin) return WRONG(st, tensor, span, "has data_offsets that are not a range");
  if (span->end <= st->size - st->data_at) return GATHER_OK;
  return GATHER_JSON_WRONG(&st->json, st->size,
                           "the file is truncated: the tensor '%.100s' needs bytes %" PRId64 " to %" PRId64
                           " after the header; only %" PRId64 " bytes follow it",
                           tensor->name, span->begin, span->end, st->size - st->data_at);
}

/* NumPy's descr for opaque bytes. */
static gather_status set_descr(const safetensors_file *st, gather_file_tensor *tensor) {
  char text[32];
  (void)snprintf(text, sizeof text, "'|V%" PRId64 "'", tensor->tensor.item_bytes);
  tensor->descr = gather_arena_text(&st->json.file->arena, text, strlen(text));
  return tensor->descr ? GATHER_OK : GATHER_JSON_NO_MEMORY(&st->json);
}

/* A dtype without a name here: its elements are opaque if they are whole bytes. */
static gather_status size_unknown(const safetensors_file *st, int64_t len, gather_file_tensor *tensor, const gather_file_span *span) {
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

static gather_status check_size(const safetensors_file *st, gather_file_tensor *tensor, const gather_file_span *span) {
  int64_t len;
  if (!gather_shape_len(tensor->tensor.rank, tensor->tensor.shape, &len))
    return WRONG(st, tensor, span, "has a size that does not fit in 64 bits");
  if (tensor->tensor.type == GATHER_TYPE_OPAQUE) return size_unknown(st, len, tensor, span);
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK) return WRONG(st, tensor, span, "has a size that does not fit in 64 bits");
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  if (tensor->bytes == span->end - span->begin) return GATHER_OK;
  return GATHER_JSON_WRONG(&st->json, span->said_at, "the tensor '%.100s' needs %" PRId64 " bytes, its data_offsets give it %" PRId64,
                           tensor->name, tensor->bytes, span->end - span->begin);
}

static gather_status read_tree(const safetensors_file *st, const json_t *tree, gather_file_tensor *tensor, gather_file_span *span) {
  GATHER_TRY(read_type(st, tree, tensor, span));
  GATHER_TRY(read_shape(st, tree, tensor, span));
  GATHER_TRY(read_place(st, tree, tensor, span));
  GATHER_TRY(check_size(st, tensor, span));
  tensor->offset = st->data_at + span->begin;
  return gather_file_point(st->json.file, st->map, tensor->offset, tensor, st->json.error);
}

/* Reads the header entry of the tensor `tensor->name`. */
static gather_status read_entry(const safetensors_file *st, gather_json_part value, gather_file_tensor *tensor, gather_file_span *span) {
  json_t *tree = NULL;
  if (st->json.bytes[value.at] != '{')
    return GATHER_JSON_WRONG(&st->json, value.at, "the entry of the tensor '%.100s' is not an object", tensor->name);
  GATHER_TRY(gather_json_load(&st->json, value, &tree));
  gather_status status = read_tree(st, tree, tensor, span);
  json_decref(tree);
  return status;
}

/* ---- the header */

/* "__metadata__" does not concern the tensors: it is ignored. */
static gather_status read_members(safetensors_file *st, gather_json_part header) {
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
    GATHER_TRY(read_entry(st, walk.value, tensor, span));
  }
}

/* Like the reference implementation, this refuses gaps and bytes that belong to no tensor: they reveal a wrong
 * number or hidden content. */
static gather_status check_places(const safetensors_file *st) {
  int64_t at = 0;
  for (int64_t i = 0; i < st->len; i++) {
    const gather_file_span *span = st->sorted[i];
    if (span->begin != at)
      return GATHER_JSON_WRONG(&st->json, span->said_at,
                               "the tensor '%.100s' begins at byte %" PRId64 " after the header, %s byte %" PRId64, span->tensor->name,
                               span->begin, span->begin < at ? "inside another, which ends at" : "which leaves a gap from", at);
    at = span->end;
  }
  if (at == st->size - st->data_at) return GATHER_OK;
  return GATHER_JSON_WRONG(&st->json, st->data_at + at, "%" PRId64 " bytes after the last tensor belong to no tensor",
                           st->size - st->data_at - at);
}

/* Reads the header of a mapped file into the arena of st->json.file. st->json is set; this sets the rest. */
static gather_status read_file(safetensors_file *st, const gather_map *map) {
  const gather_json *json = &st->json;
  gather_arena *arena = &json->file->arena;
  int64_t most = 0;
  GATHER_TRY(read_length(st, map));
  st->json.bytes = map->bytes;
  gather_json_part header = {LENGTH_BYTES, st->data_at};
  GATHER_TRY(gather_json_utf8(json, header));
  GATHER_TRY(gather_json_count(json, header, &most));
  st->tensors = gather_arena_take(arena, most, (int64_t)sizeof *st->tensors);
  if (!st->tensors || !gather_file_spans_take(json->file, most, &st->spans, &st->sorted)) return GATHER_JSON_NO_MEMORY(json);
  GATHER_TRY(read_members(st, header));
  gather_file_spans_by_place(st->sorted, st->len);
  GATHER_TRY(check_places(st));
  gather_file_spans_by_name(st->sorted, st->len);
  return gather_file_spans_differ(st->sorted, st->len, json->name, json->error);
}

static gather_status open_file(gather_file *file, gather_error *error) {
  safetensors_file st = {.json = {.file = file, .name = file->name, .error = error}};
  GATHER_TRY(read_file(&st, &file->map));
  file->tensors = st.tensors;
  file->len = st.len;
  return GATHER_OK;
}

/* ---- models in several files. The index is JSON; its "weight_map" maps each tensor to a file beside the index, whose header describes the
 * tensor. Each file is mapped and read once. */

/* A tensor of the index, and the file that contains it. */
typedef struct entry {
  const char *shard;
  int64_t shard_at; /* its position in the index */
  int64_t next;     /* the next tensor of the same file; -1 */
} entry;

typedef struct index_reader {
  gather_json json;
  entry *entries; /* one for each of the file's tensors */
  gather_file_span *spans;
  const gather_file_span **sorted;
} index_reader;

/* ---- the index itself */

/* A tensor of which only the name is known yet. */
static gather_file_tensor unknown_tensor(const char *name) {
  return (gather_file_tensor){.name = name, .type_name = "unknown", .tensor = {.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW}};
}

static gather_status read_map(index_reader *reader, gather_json_part map) {
  const gather_json *json = &reader->json;
  gather_file *file = json->file;
  gather_json_walk walk = {.rest = map};
  for (;;) {
    const char *name = NULL;
    GATHER_TRY(gather_json_next(json, &walk));
    if (walk.ended) return gather_json_end(json, &walk);
    GATHER_TRY(gather_json_text(json, walk.key, "a tensor name", &name));
    file->tensors[file->len] = unknown_tensor(name);
    reader->spans[file->len] = (gather_file_span){.tensor = &file->tensors[file->len], .said_at = walk.key.at};
    entry *made = &reader->entries[file->len++];
    made->shard_at = walk.value.at;
    GATHER_TRY(gather_json_text(json, walk.value, "the name of a tensor's file", &made->shard));
  }
}

/* The weight_map of the index; given twice, it is an error. */
static gather_status find_map(index_reader *reader, gather_json_part *map) {
  const gather_json *json = &reader->json;
  gather_json_walk walk = {.rest = {0, json->file->map.size}};
  bool found = false;
  for (;;) {
    const char *key = NULL;
    GATHER_TRY(gather_json_next(json, &walk));
    if (walk.ended) break;
    GATHER_TRY(gather_json_text(json, walk.key, "a key", &key));
    if (strcmp(key, "weight_map") != 0) continue;
    if (found) return GATHER_JSON_WRONG(json, walk.key.at, "the key 'weight_map' is given twice");
    found = true;
    *map = walk.value;
  }
  GATHER_TRY(gather_json_end(json, &walk));
  return found ? GATHER_OK : GATHER_JSON_WRONG(json, json->file->map.size, "the index has no 'weight_map'");
}

static gather_status read_index(index_reader *reader) {
  const gather_json *json = &reader->json;
  gather_file *file = json->file;
  gather_json_part map = {0, 0};
  int64_t most = 0;
  if (file->map.size > JSON_MAX) return GATHER_JSON_WRONG(json, JSON_MAX, "an index of more than %d bytes", JSON_MAX);
  GATHER_TRY(gather_map_need(&file->map, 0, file->map.size, json->error));
  GATHER_TRY(gather_json_utf8(json, (gather_json_part){0, file->map.size}));
  GATHER_TRY(find_map(reader, &map));
  GATHER_TRY(gather_json_count(json, map, &most));
  file->tensors = gather_arena_take(&file->arena, most, (int64_t)sizeof *file->tensors);
  reader->entries = gather_arena_take(&file->arena, most, (int64_t)sizeof *reader->entries);
  if (!file->tensors || !reader->entries || !gather_file_spans_take(file, most, &reader->spans, &reader->sorted))
    return GATHER_JSON_NO_MEMORY(json);
  GATHER_TRY(read_map(reader, map));
  gather_file_spans_by_name(reader->sorted, file->len);
  return gather_file_spans_differ(reader->sorted, file->len, json->name, json->error);
}

/* ---- its files */

/* The header of one file beside the index. */
typedef struct shard {
  safetensors_file st;
  const gather_map *map;
  gather_status status; /* of reading its header */
  gather_error why;
} shard;

/* Marks a tensor that the file does not have as unreadable. The reason names the file with the wrong bytes. */
static gather_status give_up(const index_reader *reader, const shard *from, int64_t i) {
  const gather_json *json = &reader->json;
  gather_file_tensor *tensor = &json->file->tensors[i];
  gather_error why = from->why;
  if (from->status == GATHER_OK)
    (void)gather_fail_file(&why, GATHER_FILE_MALFORMED, json->name, reader->entries[i].shard_at,
                           "the tensor '%.100s' is not in '%.200s', where the index says it is", tensor->name, reader->entries[i].shard);
  return gather_file_unreadable(json->file, &why, tensor, json->error);
}

static gather_status read_shard(const index_reader *reader, const char *location, shard *from) {
  const gather_json *json = &reader->json;
  char *path = gather_file_beside(json->file, location);
  if (!path) return GATHER_JSON_NO_MEMORY(json);
  from->st = (safetensors_file){.json = {.file = json->file, .name = path, .error = &from->why}};
  from->status = gather_map_need(from->map, 0, GATHER_FORMAT_HEAD, &from->why);
  if (from->status != GATHER_OK) return GATHER_OK;
  if (!is_file(from->map))
    from->status = gather_fail_file(&from->why, GATHER_UNSUPPORTED, path, 0, "it is not a safetensors file, but the index names it");
  else
    from->status = read_file(&from->st, from->map);
  if (from->status != GATHER_OUT_OF_MEMORY) return GATHER_OK;
  if (json->error) *json->error = from->why;
  return GATHER_OUT_OF_MEMORY;
}

/* Reads all tensors of one file, from the one at `first` on. */
static gather_status fill_shard(const index_reader *reader, int64_t first) {
  const gather_json *json = &reader->json;
  gather_file_tensor *tensors = json->file->tensors;
  shard from = {.map = NULL};
  for (int64_t i = first; i >= 0; i = reader->entries[i].next) {
    const entry *at = &reader->entries[i];
    if (!from.map) {
      GATHER_TRY(gather_file_sibling(json->file, at->shard, at->shard_at, tensors[i].name, &tensors[i], &from.map, json->error));
      if (!from.map) continue; /* the tensor was marked as unreadable */
      GATHER_TRY(read_shard(reader, at->shard, &from));
    }
    const gather_file_span *found = from.status == GATHER_OK ? gather_file_spans_find(from.st.sorted, from.st.len, tensors[i].name) : NULL;
    if (found)
      tensors[i] = *found->tensor;
    else
      GATHER_TRY(give_up(reader, &from, i));
  }
  return GATHER_OK;
}

/* Chains the tensors of each file: reuses the spans with the files' names, sorted by them. */
static gather_status chain(index_reader *reader, int64_t **firsts, int64_t *count) {
  const gather_json *json = &reader->json;
  int64_t len = json->file->len;
  gather_file_tensor *names = gather_arena_take(&json->file->arena, len, (int64_t)sizeof *names);
  *firsts = gather_arena_take(&json->file->arena, len, (int64_t)sizeof **firsts);
  if (!names || !*firsts) return GATHER_JSON_NO_MEMORY(json);
  for (int64_t i = 0; i < len; i++) {
    names[i].name = reader->entries[i].shard;
    reader->spans[i].tensor = &names[i];
  }
  gather_file_spans_by_name(reader->sorted, len);
  for (int64_t i = 0; i < len; i++) {
    const gather_file_tensor *this = reader->sorted[i]->tensor;
    const gather_file_tensor *next = i + 1 < len ? reader->sorted[i + 1]->tensor : NULL;
    if (i == 0 || strcmp(reader->sorted[i - 1]->tensor->name, this->name) != 0) (*firsts)[(*count)++] = this - names;
    reader->entries[this - names].next = next && strcmp(this->name, next->name) == 0 ? next - names : -1;
  }
  return GATHER_OK;
}

/* Loads the header of a remote shard; what is wrong with it is said later. */
static void load_header(const gather_map *map) {
  int64_t length = 0;
  if (gather_map_need(map, 0, GATHER_FORMAT_HEAD, NULL) != GATHER_OK || !is_file(map)) return;
  for (int i = 3; i >= 0; i--) length = length << 8 | map->bytes[i];
  if (length <= JSON_MAX) gather_map_expect(map, 8, length);
}

/* The shards of a remote index, many at once. */
static gather_status map_shards(const index_reader *reader, const int64_t *firsts, int64_t count) {
  gather_file *file = reader->json.file;
  if (!file->client) return GATHER_OK;
  const char **locations = gather_alloc(count * (int64_t)sizeof *locations);
  if (!locations) return GATHER_JSON_NO_MEMORY(&reader->json);
  for (int64_t i = 0; i < count; i++) locations[i] = reader->entries[firsts[i]].shard;
  gather_status status = gather_siblings_map_urls(file, locations, count, load_header, reader->json.error);
  gather_free(locations);
  return status;
}

static gather_status open_index(gather_file *file, gather_error *error) {
  index_reader reader = {.json = {.file = file, .name = file->name, .bytes = file->map.bytes, .error = error}};
  int64_t *firsts = NULL, count = 0;
  file->format = "safetensors"; /* the format of its tensors */
  GATHER_TRY(read_index(&reader));
  GATHER_TRY(chain(&reader, &firsts, &count));
  GATHER_TRY(map_shards(&reader, firsts, count));
  for (int64_t i = 0; i < count; i++) GATHER_TRY(fill_shard(&reader, firsts[i]));
  return GATHER_OK;
}

const gather_format_reader gather_safetensors_reader = {is_file, open_file};
const gather_format_reader gather_safetensors_index_reader = {is_index, open_index};

#else

const gather_format_reader gather_safetensors_reader = {is_file, NULL};
const gather_format_reader gather_safetensors_index_reader = {is_index, NULL};

#endif
