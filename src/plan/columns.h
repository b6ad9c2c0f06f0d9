/* SPDX-License-Identifier: MIT
 *
 * columns.h: indices that are tuples. Each tuple selects one row by several numbers, one per column; each column has its own axis of
 * data, with its own length and step. Kernels never see that: a block of tuples is resolved to plain offsets in the same place in which
 * narrow and negative indices are widened to row numbers. Plans with one column have none of this.
 */
#ifndef GATHER_PLAN_COLUMNS_H
#define GATHER_PLAN_COLUMNS_H

#include "base/compiler.h"
#include "plan/plan.h"

/* Says that each index is `count` numbers, `index_step` bytes apart. lengths, steps: of each column's axis. They are the last dimension of
 * the plan's index_shape; the loops of the nest step from tuple to tuple. 1 <= count <= GATHER_MAX_RANK; count 1 is a plain index. */
void gather_plan_select_tuples(gather_plan *plan, int32_t count, int64_t index_step, const int64_t *lengths,
                               const int64_t *steps);
/* Whether all steps in data are multiples of `group` elements. */
bool gather_columns_are_whole(const gather_plan *plan, int64_t group);
/* Fixes what resolved tuples count: bytes (packed: elements) from the lowest one that a tuple can select. After this the steps stay. */
void gather_columns_settle(gather_plan *plan);

/* What follows does the same as its namesakes in kernel/indices.h, for `count` indices of the plan: plain ones, or tuples. step: bytes from
 * one index to the next. *first is the number of the first bad number, counted through all columns. */
gather_index_state gather_columns_look(const gather_plan *plan, const char *indices, int64_t step, int64_t count);
int64_t gather_columns_count_bad(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                 int64_t *first, int64_t *value);
bool gather_columns_cannot_fail(const gather_plan *plan);
/* rows[j]: what index j selects, in units of the plan's axis_step; GATHER_ROW_FILL where one of its numbers is to be filled. */
void gather_columns_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows);

/* The rule for the numbers of one column. */
GATHER_INLINE gather_index_rule gather_columns_rule(const gather_plan *plan, int32_t column) {
  gather_index_rule rule = plan->rule;
  if (plan->column_count > 1) rule.axis_len = plan->columns.len[column];
  return rule;
}

#endif
