/* SPDX-License-Identifier: MIT
 *
 * size.c: amounts of memory: "2GiB", "500MB", "64M", "4096".
 */
#include "size.h"

#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "gather/file.h"

static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

/* Whether text is that word, ignoring case. */
static bool is_word(const char *text, const char *word) {
  while (*word && upper(*text) == upper(*word)) text++, word++;
  return *text == 0 && *word == 0;
}

/* The bytes of the unit at text (to its end); 0 if it is not a unit. */
static int64_t unit_bytes(const char *text) {
  static const char LETTERS[] = "KMGT";
  if (*text == 0 || is_word(text, "B")) return 1;
  const char *letter = strchr(LETTERS, upper(*text));
  if (!letter) return 0;
  int64_t base = is_word(text + 1, "B") ? 1000 : 1024, bytes = base;
  if (text[1] != 0 && base == 1024 && !is_word(text + 1, "iB")) return 0;
  for (const char *p = LETTERS; p < letter; p++) bytes *= base;
  return bytes;
}

gather_status gather_cli_size(const gather_cli_args *args, gather_cli_option_id id, int64_t least, int64_t otherwise, int64_t *bytes,
                              gather_error *error) {
  const char *text = args->value[id], *name = gather_cli_option_at(id)->name, *end = text;
  bool too_big = false;
  int64_t number = 0;
  *bytes = otherwise;
  if (!text) return GATHER_OK;
  bool whole = *text >= '0' && *text <= '9' && gather_cli_whole(text, &end, &number, &too_big);
  int64_t unit = whole || too_big ? unit_bytes(end) : 0;
  if (unit == 0) return gather_cli_fail(error, GATHER_USAGE, "--%s takes a size such as 2GiB, 500MB or 65536, not '%.100s'", name, text);
  if (too_big || number > INT64_MAX / unit) return gather_cli_fail(error, GATHER_USAGE, "--%s %.100s does not fit in 64 bits", name, text);
  *bytes = number * unit;
  if (*bytes < least) return gather_cli_fail(error, GATHER_USAGE, "--%s %s is less than %" PRId64 " bytes", name, text, least);
  return GATHER_OK;
}

char *gather_cli_size_text(char *text, size_t text_bytes, int64_t bytes) { return gather_text_bytes(bytes, text, text_bytes); }
