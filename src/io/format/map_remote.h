/* SPDX-License-Identifier: MIT
 *
 * map_remote.h: maps that are filled on demand: memory of a file's size, which needs none until its bytes are loaded. Readers of
 * formats then work on remote files as on mapped ones, and call gather_map_need before they read.
 *
 * What a need loads: at least the bytes asked for; after them as many as readers of headers are likely to want next: 64 KiB, and four
 * times as much for each need that goes on where the last one ended, up to 8 MiB. So metadata of 30 MB take six requests. A need a
 * little behind the last loaded byte loads what lies between, too, if that is faster than a request (latency times bandwidth).
 *
 * Limits, against servers and files that lie: the metadata of one file are at most 256 MiB and 16384 requests. What the caller asks
 * for by name (gather_map_fetch) does not count.
 *
 * Threads: any number, except for gather_map_later and gather_map_load_later, which are for the thread that opens the file.
 */
#ifndef GATHER_FORMAT_MAP_REMOTE_H
#define GATHER_FORMAT_MAP_REMOTE_H

#include "io/format/map.h"
#include "io/remote/remote_client.h"

#define GATHER_MAP_METADATA_MAX (INT64_C(256) << 20)
enum { GATHER_MAP_REQUESTS_MAX = 16384 };

typedef struct gather_map_range {
  int64_t offset, bytes;
} gather_map_range;

/* Where the bytes come from: an object of src/io/remote, or memory in tests. */
typedef struct gather_map_source {
  void *context;
  int64_t size;
  const char *head; /* bytes that are known already, from byte 0 */
  int64_t head_bytes;
  /* Reads ranges, each to `memory` + its offset; several at a time, if it can. */
  gather_status (*read)(void *context, const gather_map_range *ranges, int64_t count, uint8_t *memory, gather_error *error);
  void (*close)(void *context);
  /* The bytes between two ranges that are faster to read than a further request. count: of ranges, which are requested at once; 1: the
   * next need is known only when this one is answered. NULL = 0. */
  int64_t (*gap)(void *context, int64_t count);
  gather_remote_object *object; /* NULL for other sources */
  /* For tests: loads exactly what is needed, and lets every access to other bytes fail: pages without access; with AddressSanitizer
   * bytes. Else they read as zero. */
  bool exact;
} gather_map_source;

/* Maps a source, which the map owns from now on, also on failure. name: for messages. Returns GATHER_OVERFLOW (too large for the
 * address space), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_map_open_source(const gather_map_source *source, const char *name, gather_map *map,
                                                    gather_error *error);
/* Unmaps it and closes its source. NULL does nothing. */
void gather_map_remote_close(gather_map_remote *remote);

/* A hint: loads bytes that the reader will need next, so that its needs are one request. Not in exact maps. A failure is returned by
 * the next need. */
void gather_map_expect_all(const gather_map *map, gather_map_range *ranges, int64_t count);
GATHER_INLINE void gather_map_expect(const gather_map *map, int64_t offset, int64_t bytes) {
  gather_map_expect_all(map, &(gather_map_range){offset, bytes}, 1);
}
/* Whether hints are of use: the map is remote and not exact. */
bool gather_map_wants_hints(const gather_map *map);
/* Loads bytes that the caller asked for, in large parts at once. They do not count as metadata. */
GATHER_CHECKED gather_status gather_map_fetch_all(const gather_map *map, gather_map_range *ranges, int64_t count, gather_error *error);
GATHER_INLINE gather_status gather_map_fetch(const gather_map *map, int64_t offset, int64_t bytes, gather_error *error) {
  return gather_map_fetch_all(map, &(gather_map_range){offset, bytes}, 1, error);
}
/* Whether these bytes are loaded; true for local maps. */
bool gather_map_has(const gather_map *map, int64_t offset, int64_t bytes);
/* Notes a range to be loaded by gather_map_load_later. False: out of memory, or too many bytes already. */
bool gather_map_later(const gather_map *map, int64_t offset, int64_t bytes);
GATHER_CHECKED gather_status gather_map_load_later(const gather_map *map, gather_error *error);
/* The first failure of a need; GATHER_OK if there was none. */
GATHER_CHECKED gather_status gather_map_failure(const gather_map *map, gather_error *error);
/* The object of a map that has one; else NULL. It lives as long as the map. */
gather_remote_object *gather_map_object(const gather_map *map);

/* Maps a URL: one request, for its first bytes. The map owns the object. */
GATHER_CHECKED gather_status gather_map_open_url(gather_remote_client *client, const char *url, gather_map *map, gather_error *error);
#endif
