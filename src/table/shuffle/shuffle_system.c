/* SPDX-License-Identifier: MIT
 *
 * shuffle_system.c: plain reading and writing of files by descriptors.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "table/shuffle/shuffle_system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/system/disk.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/system/shuffle_advice.h"

/* Some systems refuse more than 2 GiB at once; reads are shorter, so that a cancellation is noticed soon. */
enum { READ_AT_MOST = 16 << 20, WRITE_AT_MOST = 1 << 30 };

gather_status gather_shuffle_failure_of(int number) {
  return number == ENOMEM ? GATHER_OUT_OF_MEMORY : GATHER_IO_ERROR;
}

gather_status gather_shuffle_status_of(int number) {
  return number == ENOENT || number == ENOTDIR ? GATHER_FILE_NOT_FOUND : gather_shuffle_failure_of(number);
}

int gather_shuffle_open_at(int folder, const char *path, int flags, unsigned mode) {
  int fd;
  do fd = openat(folder, path, flags | O_CLOEXEC, (mode_t)mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

static gather_status fail_read(const char *file, int64_t offset, ssize_t got, gather_error *error) {
  const int number = errno;
  if (got < 0)
    return gather_fail_errno(error, gather_shuffle_status_of(number), number, file, offset, "cannot read it");
  return gather_fail_file(error, GATHER_IO_ERROR, file, offset, "cannot read it: it was truncated while it was in use");
}

gather_status gather_shuffle_read_at(const gather_shuffle *job, int fd, const char *file, void *bytes, int64_t size,
                                     int64_t offset, gather_error *error) {
  char *to = bytes;
  const int64_t end = offset + size;
  while (offset < end) {
    int64_t now = end - offset < READ_AT_MOST ? end - offset : READ_AT_MOST;
    GATHER_TRY(gather_shuffle_go_on(job, error));
    ssize_t got = pread(fd, to, (size_t)now, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail_read(file, offset, got, error);
    to += got;
    offset += got;
  }
  return GATHER_OK;
}

gather_status gather_shuffle_write_at(int fd, const char *file, const void *bytes, int64_t size, int64_t offset,
                                      gather_error *error) {
  const char *from = bytes;
  const int64_t begin = offset, end = offset + size;
  while (offset < end) {
    int64_t now = end - offset < WRITE_AT_MOST ? end - offset : WRITE_AT_MOST;
    ssize_t wrote = pwrite(fd, from, (size_t)now, (off_t)offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      return gather_fail_errno(error, GATHER_IO_ERROR, wrote < 0 ? errno : ENOSPC, file, offset, "cannot write it");
    from += wrote;
    offset += wrote;
  }
  gather_disk_begin(fd, begin, size);
  return GATHER_OK;
}
