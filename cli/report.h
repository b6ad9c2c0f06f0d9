/* SPDX-License-Identifier: MIT
 *
 * report.h: reports errors as text or JSON, with hints, and sets exit codes.
 */
#ifndef GATHER_CLI_REPORT_H
#define GATHER_CLI_REPORT_H

#include "args.h"
#include "fail.h"
#include "show.h"

/* Reports a failure and returns the exit code. */
int gather_cli_report(const gather_cli_args *args, const gather_error *error);
/* The same for a node of a model ("" = none): the JSON object names it. */
int gather_cli_report_node(const gather_cli_args *args, const gather_error *error, const char *node);

/* The object "error" with an error's fields; node and hint: "" = none. */
struct gather_cli_json;
void gather_cli_json_error(struct gather_cli_json *json, const gather_error *error, const char *node, const char *hint);

/* Flushes stdout and returns the exit code: `code`, or that of GATHER_IO_ERROR if the answer could not be written. A
 * reader that has closed the pipe (`gather ops | head -1`) is not an error. */
int gather_cli_finish(int code);

/* Sets the hint for an error that was just filled in, instead of the general one. Returns its status. */
GATHER_PRINTF_LIKE(2, 3)
gather_status gather_cli_hint_set(const gather_error *error, const char *format, ...);

/* The hint for an error, "" if there is none. */
void gather_cli_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes);

#endif
