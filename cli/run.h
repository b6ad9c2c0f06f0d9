/* SPDX-License-Identifier: MIT
 *
 * run.h: `gather run` from the command line to its answer: what its files share.
 */
#ifndef GATHER_CLI_RUN_H
#define GATHER_CLI_RUN_H

#include "args.h"
#include "gather/model.h"
#include "json.h"
#include "output_arg.h"
#include "tensor_arg.h"

/* NAME=FILE of --output. */
typedef struct gather_cli_run_output {
  char *name; /* NULL: of --output FILE */
  gather_cli_out out;
  int64_t number; /* its number in the result */
} gather_cli_run_output;

/* An output that was compared with a test set. */
typedef struct gather_cli_run_compared {
  const char *name; /* the model's */
  char set[256];
  bool equal;
  int64_t mismatches;                /* elements that differ; all if type or shape differ */
  int32_t rank;                      /* of position; -1 = none */
  int64_t position[GATHER_MAX_RANK]; /* the first difference */
  char reason[200];
} gather_cli_run_compared;

typedef struct gather_cli_run {
  const gather_cli_args *args;
  int32_t threads;
  int64_t memory_bytes; /* of --memory; 0 = the library's limit */
  gather_file *file;    /* of the model */
  gather_model *model;
  gather_pool *pool;
  gather_cli_input *inputs; /* open inputs */
  gather_model_input *given;
  int64_t input_count;
  gather_cli_run_output *outputs;
  int64_t output_count;
  bool all_outputs; /* --output FILE */
  gather_model_result *result;
  gather_cli_run_compared *compared;
  int64_t compared_count;
  const char *failed_node;
} gather_cli_run;

/* Runs the model on run->given; frees the previous result. */
GATHER_CHECKED gather_status gather_cli_run_once(gather_cli_run *run, gather_error *error);
/* Runs every set of --test-data and compares. Returns GATHER_MISMATCH after all sets if one differs. */
GATHER_CHECKED gather_status gather_cli_run_test_data(gather_cli_run *run, gather_error *error);
/* Reads --output. */
GATHER_CHECKED gather_status gather_cli_run_outputs_read(gather_cli_run *run, gather_error *error);
/* Refuses an output that is the model's file, one with its data, or that of an input. */
GATHER_CHECKED gather_status gather_cli_run_outputs_spare(const gather_cli_run *run, gather_error *error);
/* Finds the requested outputs: before the run of a whole model, after the run of one node. */
GATHER_CHECKED gather_status gather_cli_run_outputs_find(gather_cli_run *run, gather_error *error);
/* Writes them. Checks every output before the first write. */
GATHER_CHECKED gather_status gather_cli_run_outputs_write(gather_cli_run *run, gather_error *error);
void gather_cli_run_outputs_clear(gather_cli_run *run);
/* Compares two tensors bit for bit. */
void gather_cli_run_compare(const gather_tensor *is, const gather_tensor *wanted, gather_cli_run_compared *compared);
/* How many outputs the last run has computed. */
int64_t gather_cli_run_results(const gather_cli_run *run);
/* Reports the result. mismatch: the error to include in the answer; or NULL. */
void gather_cli_run_answer(const gather_cli_run *run, const gather_error *mismatch);

#endif
