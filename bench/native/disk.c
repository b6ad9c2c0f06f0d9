/* SPDX-License-Identifier: MIT
 *
 * disk.c: what the files of the benchmark hold, and how much of a file is in the page cache.
 */
#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native.h"

enum { PIECE = 4 << 20, ALIGN = 4096 };

/* Numbers in which every bit depends on every bit of i. */
static uint64_t word(uint64_t i) {
  uint64_t x = i + 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static bool write_all(int fd, const char *from, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t wrote = pwrite(fd, from, (size_t)bytes, offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    from += wrote, offset += wrote, bytes -= wrote;
  }
  return true;
}

int64_t bench_words_write(int fd, int64_t offset, int64_t bytes) {
  uint64_t *piece = aligned_alloc(ALIGN, PIECE);
  if (!piece) return -ENOMEM;
  int64_t start = bench_now(), result = 0;
  for (int64_t at = 0; at < bytes && result == 0; at += PIECE) {
    int64_t here = bytes - at < PIECE ? bytes - at : PIECE;
    for (int64_t i = 0; i < (here + 7) / 8; i++) piece[i] = word((uint64_t)(at / 8 + i));
    errno = ENOSPC; /* a write of nothing says no more */
    if (!write_all(fd, (const char *)piece, here, offset + at)) result = -errno;
  }
  free(piece);
  return result ? result : bench_now() - start;
}

int64_t bench_words_check(const char *rows, const int64_t *ids, int64_t count, int64_t row_bytes) {
  int64_t words = row_bytes / 8;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < words; k++) {
      uint64_t found;
      memcpy(&found, rows + i * row_bytes + k * 8, 8);
      if (found != word((uint64_t)(ids[i] * words + k))) return i;
    }
  }
  return -1;
}

/* Asks page by page: for systems that cannot tell of a whole file at once. */
static int64_t resident_by_mincore(int fd, int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, found = 0;
  void *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return -errno;
  unsigned char *there = malloc((size_t)pages);
  int64_t result = there && mincore(map, (size_t)bytes, (void *)there) == 0 ? 0 : -ENOMEM;
  for (int64_t i = 0; result == 0 && i < pages; i++) found += there[i] & 1;
  free(there);
  munmap(map, (size_t)bytes);
  return result ? result : found * page;
}

int64_t bench_resident(int fd, int64_t bytes) {
  if (bytes == 0) return 0;
#ifdef __linux__
  enum { CACHESTAT = 451 }; /* the same number on every machine; older headers do not name it */
  struct {
    uint64_t offset, bytes;
  } range = {0, (uint64_t)bytes};
  struct {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } found = {0, 0, 0, 0, 0};
  if (syscall(CACHESTAT, fd, &range, &found, 0) == 0) return (int64_t)found.cached * sysconf(_SC_PAGESIZE);
#endif
  return resident_by_mincore(fd, bytes);
}
