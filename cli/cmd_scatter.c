/* SPDX-License-Identifier: MIT
 *
 * cmd_scatter.c: `gather scatter`: rows, elements or tuples of DATA replaced or reduced by UPDATES. The order of errors is that of take:
 * command line, files, types, ranks, axis, shapes, the existing output, indices.
 */
#include "commands.h"
#include "report.h"
#include "scatter_job.h"
#include "writing.h"

typedef struct scatter {
  gather_cli_job job; /* its data, indices, output and policies are those of take */
  gather_cli_input updates;
  gather_scatter_options options;
  gather_scatter_plan *plan;
} scatter;

/* The output has the shape of DATA, and must not be a file of an input. */
static gather_status shape_output(scatter *s, gather_error *error) {
  gather_cli_job *job = &s->job;
  const gather_tensor *data = &job->data.tensor.tensor;
  for (int32_t d = 0; d < data->rank; d++) job->shape[d] = data->shape[d];
  job->writing.rank = data->rank;
  job->bytes = gather_tensor_bytes(data);
  job->index_count = gather_tensor_len(&job->indices.tensor.tensor);
  gather_scatter_plan_print(s->plan, job->plan_text, sizeof job->plan_text);
  GATHER_CLI_TRY(gather_cli_writing_spare(job->to_stdout ? NULL : job->output, &s->updates, "UPDATES", error));
  return gather_cli_job_output(job, error);
}

static gather_status prepare(scatter *s, gather_error *error) {
  gather_cli_job *job = &s->job;
  GATHER_CLI_TRY(gather_cli_scatter_open(job, error));
  GATHER_CLI_TRY(gather_cli_scatter_input(job, gather_cli_job_updates(job), "updates", &s->updates, error));
  GATHER_CLI_TRY(gather_cli_job_slice(job, error));
  GATHER_CLI_TRY(gather_scatter_plan_create(job->op, &job->data.tensor.tensor, &job->indices.tensor.tensor, &s->updates.tensor.tensor, NULL,
                                            &s->options, &s->plan, error));
  return shape_output(s, error);
}

static gather_status write_updates(scatter *s, gather_error *error) {
  gather_cli_job *job = &s->job;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  GATHER_CLI_TRY(gather_cli_job_workers(job, error));
  run.data = job->data.tensor.tensor.data;
  run.indices = job->indices.tensor.tensor.data;
  run.updates = s->updates.tensor.tensor.data;
  run.out = job->writer ? gather_writer_data_at(job->writer, 0) : NULL;
  run.executor = &job->progress.executor;
  run.bad_count = &job->bad_count;
  gather_status status = job->writer ? gather_scatter_plan_run(s->plan, &run, error) : gather_scatter_plan_check(s->plan, &run, error);
  gather_cli_progress_end(&job->progress);
  return status;
}

static gather_status run(scatter *s, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_scatter_read(&s->job, &s->options, error));
  s->job.begin = gather_cli_now();
  GATHER_CLI_TRY(prepare(s, error));
  if (!s->job.args->value[GATHER_CLI_DRY_RUN]) GATHER_CLI_TRY(gather_cli_job_create_writer(&s->job, error));
  GATHER_CLI_TRY(write_updates(s, error));
  return gather_cli_job_commit(&s->job, error);
}

int gather_cli_cmd_scatter(const gather_cli_args *args) {
  static scatter s; /* large, and used once */
  gather_error error;
  s.job.args = args;
  gather_status status = run(&s, &error);
  if (status == GATHER_OK) gather_cli_job_answer(&s.job);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  gather_scatter_plan_destroy(s.plan);
  gather_cli_input_close(&s.updates);
  gather_cli_job_clear(&s.job);
  return code;
}
