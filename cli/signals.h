/* SPDX-License-Identifier: MIT
 *
 * signals.h: what Ctrl-C and its kin do: the temporary file goes away, and the exit code says why.
 */
#ifndef GATHER_CLI_SIGNALS_H
#define GATHER_CLI_SIGNALS_H

#include <stdbool.h>

#include "args.h"

/* Makes standard input, output and error stand for something, so that no file opened later takes their numbers: where
 * one is closed, using it fails. */
void gather_cli_signals_fill_descriptors(void);

/* Takes over SIGINT, SIGTERM, SIGHUP (unless they are ignored), SIGBUS, SIGPIPE and SIGXFSZ. */
void gather_cli_signals_start(const gather_cli_args *args);

/* Between the two no signal ends the program: a temporary file is made and remembered without a gap. Call them before
 * any other thread is there. */
void gather_cli_signals_hold(void);
void gather_cli_signals_release(void);

/* The file that must go away when a signal ends the program; NULL or "" = none. */
void gather_cli_signals_temporary(const char *path);

/* What a signal that ends the program says on stderr besides; NULL = nothing. The text is copied. */
void gather_cli_signals_note(const char *text);
/* Says it now. */
void gather_cli_signals_put_note(void);

/* Whether somebody stopped reading what this program writes. */
bool gather_cli_signals_pipe_broken(void);

#endif
