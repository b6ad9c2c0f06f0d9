/* SPDX-License-Identifier: MIT
 *
 * npy_literal.c: parses Python literals: blanks, strings, numbers, tuples of lengths.
 */
#include "io/format/npy/npy_literal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"

void gather_literal_init(gather_literal *literal, const char *text, int64_t bytes) {
  literal->text = text;
  literal->at = 0;
  literal->end = bytes;
  literal->status = GATHER_OK;
  literal->wrong_at = 0;
  literal->message[0] = '\0';
}

bool gather_literal_fail(gather_literal *literal, gather_status status, int64_t at, const char *format, ...) {
  if (literal->status != GATHER_OK) return false;
  literal->status = status;
  literal->wrong_at = at;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(literal->message, sizeof literal->message, format, arguments);
  va_end(arguments);
  /* Quoted input may contain any bytes; messages must suit terminals and JSON. */
  for (char *c = literal->message; *c != '\0'; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static char look(const gather_literal *literal, int64_t ahead) {
  return literal->end - literal->at > ahead ? literal->text[literal->at + ahead] : '\0';
}

char gather_literal_peek(gather_literal *literal) {
  while (literal->at < literal->end) {
    char c = literal->text[literal->at];
    if (c == '#') {
      while (literal->at < literal->end && literal->text[literal->at] != '\n') literal->at++;
    } else if (is_blank(c)) {
      literal->at++;
    } else {
      return c;
    }
  }
  return '\0';
}

bool gather_literal_accept(gather_literal *literal, char c) {
  if (gather_literal_peek(literal) != c || literal->at == literal->end) return false;
  literal->at++;
  return true;
}

bool gather_literal_expect(gather_literal *literal, char c) {
  if (gather_literal_accept(literal, c)) return true;
  const char *end = literal->at == literal->end ? ", but the header ends here" : "";
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected '%c'%s", c, end);
}

bool gather_literal_word(gather_literal *literal, const char *word) {
  (void)gather_literal_peek(literal);
  int64_t length = (int64_t)strlen(word);
  if (literal->end - literal->at < length || memcmp(literal->text + literal->at, word, (size_t)length) != 0)
    return false;
  char next = look(literal, length);
  if (is_letter(next) || is_digit(next)) return false;
  literal->at += length;
  return true;
}

/* Strings may have the prefix u (Python 2 and 3); others (b, r, f) never occur in a header. */
bool gather_literal_at_string(gather_literal *literal) {
  char c = gather_literal_peek(literal);
  if (c == 'u' || c == 'U') c = look(literal, 1);
  return c == '\'' || c == '"';
}

static int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/* Consumes the escape after a backslash. Its value is not needed, but Python must accept it. */
static bool take_escape(gather_literal *literal) {
  char c = look(literal, 0);
  int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  int64_t start = literal->at - 1, value = 0;
  if (literal->at == literal->end)
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a string is not closed");
  if (c == 'N') return gather_literal_fail(literal, GATHER_UNSUPPORTED, start, "\\N{...} escapes are not supported");
  if (digits > 0 || c == '\\' || c == '\'' || c == '"') literal->at++;
  for (; digits > 0; digits--, literal->at++) {
    int digit = digit_value(look(literal, 0));
    value = value * 16 + digit;
    if (digit > 15 || value > 0x10ffff)
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "an invalid escape");
  }
  return true;
}

bool gather_literal_string(gather_literal *literal, gather_literal_text *string) {
  if (!gather_literal_at_string(literal))
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a string");
  if (is_letter(look(literal, 0))) literal->at++;
  char quote = literal->text[literal->at++];
  int64_t start = literal->at;
  while (literal->at < literal->end) {
    unsigned char c = (unsigned char)literal->text[literal->at++];
    if (c == (unsigned char)quote) {
      string->text = literal->text + start;
      string->bytes = literal->at - 1 - start;
      return true;
    }
    if ((c < 0x20 && c != '\t') || c == 0x7f)
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at - 1, "a control character in a string");
    if (c == '\\' && !take_escape(literal)) return false;
  }
  return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start - 1, "a string is not closed");
}

/* The base of the next number; consumes its prefix. */
static int take_base(gather_literal *literal) {
  if (look(literal, 0) != '0') return 10;
  char c = look(literal, 1);
  int base = c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : c == 'b' || c == 'B' ? 2 : 10;
  if (base != 10) literal->at += 2;
  return base;
}

bool gather_literal_int(gather_literal *literal, int64_t *value) {
  char sign = gather_literal_peek(literal);
  int64_t start = literal->at;
  if (sign == '-' || sign == '+') literal->at++;
  int base = take_base(literal);
  if (digit_value(look(literal, 0)) >= base)
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a whole number");
  *value = 0;
  for (;; literal->at++) {
    char c = look(literal, 0);
    if (c == '_' && digit_value(look(literal, 1)) < base) continue;
    int digit = digit_value(c);
    if (digit >= base) break;
    if (!gather_mul(*value, base, value) || !gather_add(*value, sign == '-' ? -digit : digit, value))
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a number does not fit in 64 bits");
  }
  if (base == 10 && *value != 0 && look(literal, start + (sign == '-' || sign == '+') - literal->at) == '0')
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "a number begins with 0");
  if (look(literal, 0) == 'L') literal->at++;
  if (is_letter(look(literal, 0)) || is_digit(look(literal, 0)) || look(literal, 0) == '.')
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at, "expected a whole number");
  return true;
}

bool gather_literal_shape(gather_literal *literal, int64_t *shape, int32_t *rank) {
  *rank = 0;
  if (!gather_literal_expect(literal, '(')) return false;
  bool comma = true;
  while (!gather_literal_accept(literal, ')')) {
    if (!comma) return gather_literal_expect(literal, ',');
    (void)gather_literal_peek(literal);
    int64_t start = literal->at, length;
    if (!gather_literal_int(literal, &length)) return false;
    if (length < 0)
      return gather_literal_fail(literal, GATHER_FILE_MALFORMED, start, "invalid length %" PRId64 " in the shape",
                                 length);
    if (*rank == GATHER_MAX_RANK)
      return gather_literal_fail(literal, GATHER_UNSUPPORTED, start, "more than %d dimensions are not supported",
                                 GATHER_MAX_RANK);
    shape[(*rank)++] = length;
    comma = gather_literal_accept(literal, ',');
  }
  if (*rank == 1 && !comma) /* (3) is a number, not a tuple */
    return gather_literal_fail(literal, GATHER_FILE_MALFORMED, literal->at - 1, "expected ',' in a tuple of one");
  return true;
}
