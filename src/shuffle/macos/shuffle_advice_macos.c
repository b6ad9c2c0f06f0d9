/* SPDX-License-Identifier: MIT
 *
 * shuffle_advice_macos.c: advice to the system, by the commands of fcntl() that macOS has for it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shuffle/shuffle_advice.h"

/* The system writes by itself. */
void gather_shuffle_begin_writing(int fd, int64_t size, int64_t offset) { (void)fd, (void)size, (void)offset; }

/* One command announces less than 2 GiB. */
void gather_shuffle_read_ahead(int fd, int64_t size, int64_t offset) {
  enum { MOST = 1 << 30 };
  for (int64_t done = 0; done < size; done += MOST) {
    struct radvisory advice = {.ra_offset = (off_t)(offset + done),
                               .ra_count = (int)(size - done < MOST ? size - done : MOST)};
    if (fcntl(fd, F_RDADVISE, &advice) == -1) return;
  }
}

void gather_shuffle_read_in_order(int fd) { (void)fcntl(fd, F_RDAHEAD, 1); }

void gather_shuffle_drop_pages(const void *memory, int64_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
  uintptr_t first = (begin + page - 1) / page * page, last = (begin + (uintptr_t)bytes) / page * page;
  if (memory && first < last) (void)madvise((char *)(uintptr_t)memory + (first - begin), last - first, MADV_DONTNEED);
}
