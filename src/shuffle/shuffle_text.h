/* SPDX-License-Identifier: MIT
 *
 * shuffle_text.h: the text of journals: a growing text, and numbers in a text.
 */
#ifndef GATHER_SHUFFLE_SHUFFLE_TEXT_H
#define GATHER_SHUFFLE_SHUFFLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* Starts as all zero; gather_shuffle_text_clear frees it. */
typedef struct gather_shuffle_text {
  char *text;
  size_t bytes, room;
  bool failed; /* out of memory: the text is incomplete */
} gather_shuffle_text;

/* Adds a formatted text. */
GATHER_PRINTF(2, 3) void gather_shuffle_text_print(gather_shuffle_text *to, const char *format, ...);
void gather_shuffle_text_clear(gather_shuffle_text *to);

/* Reads a decimal number without a sign; *text is advanced past it. False if there is none, or if it does not fit. */
bool gather_shuffle_read_number(const char **text, int64_t *number);

#endif
