/* SPDX-License-Identifier: MIT
 *
 * memory_stream.h: a stream that writes into memory of a fixed size.
 */
#ifndef GATHER_CLI_MEMORY_STREAM_H
#define GATHER_CLI_MEMORY_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* NULL: out of memory. */
FILE *gather_cli_memory_open(char *text, size_t bytes);
/* Closes it; then the text is what was written, and ends with a zero. False if something failed. */
bool gather_cli_memory_close(FILE *stream, char *text, size_t bytes);

#endif
