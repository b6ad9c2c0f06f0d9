/* SPDX-License-Identifier: MIT
 *
 * arena.h: memory that is taken piece by piece and given back all at once. For what a file's contents are turned into.
 */
#ifndef GATHER_BASE_ARENA_H
#define GATHER_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty arena. */
typedef struct gather_arena {
  struct gather_arena_block *blocks;
} gather_arena;

/* `count` times `bytes` bytes, zeroed, aligned for any type; NULL where they cannot be had or their number does not fit. */
void *gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes);
/* A copy of text with a terminator; NULL likewise. */
char *gather_arena_text(gather_arena *arena, const char *text, size_t bytes);
/* Gives everything back; the arena is empty then. */
void gather_arena_clear(gather_arena *arena);

#endif
