/* SPDX-License-Identifier: MIT
 *
 * few.c: gathers of a few rows, which cost less than the decisions of a run. One function validates the indices and copies the rows, and
 * reads a few adjacent lines of the plan. Anything unusual is left to run.c, for nothing was written.
 */
#include "plan/few.h"

#include <string.h>

#include "base/tensor.h"
#include "plan/columns.h"

enum {
  MOST_BYTES = 16384, /* more take long enough for the kernels to matter */
  MOST_LONG_ROWS = 8  /* rows that are no number are copied by a call each */
};

static bool is_number(int64_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

static bool is_few(const gather_plan *plan) {
  const gather_index_rule *rule = &plan->rule;
  if (plan->row_count < 1 || plan->row_count > (is_number(plan->row_bytes) ? GATHER_FEW_ROWS : MOST_LONG_ROWS))
    return false;
  if (plan->row_bytes > MOST_BYTES / plan->row_count || plan->packed || plan->shared || plan->loop_count != 1)
    return false;
  if ((rule->type != GATHER_TYPE_INT64 && rule->type != GATHER_TYPE_INT32) || rule->swapped) return false;
  if (plan->column_count < 1 || plan->column_count > GATHER_FEW_COLUMNS) return false;
  /* Otherwise some index may belong to no row; it is validated all the same. */
  return plan->index_count == plan->row_count * plan->column_count || plan->index_count == plan->column_count;
}

static void set_axes(gather_few *few, const gather_plan *plan) {
  few->axes[0].len = plan->rule.axis_len, few->axes[0].step = plan->axis_step, few->axes[0].index = 0;
  for (int32_t c = 0; plan->column_count > 1 && c < plan->column_count; c++) {
    const gather_loop *column = gather_column(plan, c);
    few->axes[c].len = column->len, few->axes[c].step = column->data, few->axes[c].index = column->index;
    few->data_offset += column->out; /* which the plan has subtracted: offsets may be negative here */
  }
}

void gather_few_prepare(gather_plan *plan) {
  gather_few *few = &plan->few;
  few->count = 0;
  if (!is_few(plan)) return;
  few->wide = plan->rule.type == GATHER_TYPE_INT64, few->negative = plan->rule.negative;
  few->columns = (int8_t)plan->column_count;
  few->loop = plan->loops[0], few->row_bytes = plan->row_bytes;
  few->data_offset = plan->data_offset, few->out_offset = plan->out_offset;
  set_axes(few, plan);
  few->data = plan->data_extent, few->indices = plan->index_extent, few->out = plan->out_extent;
  few->count = (int32_t)plan->row_count;
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

/* What a number selects on an axis; outside [0, len) if it is out of range. */
static int64_t from_start(int64_t number, int64_t len, bool negative) {
  return number < 0 && negative ? number + len : number;
}

/* offsets: where in data each row begins. Returns false for an index out of range. No branch depends on an index. */
static bool resolve_plain(const gather_few *few, const char *indices, bool wide, int64_t *offsets) {
  const int64_t len = few->axes[0].len, step = few->axes[0].step, index_step = few->loop.index;
  const int64_t wrap = few->negative ? len : 0;
  uint64_t start = 0, bad = 0;
  for (int64_t *end = offsets + few->count; offsets < end; indices += index_step, start += (uint64_t)few->loop.data) {
    int64_t number = read_number(indices, wide);
    number += wrap & -(int64_t)(number < 0);
    bad |= (uint64_t)number >= (uint64_t)len;
    *offsets++ = (int64_t)(start + (uint64_t)number * (uint64_t)step);
  }
  return !bad;
}

/* The same for tuples. */
static bool resolve_tuples(const gather_few *few, const char *indices, int64_t *offsets) {
  for (int32_t i = 0; i < few->count; i++, indices += few->loop.index) {
    offsets[i] = i * few->loop.data;
    for (int32_t c = 0; c < few->columns; c++) {
      const int64_t len = few->axes[c].len;
      const int64_t number = from_start(read_number(indices + few->axes[c].index, few->wide), len, few->negative);
      if ((uint64_t)number >= (uint64_t)len) return false;
      offsets[i] += number * few->axes[c].step;
    }
  }
  return true;
}

static bool resolve(const gather_few *few, const char *indices, int64_t *offsets) {
  if (few->columns > 1) return resolve_tuples(few, indices, offsets);
  return few->wide ? resolve_plain(few, indices, true, offsets) : resolve_plain(few, indices, false, offsets);
}

/* Rows of a constant size, which the compiler copies in a register. */
static void copy_numbers(char *out, int64_t out_step, const char *data, const int64_t *offsets, int32_t count,
                         size_t bytes) {
  for (int32_t i = 0; i < count; i++, out += out_step) memcpy(out, data + offsets[i], bytes);
}

bool gather_few_run(const gather_few *few, const gather_run *run) {
  int64_t offsets[GATHER_FEW_ROWS];
  if (run->executor || !run->data || !run->indices || !run->out) return false;
  if (!apart(run->out, few->out, run->data, few->data) || !apart(run->out, few->out, run->indices, few->indices))
    return false;
  if (!resolve(few, run->indices, offsets)) return false;
  const char *data = (const char *)run->data + few->data_offset;
  char *out = (char *)run->out + few->out_offset;
  switch (few->row_bytes) {
    case 1:
      copy_numbers(out, few->loop.out, data, offsets, few->count, 1);
      break;
    case 2:
      copy_numbers(out, few->loop.out, data, offsets, few->count, 2);
      break;
    case 4:
      copy_numbers(out, few->loop.out, data, offsets, few->count, 4);
      break;
    case 8:
      copy_numbers(out, few->loop.out, data, offsets, few->count, 8);
      break;
    default:
      for (int32_t i = 0; i < few->count; i++, out += few->loop.out)
        memcpy(out, data + offsets[i], (size_t)few->row_bytes);
  }
  return true;
}
