/* SPDX-License-Identifier: MIT
 *
 * take_rows.c: a take through a table, part by part, so that neither the indices nor the output need fit into memory: one part is
 * written while the next one is gathered.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "behind.h"
#include "fail.h"
#include "index_part.h"
#include "signals.h"
#include "take.h"
#include "terminal.h"

enum {
  SHOWN_FIRST = 4096,         /* rows of the first part if progress is shown: their time is not known yet */
  RESIDENT_INDICES = 4 << 20, /* of a mapped file of indices, with a memory limit */
  FIRST_MS = 1000,
  EVERY_MS = 200
};

/* Whether the indices are a view of a mapped file: releasing other memory would lose its contents. */
static bool indices_are_mapped(const gather_cli_job *job) {
  const gather_file *file = job->indices.file;
  if (!file || job->indices.memory) return false;
  const char *format = gather_file_format(file);
  return strcmp(format, "npy") == 0 || strcmp(format, "raw") == 0;
}

gather_status gather_cli_job_table_indices(gather_cli_job *job, const gather_executor *executor, gather_error *error) {
  gather_run run = GATHER_RUN_INIT;
  gather_cli_dropping dropping;
  const gather_file_tensor *indices = &job->indices.tensor;
  run.indices = indices->tensor.data;
  run.executor = executor;
  run.bad_count = &job->bad_count;
  if (job->through.options.memory_bytes > 0 && indices_are_mapped(job)) {
    gather_cli_dropping_start(&dropping, executor, indices->tensor.data, indices->bytes, RESIDENT_INDICES);
    run.executor = &dropping.executor;
  }
  return gather_plan_check(job->plan, &run, error);
}

/* The progress of a take. */
typedef struct rows {
  gather_cli_job *job;
  const gather_executor *executor;
  gather_cli_index_parts parts;
  gather_cli_behind behind;
  int64_t out_shape[GATHER_MAX_RANK]; /* of a part */
  int64_t index_shape[2];             /* likewise, if indices are tuples */
  int32_t selected;                   /* dimensions of DATA that an index selects on */
  int64_t most;                       /* rows of a part */
  int64_t now;                        /* of the next one */
  bool shown, printed;
  double next_tick;
} rows;

static void show(rows *r, int64_t done) {
  gather_table_statistics s;
  double now = gather_cli_now(), seconds = now - r->job->begin;
  if (!r->shown || now < r->next_tick || done == 0) return;
  r->next_tick = now + (double)EVERY_MS * 1e-3;
  r->printed = true;
  gather_table_statistics_get(r->job->through.table, &s);
  double part = (double)done / (double)r->job->through.rows, bytes = (double)r->job->bytes;
  char of[32], done_text[32], read_text[32];
  char share[32], left[32], rate[32], amount[80], speed[40], reads[96];
  const char *const parts[] = {share, left, rate, amount, speed, reads};
  (void)snprintf(share, sizeof share, "%3.0f%%", part * 100);
  (void)snprintf(left, sizeof left, "%.0f s left", seconds * (1 - part) / part);
  (void)snprintf(rate, sizeof rate, "%.0f rows/s", (double)done / seconds);
  (void)snprintf(amount, sizeof amount, "%s of %s", gather_cli_amount(done_text, part * bytes), gather_cli_amount(of, bytes));
  (void)snprintf(speed, sizeof speed, "%s/s", gather_cli_amount(of, part * bytes / seconds));
  (void)snprintf(reads, sizeof reads, "%s read for %s", gather_cli_amount(read_text, (double)s.bytes_read),
                 gather_cli_amount(of, (double)s.bytes_useful));
  gather_cli_progress_show(parts, 6);
}

/* The indices were validated before; they fail here only if they were changed meanwhile. */
static gather_status blame_change(gather_status status, gather_error *error) {
  if (status != GATHER_INDEX_OUT_OF_RANGE) return status;
  return gather_cli_fail(error, GATHER_IO_ERROR, "the indices were changed while in use");
}

