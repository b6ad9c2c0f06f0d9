/* SPDX-License-Identifier: MIT
 *
 * ids.c: converts indices to rows.
 */
#include "table/ids.h"

#include "base/tensor.h"

enum { COPY_BYTES = 2048 };

static void read_shared(const gather_plan *plan, const char *indices, int64_t first, int64_t count, int64_t *rows,
                        gather_bad *bad) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  const bool check = bad && gather_plan_must_check(plan) && !gather_plan_can_repair(plan);
  char copy[COPY_BYTES];
  for (int64_t done = 0, now; done < count; done += now) {
    now = count - done < COPY_BYTES / width ? count - done : COPY_BYTES / width;
    gather_shared_copy(plan, indices, first + done, now, copy);
    if (check) gather_bad_find(plan, copy, first + done, now, bad);
    gather_indices_resolve(&plan->rule, copy, width, now, rows + done);
  }
}

void gather_ids_rows(const gather_plan *plan, const char *indices, int64_t first, int64_t count, int64_t *rows,
                     gather_bad *bad) {
  if (plan->shared) {
    read_shared(plan, indices, first, count, rows, bad);
    return;
  }
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  if (plan->index_dense) {
    gather_indices_resolve(&plan->rule, indices + first * width, width, count, rows);
    return;
  }
  while (count > 0) {
    int64_t left, step, offset = gather_index_run(plan, plan->index_strides, first, &left, &step),
                        run = left < count ? left : count;
    gather_indices_resolve(&plan->rule, indices + offset, step, run, rows);
    first += run, rows += run, count -= run;
  }
}
