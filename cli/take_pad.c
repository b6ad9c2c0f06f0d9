/* SPDX-License-Identifier: MIT
 *
 * take_pad.c: --pad-rows: zeros at the end of each row, so that no row is in more blocks of the disk than it needs.
 */
#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "take.h"

static int64_t common_factor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

/* The least length of at least row_bytes that divides the block or is a multiple of it, and is a multiple of `unit`, by which rows
 * grow; -1 if it does not fit 64 bits. */
static int64_t padded_length(int64_t row_bytes, int64_t unit, int64_t block) {
  for (int64_t length = 1; length <= block; length *= 2)
    if (length >= row_bytes && length % unit == 0) return length;
  const int64_t factor = block / common_factor(unit, block);
  if (unit > INT64_MAX / 2 / factor) return -1;
  const int64_t step = unit * factor;
  return row_bytes > INT64_MAX / 2 ? -1 : (row_bytes + step - 1) / step * step;
}

static gather_status check(const gather_cli_job *job, int32_t row_rank, gather_error *error) {
  if (job->target.align_bytes == 0)
    return gather_cli_fail(error, GATHER_USAGE, "--pad-rows needs --align, the length that rows are padded to");
  if (!job->through.table)
    return gather_cli_fail(error, GATHER_USAGE, "--pad-rows needs rows of a table, and this take does not read any: %s",
                           job->through.why_not);
  if (row_rank < 1) return gather_cli_fail(error, GATHER_USAGE, "--pad-rows: a row is one element, and has no axis to be padded along");
  if (gather_type_get(job->writing.type)->packing != GATHER_PACKING_BYTES)
    return gather_cli_fail(error, GATHER_UNSUPPORTED, "--pad-rows: elements of less than a byte are not padded");
  return GATHER_OK;
}

gather_status gather_cli_job_pad(gather_cli_job *job, gather_error *error) {
  gather_cli_take_table *through = &job->through;
  const int32_t last = job->writing.rank - 1;
  through->padded_bytes = through->row_bytes, through->lines = 1;
  if (!job->args->value[GATHER_CLI_PAD_ROWS]) return GATHER_OK;
  GATHER_CLI_TRY(check(job, job->data.tensor.tensor.rank - gather_cli_job_selected(job), error));
  if (through->row_bytes == 0) return GATHER_OK;
  const int64_t unit = through->row_bytes / job->shape[last], to = padded_length(through->row_bytes, unit, job->target.align_bytes);
  if (to < 0 || to / 2 > through->row_bytes)
    return gather_cli_fail(error, GATHER_UNSUPPORTED,
                           "--pad-rows: rows of %" PRId64
                           " bytes would become more than twice as long, because they "
                           "grow by %" PRId64 " bytes; reshape them to one axis first",
                           through->row_bytes, unit);
  for (int32_t d = last - 1; d > last - (job->data.tensor.tensor.rank - gather_cli_job_selected(job)); d--) through->lines *= job->shape[d];
  through->padded_bytes = to;
  job->shape[last] = to / unit;
  return GATHER_OK;
}

void gather_cli_take_spread(const gather_cli_take_table *through, char *rows, int64_t count) {
  const size_t line = (size_t)(through->row_bytes / through->lines), padded = (size_t)(through->padded_bytes / through->lines);
  if (padded == line) return;
  for (int64_t i = count * through->lines - 1; i >= 0; i--) { /* backwards: a line moves into the space behind it */
    memmove(rows + (size_t)i * padded, rows + (size_t)i * line, line);
    memset(rows + (size_t)i * padded + line, 0, padded - line);
  }
}