/* The indices of rows number first to first + len - 1. */
static gather_tensor indices_of(rows *r, int64_t first, int64_t len) {
  const int64_t selected = r->selected, numbers = len * selected;
  r->index_shape[0] = len, r->index_shape[1] = selected;
  gather_tensor part = gather_cli_index_part(&r->parts, first * selected, &numbers);
  part.rank = r->job->op->tuples ? 2 : 1;
  part.shape = r->index_shape;
  return part;
}

/* Rows number first to first + len - 1 of the output. */
static gather_status take_part(rows *r, int64_t first, int64_t len, gather_error *error) {
  gather_cli_job *job = r->job;
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_tensor indices = indices_of(r, first, len), out = job->data.tensor.tensor;
  r->out_shape[0] = len;
  out.rank = job->data.tensor.tensor.rank - r->selected + 1;
  out.data = gather_cli_behind_buffer(&r->behind);
  out.shape = r->out_shape;
  out.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  options.op = job->op;
  options.on_bad = job->options.on_bad;
  options.negative = job->options.negative;
  options.fill = job->options.fill;
  options.executor = r->executor;
  GATHER_CLI_TRY(blame_change(gather_table_take(job->through.table, &indices, &out, &options, error), error));
  if (job->through.options.memory_bytes > 0 && indices_are_mapped(job))
    gather_cli_drop_pages(job->indices.tensor.tensor.data, job->indices.tensor.bytes);
  gather_cli_take_spread(&job->through, out.data, len);
  return gather_cli_behind_hand(&r->behind, len * job->through.padded_bytes, error);
}

static gather_status take_parts(rows *r, gather_error *error) {
  const int64_t count = r->job->through.rows;
  for (int64_t first = 0, len; first < count; first += len) {
    double begin = gather_cli_now();
    len = count - first < r->now ? count - first : r->now;
    GATHER_CLI_TRY(take_part(r, first, len, error));
    show(r, first + len);
    if (gather_cli_now() - begin < (double)EVERY_MS * 1e-3) r->now = r->now > r->most / 2 ? r->most : r->now * 2;
  }
  return gather_cli_behind_wait(&r->behind, error);
}

static int64_t rows_of_part(const gather_cli_job *job) {
  int64_t most = job->through.part_bytes / job->through.padded_bytes;
  if (most == 0) most = 1; /* it was divided for rows that are not padded */
  return most < job->through.rows ? most : job->through.rows;
}

static gather_status start(rows *r, gather_error *error) {
  gather_cli_job *job = r->job;
  const gather_tensor *data = &job->data.tensor.tensor, *indices = &job->indices.tensor.tensor;
  r->most = rows_of_part(job);
  r->selected = gather_cli_job_selected(job);
  GATHER_CLI_TRY(gather_cli_index_parts_start(indices, r->most * r->selected, &r->parts, error));
  r->shown = !job->args->value[GATHER_CLI_QUIET] && gather_cli_terminal_live();
  r->now = r->shown && !job->through.chunked && r->most > SHOWN_FIRST ? SHOWN_FIRST : r->most;
  r->next_tick = job->begin + (double)FIRST_MS * 1e-3;
  for (int32_t i = r->selected; i < data->rank; i++) r->out_shape[i - r->selected + 1] = data->shape[i];
  return gather_cli_behind_start(&r->behind, job->writer, r->most * job->through.padded_bytes, error);
}

gather_status gather_cli_job_table_rows(gather_cli_job *job, const gather_executor *executor, gather_error *error) {
  rows r = {.job = job, .executor = executor};
  if (job->bytes == 0) return GATHER_OK;
  gather_status status = start(&r, error);
  if (status == GATHER_OK) status = take_parts(&r, error);
  gather_cli_behind_end(&r.behind);
  gather_cli_index_parts_end(&r.parts);
  if (r.printed) gather_cli_progress_wipe();
  return status;
}
