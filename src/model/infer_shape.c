/* SPDX-License-Identifier: MIT
 *
 * infer_shape.c: operators that change shapes: Unsqueeze, Squeeze, Reshape, Flatten, Transpose, Concat, broadcasting, MatMul.
 */
#include <string.h>

#include "base/checked.h"
#include "model/infer.h"

/* The axes of an operator: a list attribute, or input `i`. NULL where they are not known. */
static const int64_t *axes_of(gather_step *step, const char *name, int32_t i, int64_t *count) {
  if (gather_step_has(step, i)) return gather_step_integers(step, gather_step_in(step, i), count);
  return gather_step_attribute(step, name, count);
}

void gather_infer_same(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  step->out.type = in->type;
  gather_step_shape(step, in->rank, in->dims);
}

void gather_infer_identity(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_infer_same(step);
  step->out.tensor = in->tensor;
  step->out.parts = in->parts;
  step->out.part_count = in->part_count;
  step->out.unreadable = in->unreadable;
}

void gather_infer_unsqueeze(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  const int64_t *axes = axes_of(step, "axes", 1, &count);
  step->out.type = in->type;
  if (in->rank < 0 || !axes || count > GATHER_MAX_RANK - in->rank) return;
  int32_t rank = in->rank + (int32_t)count, from = 0, axis;
  bool is_new[GATHER_MAX_RANK] = {false};
  gather_dim dims[GATHER_MAX_RANK];
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], rank, &axis) || is_new[axis]) return;
    is_new[axis] = true;
  }
  for (int32_t d = 0; d < rank; d++) dims[d] = is_new[d] ? (gather_dim){1, 1, NULL} : in->dims[from++];
  gather_step_shape(step, rank, dims);
  gather_step_alias(step, in);
}

void gather_infer_squeeze(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  bool given = gather_step_has(step, 1) || gather_node_attribute(step->node, "axes");
  int64_t count = 0;
  const int64_t *axes = given ? axes_of(step, "axes", 1, &count) : NULL;
  step->out.type = in->type;
  if (in->rank < 0 || (given && !axes)) return;
  bool gone[GATHER_MAX_RANK] = {false};
  gather_dim dims[GATHER_MAX_RANK];
  int32_t rank = 0, axis;
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], in->rank, &axis)) return;
    gone[axis] = true;
  }
  for (int32_t d = 0; d < in->rank; d++) {
    const gather_dim *dim = &in->dims[d];
    if (!given && dim->min <= 1 && dim->max >= 1 && dim->min != dim->max) return; /* it may be 1 or not */
    if (!(given ? gone[d] : dim->min == 1 && dim->max == 1)) dims[rank++] = *dim;
  }
  gather_step_shape(step, rank, dims);
  gather_step_alias(step, in);
}

/* The one length that is -1, where all others are known. */
static gather_dim rest_of(const gather_known *in, const gather_dim *dims, int64_t count, int64_t at) {
  int64_t lengths[GATHER_MAX_RANK], total = 1, others = 1;
  if (!gather_known_lengths(in, lengths)) return gather_any_dim;
  for (int32_t d = 0; d < in->rank; d++)
    if (!gather_mul(total, lengths[d], &total)) return gather_any_dim;
  for (int64_t d = 0; d < count; d++) {
    if (d == at) continue;
    if (dims[d].min != dims[d].max || !gather_mul(others, dims[d].min, &others)) return gather_any_dim;
  }
  if (others <= 0 || total % others != 0) return gather_any_dim;
  return (gather_dim){total / others, total / others, NULL};
}

void gather_infer_reshape(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count, flag = 0, rest = -1;
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  const gather_dim *target = gather_step_parts(step, gather_step_in(step, 1), &count);
  if (!target || count > GATHER_MAX_RANK) return;
  bool zero_copies = gather_node_integer(step->node, "allowzero", &flag) ? flag == 0 : !step->openvino;
  if (step->openvino) {
    const gather_attribute *special = gather_node_attribute(step->node, "special_zero");
    zero_copies = special && special->text.bytes > 0 && strchr("tT1", special->text.text[0]) != NULL;
  }
  for (int64_t d = 0; d < count; d++) {
    dims[d] = target[d];
    if (target[d].min == 0 && target[d].max == 0 && zero_copies)
      dims[d] = d < in->rank ? in->dims[d] : gather_any_dim;
    else if (target[d].min == -1 && target[d].max == -1)
      rest = d;
    else if (target[d].min < 0)
      return;
  }
  if (rest >= 0) dims[rest] = rest_of(in, dims, count, rest);
  gather_step_shape(step, (int32_t)count, dims);
  gather_step_alias(step, in);
}

static gather_dim product(const gather_known *in, int32_t from, int32_t to) {
  gather_dim all = {1, 1, NULL};
  for (int32_t d = from; d < to; d++) {
    if (in->dims[d].min != in->dims[d].max || !gather_mul(all.min, in->dims[d].min, &all.min)) {
      if (to - from == 1) return in->dims[d];
      return gather_any_dim;
    }
  }
  all.max = all.min;
  return all;
}

void gather_infer_flatten(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t axis = 1;
  step->out.type = in->type;
  (void)gather_node_integer(step->node, "axis", &axis);
  if (in->rank < 0 || axis < -in->rank || axis > in->rank) return;
  int32_t cut = (int32_t)(axis < 0 ? axis + in->rank : axis);
  gather_dim dims[2] = {product(in, 0, cut), product(in, cut, in->rank)};
  gather_step_shape(step, 2, dims);
  gather_step_alias(step, in);
}

