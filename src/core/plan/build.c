/* SPDX-License-Identifier: MIT
 *
 * build.c: simplifies a nest: fewer loops, longer rows, a good innermost loop. A gather of a few rows can then be run at once.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/compiler.h"
#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/plan/columns.h"

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
  choose_inner_loop(plan);
  ensure_loop(plan);
  for (int32_t i = 0; i < plan->loop_count; i++) plan->row_count *= plan->loops[i].len;
  prepare_few(plan);
}

/* As numbers: they may belong to different objects. */
static bool apart(const void *a, gather_extent a_extent, const void *b, gather_extent b_extent) {
  return (uintptr_t)a + (uintptr_t)a_extent.high <= (uintptr_t)b + (uintptr_t)b_extent.low ||
         (uintptr_t)b + (uintptr_t)b_extent.high <= (uintptr_t)a + (uintptr_t)a_extent.low;
}

/* The number at an address of any alignment. */
static int64_t read_number(const char *at, bool wide) {
  int64_t number;
  int32_t narrow;
  if (!wide) {
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
  }
  memcpy(&number, at, sizeof number);
  return number;
}

/* ---- plain indices: dense, not negative, one number each. They need no memory in between. */

/* No branch depends on an index: a number below 0 or above len - 1 sets the sign. */
static bool all_plain(const char *indices, bool wide, int32_t count, int64_t len) {
  int64_t signs = 0;
  for (int32_t i = 0; i < count; i++) {
    const int64_t number = read_number(indices + (int64_t)i * (wide ? 8 : 4), wide);
    signs |= number | (len - 1 - (number & INT64_MAX));
  }
  return signs >= 0;
}

/* The copy is inlined where this is called: a loop for each range of sizes. */
GATHER_INLINE void copy_plain(const gather_few *few, const char *data, const char *indices, char *out, bool wide, gather_copy_fn copy) {
  const int64_t step = few->axes[0].step, data_step = few->loop.data, out_step = few->loop.out;
  const size_t bytes = (size_t)few->row_bytes;
  const int32_t count = few->count;
  for (int32_t i = 0; i < count; i++, data += data_step, out += out_step, indices += wide ? 8 : 4)
    copy(out, data + read_number(indices, wide) * step, bytes);
}

/* `wide` is a constant where this is inlined. */
GATHER_INLINE void run_numbers(const gather_few *few, const char *data, const char *indices, char *out, bool wide) {
  if (few->row_bytes == 4)
    copy_plain(few, data, indices, out, wide, gather_copy_4);
  else if (few->row_bytes == 8)
    copy_plain(few, data, indices, out, wide, gather_copy_8);
  else if (few->row_bytes == 16)
    copy_plain(few, data, indices, out, wide, gather_copy_16);
  else if (few->row_bytes == 64)
    copy_plain(few, data, indices, out, wide, gather_copy_64);
  else if (few->row_bytes > 64)
    copy_plain(few, data, indices, out, wide, gather_copy_long);
  else if (few->row_bytes >= 32)
    copy_plain(few, data, indices, out, wide, gather_copy_33_to_63);
  else
    copy_plain(few, data, indices, out, wide, gather_copy_row);
}

static void run_plain(const gather_few *few, const char *data, const char *indices, char *out) {
  if (few->wide)
    run_numbers(few, data, indices, out, true);
  else
    run_numbers(few, data, indices, out, false);
}

/* ---- others */

/* Where in data the row of an index begins, added to *offset. Returns false for an index out of range. */
GATHER_INLINE bool resolve_index(const gather_few *few, const char *index, int64_t *offset) {
  for (int32_t c = 0; c < few->columns; c++) {
    const int64_t len = few->axes[c].len;
    int64_t number = read_number(index + few->axes[c].index, few->wide);
    if (number < 0 && few->negative) number += len;
    if ((uint64_t)number >= (uint64_t)len) return false;
    *offset += number * few->axes[c].step;
  }
  return true;
}

/* The same for all rows. */
static bool resolve(const gather_few *few, const char *indices, int64_t *offsets) {
  for (int64_t i = 0; i < few->outer.len; i++, indices += few->outer.index)
    for (int64_t j = 0; j < few->loop.len; j++, offsets++) {
      *offsets = i * few->outer.data + j * few->loop.data;
      if (!resolve_index(few, indices + j * few->loop.index, offsets)) return false;
    }
  return true;
}

GATHER_INLINE void copy_resolved(const gather_few *few, const char *data, const int64_t *offsets, char *out, gather_copy_fn copy) {
  const size_t bytes = (size_t)few->row_bytes;
  for (int64_t i = 0; i < few->outer.len; i++, out += few->outer.out)
    for (int64_t j = 0; j < few->loop.len; j++) copy(out + j * few->loop.out, data + *offsets++, bytes);
}

static bool run_resolved(const gather_few *few, const char *data, const char *indices, char *out) {
  int64_t offsets[GATHER_FEW_ROWS];
  if (!resolve(few, indices, offsets)) return false;
  if (few->row_bytes == 4)
    copy_resolved(few, data, offsets, out, gather_copy_4);
  else if (few->row_bytes == 8)
    copy_resolved(few, data, offsets, out, gather_copy_8);
  else
    copy_resolved(few, data, offsets, out, gather_copy_row);
  return true;
}

/* Returns false, having written nothing, if an index is out of range or something is unusual. */
static bool run_few(const gather_few *few, const gather_run *run) {
  if (run->executor || !run->data || !run->indices || !run->out) return false;
  if (!apart(run->out, few->out, run->data, few->data) || !apart(run->out, few->out, run->indices, few->indices)) return false;
  const char *data = (const char *)run->data + few->data_offset;
  char *out = (char *)run->out + few->out_offset;
  if (!few->dense || !all_plain(run->indices, few->wide, few->count, few->axes[0].len)) return run_resolved(few, data, run->indices, out);
  run_plain(few, data, run->indices, out);
  return true;
}

bool gather_plan_execute_few(const gather_plan *plan, const gather_run *run) {
  if (plan->few.count == 0 || !run_few(&plan->few, run)) return false;
  if (run->bad_count) *run->bad_count = 0;
  return true;
}
