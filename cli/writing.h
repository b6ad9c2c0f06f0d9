/* SPDX-License-Identifier: MIT
 *
 * writing.h: what all outputs of the command share.
 */
#ifndef GATHER_CLI_WRITING_H
#define GATHER_CLI_WRITING_H

#include "gather/table.h"
#include "tensor_arg.h"

/* Call before a writer is made: blocks signals until gather_cli_writing_begin. No other thread may handle signals. */
void gather_cli_writing_hold(void);
/* Call after that: the temporary file of the writer (NULL if it could not be made) is removed when a signal ends the program. */
void gather_cli_writing_begin(gather_writer *writer);
/* An input's file is not to be replaced by the output, under whatever name: GATHER_FILE_EXISTS, also with -f. Call it before anything is
 * written, for each input. path: of the output; NULL: there is none. role: of the input, for the message. */
GATHER_CHECKED gather_status gather_cli_writing_spare(const char *path, const gather_cli_input *input, const char *role,
                                                      gather_error *error);
GATHER_CHECKED gather_status gather_cli_writing_spare_file(const char *path, const gather_file *file, const char *role,
                                                           gather_error *error);
GATHER_CHECKED gather_status gather_cli_writing_spare_table(const char *path, const gather_table *table, gather_error *error);
/* gather_writer_commit. */
GATHER_CHECKED gather_status gather_cli_writing_end(gather_writer *writer, gather_error *error);

#endif
