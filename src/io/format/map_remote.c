/* SPDX-License-Identifier: MIT
 *
 * map_remote.c: fills a remote map: what is loaded for a need, and the limits. See map_remote.h.
 */
#include "io/format/map_remote.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/map_extents.h"
#include "io/format/map_memory.h"
#include "io/format/map_ranges.h"

/* FIRST_STEP, MOST_STEP: bytes loaded ahead. LATER_MAX: bytes that gather_map_later notes. */
enum { FIRST_STEP = 1 << 16, MOST_STEP = 1 << 23, LATER_MAX = 64 << 20 };

struct gather_map_remote {
  pthread_mutex_t lock; /* of all that follows the source */
  gather_map_source source;
  char *name;
  uint8_t *memory;
  gather_map_extents loaded;
  int64_t step, end;       /* bytes loaded ahead by the last need, and where it ended */
  int64_t bytes, requests; /* of metadata, so far */
  gather_map_range *later; /* noted to be loaded */
  int64_t later_len, later_room, later_bytes;
  gather_status status; /* of the first failure */
  gather_error why;
};

/* Unloaded bytes of all maps are guarded in builds for tests. */
#ifdef GATHER_MAP_GUARDED
static bool is_guarded(const gather_map_remote *remote) { return remote != NULL; }
#else
static bool is_guarded(const gather_map_remote *remote) { return remote->source.exact; }
#endif

/* ---- opening and closing */

void gather_map_remote_close(gather_map_remote *remote) {
  if (!remote) return;
  gather_map_memory_destroy(remote->memory, remote->source.size, is_guarded(remote));
  remote->source.close(remote->source.context);
  (void)pthread_mutex_destroy(&remote->lock);
  gather_map_extents_clear(&remote->loaded);
  gather_free(remote->later);
  gather_free(remote->name);
  gather_free(remote);
}

static gather_status no_memory(const char *name, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to read it");
}

static gather_status reserve(gather_map_remote *remote, const char *name, gather_error *error) {
  const int64_t size = remote->source.size;
  if (size == 0) return GATHER_OK;
  if ((uint64_t)size > PTRDIFF_MAX || (uint64_t)size > SIZE_MAX / 2)
    return gather_fail_file(error, GATHER_OVERFLOW, name, -1, "is too large for the address space");
  remote->memory = gather_map_memory_create(size, is_guarded(remote));
  if (remote->memory) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1,
                          "the system has no range of %" PRId64 " addresses for it (a limit such as ulimit -v?)", size);
}

/* Uses the bytes that are known already. */
static gather_status use_head(gather_map_remote *remote, const char *name, gather_error *error) {
  int64_t bytes = remote->source.head_bytes < remote->source.size ? remote->source.head_bytes : remote->source.size;
  if (bytes <= 0) return GATHER_OK;
  if (!gather_map_extents_reserve(&remote->loaded, 1) ||
      !gather_map_memory_open(remote->memory, remote->source.size, 0, bytes, is_guarded(remote)))
    return no_memory(name, error);
  memcpy(remote->memory, remote->source.head, (size_t)bytes);
  gather_map_extents_add(&remote->loaded, 0, bytes);
  remote->end = bytes;
  return GATHER_OK;
}

gather_status gather_map_open_source(const gather_map_source *source, const char *name, gather_map *map,
                                     gather_error *error) {
  size_t length = strlen(name);
  gather_map_remote *made = gather_alloc((int64_t)sizeof *made);
  *map = (gather_map){0};
  if (!made) {
    source->close(source->context);
    return no_memory(name, error);
  }
  *made = (gather_map_remote){.source = *source, .name = gather_alloc((int64_t)length + 1), .step = FIRST_STEP};
  (void)pthread_mutex_init(&made->lock, NULL);
  gather_status status = made->name ? reserve(made, name, error) : no_memory(name, error);
  if (made->name) memcpy(made->name, name, length);
  if (status == GATHER_OK) status = use_head(made, name, error);
  if (status != GATHER_OK) {
    gather_map_remote_close(made);
    return status;
  }
  *map = (gather_map){.bytes = made->memory, .size = source->size, .owned = true, .remote = made};
  return GATHER_OK;
}

