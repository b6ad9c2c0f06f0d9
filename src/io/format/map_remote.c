/* SPDX-License-Identifier: MIT
 *
 * map_remote.c: maps that are filled on demand: what is loaded for a need, and the limits. See map_remote.h.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#define _DARWIN_C_SOURCE
#include "io/format/map_remote.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/alloc.h"

/* ---- memory as large as the file, without pages until they are written. Bytes are guarded by pages, and by AddressSanitizer where it is
 * built in, in files that are not huge: it knows bytes, but each group of eight as a whole up to the last byte opened in it. In guarded
 * memory, bytes that were not opened cannot be read: a test finds a reader that forgot to ask for them. */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
/* AddressSanitizer notes an eighth of the bytes that it is told of: a file of 1 TiB would fill the machine. Pages guard larger ones. */
#define MOST_NOTED (INT64_C(1) << 30)

static bool is_noted(int64_t bytes, bool guarded) { return guarded && bytes <= MOST_NOTED; }

/* Reserves `bytes` zero bytes, at least 1; NULL if the system has no such address range (errno). */
static uint8_t *create_memory(int64_t bytes, bool guarded) {
  int access = guarded ? PROT_NONE : PROT_READ | PROT_WRITE;
  void *memory = mmap(NULL, (size_t)bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (is_noted(bytes, guarded)) ASAN_POISON_MEMORY_REGION(memory, (size_t)bytes);
  return memory;
}

/* Before bytes are written: opens them. False: the system refused. */
static bool open_memory(uint8_t *memory, int64_t size, int64_t offset, int64_t bytes, bool guarded) {
  if (!guarded) return true;
  const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), begin = offset / page * page;
  int64_t end = (offset + bytes + page - 1) / page * page;
  if (end > size) end = size;
  if (mprotect(memory + begin, (size_t)(end - begin), PROT_READ | PROT_WRITE) != 0) return false;
  ASAN_UNPOISON_MEMORY_REGION(memory + offset, (size_t)bytes);
  return true;
}

static void destroy_memory(uint8_t *memory, int64_t bytes, bool guarded) {
  if (!memory) return;
  if (is_noted(bytes, guarded)) ASAN_UNPOISON_MEMORY_REGION(memory, (size_t)bytes);
  (void)munmap(memory, (size_t)bytes);
}

/* ---- which bytes are loaded */

/* A set of bytes: sorted ranges that neither overlap nor touch. */
typedef struct map_extent {
  int64_t begin, end;
} map_extent;

/* All zero is the empty set. */
typedef struct map_extents {
  map_extent *at;
  int64_t len, room;
  int64_t last; /* the range that was found last */
} map_extents;

/* The number of the first range that ends after `offset`. */
static int64_t map_extents_find(map_extents *extents, int64_t offset) {
  int64_t low = 0, high = extents->len, last = extents->last;
  const map_extent *at = extents->at;
  /* Readers mostly stay in one range. */
  if (last < extents->len && offset < at[last].end && (last == 0 || offset >= at[last - 1].end)) return last;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (at[middle].end > offset)
      high = middle;
    else
      low = middle + 1;
  }
  extents->last = low;
  return low;
}

/* Whether all bytes of [begin, end) are in it. */
static bool map_extents_has(map_extents *extents, int64_t begin, int64_t end) {
  if (begin >= end) return true;
  int64_t i = map_extents_find(extents, begin);
  return i < extents->len && extents->at[i].begin <= begin && end <= extents->at[i].end;
}

/* Makes room for one more range, so that the next map_extents_add cannot fail. False: out of memory. */
static bool map_extents_reserve(map_extents *extents, int64_t more) {
  int64_t need = extents->len + more, room = 2 * extents->room;
  if (need <= extents->room) return true;
  if (room < need + 14) room = need + 14;
  map_extent *made = gather_alloc(room * (int64_t)sizeof *made);
  if (!made) return false;
  if (extents->len > 0) memcpy(made, extents->at, (size_t)extents->len * sizeof *made);
  gather_free(extents->at);
  extents->at = made;
  extents->room = room;
  return true;
}

/* Adds [begin, end), for which there is room. */
static void map_extents_add(map_extents *extents, int64_t begin, int64_t end) {
  map_extent *at = extents->at;
  if (begin >= end) return;
  int64_t first = begin > 0 ? map_extents_find(extents, begin - 1) : 0, next = first;
  while (next < extents->len && at[next].begin <= end) { /* overlapping and touching ones become one */
    if (at[next].begin < begin) begin = at[next].begin;
    if (at[next].end > end) end = at[next].end;
    next++;
  }
  memmove(at + first + 1, at + next, (size_t)(extents->len - next) * sizeof *at);
  extents->len += first + 1 - next;
  at[first] = (map_extent){begin, end};
  extents->last = first;
}

