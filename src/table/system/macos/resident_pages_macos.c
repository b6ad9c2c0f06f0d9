/* SPDX-License-Identifier: MIT
 *
 * resident_pages_macos.c: macOS tells by mincore() which pages of a mapped file are in the page cache. It cannot read without waiting.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "table/system/table_system.h"

/* Of 4 KiB or 16 KiB each; a range is counted window by window. */
int64_t gather_pages_resident(const gather_table_source *source, int64_t offset, int64_t bytes) {
  enum { WINDOW = 4 << 20 };
  char seen[WINDOW / GATHER_PAGE_BYTES];
  const int64_t page = getpagesize();
  int64_t count = 0;
  if (!source->map || page < GATHER_PAGE_BYTES || offset % page != 0) return -1;
  for (int64_t at = 0; at < bytes; at += WINDOW) {
    const int64_t now = bytes - at < WINDOW ? bytes - at : WINDOW, pages = (now + page - 1) / page;
    if (mincore(source->map + offset + at, (size_t)now, seen) != 0) return -1;
    for (int64_t i = 0; i < pages; i++) count += (seen[i] & MINCORE_INCORE) != 0;
  }
  return count * (page / GATHER_PAGE_BYTES);
}

bool gather_pages_read(const gather_table_source *source, int64_t offset, int64_t bytes, char *out) {
  (void)source, (void)offset, (void)bytes, (void)out;
  return false;
}

/* Only advice: it may also read what was evicted since. */
void gather_pages_map(const gather_table_source *source, int64_t offset, int64_t bytes) {
  (void)madvise(source->map + offset, (size_t)bytes, MADV_WILLNEED);
}