void gather_infer_transpose(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count = in->rank;
  const int64_t *order = axes_of(step, "perm", step->openvino ? 1 : INT32_MAX, &count);
  bool given = gather_node_attribute(step->node, "perm") || (step->openvino && gather_step_has(step, 1));
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 0 || (given && !order)) return;
  bool reversed = !order || (step->openvino && count == 0);
  if (!reversed && count != in->rank) return;
  for (int32_t d = 0; d < in->rank; d++) {
    int64_t from = reversed ? in->rank - 1 - d : order[d];
    if (from < 0 || from >= in->rank) return;
    dims[d] = in->dims[from];
  }
  gather_step_shape(step, in->rank, dims);
}

static gather_dim sum(const gather_dim *a, const gather_dim *b) {
  gather_dim both = {a->min, a->max, NULL};
  if (!gather_add(a->min, b->min, &both.min)) both.min = 0;
  if (a->max == GATHER_DIM_UNBOUNDED || b->max == GATHER_DIM_UNBOUNDED || !gather_add(a->max, b->max, &both.max))
    both.max = GATHER_DIM_UNBOUNDED;
  return both;
}

/* The elements of all inputs one after the other. */
static void concat_parts(gather_step *step) {
  const gather_dim *len = &step->out.dims[0];
  if (len->min != len->max || len->min > GATHER_MAX_PARTS) return;
  gather_dim *parts = gather_step_take(step, len->min, sizeof *parts);
  int64_t at = 0;
  for (int32_t i = 0; parts && i < step->node->input_count; i++) {
    int64_t count;
    const gather_dim *some = gather_step_parts(step, gather_step_in(step, i), &count);
    if (!some || count > len->min - at) return;
    if (count > 0) memcpy(parts + at, some, (size_t)count * sizeof *some);
    at += count;
  }
  if (parts) gather_step_set_parts(step, parts, at);
}

void gather_infer_concat(gather_step *step) {
  const gather_known *first = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t attribute;
  int32_t axis;
  step->out.type = first->type;
  if (first->rank < 1 || !gather_node_integer(step->node, "axis", &attribute) ||
      !gather_wrap_axis(attribute, first->rank, &axis))
    return;
  memcpy(dims, first->dims, (size_t)first->rank * sizeof *dims);
  for (int32_t i = 1; i < step->node->input_count; i++) {
    const gather_known *in = gather_step_in(step, i);
    if (in->rank >= 0 && in->rank != first->rank) return;
    for (int32_t d = 0; in->rank >= 0 && d < in->rank; d++)
      if (d != axis && dims[d].min != dims[d].max && in->dims[d].min == in->dims[d].max) dims[d] = in->dims[d];
    dims[axis] = sum(&dims[axis], in->rank < 0 ? &gather_any_dim : &in->dims[axis]);
  }
  gather_step_shape(step, first->rank, dims);
  if (step->out.rank == 1) concat_parts(step);
}

/* Lengths of which one may be stretched to the other. */
static gather_dim broadcast(const gather_dim *a, const gather_dim *b) {
  if (a->min == 1 && a->max == 1) return *b;
  if (b->min == 1 && b->max == 1) return *a;
  if (a->min > 1) return *a;
  if (b->min > 1) return *b;
  if (a->symbol && b->symbol && strcmp(a->symbol, b->symbol) == 0) return *a;
  return a->min == 0 && a->max == 0 ? *a : gather_any_dim;
}

/* Aligns two shapes at their ends, leaving out the last `skip` of each; returns the rank, -1 where it is above the limit. */
static int32_t broadcast_shapes(const gather_known *a, const gather_known *b, int32_t skip, gather_dim *dims) {
  static const gather_dim ONE = {1, 1, NULL};
  int32_t a_rank = a->rank - skip, b_rank = b->rank - skip, rank = a_rank > b_rank ? a_rank : b_rank;
  for (int32_t d = 0; d < rank; d++) {
    int32_t i = d - (rank - a_rank), k = d - (rank - b_rank);
    dims[d] = broadcast(i >= 0 ? &a->dims[i] : &ONE, k >= 0 ? &b->dims[k] : &ONE);
  }
  return rank;
}

void gather_infer_compare(gather_step *step) {
  gather_known shape = *gather_step_in(step, 0);
  gather_dim dims[2][GATHER_MAX_RANK];
  step->out.type = GATHER_TYPE_BOOL;
  for (int32_t i = 1; i < step->node->input_count && shape.rank >= 0; i++) {
    const gather_known *in = gather_step_in(step, i);
    if (in->rank < 0) return;
    shape.rank = broadcast_shapes(&shape, in, 0, dims[i & 1]);
    shape.dims = dims[i & 1];
  }
  if (shape.rank >= 0) gather_step_shape(step, shape.rank, shape.dims);
}

void gather_infer_expand(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  const gather_dim *target = gather_step_parts(step, gather_step_in(step, 1), &count);
  if (!target || count > GATHER_MAX_RANK || in->rank < 0) return;
  for (int64_t d = 0; d < count; d++)
    if (target[d].min < 0) return;
  gather_known wanted = {.rank = (int32_t)count, .dims = target};
  gather_step_shape(step, broadcast_shapes(in, &wanted, 0, dims), dims);
}

void gather_infer_matmul(gather_step *step) {
  const gather_known *a = gather_step_in(step, 0), *b = gather_step_in(step, 1);
  gather_dim dims[GATHER_MAX_RANK + 2];
  step->out.type = a->type;
  if (a->rank < 2 || b->rank < 2 || gather_node_attribute(step->node, "transpose_a") ||
      gather_node_attribute(step->node, "transpose_b"))
    return;
  int32_t rank = broadcast_shapes(a, b, 2, dims);
  dims[rank] = a->dims[a->rank - 2];
  dims[rank + 1] = b->dims[b->rank - 1];
  gather_step_shape(step, rank + 2, dims);
}
