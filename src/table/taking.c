/* SPDX-License-Identifier: MIT
 *
 * ids.c: converts indices to rows.
 */
#include "table/ids.h"

#include "core/base/tensor.h"
#include "core/plan/columns.h"

enum { COPY_BYTES = 2048 };

/* Numbers are row numbers; tuples were resolved in units of the plan's axis_step, whole bytes, since rows end on whole bytes. */
static void resolve(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t step, int64_t count,
                    int64_t *rows) {
  gather_columns_resolve(plan, indices, step, count, rows);
  if (plan->column_count == 1) return;
  for (int64_t j = 0; j < count; j++)
    if (rows[j] != GATHER_ROW_FILL) rows[j] = rows[j] * plan->axis_step / row_bytes;
}

static void read_shared(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t first, int64_t count,
                        int64_t *rows, gather_bad *bad) {
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

void gather_ids_rows(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t first, int64_t count,
                     int64_t *rows, gather_bad *bad) {
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
