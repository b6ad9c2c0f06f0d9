/* SPDX-License-Identifier: MIT
 *
 * ep_text.h: texts: copies, and JSON that is written as snprintf does.
 */
#ifndef GATHER_PLUGIN_ORT_EP_TEXT_H
#define GATHER_PLUGIN_ORT_EP_TEXT_H

#include <stddef.h>

#include "gather/gather.h"

/* A copy for free(); NULL without memory. */
char *gather_ort_text_copy(const char *text);

/* A text that grows: what does not fit is counted only. */
typedef struct ort_text {
  char *to;
  size_t room; /* with the terminator; 0 = count only */
  size_t end;  /* the length without truncation */
} ort_text;

GATHER_PRINTF_LIKE(2, 3) void gather_ort_text_add(ort_text *text, const char *format, ...);
/* A JSON string. Bytes that are not UTF-8 become U+FFFD. */
void gather_ort_text_add_string(ort_text *text, const char *string);

#endif
