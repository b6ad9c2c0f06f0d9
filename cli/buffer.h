/* SPDX-License-Identifier: MIT
 *
 * buffer.h: a text that grows in memory. A memory stream of the C library may silently drop text when out of memory.
 */
#ifndef GATHER_CLI_BUFFER_H
#define GATHER_CLI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "report.h"

/* Starts as {0}. After a failed allocation nothing more is added, and `failed` stays true. */
typedef struct gather_cli_buffer {
  char *text; /* `bytes` bytes and a zero; NULL if nothing was added */
  size_t bytes, room;
  bool failed;
} gather_cli_buffer;

void gather_cli_buffer_write(gather_cli_buffer *buffer, const char *text, size_t bytes);
void gather_cli_buffer_text(gather_cli_buffer *buffer, const char *text);
void gather_cli_buffer_char(gather_cli_buffer *buffer, char c);
/* Like fprintf. */
GATHER_PRINTF_LIKE(2, 3)
void gather_cli_buffer_print(gather_cli_buffer *buffer, const char *format, ...);
/* Frees the text. */
void gather_cli_buffer_clear(gather_cli_buffer *buffer);

#endif
