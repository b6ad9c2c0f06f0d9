/* SPDX-License-Identifier: MIT
 *
 * zarr_find.c: where the chunks of an array are. A chunk is a file, whose name is made of numbers, or a part of a shard, whose index says
 * where. What was looked up is kept: how long a file is, that there is none, and indices of shards.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "io/format/zarr/zarr.h"

#ifdef GATHER_HAVE_JANSSON

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "io/remote/parallel.h"

struct gather_zarr_store {
  pthread_mutex_t lock; /* of what is below, and what arrays keep */
  gather_arena arena;   /* that of the file belongs to whoever opens it */
  gather_zarr_array *arrays;
};

static void release(void *held) {
  gather_zarr_store *store = held;
  for (gather_zarr_array *array = store->arrays; array; array = array->next) {
    for (int64_t i = 0; i < array->kept_slots; i++)
      if (array->kept[i] && array->kept[i]->file.object) gather_remote_object_close(array->kept[i]->file.object);
    gather_free((void *)array->kept);
  }
  gather_arena_clear(&store->arena);
  (void)pthread_mutex_destroy(&store->lock);
  gather_free(store);
}

gather_status gather_zarr_store_create(gather_file *file, gather_zarr_store **store, gather_error *error) {
  *store = gather_alloc((int64_t)sizeof **store);
  if (!*store || pthread_mutex_init(&(*store)->lock, NULL) != 0) {
    gather_free(*store);
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory while opening it");
  }
  file->held = *store;
  file->release = release;
  return GATHER_OK;
}

static gather_status no_memory(const gather_zarr_array *array, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, array->chunks.file->name, -1, "out of memory for the places of its chunks");
}

/* ---- names */

enum { KEY_BYTES = 2 + 21 * GATHER_MAX_RANK };

/* "c/0/12": of a chunk, or a shard, with that number in a grid. */
static void write_key(const gather_zarr_array *array, int64_t number, const int64_t *grid, char key[KEY_BYTES]) {
  int64_t at[GATHER_MAX_RANK];
  size_t used = 0;
  for (int32_t d = array->key_rank - 1; d >= 0; number /= grid[d--]) at[d] = number % grid[d];
  if (array->key_has_c) key[used++] = 'c';
  key[used] = '\0';
  for (int32_t d = 0; d < array->key_rank; d++) {
    if (used > 0) key[used++] = array->separator;
    used += (size_t)snprintf(key + used, KEY_BYTES - used, "%" PRId64, at[d]);
  }
  if (used == 0) memcpy(key, "0", 2);
}

/* ---- the index of a shard */

gather_status gather_zarr_index_check(const gather_zarr_array *array, const uint8_t *index, int64_t bytes, const char *path, int64_t at,
                                      gather_error *error) {
  const int64_t entries = 16 * array->in_shard;
  if (bytes < gather_zarr_index_bytes(array))
    return gather_fail_file(error, GATHER_FILE_MALFORMED, path, bytes,
                            "the file is truncated: the index of a shard needs %" PRId64 " bytes", gather_zarr_index_bytes(array));
  if (!array->index_has_sum) return GATHER_OK;
  const uint32_t said = gather_read_u32(index + entries), found = gather_crc32c(index, entries);
  if (said == found) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, path, at + entries,
                          "the index of the shard is corrupt: its CRC-32C is %08" PRIx32 ", not %08" PRIx32, found, said);
}

gather_status gather_zarr_index_place(const gather_zarr_array *array, const uint8_t *index, int64_t inside, gather_chunk_place *place,
                                      gather_error *error) {
  const uint64_t offset = gather_read_u64(index + 16 * inside), bytes = gather_read_u64(index + 16 * inside + 8);
  const uint64_t size = (uint64_t)place->file->size;
  if (offset == UINT64_MAX && bytes == UINT64_MAX) {
    *place = (gather_chunk_place){.offset = -1};
    return GATHER_OK;
  }
  place->offset = (int64_t)offset;
  place->bytes = (int64_t)bytes;
  if (offset <= size && bytes <= size - offset) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, place->file->path,
                          16 * inside + (array->index_at_start ? 0 : place->file->size - gather_zarr_index_bytes(array)),
                          "a chunk of the shard needs %" PRIu64 " bytes at byte %" PRIu64 ", but the file ends at %" PRIu64, bytes, offset,
                          size);
}

