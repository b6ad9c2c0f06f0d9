/* SPDX-License-Identifier: MIT
 *
 * text.c: UTF-8, Latin-1 and the text of a descr.
 */
#include "format/text.h"

/* How many bytes a character takes that begins with `lead`; 0 where none does. */
static int64_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

/* Too long forms, surrogates and what is beyond U+10FFFF show in the second byte. */
static bool second_fits(unsigned char lead, unsigned char second) {
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  if (lead == 0xf4) return second < 0x90;
  return true;
}

int64_t gather_utf8_check(const char *text, int64_t bytes) {
  const unsigned char *at = (const unsigned char *)text;
  for (int64_t i = 0; i < bytes;) {
    int64_t length = sequence_bytes(at[i]);
    if (length == 0 || length > bytes - i) return i;
    for (int64_t k = 1; k < length; k++)
      if ((at[i + k] & 0xc0) != 0x80) return i;
    if (length > 1 && !second_fits(at[i], at[i + 1])) return i;
    i += length;
  }
  return -1;
}

static int64_t put(char *target, int64_t at, unsigned char c, bool is_utf8) {
  if (c < 0x80 || is_utf8) {
    target[at] = (char)c;
    return at + 1;
  }
  target[at] = (char)(0xc0 | c >> 6);
  target[at + 1] = (char)(0x80 | (c & 0x3f));
  return at + 2;
}

int64_t gather_descr_copy(char *target, const char *text, int64_t bytes, bool is_utf8) {
  int64_t at = 0;
  char quote = '\0';
  for (int64_t i = 0; i < bytes; i++) {
    char c = text[i];
    if (quote) {
      if (c == '\\' && i + 1 < bytes)
        at = put(target, at, (unsigned char)text[i++], is_utf8);
      else if (c == quote)
        quote = '\0';
      at = put(target, at, (unsigned char)text[i], is_utf8);
    } else if (c == '#') {
      while (i + 1 < bytes && text[i + 1] != '\n') i++;
    } else if (c != 'L' && c != '\n' && c != '\r' && c != '\f') {
      if (c == '\'' || c == '"') quote = c;
      at = put(target, at, (unsigned char)c, is_utf8);
    }
  }
  target[at] = '\0';
  return at;
}

int64_t gather_latin1_from_utf8(char *text, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if ((unsigned char)text[i] > 0xc3) return -1; /* leads of characters above U+00FF */
  int64_t at = 0;
  for (int64_t i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0xc2 && i + 1 < bytes) c = (unsigned char)((c & 3) << 6 | ((unsigned char)text[++i] & 0x3f));
    text[at++] = (char)c;
  }
  return at;
}
