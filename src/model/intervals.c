/* SPDX-License-Identifier: MIT
 *
 * intervals.c: element-wise operators on small tensors of which some elements are known as intervals or names only: the arithmetic
 * that models do with lengths.
 */
#include "model/values.h"

const gather_dim gather_any_number = {INT64_MIN, GATHER_DIM_UNBOUNDED, NULL};

enum { MOST_INPUTS = 8 };

/* Inputs of equal counts, or of one element, which is combined with each of the others. */
typedef struct {
  const gather_dim *parts[MOST_INPUTS];
  int64_t counts[MOST_INPUTS];
  int32_t inputs;
  int64_t count; /* of the output */
} operands;

static bool read_operands(gather_step *step, operands *all) {
  const gather_exact *exact = step->row->exact;
  all->inputs = exact->inputs ? exact->inputs : step->node->input_count;
  all->count = 1;
  if (all->inputs != step->node->input_count || all->inputs < 1 || all->inputs > MOST_INPUTS) return false;
  for (int32_t i = 0; i < all->inputs; i++) {
    all->parts[i] = gather_step_elements(step, gather_step_in(step, i), &all->counts[i]);
    if (!all->parts[i] || (all->counts[i] != 1 && all->count != 1 && all->counts[i] != all->count)) return false;
    if (all->counts[i] != 1) all->count = all->counts[i];
  }
  return true;
}

/* The exact function, if every operand is exact and the intervals do not decide the result. */
static gather_dim combine(const gather_step *step, const gather_dim *in, int32_t count) {
  const gather_operator *row = step->row;
  int64_t values[MOST_INPUTS], value;
  gather_dim made = row->interval->of(in, count);
  if (gather_is_exact(&made)) return made;
  for (int32_t i = 0; i < count; i++) {
    if (!gather_is_exact(&in[i])) return made;
    values[i] = in[i].min;
  }
  return row->exact->element(step, values, count, &value) ? gather_exact_dim(value) : made;
}

/* Whether the types that are known so far allow it; unknown types of the inputs do. */
static bool may_follow(const gather_step *step) {
  gather_demand types = step->row->exact->types;
  if (types == GATHER_SELECT) return true;
  return types == GATHER_NUMBERS ? gather_integer_bits(step->out.type) >= 8 : step->out.type == GATHER_TYPE_BOOL;
}

/* An exact element that does not fit its type may have wrapped around: nothing is known of it. */
static void keep_fitting(gather_dim *part, gather_type type) {
  if (gather_is_exact(part) && !gather_parts_fit(part, 1, type)) *part = gather_any_number;
}

void gather_follow_intervals(gather_step *step) {
  operands all;
  gather_dim in[MOST_INPUTS];
  bool numbers = step->row->exact->types == GATHER_NUMBERS, any = false;
  if (step->out.rank < 0 || !may_follow(step) || !read_operands(step, &all)) return;
  if (all.inputs > 1 && step->out.rank > 1) return; /* a shape of more axes is not two lists */
  gather_dim *parts = gather_step_new_elements(step, all.count);
  for (int64_t i = 0; parts && i < all.count; i++) {
    for (int32_t k = 0; k < all.inputs; k++) in[k] = all.parts[k][all.counts[k] == 1 ? 0 : i];
    parts[i] = combine(step, in, all.inputs);
    if (numbers) keep_fitting(&parts[i], step->out.type);
    any |= parts[i].min != INT64_MIN;
  }
  if (parts && (any || all.count == 0)) gather_step_set_elements(step, parts, all.count);
}
