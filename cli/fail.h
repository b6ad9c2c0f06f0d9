/* SPDX-License-Identifier: MIT
 *
 * fail.h: fills in errors, and propagates them.
 */
#ifndef GATHER_CLI_FAIL_H
#define GATHER_CLI_FAIL_H

#include "gather/gather.h"

/* Propagates a failure. */
#define GATHER_CLI_TRY(call)                          \
  do {                                                \
    gather_status gather_try_ = (call);               \
    if (gather_try_ != GATHER_OK) return gather_try_; \
  } while (0)

/* Fill in an error and return its status. */
#define gather_cli_fail gather_error_set
#define gather_cli_fail_file gather_error_set_file

#endif