static void map_extents_clear(map_extents *extents) {
  gather_free(extents->at);
  *extents = (map_extents){0};
}

/* ---- which ranges are to be read: sorted and joined */

static int compare(const void *a, const void *b) {
  const gather_map_range *left = a, *right = b;
  if (left->offset != right->offset) return left->offset < right->offset ? -1 : 1;
  return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

/* Requests under construction; with `at` NULL they are only counted. */
typedef struct request_list {
  map_extents *loaded;
  gather_map_range *at;
  int64_t gap, len, begin, end; /* begin, end: of the last one */
} request_list;

/* Bytes that are loaded are not written again: somebody may be reading them. */
static bool joins(const request_list *to, int64_t begin) {
  if (to->len == 0 || begin - to->end > to->gap) return false;
  int64_t i = map_extents_find(to->loaded, to->end);
  return i == to->loaded->len || to->loaded->at[i].begin >= begin;
}

static void put(request_list *to, int64_t begin, int64_t end) {
  if (!joins(to, begin)) {
    to->len++;
    to->begin = begin;
  }
  to->end = end;
  if (to->at) to->at[to->len - 1] = (gather_map_range){to->begin, end - to->begin};
}

/* Adds what is not loaded of [begin, end). */
static void put_missing(int64_t begin, int64_t end, request_list *to) {
  map_extents *loaded = to->loaded;
  for (int64_t i = map_extents_find(loaded, begin); begin < end; i++) {
    int64_t stop = i < loaded->len && loaded->at[i].begin < end ? loaded->at[i].begin : end;
    if (begin < stop) put(to, begin, stop);
    if (i >= loaded->len) return;
    if (loaded->at[i].end > begin) begin = loaded->at[i].end;
  }
}

static void put_all(const gather_map_range *ranges, int64_t count, int64_t size, request_list *to) {
  int64_t done = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t begin = ranges[i].offset < done ? done : ranges[i].offset;
    if (begin >= size || ranges[i].bytes <= 0) continue;
    int64_t end = ranges[i].bytes < size - ranges[i].offset ? ranges[i].offset + ranges[i].bytes : size;
    if (end <= begin) continue;
    put_missing(begin, end, to);
    done = end;
  }
}

/* The parts of the ranges that are not loaded, sorted, without overlaps, within a file of `size` bytes; those with at most `gap` bytes
 * between them are one. `ranges` is sorted in place. gather_free frees *missing. False: out of memory. */
static bool find_missing(map_extents *loaded, gather_map_range *ranges, int64_t count, int64_t size, int64_t gap,
                         gather_map_range **missing, int64_t *len) {
  request_list counted = {.loaded = loaded, .gap = gap}, made = {.loaded = loaded, .gap = gap};
  if (count > 1) qsort(ranges, (size_t)count, sizeof *ranges, compare);
  while (count > 0 && ranges->offset < 0) ranges++, count--;
  put_all(ranges, count, size, &counted);
  *missing = NULL;
  *len = counted.len;
  if (counted.len == 0) return true;
  *missing = made.at = gather_alloc(counted.len * (int64_t)sizeof **missing);
  if (!made.at) return false;
  put_all(ranges, count, size, &made);
  return true;
}

/* ---- the map */

/* FIRST_STEP, MOST_STEP: bytes loaded ahead. LATER_MAX: bytes that gather_map_later notes. */
enum { FIRST_STEP = 1 << 16, MOST_STEP = 1 << 23, LATER_MAX = 64 << 20 };

struct gather_map_remote {
  pthread_mutex_t lock; /* of all that follows the source */
  gather_map_source source;
  char *name;
  uint8_t *memory;
  map_extents loaded;
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
  destroy_memory(remote->memory, remote->source.size, is_guarded(remote));
  remote->source.close(remote->source.context);
  (void)pthread_mutex_destroy(&remote->lock);
  map_extents_clear(&remote->loaded);
  gather_free(remote->later);
  gather_free(remote->name);
  gather_free(remote);
}

static gather_status no_memory(const char *name, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "out of memory while reading it");
}

