/* SPDX-License-Identifier: MIT
 *
 * heap.h: the heap with the interface of malloc, for libraries that take such functions (expat).
 */
#ifndef GATHER_BASE_HEAP_H
#define GATHER_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/compiler.h"

/* Blocks know their size, which realloc needs and gather_alloc does not keep. */
typedef union gather_heap_block {
  size_t bytes;
  max_align_t align;
} gather_heap_block;

GATHER_INLINE void *gather_heap_malloc(size_t bytes) {
  if (bytes > PTRDIFF_MAX - sizeof(gather_heap_block)) return NULL;
  gather_heap_block *block = gather_alloc((int64_t)(bytes + sizeof *block));
  if (!block) return NULL;
  block->bytes = bytes;
  return block + 1;
}

GATHER_INLINE void gather_heap_free(void *memory) {
  if (memory) gather_free((gather_heap_block *)memory - 1);
}

GATHER_INLINE void *gather_heap_realloc(void *memory, size_t bytes) {
  void *larger = gather_heap_malloc(bytes);
  if (!larger || !memory) return larger;
  size_t before = ((gather_heap_block *)memory - 1)->bytes;
  memcpy(larger, memory, before < bytes ? before : bytes);
  gather_heap_free(memory);
  return larger;
}

#endif
