/* SPDX-License-Identifier: MIT
 *
 * numbers.c: integers on the command line, and the name that was probably meant.
 */
#include <string.h>

#include "args.h"
#include "fail.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool gather_cli_is_whole(const char *text) {
  if (*text == '+' || *text == '-') text++;
  if (!is_digit(*text)) return false;
  while (is_digit(*text)) text++;
  return *text == 0;
}

bool gather_cli_whole(const char *text, const char **end, int64_t *number, bool *too_big) {
  bool negative = *text == '-';
  const char *p = text + (*text == '-' || *text == '+');
  *too_big = false;
  *end = p;
  if (!is_digit(*p)) return false;
  int64_t value = 0; /* negative: INT64_MIN has no positive counterpart */
  for (; is_digit(*p); p++) {
    int digit = *p - '0';
    if (value < (INT64_MIN + digit) / 10)
      *too_big = true;
    else
      value = value * 10 - digit;
  }
  *end = p;
  if (!negative && value == INT64_MIN) *too_big = true;
  if (*too_big) return false;
  *number = negative ? value : -value;
  return true;
}

gather_status gather_cli_number(const gather_cli_args *args, gather_cli_option_id id, int64_t least, int64_t most, int64_t otherwise,
                                int64_t *number, gather_error *error) {
  const char *text = args->value[id], *name = gather_cli_option_at(id)->name, *end;
  bool too_big;
  *number = otherwise;
  if (!text) return GATHER_OK;
  if (!gather_cli_is_whole(text)) return gather_cli_fail(error, GATHER_USAGE, "--%s takes an integer, not '%s'", name, text);
  if (!gather_cli_whole(text, &end, number, &too_big))
    return gather_cli_fail(error, GATHER_USAGE, "--%s %s does not fit in 64 bits", name, text);
  if (*number < least) return gather_cli_fail(error, GATHER_USAGE, "--%s %s is less than %lld", name, text, (long long)least);
  if (*number > most) return gather_cli_fail(error, GATHER_USAGE, "--%s %s is more than %lld", name, text, (long long)most);
  return GATHER_OK;
}

enum { NAME_BYTES = 40 };

static int least_of(int a, int b, int c) {
  int ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Optimal string alignment: rows[k % 3] contains the distances of the first k letters of a. */
int gather_cli_distance(const char *a, const char *b) {
  int rows[3][NAME_BYTES + 1], len = (int)strlen(b), i = 0;
  if (len > NAME_BYTES) return NAME_BYTES;
  for (int j = 0; j <= len; j++) rows[0][j] = j;
  for (i = 1; a[i - 1]; i++) {
    int *row = rows[i % 3];
    const int *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= len; j++) {
      char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = least_of(before[j - 1] + (x != y), before[j] + 1, row[j - 1] + 1);
      bool swapped = i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y;
      if (swapped && earlier[j - 2] + 1 < row[j]) row[j] = earlier[j - 2] + 1;
    }
  }
  return rows[(i + 2) % 3][len];
}

const char *gather_cli_nearest(const char *name, int count, const char *(*names)(const void *context, int i), const void *context) {
  size_t len = strlen(name);
  if (len == 0 || len > NAME_BYTES) return NULL;
  const char *nearest = NULL;
  int best = 1 + (int)len / 3; /* beyond this it is a different word */
  for (int i = 0; i < count; i++) {
    const char *candidate = names(context, i);
    if (!candidate) continue;
    int d = gather_cli_distance(name, candidate);
    bool begins = len >= 2 && strncmp(candidate, name, len) == 0;
    if (begins) d = 1;
    if (d <= best && (!nearest || d < best)) {
      nearest = candidate;
      best = d;
    }
  }
  return nearest;
}
