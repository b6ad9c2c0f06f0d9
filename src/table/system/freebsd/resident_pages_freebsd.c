/* SPDX-License-Identifier: MIT
 *
 * resident_pages_freebsd.c: FreeBSD does not tell which pages of a file are in the page cache: its mincore() sees only those that this
 * process has mapped. So rows are read, from the page cache where they are in it.
 */
#include <sys/mman.h>

#include "table/system/table_system.h"

int64_t gather_pages_resident(const gather_table_source *source, int64_t offset, int64_t bytes) {
  (void)source, (void)offset, (void)bytes;
  return -1;
}

bool gather_pages_read(const gather_table_source *source, int64_t offset, int64_t bytes, char *out) {
  (void)source, (void)offset, (void)bytes, (void)out;
  return false;
}

/* Maps what is in the page cache; the advice reads nothing. */
void gather_pages_map(const gather_table_source *source, int64_t offset, int64_t bytes) {
  (void)madvise(source->map + offset, (size_t)bytes, MADV_WILLNEED);
}
