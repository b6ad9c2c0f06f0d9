/* SPDX-License-Identifier: MIT
 *
 * source.h: resolves FILE or FILE:NAME, and reads files that cannot be mapped.
 */
#ifndef GATHER_CLI_SOURCE_H
#define GATHER_CLI_SOURCE_H

#include "args.h"
#include "gather/file.h"

/* Splits FILE:NAME as gather_file_split does: path gets the path (malloc'ed, the caller frees it), *name points after the colon, or to "".
 * tensor: the name, if an option has it; then nothing is split. NULL = none does. Returns its errors, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_source_split(const char *argument, const char *tensor, char **path, const char **name,
                                                     gather_error *error);

/* Stores whether the line allows links, for all files that the program opens. */
void gather_cli_links_start(const gather_cli_args *args);
/* Whether symbolic links to files beside a model are refused. */
bool gather_cli_no_links(void);
/* How to open a path or a URL of the line: with its setting of links, and for a URL with its options and the environment. */
GATHER_CHECKED gather_status gather_cli_file_source(const char *path, gather_file_source *source, gather_error *error);
/* Opens it by gather_file_open, with the line's setting of links. */
GATHER_CHECKED gather_status gather_cli_file_open(const char *path, gather_file **file, gather_error *error);

/* What to call the file of the line's first argument: the argument; of a URL its name without the query, which may be a secret. */
const char *gather_cli_shown_name(const gather_cli_args *args, const gather_file *file);

/* Whether a path is a pipe, a socket or a terminal, which must be read to its end and cannot be mapped. "-" is one. */
bool gather_cli_source_streams(const char *path);

/* Reads a file, or standard input for "-", to its end. bytes[count] is a zero byte; the caller frees bytes. Returns
 * GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_source_read(const char *path, void **bytes, size_t *count, gather_error *error);

/* Whether a regular file begins like text; false also if there is no such file. Returns GATHER_IO_ERROR or GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_source_is_text(const char *path, bool *text, gather_error *error);

#endif