/* ---- loading */

/* Reads ranges that are not loaded. */
static gather_status read_ranges(gather_map_remote *remote, const gather_map_range *ranges, int64_t count,
                                 gather_error *error) {
  if (count == 0) return GATHER_OK;
  if (!gather_map_extents_reserve(&remote->loaded, count)) return no_memory(remote->name, error);
  for (int64_t i = 0; i < count; i++)
    if (!gather_map_memory_open(remote->memory, remote->source.size, ranges[i].offset, ranges[i].bytes,
                                is_guarded(remote)))
      return no_memory(remote->name, error);
  GATHER_TRY(remote->source.read(remote->source.context, ranges, count, remote->memory, error));
  for (int64_t i = 0; i < count; i++)
    gather_map_extents_add(&remote->loaded, ranges[i].offset, ranges[i].offset + ranges[i].bytes);
  return GATHER_OK;
}

static gather_status check_limits(gather_map_remote *remote, const gather_map_range *ranges, int64_t count,
                                  gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    remote->bytes += ranges[i].bytes; /* no overflow: the sum is checked each time */
    if (++remote->requests <= GATHER_MAP_REQUESTS_MAX && remote->bytes <= GATHER_MAP_METADATA_MAX) continue;
    return gather_fail_file(error, GATHER_UNSUPPORTED, remote->name, ranges[i].offset,
                            "its metadata need more than %d MiB or %d requests; download the file and read it locally",
                            (int)(GATHER_MAP_METADATA_MAX >> 20), (int)GATHER_MAP_REQUESTS_MAX);
  }
  return GATHER_OK;
}

/* The bytes between two ranges that are faster to read than a request. */
static int64_t gap_of(const gather_map_remote *remote, int64_t count) {
  return remote->source.gap ? remote->source.gap(remote->source.context, count) : 0;
}

/* Loads what is missing of the ranges: sorted, clipped and joined. */
static gather_status load_missing(gather_map_remote *remote, gather_map_range *ranges, int64_t count, bool is_metadata,
                                  gather_error *error) {
  gather_map_range *missing = NULL;
  int64_t len = 0;
  if (!gather_map_ranges_missing(&remote->loaded, ranges, count, remote->source.size, gap_of(remote, count), &missing,
                                 &len))
    return no_memory(remote->name, error);
  gather_status status = is_metadata ? check_limits(remote, missing, len, error) : GATHER_OK;
  if (status == GATHER_OK) status = read_ranges(remote, missing, len, error);
  gather_free(missing);
  return status;
}

static gather_status recall(const gather_map_remote *remote, gather_error *error) {
  if (remote->status != GATHER_OK && error) *error = remote->why;
  return remote->status;
}

/* The same for metadata: the first failure stays. */
static gather_status load_metadata(gather_map_remote *remote, gather_map_range *ranges, int64_t count,
                                   gather_error *error) {
  if (remote->status == GATHER_OK) remote->status = load_missing(remote, ranges, count, true, &remote->why);
  return recall(remote, error);
}

/* Chooses how much to load for a need that is not loaded. */
static gather_map_range widen(gather_map_remote *remote, int64_t begin, int64_t end) {
  const int64_t size = remote->source.size;
  if (remote->source.exact) return (gather_map_range){begin, end - begin};
  bool goes_on = begin >= remote->end && begin - remote->end <= gap_of(remote, 1);
  if (goes_on || (begin < remote->end && end > remote->end)) {
    if (goes_on) begin = remote->end;
    remote->step = remote->step < MOST_STEP / 4 ? 4 * remote->step : MOST_STEP;
  } else {
    remote->step = FIRST_STEP;
  }
  if (end - begin < remote->step) end = size - begin < remote->step ? size : begin + remote->step;
  remote->end = end;
  return (gather_map_range){begin, end - begin};
}

