/* SPDX-License-Identifier: MIT
 *
 * disk_macos.c: files and their disk, by the commands of fcntl() that macOS has for it. Its fsync() hands bytes to the disk, which may
 * keep them in memory of its own; F_FULLFSYNC waits until they are safe.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/system/disk.h"

/* Nothing starts writing a part of a file; the system does so by itself. */
void gather_disk_begin(int fd, int64_t offset, int64_t bytes) { (void)fd, (void)offset, (void)bytes; }

/* 0 or an errno; none where a file system has nothing to sync. */
static int sync_file(int fd) {
  int result;
  do result = fsync(fd);
  while (result != 0 && errno == EINTR);
  return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
}

int gather_disk_wait(int fd, int64_t offset, int64_t bytes) {
  (void)offset, (void)bytes;
  return sync_file(fd);
}

/* Pages cannot be dropped one by one. From here on, this descriptor writes past the page cache. */
void gather_disk_drop(int fd, int64_t offset, int64_t bytes) {
  (void)offset, (void)bytes;
  (void)fcntl(fd, F_NOCACHE, 1);
}

/* Network and other file systems that do not know the command know fsync(). */
int gather_disk_sync(int fd) {
  int result;
  do result = fcntl(fd, F_FULLFSYNC) == -1 ? -1 : 0;
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : sync_file(fd);
}

int gather_disk_sync_data(int fd) { return gather_disk_sync(fd); }

int gather_disk_sync_all(int fd) {
  (void)fd;
  sync();
  return 0;
}

/* Room in one piece first, then in any; F_PREALLOCATE leaves the size as it is. A file system that cannot reserve says ENOTSUP. */
int gather_disk_reserve(int fd, int64_t size) {
  fstore_t room = {.fst_flags = F_ALLOCATECONTIG | F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)size};
  if (fcntl(fd, F_PREALLOCATE, &room) == -1) {
    room.fst_flags = F_ALLOCATEALL;
    if (fcntl(fd, F_PREALLOCATE, &room) == -1 && errno == ENOSPC) return ENOSPC;
  }
  return ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
}
