/* SPDX-License-Identifier: MIT
 *
 * fail.h: filling in errors, and passing them on.
 */
#ifndef GATHER_CLI_FAIL_H
#define GATHER_CLI_FAIL_H

#include "gather/gather.h"

#if defined(__GNUC__)
#define GATHER_CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define GATHER_CLI_PRINTF(text, first)
#endif

/* Propagates a failure. */
#define GATHER_CLI_TRY(call)                          \
  do {                                                \
    gather_status gather_try_ = (call);               \
    if (gather_try_ != GATHER_OK) return gather_try_; \
  } while (0)

/* Fills in an error and returns its status. */
GATHER_CLI_PRINTF(3, 4)
gather_status gather_cli_fail(gather_error *error, gather_status status, const char *format, ...);
/* The same about a file, and the byte in it (-1 = none). */
GATHER_CLI_PRINTF(5, 6)
gather_status gather_cli_fail_file(gather_error *error, gather_status status, const char *file, int64_t offset,
                                   const char *format, ...);

#endif
