/* SPDX-License-Identifier: MIT
 *
 * pages.c: anonymous memory, by POSIX.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, which POSIX has only since 2024 */
#define _DARWIN_C_SOURCE
#include "core/system/pages.h"

#include <stddef.h>
#include <sys/mman.h>

void *gather_pages_create(int64_t bytes) {
  if (bytes <= 0 || (uint64_t)bytes > PTRDIFF_MAX) return NULL;
  void *pages = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

void gather_pages_destroy(void *pages, int64_t bytes) {
  if (pages) (void)munmap(pages, (size_t)bytes);
}
