/* SPDX-License-Identifier: MIT
 *
 * cmd_shuffle.c: `gather shuffle`: the rows of a file in another order, out of core, in steps that a later run can go on with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "report.h"
#include "shuffle.h"
#include "signals.h"
#include "terminal.h"

/* What an earlier run left, where that is wanted. */
static gather_status find_earlier(gather_cli_shuffle *job, gather_error *error) {
  if (!job->resume || !job->target[0]) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_shuffle_folder_find(job, error));
  if (job->folder.fd >= 0) GATHER_CLI_TRY(gather_cli_shuffle_journal_read(job, false, error));
  if (!job->journal) GATHER_CLI_TRY(gather_cli_shuffle_journal_read(job, true, error));
  job->published = gather_cli_shuffle_is_published(job);
  if (job->journal_is_last && !job->published) { /* its OUT is gone: there is nothing to resume */
    free(job->journal);
    job->journal = NULL;
  }
  job->resumed = job->journal != NULL;
  return GATHER_OK;
}

static gather_status start_fills(gather_cli_shuffle *job, gather_error *error) {
  job->fill_count = job->passes == 2 ? job->buckets : 0;
  job->fills = calloc((size_t)job->fill_count + 1, sizeof *job->fills);
  return job->fills ? GATHER_OK : gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the buckets");
}

/* The first step there is. */
static gather_cli_shuffle_step first_step(const gather_cli_shuffle *job) {
  if (job->passes == 1) return GATHER_CLI_SHUFFLE_TAKE;
  return job->given ? GATHER_CLI_SHUFFLE_PAIRS : GATHER_CLI_SHUFFLE_SPREAD;
}

static gather_status begin_anew(gather_cli_shuffle *job, gather_error *error) {
  job->step = first_step(job);
  /* A folder without a journal holds nothing: its run ended before it had begun. */
  if (job->folder.fd >= 0) GATHER_CLI_TRY(gather_cli_shuffle_folder_remove(&job->folder, error));
  GATHER_CLI_TRY(gather_cli_shuffle_folder_make(job, error));
  job->made = true;
  gather_cli_shuffle_folder_note(job);
  GATHER_CLI_TRY(gather_cli_shuffle_folder_files(job, error));
  return gather_cli_shuffle_journal_write(job, job->step, 0, error);
}

static gather_status begin(gather_cli_shuffle *job, gather_error *error) {
  GATHER_CLI_TRY(start_fills(job, error));
  GATHER_CLI_TRY(gather_cli_shuffle_identity(job, &job->identity, error));
  if (!job->resumed) return begin_anew(job, error);
  GATHER_CLI_TRY(gather_cli_shuffle_journal_use(job, error));
  if (job->published) return GATHER_OK;
  gather_cli_shuffle_folder_note(job);
  return gather_cli_shuffle_folder_files(job, error);
}

static gather_status run_step(gather_cli_shuffle *job, gather_error *error) {
  switch (job->step) {
    case GATHER_CLI_SHUFFLE_PAIRS:
      return gather_cli_shuffle_pairs(job, error);
    case GATHER_CLI_SHUFFLE_SPREAD:
      return gather_cli_shuffle_spread(job, error);
    case GATHER_CLI_SHUFFLE_COLLECT:
      return gather_cli_shuffle_collect(job, error);
    default:
      return gather_cli_shuffle_take(job, error);
  }
}

static gather_status run_steps(gather_cli_shuffle *job, gather_error *error) {
  while (job->step != GATHER_CLI_SHUFFLE_PUBLISH && !job->published) {
    gather_cli_shuffle_step_begin(job);
    GATHER_CLI_TRY(run_step(job, error));
    bool last = job->step == GATHER_CLI_SHUFFLE_TAKE || job->step == GATHER_CLI_SHUFFLE_COLLECT;
    gather_cli_shuffle_step next = last ? GATHER_CLI_SHUFFLE_PUBLISH : (gather_cli_shuffle_step)(job->step + 1);
    const int64_t at = next == GATHER_CLI_SHUFFLE_PUBLISH ? gather_cli_shuffle_out_bytes(job) : 0;
    GATHER_CLI_TRY(gather_cli_shuffle_journal_write(job, next, at, error));
  }
  return gather_cli_shuffle_publish(job, error);
}

static gather_status run(gather_cli_shuffle *job, gather_error *error) {
  gather_table_statistics statistics;
  int64_t threads;
  GATHER_CLI_TRY(gather_cli_shuffle_options(job, error));
  GATHER_CLI_TRY(find_earlier(job, error));
  GATHER_CLI_TRY(gather_cli_shuffle_choose(job, error));
  GATHER_CLI_TRY(gather_cli_shuffle_open(job, error));
  GATHER_CLI_TRY(gather_cli_shuffle_plan(job, error));
  gather_table_statistics_get(job->table, &statistics);
  gather_cli_table_note(job->args, job->options.engine, &statistics);
  if (job->dry_run) return GATHER_OK;
  GATHER_CLI_TRY(begin(job, error));
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_THREADS, 1, INT32_MAX, 0, &threads, error));
  if (threads != 1) GATHER_CLI_TRY(gather_pool_create((int32_t)threads, &job->pool, error));
  if (job->pool) job->executor = gather_pool_executor(job->pool);
  return run_steps(job, error);
}

/* After a failure: a folder without anything that a later run could use goes; else it is said how to resume. */
static void leave_folder(gather_cli_shuffle *job) {
  gather_error ignored;
  bool empty = job->made && job->step == first_step(job) && job->at == 0;
  if (job->folder.fd < 0) return;
  if (empty) {
    gather_status status = gather_cli_shuffle_folder_remove(&job->folder, &ignored);
    (void)status;
    return;
  }
  if (job->args->value[GATHER_CLI_JSON] || !(job->made || job->resumed)) return;
  gather_cli_signals_put_note();
}

static void clear(gather_cli_shuffle *job) {
  gather_cli_shuffle_folder_close(&job->folder);
  gather_writer_abort(job->writer);
  gather_pool_destroy(job->pool);
  gather_table_close(job->table);
  gather_cli_input_close(&job->order);
  gather_cli_out_clear(&job->out);
  free(job->descr);
  free(job->identity);
  free(job->journal);
  free(job->fills);
}

int gather_cli_cmd_shuffle(const gather_cli_args *args) {
  gather_cli_shuffle job = {.args = args, .begin = gather_cli_now()};
  gather_error error;
  job.folder.fd = job.folder.lock = -1;
  for (int i = 0; i < GATHER_CLI_SHUFFLE_FILES; i++) job.folder.file[i] = -1;
  gather_status status = run(&job, &error);
  job.seconds = gather_cli_now() - job.begin;
  if (job.printed) gather_cli_progress_wipe();
  int code = 0;
  if (status == GATHER_OK) {
    gather_cli_shuffle_answer(&job);
    (void)fflush(stdout);
    gather_cli_shuffle_folder_forget(&job); /* until here, a run that is killed is resumed to the same answer */
  } else {
    code = gather_cli_report(args, &error);
    leave_folder(&job);
  }
  clear(&job);
  return code;
}
