/* SPDX-License-Identifier: MIT
 *
 * shuffle_spread.h: records of one size that go to many regions of a file: each region has a buffer, so that writes are
 * few and long.
 */
#ifndef GATHER_SHUFFLE_SHUFFLE_SPREAD_H
#define GATHER_SHUFFLE_SHUFFLE_SPREAD_H

#include "gather/gather.h"

/* A region: its place in the file, and how much of it is written. */
typedef struct gather_region {
  int64_t offset;        /* in the file, in bytes */
  int64_t room, written; /* in records */
  int64_t held;          /* records in the buffer, after those that were written */
} gather_region;

typedef struct gather_spread {
  int fd;           /* not owned */
  const char *file; /* for messages; not owned */
  int64_t record_bytes;
  int64_t regions, most; /* records of a buffer */
  gather_region *region;
  char *buffers;
} gather_spread;

/* Makes the buffers; the caller fills in offset, room and written of each region. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_spread_start(gather_spread *spread, int fd, const char *file, int64_t record_bytes,
                                                 int64_t regions, int64_t most, gather_error *error);
/* Adds one record. Returns GATHER_IO_ERROR, also where the region has no room left. */
GATHER_CHECKED gather_status gather_spread_add(gather_spread *spread, int64_t region, const void *record,
                                               gather_error *error);
/* Writes all that is held. */
GATHER_CHECKED gather_status gather_spread_flush(gather_spread *spread, gather_error *error);
void gather_spread_end(gather_spread *spread);

#endif
