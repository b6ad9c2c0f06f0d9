/* SPDX-License-Identifier: MIT
 *
 * shuffle_text.c: a growing text, and numbers in a text.
 */
#include "shuffle/shuffle_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_ROOM = 4096 };

/* Makes room for `more` bytes and a zero. */
static bool grow(gather_shuffle_text *to, size_t more) {
  if (to->failed) return false;
  if (to->room - to->bytes > more) return true;
  size_t room = to->room ? to->room : FIRST_ROOM;
  while (room - to->bytes <= more && room <= SIZE_MAX / 4) room *= 2;
  char *text = room - to->bytes > more ? gather_alloc((int64_t)room) : NULL;
  to->failed = !text;
  if (!text) return false;
  if (to->bytes > 0) memcpy(text, to->text, to->bytes);
  gather_free(to->text);
  to->text = text;
  to->room = room;
  return true;
}

void gather_shuffle_text_print(gather_shuffle_text *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int bytes = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (bytes < 0) to->failed = true;
  if (bytes < 0 || !grow(to, (size_t)bytes)) return;
  va_start(list, format);
  (void)vsnprintf(to->text + to->bytes, (size_t)bytes + 1, format, list);
  va_end(list);
  to->bytes += (size_t)bytes;
}

void gather_shuffle_text_clear(gather_shuffle_text *to) {
  gather_free(to->text);
  *to = (gather_shuffle_text){0};
}

bool gather_shuffle_read_number(const char **text, int64_t *number) {
  const char *p = *text;
  int64_t value = 0;
  for (; *p >= '0' && *p <= '9'; p++) {
    const int digit = *p - '0';
    if (value > (INT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (p == *text) return false;
  *text = p;
  *number = value;
  return true;
}
