/* SPDX-License-Identifier: MIT
 *
 * explain_command.h: the command `explain`: its line, and the drawing that the library makes.
 */
#ifndef GATHER_CLI_EXPLAIN_COMMAND_H
#define GATHER_CLI_EXPLAIN_COMMAND_H

#include "gather/explain.h"
#include "model_given.h"
#include "scatter_job.h"
#include "take.h"

/* Starts as all zero. */
typedef struct gather_cli_explain {
  gather_cli_job job;
  gather_cli_model model; /* if one was given; then */
  gather_model_operands *operands;
  int64_t data_shape[GATHER_MAX_RANK]; /* of --data */
  gather_scatter_options scatter;      /* of --scatter */
  gather_cli_input updates;            /* likewise; not open: they are made up */
  gather_explain *drawing;
} gather_cli_explain;

/* The job's options have the policy that is drawn. */
void gather_cli_explain_policy(gather_cli_explain *ex);
/* Opens the model of the line, and draws one of its gather nodes. */
GATHER_CHECKED gather_status gather_cli_explain_model(gather_cli_explain *ex, gather_error *error);
/* The drawing's facts as one JSON object. */
void gather_cli_explain_json(const gather_cli_explain *ex, FILE *to);
/* Writes a file atomically. */
GATHER_CHECKED gather_status gather_cli_explain_write(const gather_cli_args *args, const char *path, const char *bytes, size_t count,
                                                      gather_error *error);

#endif
