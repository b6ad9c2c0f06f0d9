/* SPDX-License-Identifier: MIT
 *
 * remote_limits.h: values of options of URLs: those of the command line, and the same ones of the extension for DuckDB.
 */
#ifndef GATHER_CLI_REMOTE_LIMITS_H
#define GATHER_CLI_REMOTE_LIMITS_H

#include "gather/remote.h"

enum { GATHER_CLI_MOST_CONNECTIONS = 1024, GATHER_CLI_MOST_SECONDS = 86400 };

/* Sets how long a take may be without progress, and so that several tries fit into that. */
static inline void gather_cli_remote_limit(gather_remote_options *options, int64_t seconds) {
  enum { TRY_SECONDS = 20, TRIES = 3 };
  options->take_seconds = (double)seconds;
  options->try_seconds = seconds < TRY_SECONDS * TRIES ? (double)seconds / (double)TRIES : (double)TRY_SECONDS;
}

#endif
