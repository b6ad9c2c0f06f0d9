/* SPDX-License-Identifier: MIT
 *
 * bounds.c: an interval that has every element of a tensor, whatever its size and whatever the inputs of the model are: after a Mod, a
 * Min and a Max, an ArgMax, a Range up to a length. Indices that stay in such an interval are in range without being known.
 * Only what every runtime computes counts: where a sum may overflow, nothing is known.
 */
#include "model/bounds.h"

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/values.h"

enum { MOST_INPUTS = 8 };

static gather_dim hull(gather_dim a, gather_dim b) {
  return (gather_dim){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max, NULL};
}

static bool is_within(const gather_dim *part, const gather_dim *room) {
  return part->min >= room->min && part->max <= room->max;
}

/* What a type can hold; unsigned numbers of 64 bits are not followed. */
static gather_dim room_of(gather_type type) {
  const int32_t bits = gather_integer_bits(type);
  if (bits == 1) return (gather_dim){0, 1, NULL};
  if (bits == 0 || bits == 64) return gather_any_number;
  const int64_t half = (int64_t)1 << (bits - 1);
  return gather_type_get(type)->kind == GATHER_KIND_INT ? (gather_dim){-half, half - 1, NULL}
                                                        : (gather_dim){0, 2 * half - 1, NULL};
}

/* Of the elements of a known tensor; they may be many. */
static bool bounds_of_tensor(const gather_tensor *tensor, gather_dim *bounds) {
  const int64_t len = gather_tensor_len(tensor);
  int64_t value;
  if (len < 1 || len > GATHER_MAX_PARTS) return false;
  for (int64_t i = 0; i < len; i++) {
    if (!gather_tensor_integer(tensor, i, &value) || (tensor->type == GATHER_TYPE_UINT64 && value < 0)) return false;
    const gather_dim one = gather_exact_dim(value);
    *bounds = i == 0 ? one : hull(*bounds, one);
  }
  return true;
}

gather_dim gather_bounds_of(const gather_known *known) {
  gather_dim bounds;
  const gather_dim room = room_of(known->type);
  if (known->tensor && bounds_of_tensor(known->tensor, &bounds)) return bounds;
  if (known->parts && known->part_count > 0) {
    bounds = known->parts[0];
    for (int64_t i = 1; i < known->part_count; i++) bounds = hull(bounds, known->parts[i]);
    bounds.symbol = NULL;
    return bounds;
  }
  return known->bounds ? *known->bounds : room;
}

static gather_dim bounds_in(const gather_step *step, int32_t i) { return gather_bounds_of(gather_step_in(step, i)); }

/* ---- arithmetic */

static gather_dim sum(gather_dim a, gather_dim b) {
  gather_dim made = gather_any_number;
  return gather_add(a.min, b.min, &made.min) && gather_add(a.max, b.max, &made.max) ? made : gather_any_number;
}

static gather_dim opposite(gather_dim a) {
  return a.min == INT64_MIN ? gather_any_number : (gather_dim){-a.max, -a.min, NULL};
}

static gather_dim product(gather_dim a, gather_dim b) {
  int64_t ends[4];
  if (!gather_mul(a.min, b.min, &ends[0]) || !gather_mul(a.min, b.max, &ends[1]) ||
      !gather_mul(a.max, b.min, &ends[2]) || !gather_mul(a.max, b.max, &ends[3]))
    return gather_any_number;
  gather_dim made = gather_exact_dim(ends[0]);
  for (int i = 1; i < 4; i++) made = hull(made, gather_exact_dim(ends[i]));
  return made;
}

/* By a number of at least 1, towards 0. */
static gather_dim quotient(gather_dim a, gather_dim b) {
  if (b.min < 1) return gather_any_number;
  return (gather_dim){a.min / (a.min < 0 ? b.min : b.max), a.max / (a.max < 0 ? b.max : b.min), NULL};
}

/* With the sign of the divisor, or of the dividend. */
static gather_dim remainder_of(gather_dim a, gather_dim b, bool truncates) {
  if (b.min < 1) return gather_any_number;
  if (a.min >= 0) return (gather_dim){0, a.max < b.max - 1 ? a.max : b.max - 1, NULL};
  return (gather_dim){truncates ? 1 - b.max : 0, b.max - 1, NULL};
}

static gather_dim least(gather_dim a, gather_dim b) {
  return (gather_dim){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max, NULL};
}

static gather_dim most(gather_dim a, gather_dim b) {
  return (gather_dim){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max, NULL};
}

static gather_dim of_each(const gather_step *step, gather_dim (*join)(gather_dim, gather_dim), int32_t first) {
  gather_dim made = bounds_in(step, first);
  for (int32_t i = first + 1; i < step->node->input_count; i++) made = join(made, bounds_in(step, i));
  return made;
}

/* ---- operators, told apart by their rows in infer.def */

