/* SPDX-License-Identifier: MIT
 *
 * map.h: maps a file into memory. Of all reading, only this code calls the operating system.
 *
 * A remote file is a map, too: memory of its size that is filled on demand. So a reader calls gather_map_need before it reads bytes.
 * For local files this does nothing.
 */
#ifndef GATHER_FORMAT_MAP_H
#define GATHER_FORMAT_MAP_H

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "gather/gather.h"

typedef struct gather_map_remote gather_map_remote; /* format/map_remote.h */

typedef struct gather_map {
  const uint8_t *bytes; /* NULL if there are none */
  int64_t size;
  bool owned;                /* gather_map_close unmaps it */
  uint64_t device, inode;    /* identity of a mapped file, whatever its name is by now */
  gather_map_remote *remote; /* filled on demand; NULL = a local file, or memory: all bytes are there */
} gather_map;

/* map_remote.c: loads bytes of a remote map. */
GATHER_CHECKED gather_status gather_map_load(gather_map_remote *remote, int64_t offset, int64_t bytes, gather_error *error);

/* Makes sure that these bytes can be read; those past the end are ignored: the caller checks the size. Any file offset, any number
 * of bytes. Returns the errors of gather_remote_object_read, and GATHER_UNSUPPORTED beyond the limits of format/map_remote.h. After a
 * failure every further call fails likewise, and opening the file does, whatever the reader says. */
GATHER_INLINE gather_status gather_map_need(const gather_map *map, int64_t offset, int64_t bytes, gather_error *error) {
  return map->remote ? gather_map_load(map->remote, offset, bytes, error) : GATHER_OK;
}

/* Maps a regular file for reading; its pages are read when they are touched. */
GATHER_CHECKED gather_status gather_map_open(const char *path, gather_map *map, gather_error *error);
/* The same, but symbolic links after the first folder_bytes bytes of the path (a folder with its slash) are not
 * followed: GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_map_open_below(char *path, size_t folder_bytes, gather_map *map, gather_error *error);

/* A descriptor of a file for reading, opened likewise; -1 with errno, ELOOP for a link. The path is modified meanwhile and restored. */
int gather_open_below(char *path, size_t folder_bytes);

/* open() with O_CLOEXEC, retried after EINTR (network file systems). Returns a descriptor, or -1 with errno. mode:
 * for a new file. */
int gather_open_file(const char *path, int flags, unsigned mode);
/* Sets only the identity of a map: that of the file that a path, with its links, leads to. False: there is none. */
bool gather_map_identify(const char *path, gather_map *map);
/* Whether two maps are of the same local file. Maps of memory have no identity. */
GATHER_INLINE bool gather_map_is_same(const gather_map *a, const gather_map *b) {
  return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}
void gather_map_close(gather_map *map);
/* How pages of a local file come from now on: `ahead` with those behind them, as they do at first, or alone, for metadata in many places: a
 * disk may read 8 MiB ahead of each. Does nothing for others. */
void gather_map_read_ahead(const gather_map *map, bool ahead);
/* Bytes of a local file that will be read soon: the system begins to. */
void gather_map_will_need(const gather_map *map, int64_t offset, int64_t bytes);

/* gather_fail_system for a file that cannot be opened for reading. If there is none, the message says what else the name can mean: a URL
 * of another
 * scheme, a link whose target does not exist. */
GATHER_CHECKED gather_status gather_fail_open(gather_error *error, const char *path, int number);

#endif
