/* SPDX-License-Identifier: MIT
 *
 * growing.h: a text that grows in memory. A memory stream of the C library may silently drop text when out of memory.
 */
#ifndef GATHER_BASE_GROWING_H
#define GATHER_BASE_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/base/compiler.h"
#include "gather/gather.h"

/* Starts as {0}. After a failed allocation nothing more is added, and `failed` stays true. */
typedef struct gather_growing {
  char *text; /* `bytes` bytes and a zero; NULL if nothing was added */
  size_t bytes, room;
  bool failed;
} gather_growing;

void gather_growing_write(gather_growing *growing, const char *text, size_t bytes);
GATHER_INLINE void gather_growing_text(gather_growing *growing, const char *text) { gather_growing_write(growing, text, strlen(text)); }
GATHER_INLINE void gather_growing_char(gather_growing *growing, char c) { gather_growing_write(growing, &c, 1); }
/* As fprintf. */
GATHER_PRINTF(2, 3)
void gather_growing_print(gather_growing *growing, const char *format, ...);
/* Adds `bytes` bytes for the caller to fill in at once; NULL after a failed allocation. */
char *gather_growing_add(gather_growing *growing, size_t bytes);
/* Frees the text; it is {0} again. */
void gather_growing_clear(gather_growing *growing);
/* Returns the text, which gather_text_free frees: "" if nothing was added. bytes: receives its length; may be NULL.
 * `what` names the text in the error. Returns GATHER_OUT_OF_MEMORY if something could not be added. Afterwards the
 * struct is {0}. */
GATHER_CHECKED gather_status gather_growing_finish(gather_growing *growing, const char *what, char **text, size_t *bytes,
                                                   gather_error *error);

#endif
