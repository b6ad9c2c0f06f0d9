/* SPDX-License-Identifier: MIT
 *
 * buffer.c: a text that grows in memory.
 */
#include "buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a zero. */
static bool grow(gather_cli_buffer *buffer, size_t more) {
  if (buffer->failed) return false;
  if (buffer->room - buffer->bytes > more) return true;
  size_t room = buffer->room ? buffer->room : 4096;
  while (room - buffer->bytes <= more && room <= SIZE_MAX / 4) room *= 2;
  char *text = room - buffer->bytes > more ? realloc(buffer->text, room) : NULL;
  buffer->failed = !text;
  if (!text) return false;
  buffer->text = text;
  buffer->room = room;
  return true;
}

void gather_cli_buffer_write(gather_cli_buffer *buffer, const char *text, size_t bytes) {
  if (!grow(buffer, bytes)) return;
  memcpy(buffer->text + buffer->bytes, text, bytes);
  buffer->bytes += bytes;
  buffer->text[buffer->bytes] = 0;
}

void gather_cli_buffer_text(gather_cli_buffer *buffer, const char *text) {
  gather_cli_buffer_write(buffer, text, strlen(text));
}

void gather_cli_buffer_char(gather_cli_buffer *buffer, char c) { gather_cli_buffer_write(buffer, &c, 1); }

void gather_cli_buffer_print(gather_cli_buffer *buffer, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int bytes = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (bytes < 0) buffer->failed = true;
  if (bytes < 0 || !grow(buffer, (size_t)bytes)) return;
  va_start(list, format);
  (void)vsnprintf(buffer->text + buffer->bytes, (size_t)bytes + 1, format, list);
  va_end(list);
  buffer->bytes += (size_t)bytes;
}

void gather_cli_buffer_clear(gather_cli_buffer *buffer) {
  free(buffer->text);
  memset(buffer, 0, sizeof *buffer);
}
