/* SPDX-License-Identifier: MIT
 *
 * resident_pages.c: pages in the page cache, by Linux's cachestat and by reads that do not wait. Other systems have neither.
 */
#define _GNU_SOURCE /* preadv2, syscall */
#define _FILE_OFFSET_BITS 64
#include "table/system/table_system.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#if defined(__linux__)
int64_t gather_pages_resident(const gather_table_source *source, int64_t offset, int64_t bytes) {
  enum { CACHESTAT = 451 /* the same on every architecture, but newer than most headers */ };
  struct {
    uint64_t offset, bytes;
  } range = {(uint64_t)offset, (uint64_t)bytes};
  struct {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } found = {0};
  return syscall(CACHESTAT, source->fd, &range, &found, 0) == 0 ? (int64_t)found.cached : -1;
}
#else
int64_t gather_pages_resident(const gather_table_source *source, int64_t offset, int64_t bytes) {
  (void)source, (void)offset, (void)bytes;
  return -1;
}
#endif

#if defined(__linux__) && defined(RWF_NOWAIT)
#if !defined(__GLIBC__) /* musl has the function since 1.2.5 only; the system call takes the offset as two longs */
#define preadv2(fd, to, count, offset, flags) syscall(SYS_preadv2, fd, to, count, (long)(offset), (long)((offset) >> 32), flags)
#endif
bool gather_pages_read(const gather_table_source *source, int64_t offset, int64_t bytes, char *out) {
  struct iovec to = {out, (size_t)bytes};
  return preadv2(source->fd, &to, 1, (off_t)offset, RWF_NOWAIT) == (ssize_t)bytes;
}
#else
bool gather_pages_read(const gather_table_source *source, int64_t offset, int64_t bytes, char *out) {
  (void)source, (void)offset, (void)bytes, (void)out;
  return false;
}
#endif

#if defined(MADV_POPULATE_READ)
void gather_pages_map(const gather_table_source *source, int64_t offset, int64_t bytes) {
  (void)madvise(source->map + offset, (size_t)bytes, MADV_POPULATE_READ);
}
#else
void gather_pages_map(const gather_table_source *source, int64_t offset, int64_t bytes) { (void)source, (void)offset, (void)bytes; }
#endif

void gather_pages_unmap(const gather_table_source *source, int64_t offset, int64_t bytes) {
  (void)madvise(source->map + offset, (size_t)bytes, MADV_DONTNEED);
}
