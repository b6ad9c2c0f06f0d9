/* SPDX-License-Identifier: MIT
 *
 * hint.h: the parts of gather_cli_hint (report.h): what to do about an error.
 */
#ifndef GATHER_CLI_HINT_H
#define GATHER_CLI_HINT_H

#include "report.h"

/* Whether an argument is the file of an error, which has only the end of a long name. */
bool gather_cli_hint_is_file(const char *argument, const gather_error *error);

/* An error about an output file that its folder explains; false for other errors. */
bool gather_cli_hint_output(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes);

/* What to do if the system refused a file for want of space, of descriptors and the like, by the number of its error; false for other
 * errors. */
bool gather_cli_hint_system(const gather_error *error, const char *file, char *text, size_t bytes);

/* A file that does not exist: suggests what was probably meant. model: the line names a model. */
void gather_cli_hint_missing(const gather_cli_args *args, const gather_error *error, bool model, char *text, size_t bytes);

/* An option that the command does not have: sets the hint for what does the same. */
void gather_cli_hint_option(const gather_cli_args *args, gather_cli_option_id id, const gather_error *error);

/* An extra argument: sets the hint for what was probably meant. */
void gather_cli_hint_extra(const gather_cli_args *args, const char *text, const gather_error *error);

#endif
