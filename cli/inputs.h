/* SPDX-License-Identifier: MIT
 *
 * inputs.h: the files that the line reads, by device and number: no output may replace one of them, also with -f.
 */
#ifndef GATHER_CLI_INPUTS_H
#define GATHER_CLI_INPUTS_H

#include "gather/file.h"

/* Notes a file that the line names. Paths that are no regular file are ignored. */
void gather_cli_inputs_note(const char *path);

/* Fails with GATHER_FILE_EXISTS if the output is a noted file, or one that `file` consists of (NULL: none). */
GATHER_CHECKED gather_status gather_cli_inputs_keep(const char *output, const gather_file *file, gather_error *error);

/* Fails likewise, about the output itself. */
GATHER_CHECKED gather_status gather_cli_inputs_refuse(const char *output, gather_error *error);

/* Whether two outputs are the same file, or will be: under the same name in the same folder. */
bool gather_cli_is_same_output(const char *one, const char *other);

#endif
