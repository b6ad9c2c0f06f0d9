/* SPDX-License-Identifier: MIT
 *
 * columns.h: indices that are tuples. Each tuple selects one row by several numbers, one per column; each column has its own axis of
 * data, with its own length and step. Kernels never see that: a block of tuples is resolved to plain offsets in the same place in which
 * narrow and negative indices are widened to row numbers. Plans with one column have none of this: for them, the functions here are those of
 * kernel/indices.h.
 */
#ifndef GATHER_PLAN_COLUMNS_H
#define GATHER_PLAN_COLUMNS_H

#include "base/compiler.h"
#include "plan/plan.h"

/* Says that each index is `count` numbers, `index_step` bytes apart. lengths, steps: of each column's axis. They are the last dimension of
 * the plan's index_shape; the loops of the nest, which are there already, step from tuple to tuple. 1 <= count, and loops and columns together
 * are at most GATHER_MAX_RANK: the family's shape rule checks that. count 1 is a plain index. */
void gather_plan_select_tuples(gather_plan *plan, int32_t count, int64_t index_step, const int64_t *lengths,
                               const int64_t *steps);
/* Whether all steps in data are multiples of `group` elements. */
bool gather_columns_are_whole(const gather_plan *plan, int64_t group);
/* Fixes what resolved tuples count: bytes (packed: elements) from the lowest one that a tuple can select. After this the steps stay. */
void gather_columns_settle(gather_plan *plan);

/* A column of a plan with several: its axis' length, its step in data, where its numbers begin (index), and what is added to its offsets
 * so that none is negative (out; taken off the plan's data_offset). Columns fill the array of the loops from its end. */
GATHER_INLINE const gather_loop *gather_column(const gather_plan *plan, int32_t column) {
  return &plan->loops[GATHER_MAX_RANK - 1 - column];
}

/* The rule for the numbers of one column. */
GATHER_INLINE gather_index_rule gather_columns_rule(const gather_plan *plan, int32_t column) {
  gather_index_rule rule = plan->rule;
  if (plan->column_count > 1) rule.axis_len = gather_column(plan, column)->len;
  return rule;
}

/* For plans with several columns; see below. */
gather_index_state gather_tuples_validate(const gather_plan *plan, const char *indices, int64_t step, int64_t count);
int64_t gather_tuples_count_bad(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                int64_t *first, int64_t *value);
bool gather_tuples_cannot_fail(const gather_plan *plan);
void gather_tuples_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows);

/* What follows does the same as its namesakes in kernel/indices.h, for `count` indices of the plan: plain ones, or tuples. step: bytes from
 * one index to the next. */
GATHER_INLINE gather_index_state gather_columns_validate(const gather_plan *plan, const char *indices, int64_t step,
                                                         int64_t count) {
  if (plan->column_count > 1) return gather_tuples_validate(plan, indices, step, count);
  return gather_indices_validate(&plan->rule, indices, step, count);
}

/* *first: the number of the first bad number, counted through all columns. */
GATHER_INLINE int64_t gather_columns_count_bad(const gather_plan *plan, const char *indices, int64_t step,
                                               int64_t count, int64_t *first, int64_t *value) {
  if (plan->column_count > 1) return gather_tuples_count_bad(plan, indices, step, count, first, value);
  return gather_indices_count_bad(&plan->rule, indices, step, count, first, value);
}

GATHER_INLINE bool gather_columns_cannot_fail(const gather_plan *plan) {
  return plan->column_count > 1 ? gather_tuples_cannot_fail(plan) : gather_indices_cannot_fail(&plan->rule);
}

/* rows[j]: what index j selects, in units of the plan's axis_step; GATHER_ROW_FILL where one of its numbers is to be filled. */
GATHER_INLINE void gather_columns_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                          int64_t *rows) {
  if (plan->column_count > 1)
    gather_tuples_resolve(plan, indices, step, count, rows);
  else
    gather_indices_resolve(&plan->rule, indices, step, count, rows);
}

#endif
