/* SPDX-License-Identifier: MIT
 *
 * heap.c: blocks that know their size, which realloc needs and gather_alloc does not keep.
 */
#include "core/base/heap.h"

#include <stdint.h>
#include <string.h>

#include "core/base/alloc.h"

typedef union heap_block {
  size_t bytes;
  max_align_t align;
} heap_block;

void *gather_heap_malloc(size_t bytes) {
  if (bytes > PTRDIFF_MAX - sizeof(heap_block)) return NULL;
  heap_block *block = gather_alloc((int64_t)(bytes + sizeof *block));
  if (!block) return NULL;
  block->bytes = bytes;
  return block + 1;
}

void gather_heap_free(void *memory) {
  if (memory) gather_free((heap_block *)memory - 1);
}

void *gather_heap_realloc(void *memory, size_t bytes) {
  void *larger = gather_heap_malloc(bytes);
  if (!larger || !memory) return larger;
  size_t before = ((heap_block *)memory - 1)->bytes;
  memcpy(larger, memory, before < bytes ? before : bytes);
  gather_heap_free(memory);
  return larger;
}
