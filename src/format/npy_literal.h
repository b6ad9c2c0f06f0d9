/* SPDX-License-Identifier: MIT
 *
 * npy_literal.h: reading the Python literals of .npy headers, from bytes that nobody vouches for.
 * A function that returns false has written down what is wrong and where; the first complaint stays.
 */
#ifndef GATHER_NPY_LITERAL_H
#define GATHER_NPY_LITERAL_H

#include "base/compiler.h"
#include "gather/gather.h"

typedef struct gather_literal {
  const char *text; /* not terminated */
  int64_t at, end;  /* the next byte; behind the last */
  gather_status status;
  int64_t wrong_at;
  char message[240];
} gather_literal;

/* A string as it stands between its quotes, escapes and all. */
typedef struct gather_literal_text {
  const char *text;
  int64_t bytes;
} gather_literal_text;

void gather_literal_init(gather_literal *literal, const char *text, int64_t bytes);
/* Writes down a complaint about byte `at`; returns false. */
GATHER_PRINTF(4, 5)
bool gather_literal_fail(gather_literal *literal, gather_status status, int64_t at, const char *format, ...);
/* The next byte that is no blank and no comment, which is not taken; '\0' at the end. */
char gather_literal_peek(gather_literal *literal);
/* Takes `c` where it is next. */
bool gather_literal_accept(gather_literal *literal, char c);
/* Takes `c`, or complains. */
bool gather_literal_expect(gather_literal *literal, char c);
/* Takes a word of letters where it is next ("True"). */
bool gather_literal_word(gather_literal *literal, const char *word);
/* Is a string next? */
bool gather_literal_at_string(gather_literal *literal);
bool gather_literal_string(gather_literal *literal, gather_literal_text *string);
/* A whole number: decimal, hexadecimal, octal or binary, with a sign, with underlines, and with the L of Python 2. */
bool gather_literal_int(gather_literal *literal, int64_t *value);
/* A tuple of lengths that are not negative; a complaint where there are more than GATHER_MAX_RANK. */
bool gather_literal_shape(gather_literal *literal, int64_t *shape, int32_t *rank);

#endif
