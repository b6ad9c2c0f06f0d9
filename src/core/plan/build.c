/* SPDX-License-Identifier: MIT
 *
 * build.c: simplifies a nest: fewer loops, longer rows, a good innermost loop.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "core/plan/columns.h"
#include "core/plan/few.h"

/* Drops loops of length 1 and merges adjacent loops with one stride in all three tensors. */
static void merge_loops(gather_plan *plan) {
  int32_t kept = 0;
  for (int32_t i = 0; i < plan->loop_count; i++) {
    gather_loop loop = plan->loops[i];
    if (loop.len == 1) continue;
    gather_loop *outer = kept > 0 ? &plan->loops[kept - 1] : NULL;
    if (outer && outer->data == loop.data * loop.len && outer->index == loop.index * loop.len &&
        outer->out == loop.out * loop.len) {
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

/* A packed nest becomes a nest of bytes if every row starts and ends on a group. */
static bool is_whole_groups(const gather_plan *plan) {
  int64_t group = plan->layout.group_len;
  if (plan->row_bytes % group || plan->data_offset % group || plan->out_offset % group) return false;
  if (!gather_columns_are_whole(plan, group)) return false;
  for (int32_t i = 0; i < plan->loop_count; i++)
    if (plan->loops[i].data % group || plan->loops[i].out % group) return false;
  return true;
}

static int64_t to_bytes(const gather_plan *plan, int64_t elements) {
  return elements / plan->layout.group_len * plan->layout.group_bytes;
}

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

/* Whether the rows of the output, and their indices, are dense in the order of the nest. */
static void find_order(gather_plan *plan) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  int64_t out = plan->row_bytes, index = width * plan->column_count;
  /* Permuted indices may be dense in the order of the nest: but their positions are counted in row-major order. */
  plan->linear = true, plan->in_order = plan->index_dense;
  for (int32_t i = plan->loop_count - 1; i >= 0; i--) {
    const gather_loop *loop = &plan->loops[i];
    if (loop->len > 1 && loop->out != out) plan->linear = false;
    if (loop->len > 1 && loop->index != index) plan->in_order = false;
    out *= loop->len; /* at most the output */
    /* Repeated indices can be more than INT64_MAX bytes: no step equals this length. */
    if (!gather_mul(index, loop->len, &index)) index = INT64_MAX;
  }
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
  if (plan->column_count > 1) gather_columns_settle(plan);
  choose_inner_loop(plan);
  ensure_loop(plan);
  for (int32_t i = 0; i < plan->loop_count; i++) plan->row_count *= plan->loops[i].len;
  gather_few_prepare(plan);
}

void gather_plan_choose(gather_plan *plan) {
  plan->variant_count = 0, plan->radix_variant = -1;
  plan->takes_bytes = plan->out_of_cache = plan->linear = plan->in_order = false;
  plan->cache_bytes = 0, plan->calibration_rows = INT64_MAX;
  plan->winners = NULL;
  plan->rule.within = gather_kernel_within(plan->rule.type), plan->rule.fold = gather_kernel_fold(plan->rule.type);
  if (plan->row_count == 0) return;
  find_order(plan);
  gather_plan_find_variants(plan);
}
