/* SPDX-License-Identifier: MIT
 *
 * literal.h: whole numbers as text: '[[0, 2], [1, -1]]' on the command line, or one after another in a text file.
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

/* Whether an argument is a literal and no file: it begins (after blanks) with a bracket, or is a whole number. */
bool gather_cli_is_literal(const char *text);

/* Reads a literal: `3` is 0-D, `[]` has the shape [0]. Returns GATHER_USAGE for a broken or ragged one. */
GATHER_CHECKED gather_status gather_cli_literal(const char *text, gather_cli_numbers *numbers, gather_error *error);

/* The same with elements of another type, without gaps at numbers->at: bool, integers and floats of whole
 * bytes. A number that the type has not exactly is GATHER_USAGE too; another type is GATHER_UNSUPPORTED. */
GATHER_CHECKED gather_status gather_cli_literal_typed(const char *text, gather_type type, gather_cli_numbers *numbers,
                                                      gather_error *error);

/* Makes int64 numbers elements of such a type, in place. Returns GATHER_USAGE where one does not fit. */
GATHER_CHECKED gather_status gather_cli_numbers_retype(gather_cli_numbers *numbers, gather_type type,
                                                       gather_error *error);

/* Whether a literal may be of that type. */
bool gather_cli_literal_has(gather_type type);

/* Writes the number or truth value that `word` is as an element of such a type (at most 8 bytes); false where it is none, or
 * none that the type has exactly. */
bool gather_cli_exact(gather_type type, const char *word, void *element);

/* Whether the beginning of a file (its first `bytes` bytes) looks like text. */
bool gather_cli_is_text(const char *head, size_t bytes);

/* Reads whole numbers separated by white space or commas: 1-D. text[bytes] must be a zero byte. Returns
 * GATHER_FILE_MALFORMED with the line and the byte of anything else. */
GATHER_CHECKED gather_status gather_cli_text(const char *text, size_t bytes, const char *file,
                                             gather_cli_numbers *numbers, gather_error *error);

void gather_cli_numbers_clear(gather_cli_numbers *numbers);

#endif
