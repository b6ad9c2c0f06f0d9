/* SPDX-License-Identifier: MIT
 *
 * infer_shape.c: operators that change shapes: Unsqueeze, Squeeze, Reshape, Flatten, Transpose, Concat; and operators
 * that keep them.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/values.h"

/* The lengths themselves are shared: they never change. */
void gather_infer_like(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  step->out.rank = in->rank;
  step->out.dims = in->dims;
}

void gather_infer_same(gather_step *step) {
  gather_infer_like(step);
  step->out.type = gather_step_in(step, 0)->type;
}

void gather_infer_like_bool(gather_step *step) {
  gather_infer_like(step);
  step->out.type = GATHER_TYPE_BOOL;
}

void gather_infer_like_second(gather_step *step) {
  gather_infer_like(step);
  step->out.type = gather_step_in(step, 1)->type;
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
  bool given;
  const int64_t *axes = gather_step_axes(step, "axes", 1, &count, &given);
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
  bool given;
  int64_t count;
  const int64_t *axes = gather_step_axes(step, "axes", 1, &count, &given);
  step->out.type = in->type;
  /* To OpenVINO an empty list means no list; ONNX does not define it. */
  if (in->rank < 0 || (given && !axes) || (given && count == 0 && !step->openvino)) return;
  given = given && count > 0;
  bool gone[GATHER_MAX_RANK] = {false};
  gather_dim dims[GATHER_MAX_RANK];
  int32_t rank = 0, axis;
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], in->rank, &axis) || in->dims[axis].min > 1 || in->dims[axis].max < 1) return;
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

/* A product of lengths: the product of the known ones, and a list of the unknown ones. */
typedef struct {
  int64_t known;
  const gather_dim *others[GATHER_MAX_RANK];
  int32_t count;
  bool lost; /* the product does not fit */
} factors;

static void add_factor(factors *all, const gather_dim *dim) {
  if (!gather_is_exact(dim))
    all->others[all->count++] = dim;
  else if (!gather_mul(all->known, dim->min, &all->known))
    all->lost = true;
}

/* Removes one factor that is the same length: the same axis, or an axis of the same name. */
static bool take_factor(factors *all, const gather_dim *dim) {
  for (int32_t i = 0; i < all->count; i++)
    if (all->others[i] == dim ||
        (dim->symbol && all->others[i]->symbol && strcmp(all->others[i]->symbol, dim->symbol) == 0)) {
      all->others[i] = all->others[--all->count];
      return true;
    }
  return false;
}

/* The one length that is -1, computed from the others. from: each other length, or the axis of the input that it
 * copies. */
static gather_dim rest_of(const gather_known *in, const gather_dim *const *from, int64_t count, int64_t at) {
  factors all = {.known = 1}, others = {.known = 1};
  if (in->rank < 0) return gather_any_dim;
  for (int32_t d = 0; d < in->rank; d++) add_factor(&all, &in->dims[d]);
  for (int64_t d = 0; d < count; d++) {
    if (d == at) continue;
    if (gather_is_exact(from[d]))
      add_factor(&others, from[d]);
    else if (!take_factor(&all, from[d]))
      return gather_any_dim;
  }
  if (all.lost || others.lost || others.known <= 0) return gather_any_dim;
  if (all.count == 1 && all.known == others.known) return *all.others[0];
  if (all.count > 0 || all.known % others.known != 0) return gather_any_dim;
  return gather_exact_dim(all.known / others.known);
}

/* Whether a 0 copies the input's length; false where that is not known. */
static bool zero_rule(const gather_step *step, bool *copies) {
  bool flag;
  if (!gather_step_flag(step, step->openvino ? "special_zero" : "allowzero", false, &flag)) return false;
  *copies = step->openvino ? flag : !flag;
  return true;
}

