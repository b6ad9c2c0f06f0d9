/* SPDX-License-Identifier: MIT
 *
 * explain.h: the command `explain`: what its line names, and the drawing that the library makes of it.
 */
#ifndef GATHER_CLI_EXPLAIN_H
#define GATHER_CLI_EXPLAIN_H

#include "gather/explain.h"
#include "model_given.h"
#include "take.h"

/* Starts as all zero. */
typedef struct gather_cli_explain {
  gather_cli_job job;
  gather_cli_model model; /* where one was given; then */
  gather_model_operands *operands;
  int64_t data_shape[GATHER_MAX_RANK]; /* of --data */
  gather_explain *drawing;
} gather_cli_explain;

/* Has the policy that is drawn in the job's options. */
void gather_cli_explain_policy(gather_cli_explain *ex);
/* Opens the model that the line names, and makes the drawing of one gather node of it. */
GATHER_CHECKED gather_status gather_cli_explain_model(gather_cli_explain *ex, gather_error *error);
/* The drawing's facts as one JSON object. */
void gather_cli_explain_json(const gather_cli_explain *ex, FILE *to);
/* Writes a file atomically. */
GATHER_CHECKED gather_status gather_cli_explain_write(const gather_cli_args *args, const char *path, const char *bytes,
                                                      size_t count, gather_error *error);

#endif
