/* SPDX-License-Identifier: MIT
 *
 * few.c: gathers of a few rows, which cost less than the decisions of a run. One function validates the indices and copies the rows, and
 * reads a few adjacent lines of the plan. Anything unusual is left to run.c, which has made no difference yet.
 */
#include "plan/few.h"

#include <string.h>

#include "base/tensor.h"
#include "plan/plan.h"

enum { MOST_BYTES = 16384 /* more take long enough for the kernels to matter */ };

void gather_few_prepare(gather_plan *plan) {
  gather_few *few = &plan->few;
  few->count = 0;
  if (plan->row_count < 1 || plan->row_count > GATHER_FEW_ROWS || plan->row_bytes > MOST_BYTES / plan->row_count)
    return;
  if (plan->packed || plan->shared || plan->column_count != 1 || plan->loop_count != 1) return;
  const gather_index_rule *rule = &plan->rule;
  if ((rule->type != GATHER_TYPE_INT64 && rule->type != GATHER_TYPE_INT32) || rule->swapped) return;
  /* Indices that no row uses are validated too. */
  if (plan->index_count != plan->row_count && plan->index_count != 1) return;
  few->wide = rule->type == GATHER_TYPE_INT64;
  few->axis_len = rule->axis_len, few->wrap = rule->negative ? rule->axis_len : 0;
  few->axis_step = plan->axis_step, few->loop = plan->loops[0], few->row_bytes = plan->row_bytes;
  few->data_offset = plan->data_offset, few->out_offset = plan->out_offset;
  few->data = plan->data_extent, few->indices = plan->index_extent, few->out = plan->out_extent;
  few->count = (int32_t)plan->row_count;
}

/* As numbers: they may belong to different objects. */
static bool apart(const void *a, gather_extent a_extent, const void *b, gather_extent b_extent) {
  return (uintptr_t)a + (uintptr_t)a_extent.high <= (uintptr_t)b + (uintptr_t)b_extent.low ||
         (uintptr_t)b + (uintptr_t)b_extent.high <= (uintptr_t)a + (uintptr_t)a_extent.low;
}

/* The index number at an address of any alignment. */
static int64_t read_index(const char *at, bool wide) {
  int64_t number;
  int32_t narrow;
  if (!wide) {
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
  }
  memcpy(&number, at, sizeof number);
  return number;
}

bool gather_few_run(const gather_few *few, const gather_run *run) {
  int64_t rows[GATHER_FEW_ROWS];
  if (run->executor || !run->data || !run->indices || !run->out) return false;
  if (!apart(run->out, few->out, run->data, few->data) || !apart(run->out, few->out, run->indices, few->indices))
    return false;
  const char *indices = run->indices;
  for (int32_t i = 0; i < few->count; i++, indices += few->loop.index) {
    const int64_t index = read_index(indices, few->wide);
    rows[i] = index < 0 ? index + few->wrap : index;
    if ((uint64_t)rows[i] >= (uint64_t)few->axis_len) return false;
  }
  const char *data = (const char *)run->data + few->data_offset;
  char *out = (char *)run->out + few->out_offset;
  for (int32_t i = 0; i < few->count; i++, data += few->loop.data, out += few->loop.out)
    memcpy(out, data + rows[i] * few->axis_step, (size_t)few->row_bytes);
  return true;
}
