/* SPDX-License-Identifier: MIT
 *
 * ending.h: what is removed and printed when something from outside ends the program: a signal, or what a system has in its place. The
 * handlers call these functions, which call only what POSIX allows there: everything they print is prepared before.
 */
#ifndef GATHER_CLI_ENDING_H
#define GATHER_CLI_ENDING_H

#include "args.h"

/* Prepares the message for a mapped file that was truncated, or whose disk failed during a read. */
void gather_cli_ending_prepare(const gather_cli_args *args);

/* Removes the temporary file and prints the note. */
void gather_cli_ending_tidy(void);
/* The same, and the message in between. Returns the exit code. */
int gather_cli_ending_lost(void);

#endif
