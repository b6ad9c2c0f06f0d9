/* SPDX-License-Identifier: MIT
 *
 * show.h: texts and shapes as a terminal may show them, and the stream of the JSON object.
 */
#ifndef GATHER_CLI_SHOW_H
#define GATHER_CLI_SHOW_H

#include <stdio.h>

#include "args.h"

/* Where the JSON object goes: stdout, but stderr where the result itself goes to stdout. */
FILE *gather_cli_json_stream(const gather_cli_args *args);

/* Writes "[2, 3]" into text (at least 8 bytes), cut with "..." where it is too long; returns text. */
char *gather_cli_shape_text(char *text, size_t bytes, int32_t rank, const int64_t *shape);

/* Writes text with control characters made visible, so that no file name can play with the terminal. */
void gather_cli_put(FILE *to, const char *text);

#endif