static gather_status reserve(gather_map_remote *remote, const char *name, gather_error *error) {
  const int64_t size = remote->source.size;
  if (size == 0) return GATHER_OK;
  if ((uint64_t)size > PTRDIFF_MAX || (uint64_t)size > SIZE_MAX / 2)
    return gather_fail_file(error, GATHER_OVERFLOW, name, -1, "is too large for the address space");
  remote->memory = create_memory(size, is_guarded(remote));
  if (remote->memory) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1,
                          "the system has no range of %" PRId64 " addresses for it (a limit such as ulimit -v?)", size);
}

/* Uses the bytes that are known already. */
static gather_status use_head(gather_map_remote *remote, const char *name, gather_error *error) {
  int64_t bytes = remote->source.head_bytes < remote->source.size ? remote->source.head_bytes : remote->source.size;
  if (bytes <= 0) return GATHER_OK;
  if (!map_extents_reserve(&remote->loaded, 1) || !open_memory(remote->memory, remote->source.size, 0, bytes, is_guarded(remote)))
    return no_memory(name, error);
  memcpy(remote->memory, remote->source.head, (size_t)bytes);
  map_extents_add(&remote->loaded, 0, bytes);
  remote->end = bytes;
  return GATHER_OK;
}

gather_status gather_map_open_source(const gather_map_source *source, const char *name, gather_map *map, gather_error *error) {
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
static gather_status read_ranges(gather_map_remote *remote, const gather_map_range *ranges, int64_t count, gather_error *error) {
  if (count == 0) return GATHER_OK;
  if (!map_extents_reserve(&remote->loaded, count)) return no_memory(remote->name, error);
  for (int64_t i = 0; i < count; i++)
    if (!open_memory(remote->memory, remote->source.size, ranges[i].offset, ranges[i].bytes, is_guarded(remote)))
      return no_memory(remote->name, error);
  GATHER_TRY(remote->source.read(remote->source.context, ranges, count, remote->memory, error));
  for (int64_t i = 0; i < count; i++) map_extents_add(&remote->loaded, ranges[i].offset, ranges[i].offset + ranges[i].bytes);
  return GATHER_OK;
}

static gather_status check_limits(gather_map_remote *remote, const gather_map_range *ranges, int64_t count, gather_error *error) {
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
  if (!find_missing(&remote->loaded, ranges, count, remote->source.size, gap_of(remote, count), &missing, &len))
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
static gather_status load_metadata(gather_map_remote *remote, gather_map_range *ranges, int64_t count, gather_error *error) {
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
  if (map_extents_has(&remote->loaded, begin, end)) return GATHER_OK;
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

/* Loads several ranges at once; ranges that are near each other become one request. */
static gather_status map_need_all(const gather_map *map, gather_map_range *ranges, int64_t count, gather_error *error) {
  if (!map->remote) return GATHER_OK;
  (void)pthread_mutex_lock(&map->remote->lock);
  return unlock(map->remote, load_metadata(map->remote, ranges, count, error));
}

bool gather_map_wants_hints(const gather_map *map) { return map->remote && !map->remote->source.exact; }

void gather_map_expect_all(const gather_map *map, gather_map_range *ranges, int64_t count) {
  if (gather_map_wants_hints(map) && map_need_all(map, ranges, count, NULL) != GATHER_OK) return;
}

gather_status gather_map_fetch_all(const gather_map *map, gather_map_range *ranges, int64_t count, gather_error *error) {
  if (!map->remote) return GATHER_OK;
  (void)pthread_mutex_lock(&map->remote->lock);
  return unlock(map->remote, load_missing(map->remote, ranges, count, false, error));
}

bool gather_map_has(const gather_map *map, int64_t offset, int64_t bytes) {
  if (!map->remote) return true;
  (void)pthread_mutex_lock(&map->remote->lock);
  bool has = map_extents_has(&map->remote->loaded, offset, offset + bytes);
  (void)pthread_mutex_unlock(&map->remote->lock);
  return has;
}

/* ---- what is loaded when the file has been read */

bool gather_map_later(const gather_map *map, int64_t offset, int64_t bytes) {
  gather_map_remote *remote = map->remote;
  if (bytes > LATER_MAX - remote->later_bytes) return false;
  if (remote->later_len == remote->later_room) {
    gather_map_range *made = gather_alloc_grown(remote->later, (int64_t)sizeof *made, &remote->later_room);
    if (!made) return false;
    remote->later = made;
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
  return map_need_all(map, remote->later, count, error);
}

gather_status gather_map_failure(const gather_map *map, gather_error *error) {
  if (!map->remote) return GATHER_OK;
  (void)pthread_mutex_lock(&map->remote->lock);
  return unlock(map->remote, recall(map->remote, error));
}

gather_remote_object *gather_map_object(const gather_map *map) { return map->remote ? map->remote->source.object : NULL; }

/* ---- an object of src/io/remote: its ranges are read by several requests at once */

/* PART: the longest request. LEAST_GAP, MOST_GAP: bytes that are read although nobody needs them, to save one request. */
enum { PART = 1 << 23, LEAST_GAP = 1 << 13, MOST_GAP = 1 << 20 };

typedef struct object_context {
  gather_remote_client *client;
  gather_remote_object *object;
} object_context;

/* A request costs its latency; in that time, so many bytes could be read. Requests that are in flight together cost it once, so
 * joining gains little, until there are more of them than connections. */
static int64_t object_gap(void *argument, int64_t count) {
  const object_context *context = argument;
  gather_remote_costs costs;
  gather_remote_client_costs(context->client, &costs);
  double bytes = costs.latency * costs.bandwidth;
  if (count > 1 && count <= costs.connections) return LEAST_GAP;
  if (count > 1 && costs.connections > 1) bytes /= costs.connections;
  return bytes < (double)LEAST_GAP ? LEAST_GAP : bytes < (double)MOST_GAP ? (int64_t)bytes : MOST_GAP;
}

static int64_t count_parts(const gather_map_range *ranges, int64_t count) {
  int64_t parts = 0;
  for (int64_t i = 0; i < count; i++) parts += (ranges[i].bytes - 1) / PART + 1;
  return parts;
}

static void begin_all(const object_context *context, gather_remote_queue *queue, const gather_map_range *ranges, int64_t count,
                      uint8_t *memory, gather_remote_request *requests) {
  for (int64_t i = 0; i < count; i++)
    for (int64_t done = 0; done < ranges[i].bytes; done += PART) {
      int64_t offset = ranges[i].offset + done, left = ranges[i].bytes - done;
      *requests = (gather_remote_request){
          .object = context->object, .offset = offset, .bytes = left < PART ? left : PART, .data = (char *)memory + offset};
      gather_remote_begin(queue, requests++);
    }
}

/* Waits for all: their memory is ours only then. Keeps the first failure, and ends the others early. */
static gather_status finish_all(gather_remote_queue *queue, int64_t parts, gather_error *error) {
  gather_status status = GATHER_OK;
  for (int64_t i = 0; i < parts; i++) {
    const gather_remote_request *done = gather_remote_finish(queue);
    if (done->status == GATHER_OK || status != GATHER_OK) continue;
    status = done->status;
    if (error) *error = done->error;
    gather_remote_cancel(queue);
  }
  return status;
}

static gather_status object_read(void *argument, const gather_map_range *ranges, int64_t count, uint8_t *memory, gather_error *error) {
  const object_context *context = argument;
  const int64_t parts = count_parts(ranges, count);
  gather_remote_queue *queue = NULL;
  gather_remote_client_enter(context->client);
  if (parts == 1) return gather_remote_object_read(context->object, ranges->offset, ranges->bytes, memory + ranges->offset, error);
  gather_remote_request *requests = gather_alloc(parts * (int64_t)sizeof *requests);
  if (!requests)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, gather_remote_object_name(context->object), -1, "out of memory while reading it");
  gather_status status = gather_remote_queue_create(context->client, &queue, error);
  if (status == GATHER_OK) {
    begin_all(context, queue, ranges, count, memory, requests);
    status = finish_all(queue, parts, error);
    gather_remote_queue_destroy(queue);
  }
  gather_free(requests);
  return status;
}

static void object_close(void *argument) {
  object_context *context = argument;
  gather_remote_object_close(context->object);
  gather_remote_client_release(context->client);
  gather_free(context);
}

gather_status gather_map_open_url(gather_remote_client *client, const char *url, gather_map *map, gather_error *error) {
  gather_remote_object *object = NULL;
  gather_remote_client_enter(client);
  GATHER_TRY(gather_remote_object_open(client, url, &object, error));
  const char *name = gather_remote_object_name(object);
  object_context *context = gather_alloc((int64_t)sizeof *context);
  if (!context) {
    gather_status status = gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "out of memory while reading it");
    gather_remote_object_close(object);
    return status;
  }
  *context = (object_context){gather_remote_client_hold(client), object};
  gather_map_source source = {.context = context,
                              .size = gather_remote_object_size(object),
                              .read = object_read,
                              .close = object_close,
                              .gap = object_gap,
                              .object = object};
  source.head = gather_remote_object_head(object, &source.head_bytes);
  return gather_map_open_source(&source, name, map, error);
}
