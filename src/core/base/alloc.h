/* SPDX-License-Identifier: MIT
 *
 * alloc.h: the only access to the heap. Tests replace malloc and free at link time and let every allocation fail once.
 */
#ifndef GATHER_BASE_ALLOC_H
#define GATHER_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

/* `bytes` bytes, zeroed; NULL if out of memory (also if the number does not fit size_t). gather_free frees them. From 4
 * MiB on the system is asked for huge pages. */
void *gather_alloc(int64_t bytes);
/* The same without the zeros, for memory that is written before it is read. */
void *gather_alloc_unset(int64_t bytes);
void gather_free(void *memory);

/* An array that is full, with twice the room: *room counts items, and is 0 for one that is NULL. Frees the old one; NULL if out of memory:
 * then it is as it was. */
GATHER_INLINE void *gather_alloc_grown(void *array, int64_t item_bytes, int64_t *room) {
  enum { FIRST_ROOM = 64 };
  const int64_t more = *room > 0 ? 2 * *room : FIRST_ROOM;
  void *made = gather_alloc(more * item_bytes);
  if (!made) return NULL;
  if (*room > 0) memcpy(made, array, (size_t)(*room * item_bytes));
  gather_free(array);
  *room = more;
  return made;
}

#endif