/* fd -1: of a member of a zip file, or of an object on another machine. */
static gather_status read_bytes(const gather_zarr_array *array, const gather_zarr_kept *kept, int fd, int64_t at, int64_t bytes,
                                uint8_t *target, gather_error *error) {
  const gather_map *map = array->chunks.map;
  if (fd >= 0) return gather_chunk_file_read(fd, &kept->file, at, bytes, target, error);
  if (kept->file.object) return gather_remote_object_read(kept->file.object, at, bytes, target, error);
  if (map->remote) GATHER_TRY(gather_map_fetch(map, kept->at + at, bytes, error));
  memcpy(target, map->bytes + kept->at + at, (size_t)bytes);
  return GATHER_OK;
}

static gather_status load_index(gather_zarr_array *array, gather_zarr_kept *kept, int fd, gather_error *error) {
  const int64_t bytes = gather_zarr_index_bytes(array);
  const int64_t at = array->index_at_start || kept->file.size < bytes ? 0 : kept->file.size - bytes;
  const int64_t there = kept->file.size < bytes ? kept->file.size : bytes;
  if (there < bytes) return gather_zarr_index_check(array, NULL, there, kept->file.path, at, error);
  if (!kept->index) kept->index = gather_arena_take(&array->store->arena, bytes, 1);
  if (!kept->index) return no_memory(array, error);
  GATHER_TRY(read_bytes(array, kept, fd, at, bytes, kept->index, error));
  return gather_zarr_index_check(array, kept->index, bytes, kept->file.path, at, error);
}

/* ---- files */

/* The longest that chunks are taken for: codecs lengthen what they cannot compress by little. */
static int64_t longest(const gather_zarr_array *array) { return 2 * array->chunks.raw_bytes + (1 << 16); }

/* Fails for a chunk that cannot be one of the array. */
static gather_status check_length(const gather_zarr_array *array, const gather_chunk_place *place, gather_error *error) {
  const int64_t raw = array->chunks.raw_bytes;
  if (array->chunks.pipeline.count > 0 ? place->bytes <= longest(array) : place->bytes == raw) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, place->file->path, place->offset,
                          "the chunk here has %" PRId64 " bytes, of which %" PRId64 " would remain: it is not one of this array",
                          place->bytes, raw);
}

static gather_status look_at(gather_zarr_array *array, gather_zarr_kept *kept, int fd, gather_error *error) {
  struct stat about;
  if (fstat(fd, &about) != 0) return gather_fail_system(error, kept->file.path, errno, "find out its size");
  if (!S_ISREG(about.st_mode)) return gather_fail_file(error, GATHER_IO_ERROR, kept->file.path, -1, "is not a regular file");
  kept->file.size = (int64_t)about.st_size;
  return array->is_sharded ? load_index(array, kept, fd, error) : GATHER_OK;
}

