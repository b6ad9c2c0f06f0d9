/* SPDX-License-Identifier: MIT
 *
 * ep_text.c: copies and JSON strings.
 */
#include "ep_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *gather_ort_text_copy(const char *text) {
  char *to = malloc(strlen(text) + 1);
  return to ? memcpy(to, text, strlen(text) + 1) : NULL;
}

void gather_ort_text_add(ort_text *text, const char *format, ...) {
  va_list arguments;
  const bool fits = text->end < text->room;
  va_start(arguments, format);
  const int more = vsnprintf(fits ? text->to + text->end : NULL, fits ? text->room - text->end : 0, format, arguments);
  va_end(arguments);
  if (more > 0) text->end += (size_t)more;
}

/* How many bytes the UTF-8 character at `c` has; 0 if it is none. */
static int character_bytes(const unsigned char *c) {
  static const struct {
    unsigned char first, last, low, high;
    int bytes;
  } forms[] = {{0x20, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
               {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
               {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (c[0] < forms[i].first || c[0] > forms[i].last) continue;
    int bytes = 1;
    for (; bytes < forms[i].bytes; bytes++)
      if (c[bytes] < (bytes == 1 ? forms[i].low : 0x80) || c[bytes] > (bytes == 1 ? forms[i].high : 0xbf)) return 0;
    return bytes;
  }
  return 0;
}

void gather_ort_text_add_string(ort_text *text, const char *string) {
  gather_ort_text_add(text, "\"");
  for (const unsigned char *c = (const unsigned char *)string; *c;) {
    const int bytes = character_bytes(c);
    if (*c == '"' || *c == '\\')
      gather_ort_text_add(text, "\\%c", *c);
    else if (bytes > 0)
      gather_ort_text_add(text, "%.*s", bytes, (const char *)c);
    else
      gather_ort_text_add(text, "\\u%04x", *c < 0x20 ? *c : 0xfffdU);
    c += bytes > 0 ? bytes : 1;
  }
  gather_ort_text_add(text, "\"");
}
