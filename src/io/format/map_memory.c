/* SPDX-License-Identifier: MIT
 *
 * map_memory.c: reserves address space (POSIX). Bytes are guarded by pages, and by AddressSanitizer where it is built in, in files that
 * are not huge: it knows bytes, but each group of eight as a whole up to the last byte opened in it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#define _DARWIN_C_SOURCE
#include "io/format/map_memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* AddressSanitizer notes an eighth of the bytes that it is told of: a file of 1 TiB would fill the machine. Pages guard larger ones. */
#define MOST_NOTED (INT64_C(1) << 30)

static bool is_noted(int64_t bytes, bool guarded) { return guarded && bytes <= MOST_NOTED; }

uint8_t *gather_map_memory_create(int64_t bytes, bool guarded) {
  int access = guarded ? PROT_NONE : PROT_READ | PROT_WRITE;
  void *memory = mmap(NULL, (size_t)bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (is_noted(bytes, guarded)) ASAN_POISON_MEMORY_REGION(memory, (size_t)bytes);
  return memory;
}

bool gather_map_memory_open(uint8_t *memory, int64_t size, int64_t offset, int64_t bytes, bool guarded) {
  if (!guarded) return true;
  const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), begin = offset / page * page;
  int64_t end = (offset + bytes + page - 1) / page * page;
  if (end > size) end = size;
  if (mprotect(memory + begin, (size_t)(end - begin), PROT_READ | PROT_WRITE) != 0) return false;
  ASAN_UNPOISON_MEMORY_REGION(memory + offset, (size_t)bytes);
  return true;
}

void gather_map_memory_destroy(uint8_t *memory, int64_t bytes, bool guarded) {
  if (!memory) return;
  if (is_noted(bytes, guarded)) ASAN_UNPOISON_MEMORY_REGION(memory, (size_t)bytes);
  (void)munmap(memory, (size_t)bytes);
}
