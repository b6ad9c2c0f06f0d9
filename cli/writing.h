/* SPDX-License-Identifier: MIT
 *
 * writing.h: what all outputs of the command share.
 */
#ifndef GATHER_CLI_WRITING_H
#define GATHER_CLI_WRITING_H

#include "args.h"
#include "gather/file.h"

/* Call before a writer is made: blocks signals until gather_cli_writing_begin. No other thread may handle signals. */
void gather_cli_writing_hold(void);
/* Call after that: the writer (NULL if it could not be made) syncs as the line says, and its temporary file is removed when a signal ends
 * the program. */
void gather_cli_writing_begin(const gather_cli_args *args, gather_writer *writer);
/* gather_writer_commit. */
GATHER_CHECKED gather_status gather_cli_writing_end(gather_writer *writer, gather_error *error);

#endif
