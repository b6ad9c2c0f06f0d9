/* SPDX-License-Identifier: MIT
 *
 * program_folder.h: where this program is.
 */
#ifndef GATHER_CLI_PROGRAM_FOLDER_H
#define GATHER_CLI_PROGRAM_FOLDER_H

#include <stddef.h>

/* The folder of the program with its '/', or "" if the system does not tell, or it does not fit. */
void gather_cli_program_folder(char *folder, size_t bytes);

#endif
