/* SPDX-License-Identifier: MIT
 *
 * cmd_tree.c: `gather tree`: the sequences of a beam search. The order of errors is that of take: command line, files, types, ranks,
 * shapes, the existing output, parents.
 */
#include "commands.h"
#include "gather/tree.h"
#include "report.h"
#include "take.h"
#include "writing.h"

/* STEP_IDS and PARENT_IDS are the data and the indices of the job, whose output and options are those of take. */
typedef struct tree {
  gather_cli_job job;
  gather_cli_input lens, end;
} tree;

static gather_status read_line(tree *t, gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  int streams = 0;
  t->job.options = INIT;
  t->job.op = gather_op_find("GatherTree", "openvino-1");
  GATHER_CLI_TRY(gather_cli_job_common(&t->job, error));
  for (int i = 0; i < t->job.args->argument_count; i++) streams += gather_cli_is_stdin(t->job.args->argument[i]);
  if (streams < 2) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "only one argument can be standard input");
}

/* Literals and texts have the type of STEP_IDS. */
static gather_status open_inputs(tree *t, gather_error *error) {
  const char *const *names = t->job.args->argument;
  GATHER_CLI_TRY(gather_cli_input_typed(names[0], GATHER_TYPE_NONE, "step_ids", &t->job.data, error));
  const gather_type type = t->job.data.tensor.tensor.type;
  GATHER_CLI_TRY(gather_cli_input_typed(names[1], type, "parent_ids", &t->job.indices, error));
  GATHER_CLI_TRY(gather_cli_input_typed(names[2], type, "max_seq_len", &t->lens, error));
  return gather_cli_input_typed(names[3], type, "end_token", &t->end, error);
}

static gather_status check(tree *t, int64_t *bad, gather_error *error) {
  gather_options options = t->job.options;
  options.bad_count = bad;
  return gather_tree_check(&t->job.data.tensor.tensor, &t->job.indices.tensor.tensor, &t->lens.tensor.tensor, &t->end.tensor.tensor,
                           &options, error);
}

/* The shapes fit: the output has that of STEP_IDS. */
static gather_status shape_output(tree *t, gather_error *error) {
  gather_cli_job *job = &t->job;
  const gather_tensor *steps = &job->data.tensor.tensor;
  for (int32_t d = 0; d < steps->rank; d++) job->shape[d] = steps->shape[d];
  job->writing.rank = steps->rank;
  job->bytes = gather_tensor_bytes(steps);
  job->index_count = gather_tensor_len(&job->indices.tensor.tensor);
  (void)snprintf(job->plan_text, sizeof job->plan_text, "GatherTree openvino-1: %lld sequences of %lld steps",
                 (long long)(steps->shape[1] * steps->shape[2]), (long long)steps->shape[0]);
  const char *path = job->to_stdout ? NULL : job->output;
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &t->lens, "MAX_SEQ_LEN", error));
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &t->end, "END_TOKEN", error));
  return gather_cli_job_output(job, error);
}

/* The check comes first, so that nothing is written for parents out of range; but an existing output is reported before those. */
static gather_status prepare(tree *t, gather_error *error) {
  gather_error parents;
  GATHER_CLI_TRY(open_inputs(t, error));
  GATHER_CLI_TRY(gather_cli_job_fill(&t->job, error));
  GATHER_CLI_TRY(gather_cli_job_describe(&t->job, error));
  gather_status status = check(t, &t->job.bad_count, &parents);
  if (status == GATHER_OK || status == GATHER_INDEX_OUT_OF_RANGE) GATHER_CLI_TRY(shape_output(t, error));
  if (status != GATHER_OK) *error = parents;
  return status;
}

static gather_status trace(tree *t, gather_error *error) {
  gather_cli_job *job = &t->job;
  gather_tensor out = job->data.tensor.tensor;
  out.data = gather_writer_data_at(job->writer, 0);
  out.strides = NULL;
  out.flags &= (uint32_t)GATHER_TENSOR_BYTE_SWAPPED;
  GATHER_CLI_TRY(gather_cli_job_workers(job, error));
  job->options.executor = &job->progress.executor;
  job->options.bad_count = &job->bad_count;
  job->options.fresh_output = true; /* it is removed on an error */
  gather_status status = gather_tree(&job->data.tensor.tensor, &job->indices.tensor.tensor, &t->lens.tensor.tensor, &t->end.tensor.tensor,
                                     &out, &job->options, error);
  gather_cli_progress_end(&job->progress);
  return status;
}

static gather_status run(tree *t, gather_error *error) {
  GATHER_CLI_TRY(read_line(t, error));
  t->job.begin = gather_cli_now();
  GATHER_CLI_TRY(prepare(t, error));
  if (!t->job.args->value[GATHER_CLI_DRY_RUN]) {
    GATHER_CLI_TRY(gather_cli_job_create_writer(&t->job, error));
    GATHER_CLI_TRY(trace(t, error));
  }
  return gather_cli_job_commit(&t->job, error);
}

int gather_cli_cmd_tree(const gather_cli_args *args) {
  static tree t; /* large, and used once */
  gather_error error;
  t.job.args = args;
  gather_status status = run(&t, &error);
  if (status == GATHER_OK) gather_cli_job_answer(&t.job);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  gather_cli_input_close(&t.lens);
  gather_cli_input_close(&t.end);
  gather_cli_job_clear(&t.job);
  return code;
}
