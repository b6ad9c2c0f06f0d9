/* SPDX-License-Identifier: MIT
 *
 * descr.h: NumPy's description of an element type, the "descr" of .npy: '<f4', '|S5', [('a', '<i4'), ('b', '>f8', (2,))]; and the Python
 * literals that it and the headers of .npy consist of. Bytes are untrusted. A function that returns false has set the error and its
 * position; the first error is kept.
 */
#ifndef GATHER_FORMAT_DESCR_H
#define GATHER_FORMAT_DESCR_H

#include "core/base/compiler.h"
#include "gather/file.h"

/* ---- literals */

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

GATHER_INLINE void gather_literal_init(gather_literal *literal, const char *text, int64_t bytes) {
  *literal = (gather_literal){.text = text, .end = bytes};
}
/* Sets an error at byte `at`; returns false. */
GATHER_PRINTF(4, 5)
bool gather_literal_fail(gather_literal *literal, gather_status status, int64_t at, const char *format, ...);
/* The next byte after blanks and comments, not consumed; '\0' at the end. */
char gather_literal_peek(gather_literal *literal);
/* Consumes `c` if it is next. */
GATHER_INLINE bool gather_literal_accept(gather_literal *literal, char c) {
  if (gather_literal_peek(literal) != c || literal->at == literal->end) return false;
  literal->at++;
  return true;
}
/* Consumes `c`, or fails. */
bool gather_literal_expect(gather_literal *literal, char c);
/* Consumes a word of letters if it is next ("True"). */
bool gather_literal_word(gather_literal *literal, const char *word);
/* Whether a string is next. It may have the prefix u (Python 2 and 3); others (b, r, f) never occur in a header. */
GATHER_INLINE bool gather_literal_at_string(gather_literal *literal) {
  char c = gather_literal_peek(literal);
  if ((c == 'u' || c == 'U') && literal->end - literal->at > 1) c = literal->text[literal->at + 1];
  return c == '\'' || c == '"';
}
bool gather_literal_string(gather_literal *literal, gather_literal_text *string);
/* An integer: decimal, hexadecimal, octal or binary, with a sign, underscores, and the L of Python 2. */
bool gather_literal_int(gather_literal *literal, int64_t *value);
/* A tuple of non-negative lengths; fails if there are more than GATHER_MAX_RANK. */
bool gather_literal_shape(gather_literal *literal, int64_t *shape, int32_t *rank);

/* ---- descriptions */

typedef struct gather_descr {
  gather_type type;   /* GATHER_TYPE_OPAQUE for a type without a name here */
  int64_t item_bytes; /* of one element */
  int64_t unit_bytes; /* unit of a byte swap; 1 = no byte order; 0 = fields of different units */
  bool big_endian;    /* at least one part with a byte order is big-endian */
  bool swapped;       /* a plain type in the other byte order than this machine's */
  bool structured;    /* a list of fields */
} gather_descr;

/* Parses the next literal, a string or a list of fields. Fails with GATHER_UNSUPPORTED for pickled objects. */
bool gather_descr_parse(gather_literal *literal, gather_descr *descr);
/* Parses a plain description without quotes ("<f4"); errors refer to byte `at` of the literal. */
bool gather_descr_plain(gather_literal *literal, int64_t at, gather_literal_text text, gather_descr *descr);

/* ---- raw bytes */

/* Checks what a caller says of raw bytes: their type, which is little-endian unless a description says otherwise, and how many bytes they
 * take. Returns GATHER_USAGE, GATHER_UNSUPPORTED (strings, more than GATHER_MAX_RANK dimensions), GATHER_OVERFLOW. */
GATHER_CHECKED gather_status gather_raw_check(const gather_raw *raw, gather_descr *descr, int64_t *bytes, gather_error *error);
/* The name of their type, and its text as gather_file_tensor.descr has it. A type without a name keeps its text in `room`, of
 * GATHER_RAW_TEXT bytes. */
void gather_raw_name(const gather_raw *raw, const gather_descr *descr, char *room, const char **type_name, const char **text);
#define GATHER_RAW_TEXT(raw) (2 * (int64_t)strlen((raw)->type) + 4)

#endif
