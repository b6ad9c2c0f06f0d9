/* SPDX-License-Identifier: MIT
 *
 * text_input.c: reads text a block at a time (POSIX), whole numbers in it, and collects them.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "io/format/text/text_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "io/format/map.h"
#include "io/format/text/utf8.h"

/* ---- bytes and words */

enum { BLOCK_BYTES = 1 << 16, FIRST_ROOM = 1024 };

static ssize_t read_some(gather_text_input *in, int64_t from) {
  ssize_t got;
  do got = read(in->fd, in->buffer + from, (size_t)(BLOCK_BYTES - from));
  while (got < 0 && errno == EINTR);
  if (got < 0) in->status = gather_fail_system(in->error, in->name, errno, "read it");
  return got;
}

bool gather_text_input_fill(gather_text_input *in) {
  if (in->fd < 0 || in->status != GATHER_OK) return false;
  in->base += in->size;
  in->at = in->size = 0;
  ssize_t got = read_some(in, 0);
  in->size = got > 0 ? (int64_t)got : 0;
  return got > 0;
}

/* Encodings with a byte-order mark. Longer marks come first. */
static const struct {
  const char *bytes;
  int length;
  const char *name; /* NULL = UTF-8 */
} MARKS[] = {{"\xef\xbb\xbf", 3, NULL},
             {"\xff\xfe\0\0", 4, "UTF-32"},
             {"\0\0\xfe\xff", 4, "UTF-32"},
             {"\xff\xfe", 2, "UTF-16"},
             {"\xfe\xff", 2, "UTF-16"}};

static gather_status pass_mark(gather_text_input *in) {
  for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
    if (in->size < MARKS[i].length || memcmp(in->bytes, MARKS[i].bytes, (size_t)MARKS[i].length) != 0) continue;
    if (MARKS[i].name)
      return gather_fail_file(in->error, GATHER_UNSUPPORTED, in->name, 0, "it is text in %s; convert it to UTF-8: iconv -f %s -t UTF-8",
                              MARKS[i].name, MARKS[i].name);
    in->at = MARKS[i].length;
    break;
  }
  return GATHER_OK;
}

gather_status gather_text_input_open(gather_text_input *in, const char *path, gather_error *error) {
  *in = (gather_text_input){.name = path, .error = error, .line = 1, .fd = -1, .buffer = gather_alloc(BLOCK_BYTES)};
  if (!in->buffer) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "out of memory while reading it");
  in->bytes = in->buffer;
  in->fd = gather_open_file(path, O_RDONLY | O_NOCTTY, 0);
  if (in->fd < 0) return gather_fail_open(error, path, errno);
  for (ssize_t got = 1; got > 0 && in->size < 4;) { /* pipes may return fewer bytes */
    got = read_some(in, in->size);
    if (got > 0) in->size += got;
  }
  GATHER_TRY(in->status);
  return pass_mark(in);
}

gather_status gather_text_input_memory(gather_text_input *in, const void *memory, int64_t bytes, const char *name, gather_error *error) {
  *in = (gather_text_input){.name = name, .error = error, .line = 1, .fd = -1, .bytes = memory, .size = bytes};
  return pass_mark(in);
}

void gather_text_input_end(gather_text_input *in) {
  if (in->fd >= 0) (void)close(in->fd);
  gather_free(in->buffer);
  in->fd = -1;
  in->buffer = NULL;
}

const char *gather_text_word_show(gather_text_word *word) {
  int64_t bytes = word->bytes < GATHER_TEXT_QUOTED ? word->bytes : GATHER_TEXT_QUOTED;
  bool is_utf8 = gather_utf8_check(word->text, bytes) < 0;
  word->text[bytes] = '\0';
  for (int64_t i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)word->text[i];
    if (c < ' ' || c == 0x7f || (c > 0x7f && !is_utf8)) word->text[i] = '?';
  }
  return word->text;
}

gather_status gather_text_numbers_add(gather_text_numbers *numbers, int64_t number, const gather_text_input *in) {
  if (numbers->len == numbers->room) {
    int64_t room = numbers->room ? numbers->room * 2 : FIRST_ROOM;
    int64_t *at = room <= PTRDIFF_MAX / (int64_t)sizeof *at ? gather_alloc(room * (int64_t)sizeof *at) : NULL;
    if (!at) return gather_fail_file(in->error, GATHER_OUT_OF_MEMORY, in->name, -1, "out of memory for its numbers");
    if (numbers->len > 0) memcpy(at, numbers->at, (size_t)numbers->len * sizeof *at);
    gather_free(numbers->at);
    numbers->at = at;
    numbers->room = room;
  }
  numbers->at[numbers->len++] = number;
  return GATHER_OK;
}

/* ---- whole numbers, read exactly, also where they are written like floats: numpy.savetxt and pandas do so. What a float cannot hold
 * exactly was rounded when it was written, so beyond 2^53 that form is refused. */

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

/* Adds a digit of a number without a point. */
/* Zeros wait: they may be the end of a fraction. */
static void add_digit(gather_text_whole *whole, int digit) {
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
    add_digit(whole, c - '0');
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
  if (whole->phase >= FRACTION && number.value < -FLOAT_MAX) return "is beyond 2^53, where floats are rounded: write it as an integer";
  return NULL;
}
