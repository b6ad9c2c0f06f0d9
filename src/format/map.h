/* SPDX-License-Identifier: MIT
 *
 * map.h: maps a file into memory. Of all reading, only this code calls the operating system.
 */
#ifndef GATHER_FORMAT_MAP_H
#define GATHER_FORMAT_MAP_H

#include "gather/gather.h"

typedef struct gather_map {
  const uint8_t *bytes; /* NULL if there are none */
  int64_t size;
  bool owned;             /* gather_map_close unmaps it */
  uint64_t device, inode; /* identity of a mapped file, whatever its name is by now */
} gather_map;

/* Maps a regular file for reading; its pages are read when they are touched. */
GATHER_CHECKED gather_status gather_map_open(const char *path, gather_map *map, gather_error *error);
/* The same, but symbolic links after the first folder_bytes bytes of the path (a folder with its slash) are not
 * followed: GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_map_open_below(char *path, size_t folder_bytes, gather_map *map,
                                                   gather_error *error);
/* Opens it in the same way. Returns a descriptor, or -1 with errno (ELOOP for a link). path is modified meanwhile
 * and restored. */
int gather_open_below(char *path, size_t folder_bytes, int flags);
/* open() with O_CLOEXEC, retried after EINTR (network file systems). Returns a descriptor, or -1 with errno. mode:
 * for a new file. */
int gather_open_file(const char *path, int flags, unsigned mode);
void gather_map_close(gather_map *map);

/* Fails with the system's message for errno `number`; `doing` completes "cannot ...". */
GATHER_CHECKED gather_status gather_fail_system(gather_error *error, const char *path, int number, const char *doing);

#endif
