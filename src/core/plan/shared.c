/* SPDX-License-Identifier: MIT
 *
 * shared.c: private copies of indices that others may write.
 */
#include "core/plan/shared.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/plan/columns.h"
#include "core/plan/tasks.h"

/* ---- what is bad */

void gather_bad_init(gather_bad *bad) {
  atomic_init(&bad->count, 0);
  atomic_flag_clear_explicit(&bad->busy, memory_order_relaxed);
  bad->position = INT64_MAX, bad->value = 0;
}

void gather_bad_add(gather_bad *bad, int64_t count, int64_t position, int64_t value) {
  atomic_fetch_add_explicit(&bad->count, count, memory_order_relaxed);
  while (atomic_flag_test_and_set_explicit(&bad->busy, memory_order_acquire)) continue;
  if (position < bad->position) bad->position = position, bad->value = value;
  atomic_flag_clear_explicit(&bad->busy, memory_order_release);
}

int64_t gather_bad_count(const gather_bad *bad) { return atomic_load_explicit(&bad->count, memory_order_relaxed); }

void gather_bad_find(const gather_plan *plan, const char *indices, int64_t number, int64_t count, gather_bad *bad) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  const int64_t step = width * plan->column_count;
  int64_t first, value;
  int64_t found = gather_columns_count_bad(plan, indices, step, count / plan->column_count, &first, &value);
  if (found) gather_bad_add(bad, found, number + first, value);
}

/* ---- copies */

static void copy_run(const char *from, int64_t step, int64_t width, bool swapped, int64_t count, char *copy) {
  if (step == width && !swapped) {
    memcpy(copy, from, (size_t)(count * width));
    return;
  }
  for (int64_t j = 0; j < count; j++)
    for (int64_t b = 0; b < width; b++) copy[j * width + b] = from[j * step + (swapped ? width - 1 - b : b)];
}

void gather_shared_copy(const gather_plan *plan, const char *indices, int64_t first, int64_t count, char *copy) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  if (plan->shared_dense) {
    copy_run(indices + first * width, width, width, plan->shared_swapped, count, copy);
  } else {
    while (count > 0) {
      int64_t left, step, offset = gather_index_run(plan, plan->shared_strides, first, &left, &step),
                          run = left < count ? left : count;
      copy_run(indices + offset, step, width, plan->shared_swapped, run, copy);
      first += run, copy += run * width, count -= run;
    }
  }
  /* From here on the copy is read: the compiler must not read the original again. */
  atomic_signal_fence(memory_order_seq_cst);
}

typedef struct copying {
  const gather_plan *plan;
  const char *indices;
  char *copy;
} copying;

static void copy_part(void *argument, int64_t first, int64_t last) {
  const copying *c = argument;
  const int64_t width = gather_type_row(c->plan->rule.type)->bits / 8;
  gather_shared_copy(c->plan, c->indices, first, last - first, c->copy + first * width);
}

void gather_shared_copy_all(const gather_plan *plan, const char *indices, const gather_executor *executor, char *copy) {
  copying c = {plan, indices, copy};
  gather_split(executor, plan->index_count, gather_type_row(plan->rule.type)->bits / 8, 1, copy_part, &c);
}

/* ---- checking without using */

typedef struct checking {
  const gather_plan *plan;
  const char *indices;
  gather_bad bad;
} checking;

static void check_part(void *argument, int64_t first, int64_t last) {
  checking *c = argument;
  const int32_t columns = c->plan->column_count;
  const int64_t width = gather_type_row(c->plan->rule.type)->bits / 8;
  const int64_t most = GATHER_COPY_BYTES / width / columns * columns; /* whole tuples */
  char copy[GATHER_COPY_BYTES];
  for (int64_t now; first < last; first += now) {
    now = last - first < most ? last - first : most;
    gather_shared_copy(c->plan, c->indices, first, now, copy);
    if (gather_columns_validate(c->plan, copy, width * columns, now / columns) == GATHER_INDICES_BAD)
      gather_bad_find(c->plan, copy, first, now, &c->bad);
  }
}

gather_status gather_shared_check(const gather_plan *plan, const void *indices, const gather_executor *executor,
                                  int64_t *bad, gather_error *error) {
  *bad = 0;
  if (!gather_plan_must_check(plan)) return GATHER_OK;
  if (!indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  checking c = {.plan = plan, .indices = indices};
  gather_bad_init(&c.bad);
  gather_split(executor, plan->index_count, gather_type_row(plan->rule.type)->bits / 8, plan->column_count, check_part,
               &c);
  *bad = gather_bad_count(&c.bad);
  if (*bad == 0 || gather_plan_can_repair(plan)) return GATHER_OK;
  return gather_plan_blame(plan, error, c.bad.position, c.bad.value, *bad);
}