/* By how the elements are computed; false where this says nothing. */
static bool by_element(const gather_step *step, gather_dim *made) {
  const gather_exact *exact = step->row->exact;
  bool flag = false;
  if (exact == &gather_exact_add || exact == &gather_exact_total)
    *made = of_each(step, sum, 0);
  else if (exact == &gather_exact_subtract)
    *made = sum(bounds_in(step, 0), opposite(bounds_in(step, 1)));
  else if (exact == &gather_exact_multiply)
    *made = product(bounds_in(step, 0), bounds_in(step, 1));
  else if (exact == &gather_exact_divide)
    *made = quotient(bounds_in(step, 0), bounds_in(step, 1));
  else if (exact == &gather_exact_modulo && gather_step_flag(step, "fmod", false, &flag))
    *made = remainder_of(bounds_in(step, 0), bounds_in(step, 1), flag);
  else if (exact == &gather_exact_least)
    *made = of_each(step, least, 0);
  else if (exact == &gather_exact_most)
    *made = of_each(step, most, 0);
  else if (exact == &gather_exact_choose)
    *made = of_each(step, hull, 1);
  else if (exact == &gather_exact_negate)
    *made = opposite(bounds_in(step, 0));
  else if (exact == &gather_exact_convert) /* of a float nothing is known */
    *made = bounds_in(step, 0);
  else
    return false;
  return true;
}

/* Clip: bounds that are left out are none. */
static gather_dim clipped(const gather_step *step) {
  gather_dim made = bounds_in(step, 0);
  if (step->node->opset < 11) return gather_any_number;
  if (gather_step_has(step, 1)) made = most(made, bounds_in(step, 1));
  return gather_step_has(step, 2) ? least(made, bounds_in(step, 2)) : made;
}

/* Places along axes of a length up to `len`. */
static gather_dim places(gather_dim len) {
  const bool known = len.max != GATHER_DIM_UNBOUNDED && len.max > 0;
  return (gather_dim){0, known ? len.max - 1 : GATHER_DIM_UNBOUNDED, NULL};
}

static gather_dim places_along(const gather_step *step, int64_t fallback) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t number;
  int32_t axis;
  const bool known =
      in->rank > 0 && gather_step_integer(step, "axis", fallback, &number) && gather_wrap_axis(number, in->rank, &axis);
  return places(known ? in->dims[axis] : gather_any_dim);
}

/* The lengths of a tensor, which are at least 0. */
static gather_dim lengths_of(const gather_known *in) {
  gather_dim made = gather_any_dim;
  for (int32_t d = 0; d < in->rank; d++) made = d == 0 ? in->dims[d] : hull(made, in->dims[d]);
  made.symbol = NULL;
  return made;
}

static gather_dim range_bounds(const gather_step *step) {
  const gather_dim start = bounds_in(step, 0), end = bounds_in(step, 1), by = bounds_in(step, 2);
  if (by.min > 0 && end.max > INT64_MIN) return (gather_dim){start.min, end.max - 1, NULL};
  if (by.max < 0 && end.min < INT64_MAX) return (gather_dim){end.min + 1, start.max, NULL};
  return gather_any_number;
}

/* Operators that only move elements of input `first`, or of all inputs from it on. */
static const struct {
  gather_infer_fn shape;
  int32_t first;
  bool all;
} MOVES[] = {{gather_infer_reshape, 0, false}, {gather_infer_identity, 0, false},  {gather_infer_flatten, 0, false},
             {gather_infer_squeeze, 0, false}, {gather_infer_unsqueeze, 0, false}, {gather_infer_transpose, 0, false},
             {gather_infer_slice, 0, false},   {gather_infer_split, 0, false},     {gather_infer_expand, 0, false},
             {gather_infer_tile, 0, false},    {gather_infer_gather, 0, false},    {gather_infer_concat, 0, true},
             {gather_infer_one_hot, 2, false}};

/* By what the shape rule says of the operator. */
static bool by_shape(const gather_step *step, gather_dim *made) {
  const gather_infer_fn shape = step->row->shape;
  for (size_t m = 0; m < sizeof MOVES / sizeof *MOVES; m++) {
    if (MOVES[m].shape != shape) continue;
    *made = MOVES[m].all ? of_each(step, hull, MOVES[m].first) : bounds_in(step, MOVES[m].first);
    return true;
  }
  if (step->row->exact == &gather_exact_clip)
    *made = clipped(step);
  else if (shape == gather_infer_arg)
    *made = places_along(step, 0);
  else if (shape == gather_infer_top && step->at == 1)
    *made = places_along(step, -1);
  else if (shape == gather_infer_top)
    *made = bounds_in(step, 0);
  else if (shape == gather_infer_non_zero)
    *made = places(lengths_of(gather_step_in(step, 0)));
  else if (shape == gather_infer_shape_of)
    *made = lengths_of(gather_step_in(step, 0));
  else if (shape == gather_infer_size)
    *made = gather_any_dim;
  else if (shape == gather_infer_range)
    *made = range_bounds(step);
  else
    return false;
  return true;
}

void gather_infer_bounds(gather_step *step) {
  gather_dim made, *kept;
  const gather_dim room = room_of(step->out.type);
  if (step->openvino || !step->row || gather_integer_bits(step->out.type) < 8 || step->out.tensor || step->out.parts)
    return;
  if (!by_element(step, &made) && !by_shape(step, &made)) return;
  if (!is_within(&made, &room) || (made.min == INT64_MIN && made.max == INT64_MAX)) return;
  kept = gather_step_take(step, 1, sizeof *kept);
  if (kept) *kept = made;
  step->out.bounds = kept;
}

const gather_dim *gather_bounds_join(gather_step *step, const gather_known *a, const gather_known *b) {
  const gather_dim joined = hull(gather_bounds_of(a), gather_bounds_of(b));
  if (joined.min == INT64_MIN && joined.max == INT64_MAX) return NULL;
  gather_dim *kept = gather_step_take(step, 1, sizeof *kept);
  if (kept) *kept = joined;
  return kept;
}
