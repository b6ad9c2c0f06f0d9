/* SPDX-License-Identifier: MIT
 *
 * text_input.h: text byte by byte, out of a file that is read a block at a time, or out of memory; and the numbers that are found.
 */
#ifndef GATHER_FORMAT_TEXT_INPUT_H
#define GATHER_FORMAT_TEXT_INPUT_H

#include "base/error.h"
#include "gather/gather.h"

/* Of what is quoted in a message. */
enum { GATHER_TEXT_QUOTED = 40 };

/* A place in the text. */
typedef struct gather_text_place {
  int64_t line, byte; /* lines count from 1, bytes from 0 */
} gather_text_place;

typedef struct gather_text_input {
  const char *name; /* for messages */
  gather_error *error;
  const uint8_t *bytes; /* a block */
  int64_t at, size;     /* in it: the next byte; its length */
  int64_t base;         /* the block's first byte in the file */
  int64_t line;
  int fd;               /* -1: it is all in memory */
  uint8_t *buffer;      /* of a file's blocks */
  gather_status status; /* of the read that failed */
} gather_text_input;

/* Begins with a file, or with memory. A UTF-8 byte-order mark is passed over; other encodings that begin with a mark are
 * GATHER_UNSUPPORTED. gather_text_input_end must follow in either case. */
GATHER_CHECKED gather_status gather_text_input_open(gather_text_input *in, const char *path, gather_error *error);
GATHER_CHECKED gather_status gather_text_input_memory(gather_text_input *in, const void *memory, int64_t bytes,
                                                      const char *name, gather_error *error);
void gather_text_input_end(gather_text_input *in);

/* Reads the next block; false at the end, and where reading fails (in->status). */
bool gather_text_input_fill(gather_text_input *in);

/* The next byte, which is not taken; -1 at the end. */
static inline int gather_text_peek(gather_text_input *in) {
  return in->at < in->size || gather_text_input_fill(in) ? in->bytes[in->at] : -1;
}

/* Takes the next byte. */
static inline int gather_text_next(gather_text_input *in) {
  int c = gather_text_peek(in);
  if (c >= 0) in->at++;
  if (c == '\n') in->line++;
  return c;
}

static inline gather_text_place gather_text_here(const gather_text_input *in) {
  return (gather_text_place){in->line, in->base + in->at};
}

/* Text whose end is cut off where it is longer. All zero is empty. */
typedef struct gather_text_word {
  char text[GATHER_TEXT_QUOTED + 1];
  int64_t bytes; /* of the whole */
} gather_text_word;

static inline void gather_text_word_add(gather_text_word *word, int c) {
  if (word->bytes < GATHER_TEXT_QUOTED) word->text[word->bytes] = (char)c;
  word->bytes++;
}
/* Makes it text for a message: bytes that are no characters become '?'. */
const char *gather_text_word_show(gather_text_word *word);

/* ---- what was found */

typedef struct gather_text_numbers {
  int64_t *at; /* on the heap */
  int64_t len, room;
} gather_text_numbers;

GATHER_CHECKED gather_status gather_text_numbers_add(gather_text_numbers *numbers, int64_t number,
                                                     const gather_text_input *in);
void gather_text_numbers_clear(gather_text_numbers *numbers);

/* A whole decimal number that is read digit by digit. Starts as all zero. */
typedef struct gather_text_whole {
  int64_t value; /* below zero: INT64_MIN has no positive counterpart */
  bool negative, has_digits, too_big;
} gather_text_whole;

/* Adds a digit. */
void gather_text_whole_add(gather_text_whole *whole, int digit);
/* The number; false where it is too big. */
bool gather_text_whole_value(const gather_text_whole *whole, int64_t *value);

/* ---- readers */

/* Reads numbers separated by white space or commas, with comments, and with a header of one word. */
GATHER_CHECKED gather_status gather_text_plain(gather_text_input *in, gather_text_numbers *numbers);
/* Reads one column of a table: comma-, tab- or semicolon-separated values. column: as gather_file_open_text. */
GATHER_CHECKED gather_status gather_text_column(gather_text_input *in, const char *column,
                                                gather_text_numbers *numbers);

#endif
