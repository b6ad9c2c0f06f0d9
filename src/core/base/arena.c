/* SPDX-License-Identifier: MIT
 *
 * arena.c: what is made of gather_alloc's memory: small pieces that are freed at once (arena.h), and texts that grow (growing.h).
 */
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/arena.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/growing.h"

/* ---- small pieces that are freed at once: a chain of blocks. What does not fit in the newest block gets a new one */

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
  if (count < 0 || bytes < 0 || !gather_mul(count, bytes, &total) || !gather_add(total, ALIGNMENT - 1, &padded)) return NULL;
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

/* ---- a text that grows */

enum { FIRST_ROOM = 4096 };

/* Makes room for `more` bytes and a zero. */
static bool grow(gather_growing *growing, size_t more) {
  if (growing->failed) return false;
  if (growing->room - growing->bytes > more) return true;
  size_t room = growing->room ? growing->room : FIRST_ROOM;
  while (room - growing->bytes <= more && room <= SIZE_MAX / 4) room *= 2;
  char *text = room - growing->bytes > more ? gather_alloc((int64_t)room) : NULL;
  growing->failed = !text;
  if (!text) return false;
  if (growing->bytes > 0) memcpy(text, growing->text, growing->bytes);
  gather_free(growing->text);
  growing->text = text;
  growing->room = room;
  return true;
}

char *gather_growing_add(gather_growing *growing, size_t bytes) {
  if (!grow(growing, bytes)) return NULL;
  char *place = growing->text + growing->bytes;
  growing->bytes += bytes;
  growing->text[growing->bytes] = '\0';
  return place;
}

void gather_growing_write(gather_growing *growing, const char *text, size_t bytes) {
  char *place = gather_growing_add(growing, bytes);
  if (place && bytes > 0) memcpy(place, text, bytes);
}

void gather_growing_print(gather_growing *growing, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int bytes = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (bytes < 0) growing->failed = true;
  if (bytes < 0 || !grow(growing, (size_t)bytes)) return;
  va_start(list, format);
  (void)vsnprintf(growing->text + growing->bytes, (size_t)bytes + 1, format, list);
  va_end(list);
  growing->bytes += (size_t)bytes;
}

void gather_growing_clear(gather_growing *growing) {
  gather_free(growing->text);
  memset(growing, 0, sizeof *growing);
}

gather_status gather_growing_finish(gather_growing *growing, const char *what, char **text, size_t *bytes, gather_error *error) {
  gather_growing_write(growing, "", 0); /* an empty text has its zero, too */
  if (growing->failed) {
    gather_growing_clear(growing);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for %s", what);
  }
  *text = growing->text;
  if (bytes) *bytes = growing->bytes;
  memset(growing, 0, sizeof *growing);
  return GATHER_OK;
}

void gather_text_free(char *text) { gather_free(text); }
