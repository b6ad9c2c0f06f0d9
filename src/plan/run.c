/* SPDX-License-Identifier: MIT
 *
 * run.c: a plan meets memory. Indices are verified first; then rows move, by the plan's kernel where every index is in range,
 * else block by block through resolved rows.
 */
#include <string.h>

#include "base/error.h"
#include "kernel/copy.h"
#include "plan/plan.h"
#include "plan/tasks.h"
#include "plan/walk.h"

/* Indices that are resolved at a time: 2 KiB on the stack, well inside the first cache. */
enum { BLOCK = 256 };

typedef struct {
  const gather_plan *plan;
  const char *data, *indices;
  char *out;
} execution;

/* The next run of the innermost loop, at most up to row number `last`. */
static int64_t next_run(const gather_walk *walk, int64_t first, int64_t last) {
  int64_t left = gather_walk_left(walk);
  return left < last - first ? left : last - first;
}

/* Every index is in range: the kernel does it all. */
static void run_clean(void *argument, int64_t first, int64_t last) {
  const execution *e = argument;
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  gather_walk walk;
  gather_walk_start(&walk, plan->loops, plan->loop_count, first);
  gather_span span = {.data_step = inner->data,
                      .index_step = inner->index,
                      .out_step = inner->out,
                      .axis_step = plan->axis_step,
                      .axis_len = plan->rule.axis_len,
                      .row_bytes = plan->row_bytes};
  while (first < last) {
    span.count = next_run(&walk, first, last);
    span.data = e->data + walk.data;
    span.indices = e->indices + walk.index;
    span.out = e->out + walk.out;
    plan->rows(&span);
    first += span.count;
    gather_walk_next(&walk, span.count);
  }
}

static void fill_row(const gather_plan *plan, char *out) {
  if (!plan->fill) {
    memset(out, 0, (size_t)plan->row_bytes);
    return;
  }
  for (int64_t at = 0; at < plan->row_bytes; at += plan->fill_bytes)
    gather_copy_row(out + at, plan->fill, (size_t)plan->fill_bytes);
}

/* Moves up to BLOCK rows whose numbers were resolved. Offsets are of whole bytes. */
static void move_bytes(const execution *e, const gather_walk *walk, const int64_t *rows, int64_t count) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  for (int64_t j = 0; j < count; j++) {
    char *out = e->out + walk->out + j * inner->out;
    if (rows[j] == GATHER_ROW_FILL)
      fill_row(plan, out);
    else
      gather_copy_row(out, e->data + walk->data + j * inner->data + rows[j] * plan->axis_step, (size_t)plan->row_bytes);
  }
}

/* The same for packed elements: offsets and row_bytes count elements. */
static void move_bits(const execution *e, const gather_walk *walk, const int64_t *rows, int64_t count) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  for (int64_t j = 0; j < count; j++) {
    int64_t to = plan->out_offset + walk->out + j * inner->out;
    int64_t from = plan->data_offset + walk->data + j * inner->data;
    if (rows[j] == GATHER_ROW_FILL)
      gather_bits_fill(&plan->layout, e->out, to, plan->fill ? plan->fill_value : 0, plan->row_bytes);
    else
      gather_bits_copy(&plan->layout, e->out, to, e->data, from + rows[j] * plan->axis_step, plan->row_bytes);
  }
}

static void run_resolved(void *argument, int64_t first, int64_t last) {
  const execution *e = argument;
  const gather_plan *plan = e->plan;
  int64_t rows[BLOCK];
  gather_walk walk;
  gather_walk_start(&walk, plan->loops, plan->loop_count, first);
  while (first < last) {
    int64_t run = next_run(&walk, first, last);
    if (run > BLOCK) run = BLOCK;
    gather_indices_resolve(&plan->rule, e->indices + walk.index, plan->loops[plan->loop_count - 1].index, run, rows);
    if (plan->packed)
      move_bits(e, &walk, rows, run);
    else
      move_bytes(e, &walk, rows, run);
    first += run;
    gather_walk_next(&walk, run);
  }
}

/* The bits behind the last element of a row-major packed output. */
static void clear_padding(const gather_plan *plan, char *out) {
  int64_t end = plan->row_count * plan->row_bytes;
  int64_t rest = end % plan->layout.group_len;
  if (plan->out_dense && rest) gather_bits_fill(&plan->layout, out, end, 0, plan->layout.group_len - rest);
}

/* Whether two tensors' bytes meet. Compared as numbers: they may belong to different objects. */
static bool meet(const void *a, const gather_extent *a_extent, const void *b, const gather_extent *b_extent) {
  if (!a || !b || a_extent->low == a_extent->high || b_extent->low == b_extent->high) return false;
  uintptr_t a_low = (uintptr_t)a + (uintptr_t)a_extent->low, a_high = (uintptr_t)a + (uintptr_t)a_extent->high;
  uintptr_t b_low = (uintptr_t)b + (uintptr_t)b_extent->low, b_high = (uintptr_t)b + (uintptr_t)b_extent->high;
  return a_low < b_high && b_low < a_high;
}

static gather_status check_apart(const gather_plan *plan, const gather_run *run, gather_error *error) {
  const char *input = NULL;
  if (meet(run->out, &plan->out_extent, run->data, &plan->data_extent)) input = "data";
  if (meet(run->out, &plan->out_extent, run->indices, &plan->index_extent)) input = "indices";
  if (!input) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", input);
}

gather_status gather_plan_execute(const gather_plan *plan, const gather_run *run, gather_error *error) {
  int64_t bad;
  GATHER_TRY(check_apart(plan, run, error));
  GATHER_TRY(gather_plan_check_indices(plan, run->indices, run->executor, &bad, error));
  if (run->bad_count) *run->bad_count = bad;
  if (plan->row_count == 0) return GATHER_OK;
  if (!run->out) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!run->indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  if (!run->data && plan->rule.axis_len > 0)
    return gather_fail_input(error, GATHER_USAGE, "data", "the data pointer is NULL");
  execution e = {plan, run->data, run->indices, run->out};
  if (plan->packed) {
    /* Tasks begin at multiples of 8 rows, so that they share no byte of a row-major output; of others they might. */
    clear_padding(plan, e.out);
    gather_split(plan->out_dense ? run->executor : NULL, plan->row_count, plan->row_bytes, 8, run_resolved, &e);
    return GATHER_OK;
  }
  e.out += plan->out_offset;
  if (e.data) e.data += plan->data_offset; /* NULL where data has no elements: then every row is filled */
  bool resolve = bad > 0 || plan->rule.swapped;
  gather_split(run->executor, plan->row_count, plan->row_bytes + gather_type_get(plan->rule.type)->bits / 8, 1,
               resolve ? run_resolved : run_clean, &e);
  return GATHER_OK;
}
