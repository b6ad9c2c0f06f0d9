/* SPDX-License-Identifier: MIT
 *
 * text_input.h: reads text byte by byte, from a file (a block at a time) or from memory; and collects numbers.
 */
#ifndef GATHER_FORMAT_TEXT_INPUT_H
#define GATHER_FORMAT_TEXT_INPUT_H

#include "core/base/error.h"
#include "gather/gather.h"

/* Longest quotation in a message. */
enum { GATHER_TEXT_QUOTED = 40 };

/* A place in the text. */
typedef struct gather_text_place {
  int64_t line, byte; /* lines count from 1, bytes from 0 */
} gather_text_place;

typedef struct gather_text_input {
  const char *name; /* for messages */
  gather_error *error;
  const uint8_t *bytes; /* a block */
  int64_t at, size;     /* next byte in the block; its length */
  int64_t base;         /* file offset of the block */
  int64_t line;
  int fd;               /* -1: all in memory */
  uint8_t *buffer;      /* for a file's blocks */
  gather_status status; /* of a failed read */
} gather_text_input;

/* Opens a file, or memory. A UTF-8 byte-order mark is skipped; other encodings with a mark are GATHER_UNSUPPORTED.
 * gather_text_input_end must follow in any case. */
GATHER_CHECKED gather_status gather_text_input_open(gather_text_input *in, const char *path, gather_error *error);
GATHER_CHECKED gather_status gather_text_input_memory(gather_text_input *in, const void *memory, int64_t bytes, const char *name,
                                                      gather_error *error);
void gather_text_input_end(gather_text_input *in);

/* Reads the next block; false at the end or on an error (in->status). */
bool gather_text_input_fill(gather_text_input *in);

/* The next byte, not consumed; -1 at the end. */
static inline int gather_text_peek(gather_text_input *in) {
  return in->at < in->size || gather_text_input_fill(in) ? in->bytes[in->at] : -1;
}

/* Consumes the next byte. */
static inline int gather_text_next(gather_text_input *in) {
  int c = gather_text_peek(in);
  if (c >= 0) in->at++;
  if (c == '\n') in->line++;
  return c;
}

static inline gather_text_place gather_text_here(const gather_text_input *in) { return (gather_text_place){in->line, in->base + in->at}; }

/* Text, truncated if longer. All zero is empty. */
typedef struct gather_text_word {
  char text[GATHER_TEXT_QUOTED + 1];
  int64_t bytes; /* of the whole */
} gather_text_word;

static inline void gather_text_word_add(gather_text_word *word, int c) {
  if (word->bytes < GATHER_TEXT_QUOTED) word->text[word->bytes] = (char)c;
  word->bytes++;
}
/* Makes it text for a message: invalid bytes become '?'. */
const char *gather_text_word_show(gather_text_word *word);

/* ---- the numbers */

typedef struct gather_text_numbers {
  int64_t *at; /* on the heap */
  int64_t len, room;
  int32_t rank; /* of nested lists; else 0, and the shape is [len] */
  int64_t shape[GATHER_MAX_RANK];
} gather_text_numbers;

GATHER_CHECKED gather_status gather_text_numbers_add(gather_text_numbers *numbers, int64_t number, const gather_text_input *in);

/* A decimal number, read byte by byte and exactly: 12, -3, and as floats are written, 1e+05, 1.000e+00. Starts as all zero. */
typedef struct gather_text_whole {
  int64_t value;  /* the digits up to the last that is not 0. Negative: INT64_MIN has no positive counterpart */
  int64_t zeros;  /* digits since then */
  int64_t places; /* digits after the point */
  int64_t scale;  /* the number is value times 10 to the power of it and of the exponent */
  int64_t exponent;
  int phase;
  bool negative, has_digits, too_big, exponent_negative;
} gather_text_whole;

/* Adds a byte: a sign, a digit, a point, e. False if no number goes on like that. */
bool gather_text_whole_put(gather_text_whole *whole, int c);
/* Whether a number may end here. */
bool gather_text_whole_ends(const gather_text_whole *whole);
/* The number; or why it is none, as the end of a sentence: "is not a whole number". */
const char *gather_text_whole_value(const gather_text_whole *whole, int64_t *value);

/* ---- text_column.c */

/* Reads one column of a table: comma-, tab- or semicolon-separated values. column: as text_column of gather_file_source. */
GATHER_CHECKED gather_status gather_text_column(gather_text_input *in, const char *column, gather_text_numbers *numbers);

#endif
