/* SPDX-License-Identifier: MIT
 *
 * utf8.c: UTF-8: checks it, and shows text on a terminal; amounts of memory as text.
 */
#include "io/format/text/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The length in bytes of a character that begins with `lead`; 0 if none does. */
static int64_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

/* Overlong forms, surrogates and characters above U+10FFFF are recognised by the second byte. */
static bool second_fits(unsigned char lead, unsigned char second) {
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  if (lead == 0xf4) return second < 0x90;
  return true;
}

/* The length in bytes of the first character; 0 if it is not UTF-8. */
static int64_t character_bytes(const unsigned char *at, int64_t bytes) {
  int64_t length = sequence_bytes(at[0]);
  if (length == 0 || length > bytes) return 0;
  for (int64_t k = 1; k < length; k++)
    if ((at[k] & 0xc0) != 0x80) return 0;
  return length == 1 || second_fits(at[0], at[1]) ? length : 0;
}

int64_t gather_utf8_check(const char *text, int64_t bytes) {
  const unsigned char *at = (const unsigned char *)text;
  for (int64_t i = 0; i < bytes;) {
    int64_t length = character_bytes(at + i, bytes - i);
    if (length == 0) return i;
    i += length;
  }
  return -1;
}

/* ---- text for a terminal */

/* The code point of a character of `length` bytes. */
static uint32_t character_at(const unsigned char *at, int64_t length) {
  uint32_t code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
  for (int64_t i = 1; i < length; i++) code = code << 6 | (at[i] & 0x3fu);
  return code;
}

static bool is_plain(uint32_t code) {
  static const struct {
    uint32_t first, last;
  } UNSAFE[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},    /* C0; DEL and C1; ARABIC LETTER MARK */
                {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}}; /* marks; separators and embeddings; isolates */
  for (size_t i = 0; i < sizeof UNSAFE / sizeof *UNSAFE; i++)
    if (code >= UNSAFE[i].first && code <= UNSAFE[i].last) return false;
  return true;
}

size_t gather_text_visible(const char *text, char *visible, size_t bytes) {
  const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
  size_t total = 0, used = 0;
  while (at < end) {
    char shown[8];
    int64_t length = character_bytes(at, end - at);
    uint32_t code = length > 0 ? character_at(at, length) : 0;
    if (length > 0 && is_plain(code))
      (void)snprintf(shown, sizeof shown, "%.*s", (int)length, (const char *)at);
    else
      (void)snprintf(shown, sizeof shown, code < 0x80 ? "\\x%02" PRIx32 : "\\u%04" PRIx32, length > 0 ? code : *at);
    size_t room = strlen(shown);
    if (used == total && used + room < bytes) { /* nothing was truncated yet */
      memcpy(visible + used, shown, room);
      used += room;
    }
    total += room;
    at += length > 0 ? length : 1;
  }
  visible[used] = '\0';
  return total;
}

void gather_text_put(gather_growing *to, const char *text) {
  char none[1];
  size_t bytes = gather_text_visible(text, none, sizeof none);
  char *place = gather_growing_add(to, bytes); /* with space for a terminating zero */
  if (place) (void)gather_text_visible(text, place, bytes + 1);
}

/* ---- amounts of memory */

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
