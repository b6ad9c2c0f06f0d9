/* SPDX-License-Identifier: MIT
 *
 * shuffle_take.c: the output in one pass, taken from the table part by part.
 */
#include "table/shuffle/shuffle_internal.h"

static gather_status settle(const gather_shuffle *job, gather_error *error) {
  GATHER_TRY(gather_shuffle_identity_check(job, error));
  return gather_shuffle_sync(job, GATHER_SHUFFLE_FILE_ROWS, error);
}

static gather_status take_parts(gather_shuffle *job, int64_t *numbers, char *part, gather_error *error) {
  for (int64_t first = job->at, len; first < job->out_rows; first += len) {
    len = job->out_rows - first < job->take_rows ? job->out_rows - first : job->take_rows;
    if (job->given)
      GATHER_TRY(gather_shuffle_order_read(job, first, len, numbers, error));
    else
      gather_shuffle_numbers(job, first, len, false, numbers);
    GATHER_TRY(gather_shuffle_go_on(job, error));
    GATHER_TRY(gather_shuffle_take_rows(job, numbers, len, part, error));
    GATHER_TRY(gather_shuffle_write_rows(job, first, part, len, error));
    gather_shuffle_show(job, GATHER_SHUFFLE_ONLY_PASS, first + len, job->out_rows);
    bool due = (first + len - job->at) * job->row_bytes >= job->durable_bytes;
    if (!due || first + len == job->out_rows) continue;
    GATHER_TRY(settle(job, error));
    GATHER_TRY(gather_shuffle_journal_write(job, GATHER_SHUFFLE_ONLY_PASS, first + len, error));
  }
  return GATHER_OK;
}

gather_status gather_shuffle_run_take(gather_shuffle *job, gather_error *error) {
  int64_t *numbers = gather_alloc(job->take_rows * (int64_t)sizeof *numbers);
  char *part = gather_alloc(job->take_rows * job->row_bytes);
  gather_status status =
      numbers && part ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a part of the output");
  if (status == GATHER_OK && job->row_bytes > 0) status = take_parts(job, numbers, part, error);
  if (status == GATHER_OK) status = settle(job, error);
  gather_free(numbers);
  gather_free(part);
  return status;
}
