/* SPDX-License-Identifier: MIT
 *
 * literal.h: numbers as text on the command line: '[[0, 2], [1, -1]]'.
 */
#ifndef GATHER_CLI_LITERAL_H
#define GATHER_CLI_LITERAL_H

#include "gather/gather.h"

/* int64 numbers with a shape. Starts as all zero; gather_cli_numbers_clear frees it. */
typedef struct gather_cli_numbers {
  int64_t *at;
  int64_t len, room;
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK];
} gather_cli_numbers;

/* Whether an argument is a literal, not a file: it begins (after blanks) with a bracket, or is an integer. */
bool gather_cli_is_literal(const char *text);

/* The same for elements of a type: for bool, true and false are literals too, for other types 1.5, nan and inf. */
bool gather_cli_is_literal_of(gather_type type, const char *text);

/* Reads a literal: `3` is 0-D, `[]` has the shape [0]. Returns GATHER_USAGE for a malformed or ragged one. */
GATHER_CHECKED gather_status gather_cli_literal(const char *text, gather_cli_numbers *numbers, gather_error *error);

/* The same with elements of another type, dense at numbers->at: bool, integers and floats of whole
 * bytes. A number that the type cannot represent exactly is GATHER_USAGE too; another type is GATHER_UNSUPPORTED. */
GATHER_CHECKED gather_status gather_cli_literal_typed(const char *text, gather_type type, gather_cli_numbers *numbers, gather_error *error);

/* Converts int64 numbers to such a type, in place. Returns GATHER_USAGE if one does not fit. */
GATHER_CHECKED gather_status gather_cli_numbers_retype(gather_cli_numbers *numbers, gather_type type, gather_error *error);

/* Whether a literal may have that type. */
bool gather_cli_literal_has(gather_type type);

/* Writes the number or truth value `word` as an element of such a type (at most 8 bytes); false if it is neither, or
 * not exactly representable. */
bool gather_cli_exact(gather_type type, const char *word, void *element);

/* Copies `len` numbers, 1-D. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_numbers_copy(const int64_t *from, int64_t len, gather_cli_numbers *numbers, gather_error *error);

/* `len` zeros, 1-D, to be filled in. */
GATHER_CHECKED gather_status gather_cli_numbers_make(int64_t len, gather_cli_numbers *numbers, gather_error *error);

/* ---- slices: 10:20, ::2, -5: */

typedef struct gather_cli_slice {
  const char *text; /* as given; NULL = no slice */
  bool has_start, has_stop;
  int64_t start, stop, step;
} gather_cli_slice;

/* Whether an argument is a slice, not a file. */
bool gather_cli_is_slice(const char *text);
/* Reads one. Returns GATHER_USAGE, also for a step of 0. */
GATHER_CHECKED gather_status gather_cli_slice_read(const char *text, gather_cli_slice *slice, gather_error *error);
/* How many indices it selects on an axis of that length, and the first one. */
int64_t gather_cli_slice_len(const gather_cli_slice *slice, int64_t len, int64_t *first);
/* These indices, 1-D. */
GATHER_CHECKED gather_status gather_cli_slice_numbers(const gather_cli_slice *slice, int64_t len, gather_cli_numbers *numbers,
                                                      gather_error *error);

void gather_cli_numbers_clear(gather_cli_numbers *numbers);

#endif
