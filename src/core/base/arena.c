/* SPDX-License-Identifier: MIT
 *
 * arena.c: a chain of blocks. An allocation that does not fit in the newest block gets a new one.
 */
#include "core/base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"

struct gather_arena_block {
  struct gather_arena_block *next;
  int64_t used, size;
  max_align_t pieces[];
};

enum { BLOCK_BYTES = 16 * 1024, ALIGNMENT = alignof(max_align_t) };

static struct gather_arena_block *add_block(gather_arena *arena, int64_t bytes) {
  int64_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES, total;
  if (!gather_add(size, (int64_t)sizeof(struct gather_arena_block), &total)) return NULL;
  struct gather_arena_block *block = gather_alloc(total);
  if (!block) return NULL;
  block->size = size;
  block->next = arena->blocks;
  arena->blocks = block;
  return block;
}

void *gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes) {
  int64_t total, padded;
  if (count < 0 || bytes < 0 || !gather_mul(count, bytes, &total) || !gather_add(total, ALIGNMENT - 1, &padded))
    return NULL;
  padded = padded / ALIGNMENT * ALIGNMENT;
  if (padded == 0) padded = ALIGNMENT;
  struct gather_arena_block *block = arena->blocks;
  if (!block || block->size - block->used < padded) block = add_block(arena, padded);
  if (!block) return NULL;
  void *piece = (char *)block->pieces + block->used;
  block->used += padded;
  return piece;
}

char *gather_arena_text(gather_arena *arena, const char *text, size_t bytes) {
  if (bytes > PTRDIFF_MAX - 1) return NULL;
  char *copy = gather_arena_take(arena, 1, (int64_t)bytes + 1);
  if (copy && bytes > 0) memcpy(copy, text, bytes);
  return copy;
}

void gather_arena_clear(gather_arena *arena) {
  while (arena->blocks) {
    struct gather_arena_block *next = arena->blocks->next;
    gather_free(arena->blocks);
    arena->blocks = next;
  }
}
