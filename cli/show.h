/* SPDX-License-Identifier: MIT
 *
 * show.h: printable texts and shapes, and the stream of the JSON object.
 */
#ifndef GATHER_CLI_SHOW_H
#define GATHER_CLI_SHOW_H

#include <stdio.h>

#include "args.h"

/* Where the JSON object goes: stdout, or stderr if the result itself goes to stdout. */
FILE *gather_cli_json_stream(const gather_cli_args *args);

/* Writes "[2, 3]" into text (at least 8 bytes), truncated with "..." if it is too long; returns text. */
char *gather_cli_shape_text(char *text, size_t bytes, int32_t rank, const int64_t *shape);

/* Writes text with control characters escaped, so that no file name can change the terminal. */
void gather_cli_put(FILE *to, const char *text);

/* Removes user, password, query and fragment of every URL in a text, also of schemes that are not read (gs://), but for s3:// and hf://,
 * whose names may have these characters: messages quote words of the line. */
void gather_cli_hide_secrets(char *text);

#endif
