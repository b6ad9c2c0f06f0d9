/* SPDX-License-Identifier: MIT
 *
 * shuffle_drop.c: gives up pages of a mapped file, where the system can.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* madvise */
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "table/system/shuffle_advice.h"

void gather_shuffle_drop_pages(const void *memory, int64_t bytes) {
#if defined(MADV_DONTNEED)
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
  uintptr_t first = (begin + page - 1) / page * page, last = (begin + (uintptr_t)bytes) / page * page;
  if (memory && first < last) (void)madvise((char *)(uintptr_t)memory + (first - begin), last - first, MADV_DONTNEED);
#else
  (void)memory, (void)bytes;
#endif
}
