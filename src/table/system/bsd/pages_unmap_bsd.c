/* SPDX-License-Identifier: MIT
 *
 * pages_unmap_bsd.c: unmaps pages on macOS and FreeBSD, where MADV_DONTNEED is only advice: the same bytes of the file are mapped again
 * in their place, which no other thread can notice.
 */
#include <sys/mman.h>

#include "table/system/table_system.h"

void gather_pages_unmap(const gather_table_source *source, int64_t offset, int64_t bytes) {
  void *again = mmap(source->map + offset, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_FIXED, source->fd, (off_t)offset);
  if (again != MAP_FAILED) (void)madvise(again, (size_t)bytes, MADV_RANDOM);
}