const gather_zarr_entry *gather_zarr_zip_find(const gather_zarr_zip *zip, const char *name) {
  int64_t low = 0, high = zip->len;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int order = strcmp(zip->entries[middle].name, name);
    if (order == 0) return &zip->entries[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static gather_status look_in_zip(gather_zarr_array *array, gather_zarr_kept *kept, gather_error *error) {
  const gather_zarr_entry *entry = gather_zarr_zip_find(array->zip, kept->file.path);
  kept->is_missing = !entry;
  if (!entry) return GATHER_OK;
  if (entry->why)
    return gather_fail_file(error, GATHER_UNSUPPORTED, array->chunks.file->name, entry->at, "its member '%.100s' %s", entry->name,
                            entry->why);
  kept->file.size = entry->bytes;
  kept->at = entry->at;
  return array->is_sharded ? load_index(array, kept, -1, error) : GATHER_OK;
}

/* What the file of a chunk or shard will be kept in. */
static gather_status make_kept(gather_zarr_array *array, int64_t number, gather_zarr_kept **made, gather_error *error) {
  char key[KEY_BYTES];
  const size_t folder = strlen(array->folder);
  write_key(array, number, array->is_sharded ? array->shards : array->chunks.grid, key);
  gather_zarr_kept *kept = gather_arena_take(&array->store->arena, 1, (int64_t)sizeof *kept);
  char *path = kept ? gather_arena_take(&array->store->arena, (int64_t)(folder + strlen(key)) + 1, 1) : NULL;
  if (!path) return no_memory(array, error);
  memcpy(path, array->folder, folder);
  memcpy(path + folder, key, strlen(key));
  kept->file = (gather_chunk_file){.number = number, .path = path, .folder_bytes = array->folder_bytes};
  /* Objects are opened by several threads, and the arena is for one. */
  if (array->is_remote && array->is_sharded) kept->index = gather_arena_take(&array->store->arena, gather_zarr_index_bytes(array), 1);
  if (array->is_remote && array->is_sharded && !kept->index) return no_memory(array, error);
  *made = kept;
  return GATHER_OK;
}

/* No description says how long chunks are: compressors make what does not shrink a little longer. */
static gather_status sizes(const gather_chunks *chunks, int64_t *longest, int64_t *all, gather_error *error) {
  enum { PART = 64, MORE = 4096 };
  (void)error;
  *longest = chunks->raw_bytes + chunks->raw_bytes / PART + MORE;
  if (all) *all = -1;
  return GATHER_OK;
}

/* Of a shard, its index: then one request is all until rows are read. Of a chunk, as many bytes as a request costs anyway: most chunks are
 * not longer, and what is longer is asked for without them. Of a chunk of which only rows are read, no more than it takes to know it. */
static gather_remote_opening opening_of(const gather_zarr_array *array) {
  enum { INDEX = 1 << 20, CHUNK = 1 << 18, LEAST = 512 };
  const gather_chunks *chunks = &array->chunks;
  int64_t most = 0;
  if (array->is_sharded) {
    const int64_t index = gather_zarr_index_bytes(array);
    return (gather_remote_opening){.bytes = index < INDEX ? index : INDEX, .tail = !array->index_at_start};
  }
  if (sizes(chunks, &most, NULL, NULL) != GATHER_OK) most = CHUNK;
  if (chunks->pipeline.count == 0) most = chunks->raw_bytes <= CHUNK ? chunks->raw_bytes : LEAST;
  return (gather_remote_opening){.bytes = most < CHUNK ? most : CHUNK, .once = true};
}

/* Names the chunk for which a file is looked for. */
static void name_chunk(const gather_zarr_array *array, int64_t number, gather_error *error) {
  gather_chunks_name(&array->chunks, number, error);
  error->row = gather_chunks_first_row(&array->chunks, number);
}

/* A refusal may mean that there is no such file, which is not for us to decide: the rows would be the fill value. */
static void say_missing(gather_error *error) {
  const size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length,
                 "; if the chunk was never written, use credentials that may list the bucket: S3 then answers 404");
}

static gather_status look_at_url(gather_zarr_array *array, gather_zarr_kept *kept, gather_error *error) {
  gather_error why;
  const gather_remote_opening opening = opening_of(array);
  gather_status status = gather_remote_object_open_for(array->chunks.file->client, kept->file.path, &opening, &kept->file.object, &why);
  kept->is_missing = status == GATHER_FILE_NOT_FOUND;
  if (kept->is_missing) return GATHER_OK;
  if (status == GATHER_OK) {
    kept->file.size = gather_remote_object_about(kept->file.object).size;
    status = array->is_sharded ? load_index(array, kept, -1, &why) : GATHER_OK;
    if (status != GATHER_OK) gather_remote_object_close(kept->file.object);
  }
  if (status == GATHER_OK) {
    if (array->is_sharded) gather_remote_object_forget(kept->file.object); /* the index was copied */
    return GATHER_OK;
  }
  kept->file.object = NULL;
  if (why.system_error == EACCES) say_missing(&why);
  name_chunk(array, kept->wanted, &why);
  if (error) *error = why;
  return status;
}

/* Looks for the file of a chunk or shard. */
static gather_status look_for(gather_zarr_array *array, gather_zarr_kept *kept, gather_error *error) {
  gather_error why;
  int fd = -1;
  if (array->zip) return look_in_zip(array, kept, error);
  if (array->is_remote) return look_at_url(array, kept, error);
  gather_status status = gather_chunk_file_open(&kept->file, &fd, &why);
  kept->is_missing = status == GATHER_FILE_NOT_FOUND;
  if (kept->is_missing) return GATHER_OK;
  if (status == GATHER_OK) {
    status = look_at(array, kept, fd, &why);
    (void)close(fd);
  }
  if (status != GATHER_OK && error) *error = why;
  return status;
}

static gather_zarr_kept **slot_of(gather_zarr_kept **kept, int64_t slots, int64_t number) {
  const uint64_t mask = (uint64_t)slots - 1;
  uint64_t at = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
  for (at = (at ^ at >> 32) & mask; kept[at] && kept[at]->file.number != number;) at = (at + 1) & mask;
  return &kept[at];
}

static gather_status grow(gather_zarr_array *array, gather_error *error) {
  enum { FIRST = 64 };
  if (2 * array->kept_len < array->kept_slots) return GATHER_OK;
  const int64_t slots = array->kept_slots > 0 ? 2 * array->kept_slots : FIRST;
  gather_zarr_kept **made = gather_alloc(slots * (int64_t)sizeof(gather_zarr_kept *));
  if (!made) return no_memory(array, error);
  gather_zarr_kept **old = array->kept;
  for (int64_t i = 0; i < array->kept_slots; i++)
    if (old[i]) *slot_of(made, slots, old[i]->file.number) = old[i];
  array->kept = made;
  array->kept_slots = slots;
  gather_free((void *)old);
  return GATHER_OK;
}

/* What is kept of the file of that number, known or not: what a failure was about is there for the next try. The caller has the lock. */
static gather_status get_kept(gather_zarr_array *array, int64_t number, gather_zarr_kept **found, gather_error *error) {
  GATHER_TRY(grow(array, error));
  gather_zarr_kept **slot = slot_of(array->kept, array->kept_slots, number);
  if (!*slot) {
    GATHER_TRY(make_kept(array, number, slot, error));
    array->kept_len++;
  }
  *found = *slot;
  return GATHER_OK;
}

/* The file of that number. The caller has the lock. */
static gather_status find_file(gather_zarr_array *array, int64_t number, const gather_zarr_kept **found, gather_error *error) {
  gather_zarr_kept *kept = NULL;
  GATHER_TRY(get_kept(array, number, &kept, error));
  if (!kept->is_known) GATHER_TRY(look_for(array, kept, error));
  kept->is_known = true;
  *found = kept;
  return GATHER_OK;
}

/* The shard of a chunk, and its number there. */
static int64_t shard_of(const gather_zarr_array *array, int64_t number, int64_t *inside) {
  int64_t at[GATHER_MAX_RANK], shard = 0;
  const gather_chunks *chunks = &array->chunks;
  for (int32_t d = chunks->rank - 1; d >= 0; number /= chunks->grid[d--]) at[d] = number % chunks->grid[d];
  *inside = 0;
  for (int32_t d = 0; d < chunks->rank; d++) {
    shard = shard * array->shards[d] + at[d] / array->per_shard[d];
    *inside = *inside * array->per_shard[d] + at[d] % array->per_shard[d];
  }
  return shard;
}

/* ---- on other machines: several files at once */

typedef struct url_looks {
  gather_zarr_array *array;
  gather_zarr_kept **kept;
  pthread_mutex_t lock; /* protects what follows */
  gather_status status; /* of the first failure; then no more are looked for */
  gather_error why;
} url_looks;

static bool has_failed(url_looks *looks) {
  (void)pthread_mutex_lock(&looks->lock);
  const bool failed = looks->status != GATHER_OK;
  (void)pthread_mutex_unlock(&looks->lock);
  return failed;
}

static void look_task(void *argument, int64_t i) {
  url_looks *looks = argument;
  gather_error why;
  if (has_failed(looks)) return;
  const gather_status status = look_at_url(looks->array, looks->kept[i], &why);
  looks->kept[i]->is_known = status == GATHER_OK;
  if (status == GATHER_OK) return;
  (void)pthread_mutex_lock(&looks->lock);
  if (looks->status == GATHER_OK) looks->status = status, looks->why = why;
  (void)pthread_mutex_unlock(&looks->lock);
}

/* AT_ONCE: files that are looked for together, none of which is kept. THREADS: as many as a client has connections at first. */
enum { AT_ONCE = 256, THREADS = 64 };

static gather_status look_at_urls(gather_zarr_array *array, gather_zarr_kept **kept, int64_t len, gather_error *error) {
  url_looks looks = {.array = array, .kept = kept, .lock = PTHREAD_MUTEX_INITIALIZER};
  if (len == 0) return GATHER_OK;
  gather_remote_parallel(len, THREADS, look_task, &looks);
  (void)pthread_mutex_destroy(&looks.lock);
  if (looks.status != GATHER_OK && error) *error = looks.why;
  return looks.status;
}

static bool is_among(gather_zarr_kept *const *kept, int64_t len, int64_t number) {
  for (int64_t i = 0; i < len; i++)
    if (kept[i]->file.number == number) return true;
  return false;
}

static gather_status look_ahead(gather_zarr_array *array, const int64_t *numbers, int64_t count, gather_error *error) {
  gather_zarr_kept *kept[AT_ONCE];
  int64_t len = 0, inside = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t number = array->is_sharded ? shard_of(array, numbers[i], &inside) : numbers[i];
    GATHER_TRY(get_kept(array, number, &kept[len], error));
    if (kept[len]->is_known || is_among(kept, len, number)) continue;
    kept[len]->wanted = numbers[i];
    if (++len < AT_ONCE) continue;
    GATHER_TRY(look_at_urls(array, kept, len, error));
    len = 0;
  }
  return look_at_urls(array, kept, len, error);
}

