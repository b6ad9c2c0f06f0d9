/* SPDX-License-Identifier: MIT
 *
 * build.c: simplifies a nest: fewer loops, longer rows, a good innermost loop; and prepares the gather of a few rows, which run.c runs at
 * once.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/compiler.h"
#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/plan/plan_indices.h"

/* ---- simplifying */

/* Drops loops of length 1 and merges adjacent loops with one stride in all three tensors. */
static void merge_loops(gather_plan *plan) {
  int32_t kept = 0;
  for (int32_t i = 0; i < plan->loop_count; i++) {
    gather_loop loop = plan->loops[i];
    if (loop.len == 1) continue;
    gather_loop *outer = kept > 0 ? &plan->loops[kept - 1] : NULL;
    if (outer && outer->data == loop.data * loop.len && outer->index == loop.index * loop.len && outer->out == loop.out * loop.len) {
      loop.len *= outer->len;
      *outer = loop;
    } else {
      plan->loops[kept++] = loop;
    }
  }
  plan->loop_count = kept;
}

/* An innermost loop with dense steps and one index is part of the row. */
static void extend_row(gather_plan *plan) {
  if (plan->loop_count == 0) return;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  if (inner->index != 0 || inner->data != plan->row_bytes || inner->out != plan->row_bytes) return;
  plan->row_bytes *= inner->len;
  plan->loop_count--;
}

/* Whether all steps in data are multiples of `group` elements. */
static bool are_columns_whole(const gather_plan *plan, int64_t group) {
  if (plan->column_count == 1) return plan->axis_step % group == 0;
  for (int32_t c = 0; c < plan->column_count; c++)
    if (gather_column(plan, c)->data % group) return false;
  return true;
}

/* A packed nest becomes a nest of bytes if every row starts and ends on a group. */
static bool is_whole_groups(const gather_plan *plan) {
  int64_t group = plan->layout.group_len;
  if (plan->row_bytes % group || plan->data_offset % group || plan->out_offset % group) return false;
  if (!are_columns_whole(plan, group)) return false;
  for (int32_t i = 0; i < plan->loop_count; i++)
    if (plan->loops[i].data % group || plan->loops[i].out % group) return false;
  return true;
}

static int64_t to_bytes(const gather_plan *plan, int64_t elements) { return elements / plan->layout.group_len * plan->layout.group_bytes; }

static void unpack_nest(gather_plan *plan) {
  plan->packed = false;
  plan->row_bytes = to_bytes(plan, plan->row_bytes);
  if (plan->column_count == 1) plan->axis_step = to_bytes(plan, plan->axis_step);
  for (int32_t c = 0; plan->column_count > 1 && c < plan->column_count; c++)
    plan->loops[GATHER_MAX_RANK - 1 - c].data = to_bytes(plan, gather_column(plan, c)->data);
  plan->data_offset = to_bytes(plan, plan->data_offset);
  plan->out_offset = to_bytes(plan, plan->out_offset);
  for (int32_t i = 0; i < plan->loop_count; i++) {
    plan->loops[i].data = to_bytes(plan, plan->loops[i].data);
    plan->loops[i].out = to_bytes(plan, plan->loops[i].out);
  }
  memset(plan->fill_group, 0, sizeof plan->fill_group);
  gather_bits_fill(&plan->layout, (char *)plan->fill_group, 0, plan->fill_value, plan->layout.group_len);
  plan->fill = plan->fill ? plan->fill_group : NULL;
  plan->fill_bytes = plan->layout.group_bytes;
}

/* Whether all steps in data are whole rows: then tuples are resolved to numbers of rows, and kernels know the step between two rows,
 * as for plain indices. */
static bool steps_are_rows(const gather_plan *plan) {
  for (int32_t c = 0; c < plan->column_count; c++)
    if (gather_column(plan, c)->data % plan->row_bytes) return false;
  return !plan->packed;
}

/* Sets the unit of resolved tuples, which is plan->axis_step: rows, or bytes (packed: elements) where axes have other steps; counted from
 * the lowest one that a tuple can select. The steps and the length of a row do not change any more. Offsets are relative to the lowest
 * one, so that none is negative: negative numbers mean filled rows. All offsets are in data, whose extent was checked. */
