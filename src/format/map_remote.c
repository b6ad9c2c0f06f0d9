/* SPDX-License-Identifier: MIT
 *
 * map_remote.c: fills a remote map: what is loaded for a need, and the limits. See map_remote.h.
 */
#include "format/map_remote.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "format/map_extents.h"
#include "format/map_memory.h"
#include "format/map_ranges.h"

/* FIRST_STEP, MOST_STEP: bytes loaded ahead. LATER_MAX: bytes that gather_map_later notes. */
enum { FIRST_STEP = 1 << 16, MOST_STEP = 1 << 23, LATER_MAX = 64 << 20 };

struct gather_map_remote {
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

static gather_status note(gather_map_remote *remote, const gather_error *why, gather_error *error) {
  if (remote->status == GATHER_OK) {
    remote->why = *why;
    remote->status = why->status;
  }
  if (error) *error = remote->why;
  return remote->status;
}

static gather_status note_no_memory(gather_map_remote *remote, gather_error *error) {
  gather_error why;
  (void)no_memory(remote->name, &why);
  return note(remote, &why, error);
}

/* Reads ranges that are not loaded. */
static gather_status read_ranges(gather_map_remote *remote, const gather_map_range *ranges, int64_t count,
                                 gather_error *error) {
  gather_error why;
  if (count == 0) return GATHER_OK;
  if (!gather_map_extents_reserve(&remote->loaded, count)) return note_no_memory(remote, error);
  for (int64_t i = 0; i < count; i++)
    if (!gather_map_memory_open(remote->memory, remote->source.size, ranges[i].offset, ranges[i].bytes,
                                is_guarded(remote)))
      return note_no_memory(remote, error);
  if (remote->source.read(remote->source.context, ranges, count, remote->memory, &why) != GATHER_OK)
    return note(remote, &why, error);
  for (int64_t i = 0; i < count; i++)
    gather_map_extents_add(&remote->loaded, ranges[i].offset, ranges[i].offset + ranges[i].bytes);
  return GATHER_OK;
}

static gather_status check_limits(gather_map_remote *remote, const gather_map_range *ranges, int64_t count,
                                  gather_error *error) {
  gather_error why;
  for (int64_t i = 0; i < count; i++) {
    remote->bytes += ranges[i].bytes; /* no overflow: the sum is checked each time */
    if (++remote->requests <= GATHER_MAP_REQUESTS_MAX && remote->bytes <= GATHER_MAP_METADATA_MAX) continue;
    (void)gather_fail_file(&why, GATHER_UNSUPPORTED, remote->name, ranges[i].offset,
                           "its metadata need more than %d MiB or %d requests; download the file and read it locally",
                           (int)(GATHER_MAP_METADATA_MAX >> 20), (int)GATHER_MAP_REQUESTS_MAX);
    return note(remote, &why, error);
  }
  return GATHER_OK;
}

/* The bytes between two ranges that are faster to read than a request. */
static int64_t gap_of(const gather_map_remote *remote) {
  return remote->source.gap ? remote->source.gap(remote->source.context) : 0;
}

/* Loads what is missing of the ranges: sorted, clipped and joined. */
static gather_status load_all(gather_map_remote *remote, gather_map_range *ranges, int64_t count, bool is_metadata,
                              gather_error *error) {
  gather_map_range *missing = NULL;
  int64_t len = 0;
  if (remote->status != GATHER_OK) return note(remote, &remote->why, error);
  if (!gather_map_ranges_missing(&remote->loaded, ranges, count, remote->source.size,
                                 gap_of(remote), &missing, &len))
    return note_no_memory(remote, error);
  gather_status status = is_metadata ? check_limits(remote, missing, len, error) : GATHER_OK;
  if (status == GATHER_OK) status = read_ranges(remote, missing, len, error);
  gather_free(missing);
  return status;
}

/* Chooses how much to load for a need that is not loaded. */
static gather_map_range widen(gather_map_remote *remote, int64_t begin, int64_t end) {
  const int64_t size = remote->source.size;
  if (remote->source.exact) return (gather_map_range){begin, end - begin};
  bool goes_on = begin >= remote->end && begin - remote->end <= gap_of(remote);
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

gather_status gather_map_load(gather_map_remote *remote, int64_t offset, int64_t bytes, gather_error *error) {
  const int64_t size = remote->source.size;
  if (offset < 0 || bytes <= 0 || offset >= size) return GATHER_OK;
  int64_t end = bytes < size - offset ? offset + bytes : size;
  if (gather_map_extents_has(&remote->loaded, offset, end)) return GATHER_OK;
  gather_map_range range = widen(remote, offset, end);
  return load_all(remote, &range, 1, true, error);
}

/* ---- several ranges, hints, and what the caller asked for */

gather_status gather_map_need_all(const gather_map *map, gather_map_range *ranges, int64_t count, gather_error *error) {
  return map->remote ? load_all(map->remote, ranges, count, true, error) : GATHER_OK;
}

bool gather_map_wants_hints(const gather_map *map) { return map->remote && !map->remote->source.exact; }

void gather_map_expect_all(const gather_map *map, gather_map_range *ranges, int64_t count) {
  if (gather_map_wants_hints(map) && gather_map_need_all(map, ranges, count, NULL) != GATHER_OK) return;
}

void gather_map_expect(const gather_map *map, int64_t offset, int64_t bytes) {
  gather_map_range range = {offset, bytes};
  gather_map_expect_all(map, &range, 1);
}

gather_status gather_map_fetch(const gather_map *map, int64_t offset, int64_t bytes, gather_error *error) {
  gather_map_range range = {offset, bytes};
  return map->remote ? load_all(map->remote, &range, 1, false, error) : GATHER_OK;
}

gather_status gather_map_fetch_all(const gather_map *map, gather_map_range *ranges, int64_t count,
                                   gather_error *error) {
  return map->remote ? load_all(map->remote, ranges, count, false, error) : GATHER_OK;
}

bool gather_map_has(const gather_map *map, int64_t offset, int64_t bytes) {
  return !map->remote || gather_map_extents_has(&map->remote->loaded, offset, offset + bytes);
}

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
  remote->later_len = remote->later_bytes = 0;
  return load_all(remote, remote->later, count, true, error);
}

gather_status gather_map_failure(const gather_map *map, gather_error *error) {
  gather_map_remote *remote = map->remote;
  return remote && remote->status != GATHER_OK ? note(remote, &remote->why, error) : GATHER_OK;
}

gather_remote_object *gather_map_object(const gather_map *map) {
  return map->remote ? map->remote->source.object : NULL;
}
