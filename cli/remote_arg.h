/* SPDX-License-Identifier: MIT
 *
 * remote_arg.h: URLs on the command line: --connections, --cache, --cache-bytes, --gap and --timeout.
 */
#ifndef GATHER_CLI_REMOTE_ARG_H
#define GATHER_CLI_REMOTE_ARG_H

#include <stdio.h>

#include "args.h"
#include "gather/remote.h"

struct gather_cli_json;

/* Reads the options, for all URLs of the line. GATHER_USAGE. */
GATHER_CHECKED gather_status gather_cli_remote_start(const gather_cli_args *args, gather_error *error);
/* How to open an argument of the line: NULL unless it is a URL. The options last as long as the program. Returns GATHER_USAGE,
 * GATHER_IO_ERROR (credentials cannot be read). */
GATHER_CHECKED gather_status gather_cli_remote(const char *argument, const gather_remote_options **remote, gather_error *error);
/* The same for several, which are opened together. */
GATHER_CHECKED gather_status gather_cli_remote_all(const char *const *arguments, int32_t count, const gather_remote_options **remote,
                                                   gather_error *error);
/* Most bytes of indices that are downloaded from a server without ranges. */
int64_t gather_cli_remote_indices_bytes(void);
/* One of the options of URLs that the line has, without its dashes; NULL. */
const char *gather_cli_remote_asked(const gather_cli_args *args);

/* The object "remote" of an answer. */
void gather_cli_json_remote(struct gather_cli_json *json, const gather_remote_statistics *statistics);
/* Says on stderr why nothing is kept on disk although --cache asks for it; unless --quiet or --json. */
void gather_cli_remote_note(const gather_cli_args *args, const gather_remote_statistics *statistics);
/* Prints them in two lines. */
void gather_cli_remote_text(FILE *to, const gather_remote_statistics *statistics);

#endif
