/* SPDX-License-Identifier: MIT
 *
 * table_source.h: a file that rows come from: descriptors to read it by, and its mapping.
 */
#ifndef GATHER_TABLE_SOURCE_H
#define GATHER_TABLE_SOURCE_H

#include "gather/gather.h"

typedef struct gather_table_source {
  char *path;       /* owned */
  int fd;           /* through the page cache, advised that reads are random; -1 = not open */
  int direct_fd;    /* past it (O_DIRECT); -1 where the file system cannot, or it was not wanted */
  int direct_errno; /* why not; 0 = not wanted */
  int64_t
      block_bytes; /* what offsets, lengths and memory of reads are multiples of: 4096, or more where the system says so */
  int64_t size;    /* when it was opened */
  char *map;       /* the whole file, read-only, advised that reads are random; NULL = not mapped */
} gather_table_source;

/* What of a file is wanted. */
typedef struct gather_table_source_wishes {
  bool direct, mapped;
} gather_table_source_wishes;

/* Opens a regular file. What cannot be had of direct is said in direct_errno and is no error; a mapping that cannot be had is one.
 * Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_table_source_open(const char *path, const gather_table_source_wishes *wishes,
                                                      gather_table_source *source, gather_error *error);
/* The descriptor to read by: past the page cache where that can be had. */
int gather_table_source_fd(const gather_table_source *source);
/* Closes and unmaps; an all-zero source with fd and direct_fd -1 is closed already. */
void gather_table_source_close(gather_table_source *source);
/* Whether the file is still at least as long as when it was opened: GATHER_IO_ERROR with the byte it ends at. */
GATHER_CHECKED gather_status gather_table_source_check(const gather_table_source *source, gather_error *error);

#endif
