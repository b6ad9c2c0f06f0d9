/* SPDX-License-Identifier: MIT
 *
 * columns.c: tuples of indices: validated column by column, and resolved to offsets block by block.
 */
#include "core/plan/columns.h"

#include "core/base/tensor.h"

void gather_plan_select_tuples(gather_plan *plan, int32_t count, int64_t index_step, const int64_t *lengths,
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

bool gather_columns_are_whole(const gather_plan *plan, int64_t group) {
  if (plan->column_count == 1) return plan->axis_step % group == 0;
  for (int32_t c = 0; c < plan->column_count; c++)
    if (gather_column(plan, c)->data % group) return false;
  return true;
}

/* Whether all steps in data are whole rows: then tuples are resolved to numbers of rows, and kernels know the step between two rows,
 * as for plain indices. */
static bool steps_are_rows(const gather_plan *plan) {
  for (int32_t c = 0; c < plan->column_count; c++)
    if (gather_column(plan, c)->data % plan->row_bytes) return false;
  return !plan->packed;
}

/* Offsets are relative to the lowest one, so that none is negative: negative numbers mean filled rows. All offsets are
 * in data, whose extent was checked. */
void gather_columns_settle(gather_plan *plan) {
  if (plan->column_count == 1 || plan->rule.axis_len == 0) return;
  plan->axis_step = steps_are_rows(plan) ? plan->row_bytes : 1;
  plan->rule.axis_len = 1;
  for (int32_t c = 0; c < plan->column_count; c++) {
    gather_loop *column = &plan->loops[GATHER_MAX_RANK - 1 - c];
    column->data /= plan->axis_step;
    const int64_t last = (column->len - 1) * column->data;
    column->out = last < 0 ? -last : 0;
    plan->data_offset -= column->out * plan->axis_step;
    plan->rule.axis_len += last < 0 ? -last : last;
  }
}

int gather_columns_width(const gather_plan *plan) {
  return gather_type_row(plan->rule.type)->bits == 32 ? GATHER_WIDTH_4 : GATHER_WIDTH_8;
}

bool gather_columns_axes(const gather_plan *plan, gather_tuple_axes *axes) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8, most = INT64_C(1) << 31;
  const int32_t count = plan->column_count;
  if (count < 2 || count > GATHER_TUPLE_MOST || width < 4 || plan->rule.swapped) return false;
  const bool back = plan->rule.negative && plan->rule.type <= GATHER_TYPE_INT64;
  axes->base = 0;
  for (int32_t c = 0; c < count; c++) {
    const gather_loop *column = gather_column(plan, c);
    if (column->len < 1 || column->len > most || column->data <= -most || column->data >= most) return false;
    if (column->index != c * width) return false;
    axes->len[c] = column->len, axes->back[c] = back ? column->len : 0, axes->step[c] = column->data;
    axes->base += column->out;
  }
  return true;
}

gather_index_state gather_tuples_validate(const gather_plan *plan, const char *indices, int64_t step, int64_t count) {
  gather_index_state worst = GATHER_INDICES_PLAIN;
  gather_tuple_axes axes;
  if (step == gather_column(plan, 1)->index * plan->column_count && gather_columns_axes(plan, &axes) &&
      gather_kernel_tuples_within(gather_columns_width(plan), plan->column_count)(&axes, indices, count))
    return worst;
  for (int32_t c = 0; c < plan->column_count && worst < GATHER_INDICES_BAD; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    if (gather_indices_cannot_fail(&rule)) continue;
    gather_index_state state = gather_indices_validate(&rule, indices + gather_column(plan, c)->index, step, count);
    if (state > worst) worst = state;
  }
  return worst;
}

/* Whether an index out of range on an axis of `len` elements may be the one that an error names. Clamp and wrap repair all but those on
 * an axis of length 0, and every tuple has a number on such an axis if there is one. */
static bool may_blame(const gather_plan *plan, int64_t len) {
  const gather_on_bad on_bad = plan->rule.on_bad;
  return len == 0 || plan->rule.axis_len > 0 || (on_bad != GATHER_ON_BAD_CLAMP && on_bad != GATHER_ON_BAD_WRAP);
}

int64_t gather_tuples_count_bad(const gather_plan *plan, const char *indices, int64_t step, int64_t count,
                                int64_t *first, int64_t *value) {
  int64_t bad = 0;
  bool blamed = false;
  for (int32_t c = 0; c < plan->column_count; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    int64_t tuple, number;
    int64_t found =
        gather_indices_count_bad(&rule, indices + gather_column(plan, c)->index, step, count, &tuple, &number);
    bad += found;
    if (!found || !may_blame(plan, rule.axis_len)) continue;
    if (!blamed || tuple * plan->column_count + c < *first) *first = tuple * plan->column_count + c, *value = number;
    blamed = true;
  }
  return bad;
}

bool gather_tuples_cannot_fail(const gather_plan *plan) {
  for (int32_t c = 0; c < plan->column_count; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    if (!gather_indices_cannot_fail(&rule)) return false;
  }
  return true;
}

/* Adds what one column selects. */
static void add_column(const gather_plan *plan, int32_t column, const char *indices, int64_t step, int64_t count,
                       int64_t *rows) {
  enum { BLOCK = 256 /* 2 KiB on the stack, which fit L1 */ };
  const gather_index_rule rule = gather_columns_rule(plan, column);
  const int64_t unit = gather_column(plan, column)->data, base = gather_column(plan, column)->out;
  int64_t own[BLOCK];
  for (int64_t j = 0, now; j < count; j += now) {
    now = count - j < BLOCK ? count - j : BLOCK;
    gather_indices_resolve(&rule, indices + j * step, step, now, own);
    for (int64_t k = 0; k < now; k++)
      rows[j + k] = own[k] < 0 || rows[j + k] < 0 ? GATHER_ROW_FILL : rows[j + k] + base + own[k] * unit;
  }
}

void gather_tuples_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  for (int64_t j = 0; j < count; j++) rows[j] = 0;
  for (int32_t c = 0; c < plan->column_count; c++)
    add_column(plan, c, indices + gather_column(plan, c)->index, step, count, rows);
}