static gather_status load_need(gather_map_remote *remote, int64_t begin, int64_t end, gather_error *error) {
  if (gather_map_extents_has(&remote->loaded, begin, end)) return GATHER_OK;
  gather_map_range range = widen(remote, begin, end);
  return load_metadata(remote, &range, 1, error);
}

static gather_status unlock(gather_map_remote *remote, gather_status status) {
  (void)pthread_mutex_unlock(&remote->lock);
  return status;
}

gather_status gather_map_load(gather_map_remote *remote, int64_t offset, int64_t bytes, gather_error *error) {
  const int64_t size = remote->source.size;
  if (offset < 0 || bytes <= 0 || offset >= size) return GATHER_OK;
  (void)pthread_mutex_lock(&remote->lock);
  return unlock(remote, load_need(remote, offset, bytes < size - offset ? offset + bytes : size, error));
}

/* ---- several ranges, hints, and what the caller asked for */

gather_status gather_map_need_all(const gather_map *map, gather_map_range *ranges, int64_t count, gather_error *error) {
  if (!map->remote) return GATHER_OK;
  (void)pthread_mutex_lock(&map->remote->lock);
  return unlock(map->remote, load_metadata(map->remote, ranges, count, error));
}

bool gather_map_wants_hints(const gather_map *map) { return map->remote && !map->remote->source.exact; }

void gather_map_expect_all(const gather_map *map, gather_map_range *ranges, int64_t count) {
  if (gather_map_wants_hints(map) && gather_map_need_all(map, ranges, count, NULL) != GATHER_OK) return;
}

void gather_map_expect(const gather_map *map, int64_t offset, int64_t bytes) {
  gather_map_range range = {offset, bytes};
  gather_map_expect_all(map, &range, 1);
}

gather_status gather_map_fetch_all(const gather_map *map, gather_map_range *ranges, int64_t count,
                                   gather_error *error) {
  if (!map->remote) return GATHER_OK;
  (void)pthread_mutex_lock(&map->remote->lock);
  return unlock(map->remote, load_missing(map->remote, ranges, count, false, error));
}

gather_status gather_map_fetch(const gather_map *map, int64_t offset, int64_t bytes, gather_error *error) {
  gather_map_range range = {offset, bytes};
  return gather_map_fetch_all(map, &range, 1, error);
}

bool gather_map_has(const gather_map *map, int64_t offset, int64_t bytes) {
  if (!map->remote) return true;
  (void)pthread_mutex_lock(&map->remote->lock);
  bool has = gather_map_extents_has(&map->remote->loaded, offset, offset + bytes);
  (void)pthread_mutex_unlock(&map->remote->lock);
  return has;
}

/* ---- what is loaded when the file has been read */

bool gather_map_later(const gather_map *map, int64_t offset, int64_t bytes) {
  gather_map_remote *remote = map->remote;
  if (bytes > LATER_MAX - remote->later_bytes) return false;
  if (remote->later_len == remote->later_room) {
    int64_t room = remote->later_room ? 2 * remote->later_room : 64;
    gather_map_range *made = gather_alloc(room * (int64_t)sizeof *made);
    if (!made) return false;
    if (remote->later_len > 0) memcpy(made, remote->later, (size_t)remote->later_len * sizeof *made);
    gather_free(remote->later);
    remote->later = made;
    remote->later_room = room;
  }
  remote->later[remote->later_len++] = (gather_map_range){offset, bytes};
  remote->later_bytes += bytes;
  return true;
}

gather_status gather_map_load_later(const gather_map *map, gather_error *error) {
  gather_map_remote *remote = map->remote;
  if (!remote || remote->later_len == 0) return GATHER_OK;
  int64_t count = remote->later_len;
  remote->later_len = 0;
  return gather_map_need_all(map, remote->later, count, error);
}

gather_status gather_map_failure(const gather_map *map, gather_error *error) {
  if (!map->remote) return GATHER_OK;
  (void)pthread_mutex_lock(&map->remote->lock);
  return unlock(map->remote, recall(map->remote, error));
}

gather_remote_object *gather_map_object(const gather_map *map) {
  return map->remote ? map->remote->source.object : NULL;
}
