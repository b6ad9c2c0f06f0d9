/* SPDX-License-Identifier: MIT
 *
 * npy_literal.h: parses the Python literals of .npy headers, from untrusted bytes. A function that returns false has
 * set the error and its position; the first error is kept.
 */
#ifndef GATHER_NPY_LITERAL_H
#define GATHER_NPY_LITERAL_H

#include "core/base/compiler.h"
#include "gather/gather.h"

typedef struct gather_literal {
  const char *text; /* not terminated */
  int64_t at, end;  /* the next byte; the end */
  gather_status status;
  int64_t wrong_at;
  char message[240];
} gather_literal;

/* The text of a string between its quotes, with escapes. */
typedef struct gather_literal_text {
  const char *text;
  int64_t bytes;
} gather_literal_text;

void gather_literal_init(gather_literal *literal, const char *text, int64_t bytes);
/* Sets an error at byte `at`; returns false. */
GATHER_PRINTF(4, 5)
bool gather_literal_fail(gather_literal *literal, gather_status status, int64_t at, const char *format, ...);
/* The next byte after blanks and comments, not consumed; '\0' at the end. */
char gather_literal_peek(gather_literal *literal);
/* Consumes `c` if it is next. */
bool gather_literal_accept(gather_literal *literal, char c);
/* Consumes `c`, or fails. */
bool gather_literal_expect(gather_literal *literal, char c);
/* Consumes a word of letters if it is next ("True"). */
bool gather_literal_word(gather_literal *literal, const char *word);
/* Whether a string is next. */
bool gather_literal_at_string(gather_literal *literal);
bool gather_literal_string(gather_literal *literal, gather_literal_text *string);
/* An integer: decimal, hexadecimal, octal or binary, with a sign, underscores, and the L of Python 2. */
bool gather_literal_int(gather_literal *literal, int64_t *value);
/* A tuple of non-negative lengths; fails if there are more than GATHER_MAX_RANK. */
bool gather_literal_shape(gather_literal *literal, int64_t *shape, int32_t *rank);

#endif
