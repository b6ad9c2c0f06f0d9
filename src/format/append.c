/* SPDX-License-Identifier: MIT
 *
 * append.c: an output that is written part by part and does not fill the page cache: each part goes to the disk at
 * once, and the pages already written are dropped.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "format/map.h"
#include "format/output.h"

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

/* Starts writing the bytes [first, last) to the disk. Errors are reported by wait_for_disk. */
static void begin_writing(int fd, int64_t first, int64_t last) {
#if defined(SYNC_FILE_RANGE_WRITE)
  (void)sync_file_range(fd, (off_t)first, (off_t)(last - first), SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)first, (void)last;
#endif
}

/* Waits until the disk has the bytes [first, last); an errno. */
static int wait_for_disk(int fd, int64_t first, int64_t last) {
#if defined(SYNC_FILE_RANGE_WRITE)
  const unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  if (sync_file_range(fd, (off_t)first, (off_t)(last - first), all) == 0) return 0;
  if (errno != ENOSYS && errno != EINVAL && errno != ESPIPE) return errno;
#else
  (void)first, (void)last;
#endif
  return fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: the file system has nothing to sync */
}

/* Waits until the disk has all but the last `keep` bytes, and drops their pages. */
static gather_status settle(gather_output *output, int64_t keep, gather_error *error) {
  int64_t last = output->written - keep;
  if (last <= output->settled) return GATHER_OK;
  int number = wait_for_disk(output->fd, output->settled, last);
  if (number != 0) return gather_fail_system(error, output->target, number, "write it");
#if defined(POSIX_FADV_DONTNEED)
  (void)posix_fadvise(output->fd, (off_t)output->settled, (off_t)(last - output->settled), POSIX_FADV_DONTNEED);
#endif
  output->settled = last;
  return GATHER_OK;
}

/* One write. It may exceed the window by at most `size` bytes. */
static gather_status append_step(gather_output *output, const char *bytes, int64_t size, int64_t window_bytes,
                                 gather_error *error) {
  GATHER_TRY(write_all(output, bytes, size, error));
  output->written += size;
  if (window_bytes == 0) return GATHER_OK;
  begin_writing(output->fd, output->written - size, output->written);
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