/* Chunks will not be read, because others were not found. */
static void forget(const gather_zarr_array *array, const int64_t *numbers, int64_t count) {
  for (int64_t i = 0; i < count && array->kept_slots > 0; i++) {
    const gather_zarr_kept *kept = *slot_of(array->kept, array->kept_slots, numbers[i]);
    if (kept && kept->file.object) gather_remote_object_forget(kept->file.object);
  }
}

/* ---- chunks */

static gather_status find_one(gather_zarr_array *array, int64_t number, gather_chunk_place *place, gather_error *error) {
  const gather_zarr_kept *kept = NULL;
  int64_t inside = 0;
  GATHER_TRY(find_file(array, array->is_sharded ? shard_of(array, number, &inside) : number, &kept, error));
  *place =
      (gather_chunk_place){.offset = kept->is_missing ? -1 : 0, .bytes = kept->file.size, .file = kept->is_missing ? NULL : &kept->file};
  if (kept->is_missing) return GATHER_OK;
  if (array->is_sharded) GATHER_TRY(gather_zarr_index_place(array, kept->index, inside, place, error));
  if (place->offset < 0) return GATHER_OK;
  GATHER_TRY(check_length(array, place, error));
  if (!array->zip) return GATHER_OK;
  place->offset += kept->at;
  place->file = NULL;
  return GATHER_OK;
}

