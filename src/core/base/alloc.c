/* SPDX-License-Identifier: MIT
 *
 * alloc.c: the heap, and the advice to use huge pages for large memory.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* madvise */
#include "core/base/alloc.h"

#include <stdlib.h>

#include "gather/gather.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

/* A program that has gather.c in it may say which functions take these places (docs/embed/two-files.md). */
#if defined(GATHER_MALLOC)
void *GATHER_MALLOC(size_t bytes);
void *GATHER_CALLOC(size_t count, size_t bytes);
void GATHER_FREE(void *memory);
#else
#define GATHER_MALLOC malloc
#define GATHER_CALLOC calloc
#define GATHER_FREE free
#endif

enum { WORTH_HUGE_PAGES = 4 << 20 };

/* [low, high), rounded inwards to whole pages, so that other memory is not affected. */
gather_status gather_advise_huge_pages(void *memory, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  long page = sysconf(_SC_PAGESIZE);
  if (page <= 0) return GATHER_UNSUPPORTED;
  size_t mask = (size_t)page - 1, skipped = (0 - (size_t)(uintptr_t)memory) & mask;
  if (!memory || bytes <= skipped || ((bytes - skipped) & ~mask) == 0) return GATHER_OK;
  return madvise((char *)memory + skipped, (bytes - skipped) & ~mask, MADV_HUGEPAGE) == 0 ? GATHER_OK : GATHER_UNSUPPORTED;
#else
  (void)memory, (void)bytes;
  return GATHER_UNSUPPORTED;
#endif
}

static bool is_size(int64_t bytes) { return bytes >= 0 && (uint64_t)bytes <= SIZE_MAX / 2; }

/* Memory of this size mostly comes directly from the system: its pages are not chosen yet. */
static void *advised(void *memory, int64_t bytes) {
  if (memory && bytes >= WORTH_HUGE_PAGES) (void)gather_advise_huge_pages(memory, (size_t)bytes);
  return memory;
}

void *gather_alloc(int64_t bytes) { return is_size(bytes) ? advised(GATHER_CALLOC(1, bytes ? (size_t)bytes : 1), bytes) : NULL; }

void *gather_alloc_unset(int64_t bytes) { return is_size(bytes) ? advised(GATHER_MALLOC(bytes ? (size_t)bytes : 1), bytes) : NULL; }

void gather_free(void *memory) { GATHER_FREE(memory); }
