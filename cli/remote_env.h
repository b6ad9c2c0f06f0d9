/* SPDX-License-Identifier: MIT
 *
 * remote_env.h: what the environment and the user's files say about servers. The library itself reads neither. The extension for DuckDB
 * is built from these files, too: no state is kept here, so any thread may call them.
 */
#ifndef GATHER_CLI_REMOTE_ENV_H
#define GATHER_CLI_REMOTE_ENV_H

#include "aws_files.h"
#include "gather/remote.h"

/* What was read of files. Initialise with zeros. */
typedef struct gather_cli_servers {
  gather_cli_aws aws;
  char *token;
  bool has_profile;
} gather_cli_servers;

/* Sets what the environment says about the servers of these URLs (other arguments are ignored); an endpoint, region or file of
 * certificates that is set already stays. Strings belong to `servers` and to the
 * environment. Returns GATHER_USAGE, GATHER_IO_ERROR, GATHER_FILE_MALFORMED, GATHER_UNSUPPORTED, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_remote_environment(const char *const *arguments, int32_t count, gather_cli_servers *servers,
                                                           gather_remote_options *options, gather_error *error);
/* Overwrites and frees what was read. */
void gather_cli_servers_clear(gather_cli_servers *servers);

#endif
