/* SPDX-License-Identifier: MIT
 *
 * begin.h: what the system needs before the command does anything.
 */
#ifndef GATHER_CLI_BEGIN_H
#define GATHER_CLI_BEGIN_H

/* Arguments in UTF-8; standard streams that are open, and pass bytes as they are. */
void gather_cli_begin(int *argc, char ***argv);

#endif
