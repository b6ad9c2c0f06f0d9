/* SPDX-License-Identifier: MIT
 *
 * scatter_job.h: what the files of `scatter`, `bag` and `explain --scatter` share.
 */
#ifndef GATHER_CLI_SCATTER_JOB_H
#define GATHER_CLI_SCATTER_JOB_H

#include "gather/scatter.h"
#include "take.h"

/* Reads the line: the rules, of one of the operators `names` (NULL behind the last; without --rules, job->op stays as it is), policies,
 * threads, output, raw bytes, INDICES, and of `options` reduction and accumulate. */
GATHER_CHECKED gather_status gather_cli_scatter_line(gather_cli_job *job, const char *const *names, gather_scatter_options *options,
                                                     gather_error *error);

/* Reads the whole line of a scatter of rows, elements or tuples. */
GATHER_CHECKED gather_status gather_cli_scatter_read(gather_cli_job *job, gather_scatter_options *options, gather_error *error);

/* Opens DATA (unless explain generates it), which may be a literal or a text too, and INDICES; and describes the output. */
GATHER_CHECKED gather_status gather_cli_scatter_open(gather_cli_job *job, gather_error *error);

/* Opens a tensor whose literals and texts have the type of DATA. */
GATHER_CHECKED gather_status gather_cli_scatter_input(const gather_cli_job *job, const char *argument, const char *role,
                                                      gather_cli_input *input, gather_error *error);

#endif
