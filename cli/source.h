/* SPDX-License-Identifier: MIT
 *
 * source.h: what FILE or FILE:NAME stands for on disk, and the bytes of what cannot be mapped.
 */
#ifndef GATHER_CLI_SOURCE_H
#define GATHER_CLI_SOURCE_H

#include "args.h"
#include "gather/file.h"

/* Cuts FILE:NAME: the path goes to path (malloc'ed, the caller frees it), *name points behind the colon, or to "". A
 * file of the whole name wins; else the first colon with an existing file before it. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_source_split(const char *argument, char **path, const char **name,
                                                     gather_error *error);

/* Remembers what the line says of links, for all files that the program opens. */
void gather_cli_links_start(const gather_cli_args *args);
/* Whether symbolic links to files beside a model are refused. */
bool gather_cli_no_links(void);
/* gather_file_open_with, with links as the line says. */
GATHER_CHECKED gather_status gather_cli_file_open(const char *path, gather_file **file, gather_error *error);

/* Whether a path is a pipe, a socket or a terminal: to be read to its end, as it cannot be mapped. "-" is one. */
bool gather_cli_source_streams(const char *path);

/* Reads a file, or standard input for "-", to its end. bytes[count] is a zero byte; free() ends it. Returns
 * GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_source_read(const char *path, void **bytes, size_t *count, gather_error *error);

/* Whether a regular file begins as text; false also where there is none. Returns GATHER_IO_ERROR or GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_source_is_text(const char *path, bool *text, gather_error *error);

#endif
