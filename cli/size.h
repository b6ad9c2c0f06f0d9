/* SPDX-License-Identifier: MIT
 *
 * size.h: sizes on the command line, and as text for people.
 */
#ifndef GATHER_CLI_SIZE_H
#define GATHER_CLI_SIZE_H

#include "args.h"

/* The value of an option that takes a size: an integer in bytes, or with a unit: K, M, G or T and KiB, MiB ...
 * are powers of 1024, KB, MB ... powers of 1000; case is ignored. `otherwise` if it was not given. GATHER_USAGE for
 * anything else, for less than `least`, and for what does not fit in 64 bits. */
GATHER_CHECKED gather_status gather_cli_size(const gather_cli_args *args, gather_cli_option_id id, int64_t least, int64_t otherwise,
                                             int64_t *bytes, gather_error *error);

/* Writes "1.50 GiB" into text (at least 32 bytes); returns text. */
char *gather_cli_size_text(char *text, size_t text_bytes, int64_t bytes);

#endif
