/* SPDX-License-Identifier: MIT
 *
 * arena.h: memory that is allocated in small pieces and freed all at once. For the contents of files.
 */
#ifndef GATHER_BASE_ARENA_H
#define GATHER_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty arena. */
typedef struct gather_arena {
  struct gather_arena_block *blocks;
} gather_arena;

/* `count` times `bytes` bytes, zeroed, aligned for any type; NULL if out of memory or if the product does not fit. */
void *gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes);
/* A copy of text with a terminator; NULL likewise. */
char *gather_arena_text(gather_arena *arena, const char *text, size_t bytes);
/* Frees everything; then the arena is empty. */
void gather_arena_clear(gather_arena *arena);

#endif
