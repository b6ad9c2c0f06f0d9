/* SPDX-License-Identifier: MIT
 *
 * shuffle_run.c: the steps of a shuffle in sequence, from the beginning or from where an earlier run ended.
 */
#include "table/shuffle/shuffle_internal.h"

static gather_status start_fills(gather_shuffle *job, gather_error *error) {
  job->fill_count = job->passes == 2 ? job->buckets : 0;
  job->fills = gather_alloc((job->fill_count + 1) * (int64_t)sizeof *job->fills);
  return job->fills ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the buckets");
}

/* The first step that keeps anything. */
static gather_shuffle_step first_step(const gather_shuffle *job) {
  if (job->passes == 1) return GATHER_SHUFFLE_ONLY_PASS;
  return job->given ? GATHER_SHUFFLE_SORT_ORDER : GATHER_SHUFFLE_FIRST_PASS;
}

/* From now on an interrupted run leaves something to resume. */
static void note(gather_shuffle *job) {
  job->noted = true;
  gather_shuffle_show(job, GATHER_SHUFFLE_PREPARE, 0, 0);
}

static gather_status begin_anew(gather_shuffle *job, gather_error *error) {
  job->step = first_step(job);
  /* A folder without a journal has no state to resume: its run ended before the first step. */
  if (job->folder.fd >= 0) GATHER_TRY(gather_shuffle_folder_remove(&job->folder, error));
  GATHER_TRY(gather_shuffle_folder_make(job, error));
  job->made = true;
  note(job);
  GATHER_TRY(gather_shuffle_folder_files(job, error));
  return gather_shuffle_journal_write(job, job->step, 0, error);
}

static gather_status begin(gather_shuffle *job, gather_error *error) {
  GATHER_TRY(start_fills(job, error));
  GATHER_TRY(gather_shuffle_identity(job, &job->identity, error));
  if (!job->resumed) return begin_anew(job, error);
  GATHER_TRY(gather_shuffle_journal_use(job, error));
  if (job->published) return GATHER_OK;
  note(job);
  return gather_shuffle_folder_files(job, error);
}

/* Says how much of a step was done before this run. */
static void show_step(const gather_shuffle *job) {
  const int64_t done = job->step == GATHER_SHUFFLE_SECOND_PASS ? job->at * job->bucket_rows : job->at;
  gather_shuffle_show(job, job->step, done, job->out_rows);
}

static gather_status run_step(gather_shuffle *job, gather_error *error) {
  show_step(job);
  switch (job->step) {
    case GATHER_SHUFFLE_SORT_ORDER:
      return gather_shuffle_run_pairs(job, error);
    case GATHER_SHUFFLE_FIRST_PASS:
      return gather_shuffle_run_spread(job, error);
    case GATHER_SHUFFLE_SECOND_PASS:
      return gather_shuffle_run_collect(job, error);
    default:
      return gather_shuffle_run_take(job, error);
  }
}

static gather_status run_steps(gather_shuffle *job, gather_error *error) {
  GATHER_TRY(begin(job, error));
  while (job->step != GATHER_SHUFFLE_PUBLISH && !job->published) {
    GATHER_TRY(run_step(job, error));
    bool last = job->step == GATHER_SHUFFLE_ONLY_PASS || job->step == GATHER_SHUFFLE_SECOND_PASS;
    gather_shuffle_step next = last ? GATHER_SHUFFLE_PUBLISH : (gather_shuffle_step)(job->step + 1);
    const int64_t at = next == GATHER_SHUFFLE_PUBLISH ? gather_shuffle_out_bytes(job) : 0;
    GATHER_TRY(gather_shuffle_journal_write(job, next, at, error));
  }
  return gather_shuffle_run_publish(job, error);
}

/* After a failure: a folder without anything that a later run could use is removed. */
static void leave_folder(gather_shuffle *job) {
  gather_error ignored;
  const bool empty = job->made && job->step == first_step(job) && job->at == 0;
  if (job->folder.fd < 0 || !empty) return;
  const gather_status status = gather_shuffle_folder_remove(&job->folder, &ignored);
  (void)status;
  job->noted = false;
}

gather_status gather_shuffle_run_steps(gather_shuffle *job, gather_error *error) {
  gather_status status = run_steps(job, error);
  job->finished = status == GATHER_OK;
  if (!job->finished) leave_folder(job);
  return status;
}
