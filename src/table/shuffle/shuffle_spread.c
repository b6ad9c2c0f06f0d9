/* SPDX-License-Identifier: MIT
 *
 * shuffle_spread.c: buffers of regions.
 */
#include "table/shuffle/shuffle_spread.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "table/shuffle/shuffle_system.h"

gather_status gather_spread_start(gather_spread *spread, int fd, const char *file, int64_t record_bytes,
                                  int64_t regions, int64_t most, gather_error *error) {
  *spread = (gather_spread){
      .fd = fd, .file = file, .record_bytes = record_bytes, .regions = regions, .most = most, .region = NULL};
  if (most <= PTRDIFF_MAX / record_bytes / regions) { /* none of them is 0 */
    spread->region = gather_alloc(regions * (int64_t)sizeof *spread->region);
    spread->buffers = gather_alloc(regions * most * record_bytes);
  }
  if (spread->region && spread->buffers) return GATHER_OK;
  gather_spread_end(spread);
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the buffers of a shuffle");
}

static gather_status write_region(gather_spread *spread, int64_t i, gather_error *error) {
  gather_region *region = &spread->region[i];
  const char *from = spread->buffers + i * spread->most * spread->record_bytes;
  if (region->held == 0) return GATHER_OK;
  if (region->held > region->room - region->written)
    return gather_fail_file(error, GATHER_IO_ERROR, spread->file, region->offset,
                            "the order of the rows changed while it was in use");
  GATHER_TRY(gather_shuffle_write_at(spread->fd, spread->file, from, region->held * spread->record_bytes,
                                     region->offset + region->written * spread->record_bytes, error));
  region->written += region->held;
  region->held = 0;
  return GATHER_OK;
}

gather_status gather_spread_add(gather_spread *spread, int64_t i, const void *record, gather_error *error) {
  gather_region *region = &spread->region[i];
  memcpy(spread->buffers + (i * spread->most + region->held) * spread->record_bytes, record,
         (size_t)spread->record_bytes);
  return ++region->held == spread->most ? write_region(spread, i, error) : GATHER_OK;
}

gather_status gather_spread_flush(gather_spread *spread, gather_error *error) {
  for (int64_t i = 0; i < spread->regions; i++) GATHER_TRY(write_region(spread, i, error));
  return GATHER_OK;
}

void gather_spread_end(gather_spread *spread) {
  gather_free(spread->region);
  gather_free(spread->buffers);
  *spread = (gather_spread){.fd = -1};
}
