/* SPDX-License-Identifier: MIT
 *
 * tensor_arg.h: a tensor as named on the command line: FILE, FILE:NAME, - for standard input, raw bytes with a
 * type and a shape, and for INDICES a literal, a text file or FILE:COLUMN of a table in text.
 */
#ifndef GATHER_CLI_TENSOR_ARG_H
#define GATHER_CLI_TENSOR_ARG_H

#include "args.h"
#include "gather/file.h"
#include "literal.h"

/* The values of --type, --shape, --offset and --raw; type NULL = not given. And that of --tensor. */
typedef struct gather_cli_raw {
  gather_raw raw;
  int64_t shape[GATHER_MAX_RANK];
  bool whole;         /* --shape -1x64: as many rows as the file has; shape[0] is -1 until gather_cli_raw_rows */
  const char *tensor; /* NULL = the argument may be FILE:NAME */
} gather_cli_raw;

/* Reads the raw options (type, shape and offset are their numbers). Returns GATHER_USAGE, GATHER_UNSUPPORTED (a type
 * that raw bytes cannot have). */
GATHER_CHECKED gather_status gather_cli_raw_options(const gather_cli_args *args, gather_cli_option_id type, gather_cli_option_id shape,
                                                    gather_cli_option_id offset, gather_cli_raw *raw, gather_error *error);

/* If the shape begins with -1, counts the rows of the argument's file. Returns like gather_table_open, and GATHER_USAGE for
 * standard input. */
GATHER_CHECKED gather_status gather_cli_raw_rows(const char *argument, gather_cli_raw *raw, gather_error *error);

/* "3x4" as lengths, added after the first *rank ones; "" is 0-D. option: its name, for errors. Returns GATHER_USAGE. */
GATHER_CHECKED gather_status gather_cli_shape(const char *text, const char *option, int64_t *shape, int32_t *rank, gather_error *error);

/* An opened tensor and what it depends on. Starts as all zero; gather_cli_input_close frees it. */
typedef struct gather_cli_input {
  gather_file *file;          /* NULL for literals */
  bool text;                  /* it is a text file */
  gather_file_tensor tensor;  /* what it is */
  gather_cli_numbers numbers; /* a literal, or text as elements of another type than int64 */
  void *memory;               /* the bytes read from a pipe */
  size_t memory_bytes;
} gather_cli_input;

/* Reads a literal; opens no file. */
GATHER_CHECKED gather_status gather_cli_input_literal(const char *text, gather_cli_input *input, gather_error *error);

/* The indices of a slice on an axis of that length. memory_bytes: most that they may take; 0 = no limit. Returns GATHER_USAGE. */
GATHER_CHECKED gather_status gather_cli_input_slice(const gather_cli_slice *slice, int64_t len, int64_t memory_bytes,
                                                    gather_cli_input *input, gather_error *error);

/* A tensor for a model's value: a literal or a text file of the type that the value has (GATHER_TYPE_NONE: int64), or a file. */
GATHER_CHECKED gather_status gather_cli_input_typed(const char *argument, gather_type type, const char *role, gather_cli_input *input,
                                                    gather_error *error);

/* Opens the file of an argument, without selecting a tensor: *name is the NAME of FILE:NAME, or "". If it is text
 * (input->text, only with text_allowed) NAME was the column, and input->tensor is set. role: "data" or "indices", for errors. */
GATHER_CHECKED gather_status gather_cli_input_open(const char *argument, const gather_cli_raw *raw, bool text_allowed, const char *role,
                                                   gather_cli_input *input, const char **name, gather_error *error);

/* gather_cli_input_open, and the tensor of that name; with text_allowed also one that is in pieces in the file, and remote ones are
 * downloaded. */
GATHER_CHECKED gather_status gather_cli_input_tensor(const char *argument, const gather_cli_raw *raw, bool text_allowed, const char *role,
                                                     gather_cli_input *input, gather_error *error);

/* Downloads the elements of a remote tensor; does nothing for others. Returns GATHER_UNSUPPORTED if it is too large for that. */
GATHER_CHECKED gather_status gather_cli_input_load(gather_cli_input *input, const char *role, gather_error *error);

void gather_cli_input_close(gather_cli_input *input);

/* Whether an argument means standard input. */
bool gather_cli_is_stdin(const char *argument);

#endif
