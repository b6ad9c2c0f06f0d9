/* SPDX-License-Identifier: MIT
 *
 * columns.c: tuples of indices: checked column by column, and resolved to offsets block by block.
 */
#include "plan/columns.h"

#include <string.h>

void gather_plan_select_tuples(gather_plan *plan, int32_t count, int64_t index_step, const int64_t *lengths,
                               const int64_t *steps) {
  gather_plan_select(plan, lengths[0], steps[0]);
  if (count == 1) return;
  plan->column_count = count;
  plan->axis_step = 1;
  plan->columns.index_step = index_step;
  memcpy(plan->columns.len, lengths, (size_t)count * sizeof *lengths);
  memcpy(plan->columns.step, steps, (size_t)count * sizeof *steps);
  /* No tuple is in range where one of the axes has no elements. */
  for (int32_t c = 1; c < count; c++)
    if (lengths[c] == 0) plan->rule.axis_len = 0;
}

bool gather_columns_are_whole(const gather_plan *plan, int64_t group) {
  if (plan->column_count == 1) return plan->axis_step % group == 0;
  for (int32_t c = 0; c < plan->column_count; c++)
    if (plan->columns.step[c] % group) return false;
  return true;
}

/* Offsets are counted from the lowest one, so that none is negative: negative numbers mean rows that are filled. All offsets lie in data,
 * whose span was checked. */
void gather_columns_settle(gather_plan *plan) {
  gather_columns *columns = &plan->columns;
  columns->base = 0;
  if (plan->column_count == 1 || plan->rule.axis_len == 0) return;
  int64_t high = 0;
  for (int32_t c = 0; c < plan->column_count; c++) {
    const int64_t last = (columns->len[c] - 1) * columns->step[c];
    if (last < 0) columns->base -= last;
    if (last > 0) high += last;
  }
  plan->data_offset -= columns->base;
  plan->rule.axis_len = columns->base + high + 1;
}

gather_index_state gather_columns_look(const gather_plan *plan, const char *indices, int64_t step, int64_t count) {
  if (plan->column_count == 1) return gather_indices_look(&plan->rule, indices, step, count);
  gather_index_state worst = GATHER_INDICES_PLAIN;
  for (int32_t c = 0; c < plan->column_count && worst < GATHER_INDICES_BAD; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    if (gather_indices_cannot_fail(&rule)) continue;
    gather_index_state state = gather_indices_look(&rule, indices + c * plan->columns.index_step, step, count);
    if (state > worst) worst = state;
  }
  return worst;
}

int64_t gather_columns_count_bad(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                 int64_t *first, int64_t *value) {
  if (plan->column_count == 1) return gather_indices_count_bad(&plan->rule, indices, step, count, first, value);
  int64_t bad = 0;
  for (int32_t c = 0; c < plan->column_count; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    int64_t tuple, number;
    int64_t found =
        gather_indices_count_bad(&rule, indices + c * plan->columns.index_step, step, count, &tuple, &number);
    if (found && (bad == 0 || tuple * plan->column_count + c < *first))
      *first = tuple * plan->column_count + c, *value = number;
    bad += found;
  }
  return bad;
}

bool gather_columns_cannot_fail(const gather_plan *plan) {
  for (int32_t c = 0; c < plan->column_count; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    if (!gather_indices_cannot_fail(&rule)) return false;
  }
  return true;
}

/* Adds what one column selects. */
static void add_column(const gather_plan *plan, int32_t column, const char *indices, int64_t step, int64_t count,
                       int64_t *rows) {
  enum { BLOCK = 256 };
  const gather_index_rule rule = gather_columns_rule(plan, column);
  const int64_t unit = plan->columns.step[column];
  int64_t own[BLOCK];
  for (int64_t j = 0, now; j < count; j += now) {
    now = count - j < BLOCK ? count - j : BLOCK;
    gather_indices_resolve(&rule, indices + j * step, step, now, own);
    for (int64_t k = 0; k < now; k++)
      rows[j + k] = own[k] < 0 || rows[j + k] < 0 ? GATHER_ROW_FILL : rows[j + k] + own[k] * unit;
  }
}

void gather_columns_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  if (plan->column_count == 1) {
    gather_indices_resolve(&plan->rule, indices, step, count, rows);
    return;
  }
  for (int64_t j = 0; j < count; j++) rows[j] = plan->columns.base;
  for (int32_t c = 0; c < plan->column_count; c++)
    add_column(plan, c, indices + c * plan->columns.index_step, step, count, rows);
}
