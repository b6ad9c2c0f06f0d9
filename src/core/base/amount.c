/* SPDX-License-Identifier: MIT
 *
 * amount.c: amounts of memory as text.
 */
#include <stdio.h>

#include "gather/file.h"

char *gather_text_bytes(int64_t amount, char *text, size_t bytes) {
  static const char *const UNITS[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double number = (double)amount;
  size_t i = 0;
  while (number >= 1024 && i + 1 < sizeof UNITS / sizeof *UNITS) {
    number /= 1024;
    i++;
  }
  (void)snprintf(text, bytes, "%.*f %s", i && number < 100 ? 2 : 0, number, amount == 1 ? "byte" : UNITS[i]);
  return text;
}
