/* SPDX-License-Identifier: MIT
 *
 * infer_reduce.c: operators that remove, shorten or add an axis: Reduce*, ArgMax, TopK, NonZero, OneHot.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"

/* Removes the marked axes, or sets their length to 1. */
static void reduce_marked(gather_step *step, const bool *gone, bool keep) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < in->rank; d++) {
    if (gone[d] && keep) dims[rank++] = gather_exact_dim(1);
    if (!gone[d]) dims[rank++] = in->dims[d];
  }
  gather_step_shape(step, rank, dims);
}

/* For unknown axes, of which at most the number is known. */
static void reduce_unknown(gather_step *step, const gather_known *axes, bool keep) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t count = 0;
  if (!keep && (axes->rank != 1 || !gather_is_exact(&axes->dims[0]))) return;
  if (!keep) count = axes->dims[0].min;
  /* What an empty list means here is unknown, and an axis may be given twice. */
  if (count < 0 || (!keep && count != 1) || count > in->rank) return;
  for (int32_t d = 0; d < in->rank; d++) dims[d] = gather_any_dim;
  gather_step_shape(step, in->rank - (int32_t)count, dims);
}

void gather_infer_reduce(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  int32_t axis;
  bool given, keep, nothing, gone[GATHER_MAX_RANK] = {false};
  step->out.type = in->type;
  const int64_t *axes = gather_step_axes(step, "axes", 1, &count, &given);
  if (in->rank < 0 || !gather_step_flag(step, step->openvino ? "keep_dims" : "keepdims", !step->openvino, &keep) ||
      !gather_step_flag(step, "noop_with_empty_axes", false, &nothing))
    return;
  if (given && !axes) {
    reduce_unknown(step, gather_step_in(step, 1), keep);
    return;
  }
  if (count == 0 && !step->openvino && !nothing)
    for (int32_t d = 0; d < in->rank; d++) gone[d] = true;
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], in->rank, &axis)) return;
    gone[axis] = true;
  }
  reduce_marked(step, gone, keep);
}

void gather_infer_arg(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t number;
  int32_t axis;
  bool keep, gone[GATHER_MAX_RANK] = {false};
  step->out.type = GATHER_TYPE_INT64;
  if (in->rank < 1 || !gather_step_integer(step, "axis", 0, &number) ||
      !gather_step_flag(step, "keepdims", true, &keep) || !gather_wrap_axis(number, in->rank, &axis))
    return;
  gone[axis] = true;
  reduce_marked(step, gone, keep);
}

/* k: an input, or an attribute before opset 10. Any length if it is unknown. */
static gather_dim top_count(gather_step *step) {
  int64_t count, k;
  if (!gather_step_has(step, 1)) {
    const bool is_there = gather_step_find(step, "k") != NULL;
    return is_there && gather_step_integer(step, "k", 0, &k) && k >= 0 ? gather_exact_dim(k) : gather_any_dim;
  }
  const gather_dim *parts = gather_step_elements(step, gather_step_in(step, 1), &count);
  return parts && count == 1 && parts[0].min >= 0 ? parts[0] : gather_any_dim;
}

void gather_infer_top(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t number;
  int32_t axis;
  if (in->rank < 1 || !gather_step_integer(step, "axis", -1, &number) || !gather_wrap_axis(number, in->rank, &axis))
    return;
  memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
  dims[axis] = top_count(step);
  if (dims[axis].min > in->dims[axis].max) dims[axis] = gather_any_dim; /* refused, or cut: runtimes differ */
  for (int32_t i = 0; i < step->node->output_count && i < 2; i++) {
    gather_step_output(step, i);
    step->out.type = i == 0           ? in->type
                     : step->openvino ? gather_step_named_type(step, "index_element_type", GATHER_TYPE_INT32)
                                      : GATHER_TYPE_INT64;
    gather_step_shape(step, in->rank, dims);
  }
}

void gather_infer_non_zero(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  step->out.type = step->openvino ? gather_step_named_type(step, "output_type", GATHER_TYPE_INT64) : GATHER_TYPE_INT64;
  gather_dim dims[2] = {gather_any_dim, gather_any_dim};
  if (in->rank > 0) dims[0] = gather_exact_dim(in->rank);
  gather_step_shape(step, 2, dims);
}

void gather_infer_one_hot(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t number;
  int32_t axis;
  step->out.type = gather_step_in(step, 2)->type;
  if (in->rank < 0 || in->rank >= GATHER_MAX_RANK || !gather_step_integer(step, "axis", -1, &number) ||
      !gather_wrap_axis(number, in->rank + 1, &axis))
    return;
  for (int32_t d = 0; d <= in->rank; d++) dims[d] = d == axis ? top_count(step) : in->dims[d - (d > axis)];
  gather_step_shape(step, in->rank + 1, dims);
}
