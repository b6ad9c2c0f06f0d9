/* SPDX-License-Identifier: MIT
 *
 * percent.c: percent-encoding of URLs.
 */
#include "io/remote/percent.h"

static bool unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void gather_percent_encode(gather_growing *growing, const char *text, size_t bytes, bool keep_slash) {
  static const char DIGITS[] = "0123456789ABCDEF";
  for (size_t i = 0; i < bytes; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (unreserved(text[i]) || (keep_slash && byte == '/')) {
      gather_growing_char(growing, text[i]);
    } else {
      char code[3] = {'%', DIGITS[byte >> 4], DIGITS[byte & 15]};
      gather_growing_write(growing, code, sizeof code);
    }
  }
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool gather_percent_decode(gather_growing *growing, const char *text, size_t bytes, bool plus) {
  for (size_t i = 0; i < bytes; i++) {
    if (text[i] != '%') {
      gather_growing_char(growing, plus && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    if (bytes - i < 3) return false;
    int high = digit(text[i + 1]), low = digit(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return false;
    gather_growing_char(growing, (char)(high * 16 + low));
    i += 2;
  }
  return true;
}
