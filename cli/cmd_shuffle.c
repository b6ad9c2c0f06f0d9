/* SPDX-License-Identifier: MIT
 *
 * cmd_shuffle.c: `gather shuffle`: the rows of a file in another order, out of core, in steps that a later run can resume.
 */
#include <stdio.h>

#include "commands.h"
#include "progress.h"
#include "report.h"
#include "shuffle_job.h"
#include "signals.h"
#include "table_arg.h"
#include "terminal.h"

/* Threads of the table must not take the signals that end this program. */
static gather_status open_table(gather_cli_shuffle *job, gather_error *error) {
  gather_cli_signals_hold();
  gather_status status = gather_shuffle_open(job->shuffle, error);
  gather_cli_signals_release();
  return status;
}

static gather_status open_order(gather_cli_shuffle *job, gather_error *error) {
  const char *order = job->args->value[GATHER_CLI_ORDER];
  if (!order || job->order.tensor.tensor.shape) return GATHER_OK;
  if (job->order_slice.text)
    return gather_cli_input_slice(&job->order_slice, gather_table_describe(gather_shuffle_describe(job->shuffle)->table)->rows,
                                  job->options.memory_bytes, &job->order, error);
  return gather_cli_input_tensor(order, &job->order_raw, true, "indices", &job->order, error);
}

static gather_status work(gather_cli_shuffle *job, gather_error *error) {
  gather_pool *pool = NULL;
  if (job->threads != 1) GATHER_CLI_TRY(gather_pool_create((int32_t)job->threads, &pool, error));
  gather_status status = gather_shuffle_run(job->shuffle, pool ? gather_pool_executor(pool) : NULL, error);
  gather_pool_destroy(pool);
  return status;
}

static gather_status shuffle(gather_cli_shuffle *job, gather_error *error) {
  gather_table_statistics statistics;
  const bool given = job->args->value[GATHER_CLI_ORDER] != NULL;
  GATHER_CLI_TRY(open_table(job, error));
  GATHER_CLI_TRY(open_order(job, error));
  const gather_tensor *order = given ? &job->order.tensor.tensor : NULL;
  GATHER_CLI_TRY(gather_shuffle_plan(job->shuffle, order, job->order.file, error));
  gather_table_statistics_get(gather_shuffle_describe(job->shuffle)->table, &statistics);
  gather_cli_table_note(job->args, job->options.engine, &statistics);
  return job->dry_run ? GATHER_OK : work(job, error);
}

static gather_status run(gather_cli_shuffle *job, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_shuffle_options(job, error));
  GATHER_CLI_TRY(gather_shuffle_create(job->paths, job->path_count, job->out.path, &job->options, &job->shuffle, error));
  gather_status status = shuffle(job, error);
  if (status != GATHER_OK) gather_cli_shuffle_reword(job, error);
  return status;
}

int gather_cli_cmd_shuffle(const gather_cli_args *args) {
  gather_cli_shuffle job = {.args = args, .begin = gather_cli_now()};
  gather_error error;
  gather_status status = run(&job, &error);
  int code = 0;
  job.seconds = gather_cli_now() - job.begin;
  if (job.printed) gather_cli_progress_wipe();
  if (status == GATHER_OK) {
    gather_cli_shuffle_answer(&job);
    (void)fflush(stdout); /* before the shuffle is closed: a run killed until then can be resumed, with the same answer */
  } else {
    code = gather_cli_report(args, &error);
    bool left = job.shuffle && gather_shuffle_describe(job.shuffle)->folder;
    if (left && !args->value[GATHER_CLI_JSON]) gather_cli_signals_put_note();
  }
  gather_shuffle_close(job.shuffle);
  gather_cli_shuffle_options_clear(&job);
  return code;
}