static void settle_columns(gather_plan *plan) {
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

/* Kernels run the two innermost loops. If both are short, the longest loop becomes the second: then each of its rounds
 * costs no call. Packed plans keep the order of the output, because tasks are split by it. */
static void choose_inner_loop(gather_plan *plan) {
  enum { SHORT_LOOPS = 64 /* rows: moving them takes as long as some calls of a kernel */ };
  if (plan->packed || plan->loop_count < 3) return;
  int32_t second = plan->loop_count - 2, longest = second;
  if (plan->loops[second].len * plan->loops[second + 1].len >= SHORT_LOOPS) return;
  for (int32_t i = 0; i < second; i++)
    if (plan->loops[i].len > plan->loops[longest].len) longest = i;
  gather_loop moved = plan->loops[longest];
  memmove(&plan->loops[longest], &plan->loops[longest + 1], (size_t)(second - longest) * sizeof moved);
  plan->loops[second] = moved;
}

/* Ensures an innermost loop, so that run.c needs no special case. */
static void ensure_loop(gather_plan *plan) {
  if (plan->loop_count > 0) return;
  gather_loop once = {1, 0, 0, 0};
  plan->loops[0] = once;
  plan->loop_count = 1;
}

/* ---- gathers of a few rows, which cost less than the decisions of a run. One function validates the indices and copies the rows, and
 * reads a few adjacent lines of the plan. Anything unusual is left to run.c, for nothing was written. */

enum {
  MOST_BYTES = 16384, /* more take long enough for the kernels to matter */
  SHORT_BYTES = 64,   /* rows up to here are copied in registers */
  MOST_LONG_ROWS = 8
};

static bool is_few(const gather_plan *plan) {
  const gather_index_rule *rule = &plan->rule;
  if (plan->row_count < 1 || plan->row_count > (plan->row_bytes <= SHORT_BYTES ? GATHER_FEW_ROWS : MOST_LONG_ROWS)) return false;
  if (plan->row_bytes > MOST_BYTES / plan->row_count || plan->packed || plan->shared || plan->loop_count > 2) return false;
  if ((rule->type != GATHER_TYPE_INT64 && rule->type != GATHER_TYPE_INT32) || rule->swapped) return false;
  if (plan->column_count < 1 || plan->column_count > GATHER_FEW_COLUMNS) return false;
  /* Otherwise some index may belong to no row; it is validated all the same. */
  int64_t used = plan->column_count;
  for (int32_t i = 0; i < plan->loop_count; i++)
    if (plan->loops[i].index != 0) used *= plan->loops[i].len;
  return plan->index_count == plan->row_count * plan->column_count || plan->index_count == used;
}

static void set_axes(gather_few *few, const gather_plan *plan) {
  few->axes[0].len = plan->rule.axis_len, few->axes[0].step = plan->axis_step, few->axes[0].index = 0;
  for (int32_t c = 0; plan->column_count > 1 && c < plan->column_count; c++) {
    const gather_loop *column = gather_column(plan, c);
    few->axes[c].len = column->len, few->axes[c].step = column->data * plan->axis_step;
    few->axes[c].index = column->index;
    few->data_offset += column->out * plan->axis_step; /* which the plan has subtracted: offsets may be negative here */
  }
}

static void prepare_few(gather_plan *plan) {
  gather_few *few = &plan->few;
  few->count = 0;
  if (!is_few(plan)) return;
  few->wide = plan->rule.type == GATHER_TYPE_INT64, few->negative = plan->rule.negative;
  few->columns = (int8_t)plan->column_count;
  const bool two = plan->loop_count == 2;
  few->loop = plan->loops[two], few->row_bytes = plan->row_bytes;
  few->outer = two ? plan->loops[0] : (gather_loop){1, 0, 0, 0};
  few->data_offset = plan->data_offset, few->out_offset = plan->out_offset;
  set_axes(few, plan);
  few->dense = !two && few->columns == 1 && few->loop.index == (few->wide ? 8 : 4);
  few->data = plan->data_extent, few->indices = plan->index_extent, few->out = plan->out_extent;
  few->count = (int32_t)plan->row_count;
}

void gather_plan_simplify(gather_plan *plan) {
  plan->few.count = 0;
  plan->row_count = 1;
  for (int32_t i = 0; i < plan->loop_count; i++)
    if (plan->loops[i].len == 0) plan->row_count = 0;
  if (plan->row_count == 0 || plan->row_bytes == 0) {
    plan->row_count = 0, plan->loop_count = 0;
    return;
  }
  merge_loops(plan);
  extend_row(plan);
  if (plan->packed && is_whole_groups(plan)) unpack_nest(plan);
  if (plan->column_count > 1) settle_columns(plan);
  if (!plan->writes) choose_inner_loop(plan); /* of several updates of a row the last is left */
  ensure_loop(plan);
  for (int32_t i = 0; i < plan->loop_count; i++) plan->row_count *= plan->loops[i].len;
  if (!plan->writes) prepare_few(plan);
}