void gather_infer_reshape(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0), *wanted = gather_step_in(step, 1);
  int64_t count, rest = -1;
  bool copies;
  gather_dim dims[GATHER_MAX_RANK];
  const gather_dim *from[GATHER_MAX_RANK];
  step->out.type = in->type;
  const gather_dim *target = gather_step_elements(step, wanted, &count);
  if (!target && wanted->rank == 1 && gather_is_exact(&wanted->dims[0]))
    count = wanted->dims[0].min;
  else if (!target)
    return;
  if (count > GATHER_MAX_RANK || !zero_rule(step, &copies)) return;
  for (int64_t d = 0; d < count; d++) {
    bool is_zero = target && target[d].min == 0 && target[d].max == 0 && copies;
    bool is_rest = target && target[d].min == -1 && target[d].max == -1;
    from[d] = is_zero && d < in->rank                   ? &in->dims[d]
              : is_zero || !target || target[d].min < 0 ? &gather_any_dim
                                                        : &target[d];
    dims[d] = *from[d];
    if (is_rest) rest = d;
    if (target && target[d].max < 0 && !is_rest) return;
  }
  if (rest >= 0) dims[rest] = rest_of(in, from, count, rest);
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
  int64_t axis;
  step->out.type = in->type;
  if (!gather_step_integer(step, "axis", 1, &axis) || in->rank < 0 || axis < -in->rank || axis > in->rank) return;
  int32_t cut = (int32_t)(axis < 0 ? axis + in->rank : axis);
  gather_dim dims[2] = {product(in, 0, cut), product(in, cut, in->rank)};
  gather_step_shape(step, 2, dims);
  gather_step_alias(step, in);
}

void gather_infer_transpose(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  bool given;
  int32_t axes[GATHER_MAX_RANK];
  const int64_t *order = gather_step_axes(step, "perm", step->openvino ? 1 : INT32_MAX, &count, &given);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 0 || (given && !order)) return;
  bool reversed = !order || (step->openvino && count == 0);
  if (!reversed && count != in->rank) return;
  for (int32_t d = 0; d < in->rank; d++) {
    int64_t from = reversed ? in->rank - 1 - d : order[d];
    if (from < 0 || from >= in->rank) return;
    dims[d] = in->dims[from];
    axes[d] = (int32_t)from;
  }
  gather_step_shape(step, in->rank, dims);
  gather_follow_transpose(step, axes);
}

/* The elements of all inputs, concatenated. */
static void concat_parts(gather_step *step) {
  const gather_dim *len = &step->out.dims[0];
  if (len->min != len->max || len->min > GATHER_MAX_PARTS) return;
  gather_dim *parts = gather_step_new_elements(step, len->min);
  int64_t at = 0;
  for (int32_t i = 0; parts && i < step->node->input_count; i++) {
    int64_t count;
    const gather_dim *some = gather_step_elements(step, gather_step_in(step, i), &count);
    if (!some || count > len->min - at) return;
    if (count > 0) memcpy(parts + at, some, (size_t)count * sizeof *some);
    at += count;
  }
  if (parts) gather_step_set_elements(step, parts, at);
}

void gather_infer_concat(gather_step *step) {
  const gather_known *first = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t attribute;
  int32_t axis;
  step->out.type = first->type;
  if (first->rank < 1 || !gather_step_find(step, "axis") || !gather_step_integer(step, "axis", 0, &attribute) ||
      !gather_wrap_axis(attribute, first->rank, &axis))
    return;
  memcpy(dims, first->dims, (size_t)first->rank * sizeof *dims);
  for (int32_t i = 1; i < step->node->input_count; i++) {
    const gather_known *in = gather_step_in(step, i);
    if (in->rank >= 0 && in->rank != first->rank) return;
    for (int32_t d = 0; in->rank >= 0 && d < in->rank; d++)
      if (d != axis && dims[d].min != dims[d].max && in->dims[d].min == in->dims[d].max) dims[d] = in->dims[d];
    dims[axis] = gather_add_dims(&dims[axis], in->rank < 0 ? &gather_any_dim : &in->dims[axis]);
  }
  gather_step_shape(step, first->rank, dims);
  if (step->out.rank == 1) concat_parts(step);
  gather_follow_concat(step, axis);
}
