/* SPDX-License-Identifier: MIT
 *
 * shuffle_text.c: numbers in a text.
 */
#include "table/shuffle/shuffle_text.h"

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
