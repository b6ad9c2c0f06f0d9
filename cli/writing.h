/* SPDX-License-Identifier: MIT
 *
 * writing.h: what every output of the command has in common.
 */
#ifndef GATHER_CLI_WRITING_H
#define GATHER_CLI_WRITING_H

#include "args.h"
#include "gather/file.h"

/* Before a writer is made: no signal ends the program until gather_cli_writing_begin. No other thread may take signals. */
void gather_cli_writing_hold(void);
/* Behind that: the writer (NULL where it could not be made) syncs as the line says, and its temporary file goes away when a signal ends
 * the program. */
void gather_cli_writing_begin(const gather_cli_args *args, gather_writer *writer);
/* gather_writer_commit. */
GATHER_CHECKED gather_status gather_cli_writing_end(gather_writer *writer, gather_error *error);

#endif
