/* SPDX-License-Identifier: MIT
 *
 * text_whole.c: whole numbers in text, read exactly, also where they are written like floats: numpy.savetxt and pandas do so. What a
 * float cannot hold exactly was rounded when it was written, so beyond 2^53 that form is refused.
 */
#include "io/format/text/text_input.h"

enum { START, INTEGER, FRACTION, EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS };

static const int64_t FLOAT_MAX = INT64_C(1) << 53;
static const int64_t EXPONENT_MAX = INT64_MAX / 100;

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* value * 10 - digit, or too_big. */
static void append(gather_text_whole *whole, int digit) {
  if (whole->value < (INT64_MIN + digit) / 10)
    whole->too_big = true;
  else
    whole->value = whole->value * 10 - digit;
}

/* Zeros wait: they may be the end of a fraction. */
void gather_text_whole_add(gather_text_whole *whole, int digit) {
  whole->has_digits = true;
  const bool fraction = whole->phase == FRACTION;
  if (fraction) whole->places++;
  if (digit == 0) {
    if (whole->value == 0) return;
    whole->zeros++;
    whole->scale += !fraction;
    return;
  }
  for (; whole->zeros > 0 && !whole->too_big; whole->zeros--) append(whole, 0);
  whole->zeros = 0;
  if (!whole->too_big) append(whole, digit);
  whole->scale = fraction ? -whole->places : 0;
}

static bool put_exponent(gather_text_whole *whole, int c) {
  if (whole->phase == EXPONENT && (c == '+' || c == '-')) {
    whole->exponent_negative = c == '-';
    whole->phase = EXPONENT_SIGN;
    return true;
  }
  if (!is_digit(c)) return false;
  whole->phase = EXPONENT_DIGITS;
  if (whole->exponent < EXPONENT_MAX) whole->exponent = whole->exponent * 10 + (c - '0');
  return true;
}

bool gather_text_whole_put(gather_text_whole *whole, int c) {
  if (whole->phase >= EXPONENT) return put_exponent(whole, c);
  const bool starts = whole->phase == START;
  if (starts) whole->phase = INTEGER;
  if (is_digit(c)) {
    gather_text_whole_add(whole, c - '0');
    return true;
  }
  if (starts && (c == '-' || c == '+')) {
    whole->negative = c == '-';
    return true;
  }
  if (c == '.' && whole->phase == INTEGER) {
    whole->phase = FRACTION;
    return true;
  }
  if ((c != 'e' && c != 'E') || !whole->has_digits) return false;
  whole->phase = EXPONENT;
  return true;
}

bool gather_text_whole_ends(const gather_text_whole *whole) {
  return whole->has_digits && whole->phase != EXPONENT && whole->phase != EXPONENT_SIGN;
}

const char *gather_text_whole_value(const gather_text_whole *whole, int64_t *value) {
  static const char *const TOO_BIG = "does not fit in int64";
  gather_text_whole number = *whole;
  int64_t scale = whole->scale + (whole->exponent_negative ? -whole->exponent : whole->exponent);
  if (!gather_text_whole_ends(whole)) return "is not a whole number";
  *value = 0;
  if (whole->value == 0 && !whole->too_big) return NULL;
  if (scale < 0) return "is not a whole number"; /* the last digit of the value is not 0 */
  for (; scale > 0 && !number.too_big; scale--) append(&number, 0);
  if (number.too_big || (!whole->negative && number.value == INT64_MIN)) return TOO_BIG;
  *value = whole->negative ? number.value : -number.value;
  if (whole->phase >= FRACTION && number.value < -FLOAT_MAX)
    return "is beyond 2^53, where floats are rounded: write it as an integer";
  return NULL;
}
