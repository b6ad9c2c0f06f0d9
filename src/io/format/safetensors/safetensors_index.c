/* SPDX-License-Identifier: MIT
 *
 * safetensors_index.c: models in several safetensors files. The index is JSON; its "weight_map" maps each tensor to a
 * file beside the index, whose header describes the tensor. Each file is mapped and read once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/safetensors/safetensors.h"

#ifdef GATHER_HAVE_JANSSON

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
  return (gather_file_tensor){
      .name = name, .type_name = "unknown", .tensor = {.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW}};
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
  if (file->map.size > GATHER_SAFETENSORS_JSON_MAX)
    return GATHER_JSON_WRONG(json, GATHER_SAFETENSORS_JSON_MAX, "an index of more than %d bytes",
                             GATHER_SAFETENSORS_JSON_MAX);
  GATHER_TRY(gather_map_need(&file->map, 0, file->map.size, json->error));
  GATHER_TRY(gather_json_check(json, (gather_json_part){0, file->map.size}));
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
  gather_safetensors st;
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
                           "the tensor '%.100s' is not in '%.200s', where the index says it is", tensor->name,
                           reader->entries[i].shard);
  return gather_file_unreadable(json->file, &why, tensor, json->error);
}

static gather_status read_shard(const index_reader *reader, const char *location, shard *from) {
  const gather_json *json = &reader->json;
  char *path = gather_file_beside(json->file, location);
  if (!path) return GATHER_JSON_NO_MEMORY(json);
  from->st = (gather_safetensors){.json = {.file = json->file, .name = path, .error = &from->why}};
  from->status = gather_map_need(from->map, 0, GATHER_FORMAT_HEAD, &from->why);
  if (from->status != GATHER_OK) return GATHER_OK;
  if (!gather_safetensors_is_file(from->map))
    from->status = gather_fail_file(&from->why, GATHER_UNSUPPORTED, path, 0,
                                    "it is not a safetensors file, but the index names it");
  else
    from->status = gather_safetensors_read(&from->st, from->map);
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
      GATHER_TRY(gather_file_sibling(json->file, at->shard, at->shard_at, tensors[i].name, &tensors[i], &from.map,
                                     json->error));
      if (!from.map) continue; /* the tensor was marked as unreadable */
      GATHER_TRY(read_shard(reader, at->shard, &from));
    }
    const gather_file_span *found =
        from.status == GATHER_OK ? gather_file_spans_find(from.st.sorted, from.st.len, tensors[i].name) : NULL;
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
  if (gather_map_need(map, 0, GATHER_FORMAT_HEAD, NULL) != GATHER_OK || !gather_safetensors_is_file(map)) return;
  for (int i = 3; i >= 0; i--) length = length << 8 | map->bytes[i];
  if (length <= GATHER_SAFETENSORS_JSON_MAX) gather_map_expect(map, 8, length);
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

gather_status gather_safetensors_index_open(gather_file *file, gather_error *error) {
  index_reader reader = {.json = {.file = file, .name = file->name, .bytes = file->map.bytes, .error = error}};
  int64_t *firsts = NULL, count = 0;
  file->format = "safetensors"; /* the format of its tensors */
  GATHER_TRY(read_index(&reader));
  GATHER_TRY(chain(&reader, &firsts, &count));
  GATHER_TRY(map_shards(&reader, firsts, count));
  for (int64_t i = 0; i < count; i++) GATHER_TRY(fill_shard(&reader, firsts[i]));
  return GATHER_OK;
}

#endif
