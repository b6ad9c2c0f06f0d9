/* SPDX-License-Identifier: MIT
 *
 * table_source.h: a file that rows are read from: its descriptors and its mapping.
 */
#ifndef GATHER_TABLE_SOURCE_H
#define GATHER_TABLE_SOURCE_H

#include "core/base/compiler.h"
#include "gather/gather.h"

typedef struct gather_table_source {
  char *path;                          /* owned */
  int fd;                              /* through the page cache, advised as random access; -1 = not open */
  int direct_fd;                       /* direct (O_DIRECT); -1 if not supported or not wanted */
  int direct_errno;                    /* why there is none; 0 = not wanted */
  int64_t block_bytes;                 /* alignment of offsets, lengths and memory of reads: 4096, or more if the system requires it */
  int64_t size;                        /* when opened */
  char *map;                           /* the whole file, read-only, advised as random access; NULL = not mapped */
  uint64_t device_number;              /* of its file system: st_dev */
  int32_t device;                      /* the table's: number of its device */
  int32_t queue;                       /* the table's: a reader's queue for its reads */
  struct gather_remote_object *object; /* the file is on another machine, and has none of the above; belongs to the file. NULL = local */
} gather_table_source;

/* How a file is to be opened. */
typedef struct gather_table_source_wishes {
  bool direct, mapped;
  struct gather_remote_object *object; /* the file is on another machine, and is not opened: it must outlive the source. NULL = local */
  int64_t object_bytes;                /* how long that one is */
} gather_table_source_wishes;

/* Opens a regular file. If direct I/O is not possible, direct_errno says why and it is not an error; a failed
 * mapping is an error. Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_table_source_open(const char *path, const gather_table_source_wishes *wishes,
                                                      gather_table_source *source, gather_error *error);
/* What a file is now, without keeping it open: its file system and its number there, and its size. Returns as gather_table_source_open. */
GATHER_CHECKED gather_status gather_table_source_look(const char *path, uint64_t *device, uint64_t *inode, int64_t *size,
                                                      gather_error *error);
/* The descriptor to read from: the direct one if available. */
GATHER_INLINE int gather_table_source_fd(const gather_table_source *source) {
  return source->direct_fd >= 0 ? source->direct_fd : source->fd;
}
/* Closes and unmaps; an all-zero source with fd and direct_fd -1 is closed already. */
void gather_table_source_close(gather_table_source *source);
/* Fails with GATHER_IO_ERROR and the byte at which the file ends if it is shorter than when it was opened. */
GATHER_CHECKED gather_status gather_table_source_check(const gather_table_source *source, gather_error *error);

#endif
