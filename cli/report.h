/* SPDX-License-Identifier: MIT
 *
 * report.h: what the command says: errors as text or JSON, with what to do about them, and exit codes.
 */
#ifndef GATHER_CLI_REPORT_H
#define GATHER_CLI_REPORT_H

#include <stdio.h>

#include "args.h"
#include "gather/gather.h"

#if defined(__GNUC__)
#define GATHER_CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define GATHER_CLI_PRINTF(text, first)
#endif

/* Propagates a failure. */
#define GATHER_CLI_TRY(call)                          \
  do {                                                \
    gather_status gather_try_ = (call);               \
    if (gather_try_ != GATHER_OK) return gather_try_; \
  } while (0)

/* Fill in an error and return its status. */
#define gather_cli_fail gather_error_set
#define gather_cli_fail_file gather_error_set_file

/* Where the JSON object goes: stdout, but stderr where the result itself goes to stdout. */
FILE *gather_cli_json_stream(const gather_cli_args *args);

/* Writes "[2, 3]" into text (at least 8 bytes), cut with "..." where it is too long; returns text. */
char *gather_cli_shape_text(char *text, size_t bytes, int32_t rank, const int64_t *shape);

/* Writes text with control characters made visible, so that no file name can play with the terminal. */
void gather_cli_put(FILE *to, const char *text);

/* Reports a failure and returns the exit code. */
int gather_cli_report(const gather_cli_args *args, const gather_error *error);
/* The same about a node of a model ("" = none): the JSON object names it. */
int gather_cli_report_node(const gather_cli_args *args, const gather_error *error, const char *node);

/* The object "error" with an error's fields; node and hint: "" = none. */
struct gather_cli_json;
void gather_cli_json_error(struct gather_cli_json *json, const gather_error *error, const char *node, const char *hint);

/* Flushes stdout and returns the exit code: `code`, or that of GATHER_IO_ERROR where the answer could not be written. A
 * reader that has gone away (`gather ops | head -1`) is no error. */
int gather_cli_finish(int code);

/* Says what to do about an error that was just filled in, in place of the general hint. Returns its status. */
GATHER_CLI_PRINTF(2, 3)
gather_status gather_cli_hint_set(const gather_error *error, const char *format, ...);

/* What to do about an error, "" where nothing helps. */
void gather_cli_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes);

#endif