static gather_status find(const gather_chunks *chunks, const int64_t *numbers, int64_t count, gather_chunk_place *places,
                          gather_error *error) {
  gather_zarr_array *array = (gather_zarr_array *)(uintptr_t)chunks->from; /* what is kept changes, under the lock */
  gather_status status = GATHER_OK;
  (void)pthread_mutex_lock(&array->store->lock);
  if (array->is_remote) status = look_ahead(array, numbers, count, error);
  for (int64_t i = 0; i < count && status == GATHER_OK; i++) {
    status = find_one(array, numbers[i], &places[i], error);
    if (status != GATHER_OK && error) name_chunk(array, numbers[i], error);
  }
  if (status != GATHER_OK && chunks->head_bytes > 0) forget(array, numbers, count);
  (void)pthread_mutex_unlock(&array->store->lock);
  return status;
}

static void enter(const gather_chunks *chunks) {
  gather_zarr_array *array = (gather_zarr_array *)(uintptr_t)chunks->from;
  (void)pthread_mutex_init(&array->store->lock, NULL);
}

void gather_zarr_store_add(gather_zarr_store *store, gather_zarr_array *array) {
  array->chunks.find = find;
  array->chunks.sizes = sizes;
  array->chunks.enter = enter;
  array->chunks.from = array;
  if (array->is_remote && !array->is_sharded) array->chunks.head_bytes = opening_of(array).bytes;
  array->store = store;
  array->next = store->arrays;
  store->arrays = array;
}

#endif
