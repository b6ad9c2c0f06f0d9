/* SPDX-License-Identifier: MIT
 *
 * signals.h: signals: the temporary file is removed, and the exit code names the signal.
 */
#ifndef GATHER_CLI_SIGNALS_H
#define GATHER_CLI_SIGNALS_H

#include <stdbool.h>

#include "args.h"

/* Makes sure that standard input, output and error are open, so that no file opened later gets their numbers: if
 * one was closed, using it fails. */
void gather_cli_signals_fill_descriptors(void);

/* Handles SIGINT, SIGTERM, SIGHUP (unless they are ignored), SIGBUS, SIGPIPE and SIGXFSZ. */
void gather_cli_signals_start(const gather_cli_args *args);

/* Block and unblock signals, so that a temporary file is made and registered without a gap. Call them before
 * any other thread exists. */
void gather_cli_signals_hold(void);
void gather_cli_signals_release(void);

/* The file to remove when a signal ends the program; NULL or "" = none. */
void gather_cli_signals_temporary(const char *path);

/* An extra text for stderr when a signal ends the program; NULL = none. The text is copied. */
void gather_cli_signals_note(const char *text);
/* Prints it now. */
void gather_cli_signals_put_note(void);

/* Whether a reader of this program's output closed its pipe. */
bool gather_cli_signals_pipe_broken(void);

#endif
