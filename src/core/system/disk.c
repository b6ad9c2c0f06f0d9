/* SPDX-License-Identifier: MIT
 *
 * disk.c: files and their disk, by POSIX, and by Linux where that can do it for a part of a file.
 */
#define _GNU_SOURCE /* sync_file_range, syncfs */
#define _FILE_OFFSET_BITS 64
#include "core/system/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__) && defined(SYNC_FILE_RANGE_WRITE) /* Emscripten has the name, but not the function */
enum { WRITE = SYNC_FILE_RANGE_WRITE, WAIT = SYNC_FILE_RANGE_WAIT_BEFORE | WRITE | SYNC_FILE_RANGE_WAIT_AFTER };

/* 0 or -1 with errno. */
static int write_range(int fd, int64_t offset, int64_t bytes, unsigned how) {
  return sync_file_range(fd, (off_t)offset, (off_t)bytes, how);
}
#else
enum { WRITE, WAIT };

static int write_range(int fd, int64_t offset, int64_t bytes, unsigned how) {
  (void)fd, (void)offset, (void)bytes, (void)how;
  errno = ENOSYS;
  return -1;
}
#endif

void gather_disk_begin(int fd, int64_t offset, int64_t bytes) { (void)write_range(fd, offset, bytes, WRITE); }

#if defined(POSIX_FADV_DONTNEED)
void gather_disk_drop(int fd, int64_t offset, int64_t bytes) { (void)posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED); }
#else
void gather_disk_drop(int fd, int64_t offset, int64_t bytes) { (void)fd, (void)offset, (void)bytes; }
#endif

/* 0 or an errno; none where a file system has nothing to sync. */
static int end_sync(int result) { return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno; }

int gather_disk_sync(int fd) {
  int result;
  do result = fsync(fd);
  while (result != 0 && errno == EINTR);
  return end_sync(result);
}

/* Where the system cannot wait for a part, for the whole file. */
int gather_disk_wait(int fd, int64_t offset, int64_t bytes) {
  if (write_range(fd, offset, bytes, WAIT) == 0) return 0;
  return errno == ENOSYS || errno == EINVAL || errno == ESPIPE ? gather_disk_sync(fd) : errno;
}

int gather_disk_sync_data(int fd) {
  int result;
  do result = fdatasync(fd);
  while (result != 0 && errno == EINTR);
  return end_sync(result);
}

#if defined(__linux__)
int gather_disk_sync_all(int fd) { return syncfs(fd) == 0 ? 0 : errno; }
#else
int gather_disk_sync_all(int fd) {
  (void)fd;
  sync();
  return 0;
}
#endif

#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
static int allocate(int fd, int64_t size) {
  int number;
  do number = posix_fallocate(fd, 0, (off_t)size);
  while (number == EINTR);
  return number;
}
#else
static int allocate(int fd, int64_t size) {
  (void)fd, (void)size;
  return ENOSYS;
}
#endif

/* Some file systems cannot reserve. */
int gather_disk_reserve(int fd, int64_t size) {
  int number = allocate(fd, size);
  if (number == EOPNOTSUPP || number == EINVAL || number == ENOSYS) number = ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
  return number;
}
