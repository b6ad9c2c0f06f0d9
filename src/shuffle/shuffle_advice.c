/* SPDX-License-Identifier: MIT
 *
 * shuffle_advice.c: advice to the system, where it accepts any.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sync_file_range, madvise */
#endif
#define _FILE_OFFSET_BITS 64
#include "shuffle/shuffle_advice.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void gather_shuffle_begin_writing(int fd, int64_t size, int64_t offset) {
#if defined(SYNC_FILE_RANGE_WRITE)
  (void)sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)size, (void)offset;
#endif
}

void gather_shuffle_read_ahead(int fd, int64_t size, int64_t offset) {
#if defined(POSIX_FADV_WILLNEED)
  if (size > 0) (void)posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
#else
  (void)fd, (void)size, (void)offset;
#endif
}

void gather_shuffle_read_in_order(int fd) {
#if defined(POSIX_FADV_SEQUENTIAL)
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
  (void)fd;
#endif
}

void gather_shuffle_drop_pages(const void *memory, int64_t bytes) {
#if defined(MADV_DONTNEED)
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
  uintptr_t first = (begin + page - 1) / page * page, last = (begin + (uintptr_t)bytes) / page * page;
  if (memory && first < last) (void)madvise((char *)(uintptr_t)memory + (first - begin), last - first, MADV_DONTNEED);
#else
  (void)memory, (void)bytes;
#endif
}
