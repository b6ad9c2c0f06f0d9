/* SPDX-License-Identifier: MIT
 *
 * taking.c: what every part of a take needs, the sweep and the reads: which rows the indices mean, where a row is, and how an error names
 * it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/plan/plan.h"
#include "core/plan/plan_indices.h"
#include "table/table_internal.h"

/* ---- which rows the indices mean */

enum { COPY_BYTES = 2048 };

/* Numbers are row numbers; tuples were resolved in units of the plan's axis_step, whole bytes, since rows end on whole bytes. */
static void resolve(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  gather_columns_resolve(plan, indices, step, count, rows);
  if (plan->column_count == 1) return;
  for (int64_t j = 0; j < count; j++)
    if (rows[j] != GATHER_ROW_FILL) rows[j] = rows[j] * plan->axis_step / row_bytes;
}

static void read_shared(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t first, int64_t count, int64_t *rows,
                        gather_bad *bad) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8, columns = plan->column_count;
  const int64_t most = COPY_BYTES / (width * columns);
  const bool check = bad && gather_plan_must_check(plan) && !gather_plan_can_repair(plan);
  char copy[COPY_BYTES];
  for (int64_t done = 0, now; done < count; done += now) {
    now = count - done < most ? count - done : most;
    gather_shared_copy(plan, indices, (first + done) * columns, now * columns, copy);
    if (check) gather_bad_find(plan, copy, (first + done) * columns, now * columns, bad);
    resolve(plan, row_bytes, copy, width * columns, now, rows + done);
  }
}

/* Where tuple number `number` is, in bytes; *left: how many tuples follow at *step. */
static int64_t tuple_run(const gather_plan *plan, int64_t number, int64_t *left, int64_t *step) {
  const int32_t last = plan->index_rank - 2; /* the last dimension has the numbers of a tuple */
  int64_t offset = 0;
  *left = 1, *step = 0;
  for (int32_t d = last; d >= 0; d--) {
    const int64_t len = plan->index_shape[d], at = number % len;
    if (d == last) *left = len - at, *step = plan->index_strides[d];
    offset += at * plan->index_strides[d];
    number /= len;
  }
  return offset;
}

void gather_ids_rows(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t first, int64_t count, int64_t *rows,
                     gather_bad *bad) {
  if (plan->shared) {
    read_shared(plan, row_bytes, indices, first, count, rows, bad);
    return;
  }
  const int64_t bytes = gather_type_row(plan->rule.type)->bits / 8 * plan->column_count;
  if (plan->index_dense) {
    resolve(plan, row_bytes, indices + first * bytes, bytes, count, rows);
    return;
  }
  while (count > 0) {
    int64_t left, step,
        offset = plan->column_count > 1 ? tuple_run(plan, first, &left, &step)
                                        : gather_index_run(plan, plan->index_strides, first, &left, &step);
    int64_t run = left < count ? left : count;
    resolve(plan, row_bytes, indices + offset, step, run, rows);
    first += run, rows += run, count -= run;
  }
}

/* ---- rows in files, and in errors */

const gather_part *gather_taking_find_part(const gather_taking *taking, int64_t row) {
  const gather_table *table = taking->table;
  const int64_t wanted = taking->fold == 1 ? row : row / taking->fold;
  int32_t low = 0, high = table->part_count - 1;
  while (low < high) {
    int32_t middle = low + (high - low + 1) / 2;
    if (table->parts[middle].first <= wanted)
      low = middle;
    else
      high = middle - 1;
  }
  return &table->parts[low];
}

/* The row that contains a byte of a source; -1. */
static int64_t row_at(const gather_table *table, int32_t source, int64_t offset) {
  const int64_t row_bytes = table->info.row_bytes;
  for (int32_t i = 0; i < table->part_count; i++) {
    const gather_part *part = &table->parts[i];
    if (part->memory || part->chunks || part->rows == 0 || part->source != source || offset < part->offset) continue;
    int64_t row = (offset - part->offset) / row_bytes;
    if (row < part->rows) return part->first + row;
  }
  return -1;
}

/* Appends a row to an error; -1: no row. */
static gather_status blame(const gather_table *table, int64_t row, gather_status status, gather_error *error) {
  if (!error || row < 0) return status;
  if (table->rows_within > 0) row /= table->rows_within;
  if (table->rows_around > 0) row %= table->rows_around;
  if (table->rows_each > 1) row *= table->rows_each;
  row += table->rows_before;
  size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, " (row %" PRId64 " of the table)", row);
  error->row = row;
  return status;
}

gather_status gather_table_blame_row(const gather_table *table, int64_t row, int32_t source, gather_status status, gather_error *error) {
  const int64_t at = error && source >= 0 && error->file_offset >= 0 ? row_at(table, source, error->file_offset) : -1;
  return blame(table, at > row ? at : row, status, error);
}

gather_status gather_table_fail_mapped(gather_table *table, int32_t source, int64_t offset, gather_error *error) {
  if (source < 0) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the guard of a mapped file");
  const gather_table_source *from = &table->sources[source];
  int64_t row = row_at(table, source, offset);
  gather_table_doubt(table);
  gather_status status = gather_table_source_check(from, error);
  if (status == GATHER_OK) status = gather_fail_file(error, GATHER_IO_ERROR, from->path, offset, "the mapped file could not be read");
  return blame(table, row, status, error);
}
