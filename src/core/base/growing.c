/* SPDX-License-Identifier: MIT
 *
 * growing.c: a text that grows in memory.
 */
#include "core/base/growing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

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

void gather_growing_text(gather_growing *growing, const char *text) {
  gather_growing_write(growing, text, strlen(text));
}

void gather_growing_char(gather_growing *growing, char c) { gather_growing_write(growing, &c, 1); }

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

gather_status gather_growing_finish(gather_growing *growing, const char *what, char **text, size_t *bytes,
                                    gather_error *error) {
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
