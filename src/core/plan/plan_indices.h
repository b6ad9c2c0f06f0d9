/* SPDX-License-Identifier: MIT
 *
 * plan_indices.h: the indices of a plan: plain numbers or tuples, validated and resolved, and copied where others may write them.
 */
#ifndef GATHER_PLAN_PLAN_INDICES_H
#define GATHER_PLAN_PLAN_INDICES_H

#include <stdatomic.h>

#include "core/base/compiler.h"
#include "core/plan/plan.h"

/* ---- tuples: each selects one row by several numbers, one per column; each column has its own axis of data, with its own length and
 * step. Kernels do not know tuples: a block of them is resolved to offsets where narrow and negative indices are widened to row numbers.
 * For plans with one column, the functions here are those of kernel/indices.h. */

/* One column of a plan with several: the length of its axis, its step in data (in units of axis_step), the offset of its numbers
 * (index), and what is added to its offsets so that none is negative (out; subtracted from the plan's data_offset). Columns are at the
 * end of the array of loops. */
GATHER_INLINE const gather_loop *gather_column(const gather_plan *plan, int32_t column) {
  return &plan->loops[GATHER_MAX_RANK - 1 - column];
}

/* Makes each index a tuple of `count` numbers, `index_step` bytes apart. lengths, steps: of each column's axis. The numbers are the last
 * dimension of the plan's index_shape; the existing loops of the nest step from tuple to tuple. count is at least 1 (a plain index);
 * loops and columns together are at most GATHER_MAX_RANK, which the family's shape rule checks. */
GATHER_INLINE void gather_plan_select_tuples(gather_plan *plan, int32_t count, int64_t index_step, const int64_t *lengths,
                                             const int64_t *steps) {
  gather_plan_select(plan, lengths[0], steps[0]);
  if (count == 1) return;
  plan->column_count = count;
  plan->axis_step = 1;
  for (int32_t c = 0; c < count; c++) {
    plan->loops[GATHER_MAX_RANK - 1 - c] = (gather_loop){lengths[c], steps[c], c * index_step, 0};
    /* No tuple is in range if one of the axes has no elements. */
    if (lengths[c] == 0) plan->rule.axis_len = 0;
  }
}

/* The rule for the numbers of one column. */
GATHER_INLINE gather_index_rule gather_columns_rule(const gather_plan *plan, int32_t column) {
  gather_index_rule rule = plan->rule;
  if (plan->column_count > 1) rule.axis_len = gather_column(plan, column)->len;
  return rule;
}

/* The kernel that folds the tuples of a plan, and their axes for it; NULL if they have none: then they are resolved column by column. */
gather_tuples_fold_fn gather_columns_fold(const gather_plan *plan, gather_tuple_axes *axes);

/* For plans with several columns; see below. */
gather_index_state gather_tuples_validate(const gather_plan *plan, const char *indices, int64_t step, int64_t count);
void gather_tuples_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows);

/* The same as their namesakes in kernel/indices.h, for `count` indices of the plan, plain or tuples. step: bytes from
 * one index to the next. */
GATHER_INLINE gather_index_state gather_columns_validate(const gather_plan *plan, const char *indices, int64_t step, int64_t count) {
  if (plan->column_count > 1) return gather_tuples_validate(plan, indices, step, count);
  return gather_indices_validate(&plan->rule, indices, step, count);
}

GATHER_INLINE bool gather_columns_cannot_fail(const gather_plan *plan) {
  for (int32_t c = 0; c < plan->column_count; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    if (!gather_indices_cannot_fail(&rule)) return false;
  }
  return true;
}

/* Whether indices can be out of range and affect the result. */
GATHER_INLINE bool gather_plan_must_check(const gather_plan *plan) {
  if (plan->index_count == 0 || plan->rule.on_bad == GATHER_ON_BAD_PROMISE) return false;
  /* Without an output only an error matters. */
  if (plan->out_len == 0 && gather_plan_can_repair(plan)) return false;
  return !gather_columns_cannot_fail(plan);
}

/* rows[j]: what index j selects, in units of the plan's axis_step; GATHER_ROW_FILL if one of its numbers is filled. */
GATHER_INLINE void gather_columns_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  if (plan->column_count > 1)
    gather_tuples_resolve(plan, indices, step, count, rows);
  else
    gather_indices_resolve(&plan->rule, indices, step, count, rows);
}

/* ---- indices in memory that others may write during a gather (GATHER_TENSOR_SHARED): such memory is read once, and a private copy of a
 * block or of all of it is validated and used. In the copy indices are dense and in this machine's byte order. */

/* Bytes of indices that are copied, validated and used at a time: on the stack, and they fit L1. */
enum { GATHER_COPY_BYTES = 16384 };

/* The indices out of range that the threads find. Empty: all zero, except `position`. */
typedef struct gather_bad {
  _Atomic int64_t count;
  atomic_flag busy;
  int64_t position, value; /* of the first in row-major order */
} gather_bad;

GATHER_INLINE void gather_bad_init(gather_bad *bad) {
  atomic_init(&bad->count, 0);
  atomic_flag_clear_explicit(&bad->busy, memory_order_relaxed);
  bad->position = INT64_MAX, bad->value = 0;
}
GATHER_INLINE int64_t gather_bad_count(const gather_bad *bad) { return atomic_load_explicit(&bad->count, memory_order_relaxed); }
/* Adds those among `count` dense indices in private memory; number: of the first index. */
void gather_bad_find(const gather_plan *plan, const char *indices, int64_t number, int64_t count, gather_bad *bad);

/* Copies indices number first to first + count - 1, counted in row-major order. */
void gather_shared_copy(const gather_plan *plan, const char *indices, int64_t first, int64_t count, char *copy);
/* The same for all of them, shared among threads. */
void gather_shared_copy_all(const gather_plan *plan, const char *indices, const gather_executor *executor, char *copy);

/* The place of index number `number` in memory with these strides, in their unit; *left: how many indices follow at *step. */
GATHER_INLINE int64_t gather_index_run(const gather_plan *plan, const int64_t *strides, int64_t number, int64_t *left, int64_t *step) {
  int64_t offset = 0;
  *left = 1, *step = 0;
  for (int32_t d = plan->index_rank - 1; d >= 0; d--) {
    int64_t len = plan->index_shape[d], at = number % len;
    if (d == plan->index_rank - 1) *left = len - at, *step = strides[d];
    offset += at * strides[d];
    number /= len;
  }
  return offset;
}

#endif
