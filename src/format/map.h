/* SPDX-License-Identifier: MIT
 *
 * map.h: a file as memory. The only reading that asks the operating system.
 */
#ifndef GATHER_FORMAT_MAP_H
#define GATHER_FORMAT_MAP_H

#include "gather/gather.h"

typedef struct gather_map {
  const uint8_t *bytes; /* NULL where there are none */
  int64_t size;
  bool owned;             /* gather_map_close ends the mapping */
  uint64_t device, inode; /* of a mapped file: which it is, whatever its name is by now */
} gather_map;

/* Maps a regular file for reading; its pages are read when they are touched. */
GATHER_CHECKED gather_status gather_map_open(const char *path, gather_map *map, gather_error *error);
/* The same without following symbolic links behind the first folder_bytes bytes of the path, which are a folder with its slash. A link
 * is GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_map_open_below(char *path, size_t folder_bytes, gather_map *map,
                                                   gather_error *error);
/* Opens it likewise: a descriptor; -1 with errno, ELOOP for a link. path is changed meanwhile. */
int gather_open_below(char *path, size_t folder_bytes, int flags);
/* open() with O_CLOEXEC, tried again where a signal interrupts it (network file systems): a descriptor, or -1 with errno. mode: for a
 * file that is made. */
int gather_open_file(const char *path, int flags, unsigned mode);
void gather_map_close(gather_map *map);

/* Fails with the system's words for errno's `number`; `doing` completes "cannot ...". */
GATHER_CHECKED gather_status gather_fail_system(gather_error *error, const char *path, int number, const char *doing);

#endif
