/* SPDX-License-Identifier: MIT
 *
 * append.c: an output that is written part by part and does not fill the page cache: each part goes to the disk at
 * once, and the pages already written are dropped.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/system/disk.h"
#include "io/format/map.h"
#include "io/format/output.h"

/* Some systems refuse a write of 2 GiB or more. */
enum { WRITE_AT_MOST = 1 << 30, LEAST_STEP = 1 << 16 };

static gather_status write_all(const gather_output *output, const char *bytes, int64_t size, gather_error *error) {
  int64_t at = output->written;
  while (size > 0) {
    ssize_t wrote = pwrite(output->fd, bytes, size > WRITE_AT_MOST ? (size_t)WRITE_AT_MOST : (size_t)size, (off_t)at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return gather_fail_system(error, output->target, wrote < 0 ? errno : ENOSPC, "write it");
    bytes += wrote;
    at += wrote;
    size -= wrote;
  }
  return GATHER_OK;
}

/* Waits until the disk has all but the last `keep` bytes, and drops their pages. */
static gather_status settle(gather_output *output, int64_t keep, gather_error *error) {
  int64_t last = output->written - keep;
  if (last <= output->settled) return GATHER_OK;
  int number = gather_disk_wait(output->fd, output->settled, last - output->settled);
  if (number != 0) return gather_fail_system(error, output->target, number, "write it");
  gather_disk_drop(output->fd, output->settled, last - output->settled);
  output->settled = last;
  return GATHER_OK;
}

/* One write. It may exceed the window by at most `size` bytes. */
static gather_status append_step(gather_output *output, const char *bytes, int64_t size, int64_t window_bytes,
                                 gather_error *error) {
  GATHER_TRY(write_all(output, bytes, size, error));
  output->written += size;
  if (window_bytes == 0) return GATHER_OK;
  gather_disk_begin(output->fd, output->written - size, size);
  return output->written - output->settled > window_bytes ? settle(output, window_bytes / 2, error) : GATHER_OK;
}

gather_status gather_output_append(gather_output *output, const void *bytes, int64_t size, int64_t window_bytes,
                                   gather_error *error) {
  const char *at = bytes;
  int64_t step = window_bytes == 0 ? size : window_bytes / 4;
  if (step < LEAST_STEP) step = LEAST_STEP;
  while (size > 0) {
    int64_t now = size < step ? size : step;
    GATHER_TRY(append_step(output, at, now, window_bytes, error));
    at += now;
    size -= now;
  }
  return GATHER_OK;
}
