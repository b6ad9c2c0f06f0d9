/* SPDX-License-Identifier: MIT
 *
 * columns.h: indices that are tuples. Each tuple selects one row by several numbers, one per column; each column has
 * its own axis of data, with its own length and step. Kernels do not know tuples: a block of them is resolved to
 * offsets where narrow and negative indices are widened to row numbers. For plans with one column, the functions here
 * are those of kernel/indices.h.
 */
#ifndef GATHER_PLAN_COLUMNS_H
#define GATHER_PLAN_COLUMNS_H

#include "core/base/compiler.h"
#include "core/plan/plan.h"

/* Makes each index a tuple of `count` numbers, `index_step` bytes apart. lengths, steps: of each column's axis. The
 * numbers are the last dimension of the plan's index_shape; the existing loops of the nest step from tuple to tuple.
 * count is at least 1 (a plain index); loops and columns together are at most GATHER_MAX_RANK, which the family's shape
 * rule checks. */
void gather_plan_select_tuples(gather_plan *plan, int32_t count, int64_t index_step, const int64_t *lengths,
                               const int64_t *steps);
/* Whether all steps in data are multiples of `group` elements. */
bool gather_columns_are_whole(const gather_plan *plan, int64_t group);
/* Sets the unit of resolved tuples, which is plan->axis_step: rows, or bytes (packed: elements) where axes have other steps; counted
 * from the lowest one that a tuple can select. Call it last: the steps and the length of a row must not change any more. */
void gather_columns_settle(gather_plan *plan);

/* One column of a plan with several: the length of its axis, its step in data (in units of axis_step), the offset of its numbers
 * (index), and what is added to its offsets so that none is negative (out; subtracted from the plan's data_offset). Columns are at the
 * end of the array of loops. */
GATHER_INLINE const gather_loop *gather_column(const gather_plan *plan, int32_t column) {
  return &plan->loops[GATHER_MAX_RANK - 1 - column];
}

/* The rule for the numbers of one column. */
GATHER_INLINE gather_index_rule gather_columns_rule(const gather_plan *plan, int32_t column) {
  gather_index_rule rule = plan->rule;
  if (plan->column_count > 1) rule.axis_len = gather_column(plan, column)->len;
  return rule;
}

/* The axes of tuples for the kernels of kernel/tuples.h. false: these tuples have none (one or many columns, narrow or byte-swapped
 * numbers, numbers apart, axes or steps of 2^31 and more). */
bool gather_columns_axes(const gather_plan *plan, gather_tuple_axes *axes);
/* Their slot: GATHER_WIDTH_4 or GATHER_WIDTH_8. */
int gather_columns_width(const gather_plan *plan);

/* For plans with several columns; see below. */
gather_index_state gather_tuples_validate(const gather_plan *plan, const char *indices, int64_t step, int64_t count);
int64_t gather_tuples_count_bad(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                int64_t *first, int64_t *value);
bool gather_tuples_cannot_fail(const gather_plan *plan);
void gather_tuples_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows);

/* The same as their namesakes in kernel/indices.h, for `count` indices of the plan, plain or tuples. step: bytes from
 * one index to the next. */
GATHER_INLINE gather_index_state gather_columns_validate(const gather_plan *plan, const char *indices, int64_t step,
                                                         int64_t count) {
  if (plan->column_count > 1) return gather_tuples_validate(plan, indices, step, count);
  return gather_indices_validate(&plan->rule, indices, step, count);
}

/* *first: the number of the first one out of range, counted through all columns; of one that clamp and wrap cannot repair if there is
 * one. */
GATHER_INLINE int64_t gather_columns_count_bad(const gather_plan *plan, const char *indices, int64_t step,
                                               int64_t count, int64_t *first, int64_t *value) {
  if (plan->column_count > 1) return gather_tuples_count_bad(plan, indices, step, count, first, value);
  return gather_indices_count_bad(&plan->rule, indices, step, count, first, value);
}

GATHER_INLINE bool gather_columns_cannot_fail(const gather_plan *plan) {
  return plan->column_count > 1 ? gather_tuples_cannot_fail(plan) : gather_indices_cannot_fail(&plan->rule);
}

/* rows[j]: what index j selects, in units of the plan's axis_step; GATHER_ROW_FILL if one of its numbers is filled. */
GATHER_INLINE void gather_columns_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                          int64_t *rows) {
  if (plan->column_count > 1)
    gather_tuples_resolve(plan, indices, step, count, rows);
  else
    gather_indices_resolve(&plan->rule, indices, step, count, rows);
}

#endif
