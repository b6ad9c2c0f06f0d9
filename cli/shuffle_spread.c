/* SPDX-License-Identifier: MIT
 *
 * shuffle_spread.c: buffers of regions, and the plain reading and writing of files that shuffle does.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sync_file_range */
#endif
#define _FILE_OFFSET_BITS 64
#include "shuffle_spread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { AT_MOST = 1 << 30 };

gather_status gather_cli_spread_start(gather_cli_spread *spread, int fd, const char *file, int64_t record_bytes,
                                      int64_t regions, int64_t most, gather_error *error) {
  *spread = (gather_cli_spread){
      .fd = fd, .file = file, .record_bytes = record_bytes, .regions = regions, .most = most, .region = NULL};
  if (regions > 0 && most > 0 && record_bytes > 0 && most <= PTRDIFF_MAX / record_bytes / regions) {
    spread->region = calloc((size_t)regions, sizeof *spread->region);
    spread->buffers = malloc((size_t)(regions * most * record_bytes));
  }
  if (spread->region && spread->buffers) return GATHER_OK;
  gather_cli_spread_end(spread);
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the buffers of a shuffle");
}

static gather_status write_region(gather_cli_spread *spread, int64_t i, gather_error *error) {
  gather_cli_region *region = &spread->region[i];
  const char *from = spread->buffers + i * spread->most * spread->record_bytes;
  if (region->held == 0) return GATHER_OK;
  if (region->held > region->room - region->written)
    return gather_cli_fail_file(error, GATHER_IO_ERROR, spread->file, region->offset,
                                "the order of the rows was changed while it was used");
  GATHER_CLI_TRY(gather_cli_write_at(spread->fd, spread->file, from, region->held * spread->record_bytes,
                                     region->offset + region->written * spread->record_bytes, error));
  region->written += region->held;
  region->held = 0;
  return GATHER_OK;
}

gather_status gather_cli_spread_add(gather_cli_spread *spread, int64_t i, const void *record, gather_error *error) {
  gather_cli_region *region = &spread->region[i];
  memcpy(spread->buffers + (i * spread->most + region->held) * spread->record_bytes, record,
         (size_t)spread->record_bytes);
  return ++region->held == spread->most ? write_region(spread, i, error) : GATHER_OK;
}

gather_status gather_cli_spread_flush(gather_cli_spread *spread, gather_error *error) {
  for (int64_t i = 0; i < spread->regions; i++) GATHER_CLI_TRY(write_region(spread, i, error));
  return GATHER_OK;
}

void gather_cli_spread_end(gather_cli_spread *spread) {
  free(spread->region);
  free(spread->buffers);
  *spread = (gather_cli_spread){.fd = -1};
}

gather_status gather_cli_write_at(int fd, const char *file, const void *bytes, int64_t size, int64_t offset,
                                  gather_error *error) {
  const char *from = bytes;
  const int64_t begin = offset, end = offset + size;
  while (offset < end) {
    int64_t now = end - offset < AT_MOST ? end - offset : AT_MOST;
    ssize_t wrote = pwrite(fd, from, (size_t)now, (off_t)offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      return gather_cli_fail_file(error, GATHER_IO_ERROR, file, offset, "cannot write it: %s",
                                  strerror(wrote < 0 ? errno : ENOSPC));
    from += wrote;
    offset += wrote;
  }
  gather_cli_begin_writing(fd, size, begin);
  return GATHER_OK;
}

void gather_cli_begin_writing(int fd, int64_t size, int64_t offset) {
#if defined(SYNC_FILE_RANGE_WRITE)
  (void)sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)size, (void)offset;
#endif
}

void gather_cli_read_ahead(int fd, int64_t size, int64_t offset) {
#if defined(POSIX_FADV_WILLNEED)
  if (size > 0) (void)posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
#else
  (void)fd, (void)size, (void)offset;
#endif
}
