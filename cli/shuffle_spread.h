/* SPDX-License-Identifier: MIT
 *
 * shuffle_spread.h: records of one size that go to many regions of a file: each region has a buffer, so that the disk sees few and
 * long writes.
 */
#ifndef GATHER_CLI_SHUFFLE_SPREAD_H
#define GATHER_CLI_SHUFFLE_SPREAD_H

#include "gather/gather.h"

/* A region: where it is in the file, and how much of it is there. */
typedef struct gather_cli_region {
  int64_t offset;        /* in the file, in bytes */
  int64_t room, written; /* in records */
  int64_t held;          /* records in the buffer, behind those that were written */
} gather_cli_region;

typedef struct gather_cli_spread {
  int fd;           /* not owned */
  const char *file; /* for messages; not owned */
  int64_t record_bytes;
  int64_t regions, most; /* records of a buffer */
  gather_cli_region *region;
  char *buffers;
} gather_cli_spread;

/* Makes the buffers; the caller fills in offset, room and written of each region. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_spread_start(gather_cli_spread *spread, int fd, const char *file,
                                                     int64_t record_bytes, int64_t regions, int64_t most,
                                                     gather_error *error);
/* Adds one record. Returns GATHER_IO_ERROR, also where the region has no room left. */
GATHER_CHECKED gather_status gather_cli_spread_add(gather_cli_spread *spread, int64_t region, const void *record,
                                                   gather_error *error);
/* Writes all that is held. */
GATHER_CHECKED gather_status gather_cli_spread_flush(gather_cli_spread *spread, gather_error *error);
void gather_cli_spread_end(gather_cli_spread *spread);

/* Writes bytes at a place of a file, and has the disk begin with them. Returns GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_cli_write_at(int fd, const char *file, const void *bytes, int64_t size,
                                                 int64_t offset, gather_error *error);
/* Has the disk begin with these bytes of a file. */
void gather_cli_begin_writing(int fd, int64_t size, int64_t offset);
/* Tells the system that these bytes will be read soon. */
void gather_cli_read_ahead(int fd, int64_t size, int64_t offset);

#endif
