/* SPDX-License-Identifier: MIT
 *
 * infer_values.c: operators that make values and spread them: element-wise operators, whose inputs are broadcast, Expand, Broadcast, Tile,
 * Constant, ConstantOfShape, Shape, Size, Cast, Range.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/infer.h"

/* ---- elements that are repeated or counted */

/* Range: start, start + by, ... */
static void follow_range(gather_step *step, int64_t start, int64_t by) {
  gather_view to;
  if (step->out.tensor || step->out.type == GATHER_TYPE_BOOL || gather_integer_bits(step->out.type) == 0 ||
      !gather_step_new_view(step, &to))
    return;
  int64_t last = start;
  if (to.lengths[0] > 0 && (!gather_mul(to.lengths[0] - 1, by, &last) || !gather_add(last, start, &last))) return;
  const gather_dim ends[2] = {{start, start, NULL}, {last, last, NULL}};
  if (to.lengths[0] > 0 && !gather_parts_fit(ends, 2, step->out.type)) return;
  for (int64_t i = 0; i < to.lengths[0]; i++) gather_view_put(&to, i, start + i * by);
  (void)gather_step_set_view(step, &to);
}

/* OpenVINO's Broadcast may say which axis of the output each axis of the data is. */
static bool place_axes(gather_step *step, gather_view *view, int32_t rank) {
  int64_t count;
  const int64_t *axes = gather_step_integers(step, gather_step_in(step, 2), &count);
  gather_view placed = *view;
  if (!axes || count != view->rank || rank < view->rank) return false;
  placed.rank = rank;
  for (int32_t d = 0; d < rank; d++) {
    placed.lengths[d] = 1;
    placed.strides[d] = 0;
  }
  for (int32_t d = 0; d < view->rank; d++) {
    if (axes[d] < 0 || axes[d] >= rank || (d > 0 && axes[d] <= axes[d - 1])) return false;
    placed.lengths[axes[d]] = view->lengths[d];
    placed.strides[axes[d]] = view->strides[d];
  }
  *view = placed;
  return true;
}

static void follow_expand(gather_step *step) {
  static const char *const WORDS[] = {"numpy", "explicit", "bidirectional"};
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view;
  int32_t mode = 0;
  if (!gather_step_is_open(step, lengths) || !gather_step_input_view(step, 0, &view)) return;
  if (step->openvino && !gather_step_word(step, "mode", WORDS, 3, &mode)) return;
  if (mode == 1 && !place_axes(step, &view, step->out.rank)) return;
  if (gather_view_stretch(&view, step->out.rank, lengths)) (void)gather_step_set_view(step, &view);
}

static void follow_fill(gather_step *step, const gather_tensor *element) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view;
  if (!gather_step_is_open(step, lengths) || !gather_tensor_view(element, &view)) return;
  view.rank = 0;
  if (gather_view_stretch(&view, step->out.rank, lengths)) (void)gather_step_set_view(step, &view);
}

/* Each axis that is repeated becomes two: how often, and its elements. */
static void follow_tile(gather_step *step) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view in, all;
  bool stretched = true;
  if (!gather_step_is_open(step, lengths) || !gather_step_input_view(step, 0, &in) || in.rank > step->out.rank) return;
  int32_t more = step->out.rank - in.rank;
  all = in;
  all.rank = 0;
  for (int32_t d = 0; d < step->out.rank; d++) {
    int64_t len = d < more ? 1 : in.lengths[d - more], by = d < more ? 0 : in.strides[d - more];
    if (all.rank + 2 > GATHER_MAX_RANK || (len == 0 ? lengths[d] != 0 : lengths[d] % len != 0)) return;
    if (len != 1 && lengths[d] != len) {
      all.lengths[all.rank] = len == 0 ? 0 : lengths[d] / len;
      all.strides[all.rank++] = 0;
      stretched = false;
    }
    all.lengths[all.rank] = len == 1 ? lengths[d] : len;
    all.strides[all.rank++] = len == 1 ? 0 : by;
  }
  if (stretched)
    (void)gather_step_set_view(step, &all);
  else
    gather_step_copy_view(step, &all);
}

/* ---- broadcasting */

/* The broadcast of two lengths. */
static gather_dim broadcast(const gather_dim *a, const gather_dim *b) {
  if (a->min == 1 && a->max == 1) return *b;
  if (b->min == 1 && b->max == 1) return *a;
  if (a->min > 1) return *a;
  if (b->min > 1) return *b;
  if (a->symbol && b->symbol && strcmp(a->symbol, b->symbol) == 0) return *a;
  return a->max == 0 ? *a : b->max == 0 ? *b : gather_any_dim;
}

int32_t gather_broadcast_shapes(const gather_known *a, const gather_known *b, int32_t skip, gather_dim *dims) {
  const gather_dim one = gather_exact_dim(1);
  int32_t a_rank = a->rank - skip, b_rank = b->rank - skip, rank = a_rank > b_rank ? a_rank : b_rank;
  for (int32_t d = 0; d < rank; d++) {
    int32_t i = d - (rank - a_rank), k = d - (rank - b_rank);
    dims[d] = broadcast(i >= 0 ? &a->dims[i] : &one, k >= 0 ? &b->dims[k] : &one);
  }
  return rank;
}

/* Whether the node's inputs are broadcast as NumPy does: ONNX's before opset `since` and OpenVINO's need not be. */
typedef enum { STRETCH_NONE, STRETCH_NUMPY, STRETCH_UNKNOWN } stretch;

static stretch stretch_of(const gather_step *step, int64_t since) {
  static const char *const WORDS[] = {"numpy", "none", "explicit"};
  int32_t word;
  if (!step->openvino) return step->node->opset < since && step->node->domain[0] == '\0' ? STRETCH_NONE : STRETCH_NUMPY;
  if (!gather_step_word(step, "auto_broadcast", WORDS, 3, &word)) return STRETCH_UNKNOWN;
  return word == 0 ? STRETCH_NUMPY : STRETCH_NONE;
}

/* The shape of all inputs, broadcast. since: the opset from which ONNX broadcasts them. */
static void broadcast_inputs(gather_step *step, int64_t since) {
  gather_known shape = *gather_step_in(step, 0);
  gather_dim dims[2][GATHER_MAX_RANK];
  stretch how = stretch_of(step, since);
  if (how == STRETCH_UNKNOWN) return;
  for (int32_t i = 1; how == STRETCH_NUMPY && i < step->node->input_count && shape.rank >= 0; i++) {
    const gather_known *in = gather_step_in(step, i);
    if (in->rank < 0) return;
    shape.rank = gather_broadcast_shapes(&shape, in, 0, dims[i & 1]);
    shape.dims = dims[i & 1];
  }
  if (shape.rank >= 0) gather_step_shape(step, shape.rank, shape.dims);
}

/* A shape that is the value of a tensor: its lengths, or as many unknown ones. Returns the rank, -1 if unknown. */
static int32_t wanted_shape(gather_step *step, const gather_known *target, gather_dim dims[GATHER_MAX_RANK]) {
  int64_t count;
  const gather_dim *parts = gather_step_elements(step, target, &count);
  if (!parts && target->rank == 1 && gather_is_exact(&target->dims[0]))
    count = target->dims[0].min;
  else if (!parts)
    return -1;
  if (count > GATHER_MAX_RANK) return -1;
  for (int64_t d = 0; d < count; d++) {
    dims[d] = parts ? parts[d] : gather_any_dim;
    if (dims[d].max < 0) return -1;
    if (dims[d].min < 0) dims[d] = gather_any_dim;
  }
  return (int32_t)count;
}

/* Broadcasts input 0 and a shape to each other. */
static void expand_to(gather_step *step, int32_t rank, const gather_dim *target) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  gather_dim dims[GATHER_MAX_RANK];
  if (rank < 0 || in->rank < 0) return;
  const gather_known wanted = {.rank = rank, .dims = target};
  gather_step_shape(step, gather_broadcast_shapes(in, &wanted, 0, dims), dims);
  const gather_dim *parts = gather_step_elements(step, in, &count);
  if (parts && count == 1) gather_step_fill(step, parts[0]);
  follow_expand(step);
}

static void infer_expand(gather_step *step) {
  gather_dim target[GATHER_MAX_RANK];
  step->out.type = gather_step_in(step, 0)->type;
  expand_to(step, wanted_shape(step, gather_step_in(step, 1), target), target);
}

static void infer_broadcast(gather_step *step) {
  static const char *const WORDS[] = {"numpy", "explicit", "bidirectional"};
  gather_dim target[GATHER_MAX_RANK];
  int32_t mode;
  int64_t count;
  const gather_known *in = gather_step_in(step, 0);
  step->out.type = in->type;
  if (!gather_step_word(step, "mode", WORDS, 3, &mode)) return;
  int32_t rank = wanted_shape(step, gather_step_in(step, 1), target);
  if (mode == 2) {
    expand_to(step, rank, target);
    return;
  }
  gather_step_shape(step, rank, target);
  const gather_dim *parts = rank >= 0 ? gather_step_elements(step, in, &count) : NULL;
  if (parts && count == 1) gather_step_fill(step, parts[0]);
  follow_expand(step);
}

/* The reader knows all others: one whose value a function's body has from its call. */
static void infer_constant(gather_step *step) {
  const gather_attribute *value = gather_constant_attribute(step->node);
  if (value) value = gather_step_find(step, value->name);
  gather_tensor *tensor = gather_step_take(step, 1, sizeof *tensor);
  int64_t *shape = gather_step_take(step, 1, sizeof *shape);
  gather_dim dims[GATHER_MAX_RANK];
  if (!value || !tensor || !shape || !gather_attribute_tensor(value, shape, tensor)) return;
  for (int32_t d = 0; d < tensor->rank; d++) dims[d] = gather_exact_dim(tensor->shape[d]);
  step->out.type = tensor->type;
  gather_step_shape(step, tensor->rank, dims);
  if (value->tensor && value->tensor->unreadable)
    step->out.unreadable = value->tensor;
  else
    step->out.tensor = tensor;
}

static void infer_constant_of_shape(gather_step *step) {
  gather_dim dims[GATHER_MAX_RANK], part = gather_exact_dim(0);
  const gather_attribute *value = gather_step_find(step, "value");
  const gather_file_tensor *held = value && value->kind == GATHER_ATTRIBUTE_TENSOR ? value->tensor : NULL;
  const gather_tensor *tensor = held ? &held->tensor : NULL;
  if (!value) step->out.type = GATHER_TYPE_FLOAT32;
  if (tensor) step->out.type = tensor->type;
  gather_step_shape(step, wanted_shape(step, gather_step_in(step, 0), dims), dims);
  if (held && held->unreadable) step->out.unreadable = held;
  if (!tensor || held->unreadable || tensor->rank != 1 || tensor->shape[0] != 1 || !gather_tensor_integer(tensor, 0, &part.min)) return;
  part.max = part.min;
  if (step->out.rank < 0) return;
  gather_step_fill(step, part);
  follow_fill(step, tensor);
}

static gather_dim times(const gather_dim *dim, const gather_dim *repeats) {
  int64_t len;
  if (repeats->min == 1 && repeats->max == 1) return *dim;
  if (dim->min == 1 && dim->max == 1 && repeats->min >= 0) return *repeats;
  if (!gather_is_exact(dim) || !gather_is_exact(repeats) || !gather_mul(dim->min, repeats->min, &len) || len < 0) return gather_any_dim;
  return gather_exact_dim(len);
}

static void infer_tile(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  const gather_dim one = gather_exact_dim(1);
  gather_dim repeats[GATHER_MAX_RANK], dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (!step->openvino && step->node->opset < 6) return;
  int32_t count = wanted_shape(step, gather_step_in(step, 1), repeats);
  if (in->rank < 0) return;
  if (count < 0 && step->openvino) return;
  if (count < 0) count = 0;
  if (count == 0 && !step->openvino)
    for (; count < in->rank; count++) repeats[count] = gather_any_dim;
  int32_t rank = count > in->rank ? count : in->rank;
  for (int32_t d = 0; d < rank; d++) {
    int32_t i = d - (rank - in->rank), k = d - (rank - count);
    dims[d] = times(i >= 0 ? &in->dims[i] : &one, k >= 0 ? &repeats[k] : &one);
  }
  gather_step_shape(step, rank, dims);
  follow_tile(step);
}

/* ---- element-wise operators */

static void infer_compare(gather_step *step) {
  step->out.type = GATHER_TYPE_BOOL;
  broadcast_inputs(step, 7);
}

static void one_type(gather_step *step, int64_t since) {
  const gather_known *first = gather_step_in(step, 0), *second = gather_step_in(step, 1);
  broadcast_inputs(step, since);
  step->out.type = first->type != GATHER_TYPE_NONE ? first->type : second->type;
}

static void infer_binary(gather_step *step) { one_type(step, 7); }

/* Any number of inputs. */
static void infer_variadic(gather_step *step) { one_type(step, 8); }

static void infer_where(gather_step *step) {
  broadcast_inputs(step, 7);
  step->out.type = gather_step_in(step, 1)->type;
  if (step->out.type == GATHER_TYPE_NONE) step->out.type = gather_step_in(step, 2)->type;
}

/* ---- Shape, Size, Cast, Range */

static void infer_shape_of(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t start, end;
  step->out.type = gather_step_named_type(step, "output_type", GATHER_TYPE_INT64);
  if (in->rank < 0 || !gather_step_integer(step, "start", 0, &start) || !gather_step_integer(step, "end", in->rank, &end)) {
    gather_step_shape(step, 1, &gather_any_dim);
    return;
  }
  if (start < 0) start = start < -in->rank ? 0 : start + in->rank;
  if (end < 0) end = end < -in->rank ? 0 : end + in->rank;
  if (end > in->rank) end = in->rank;
  if (start > end) start = end;
  gather_dim len = {end - start, end - start, NULL};
  gather_step_shape(step, 1, &len);
  static const gather_dim NONE[1] = {{0, 0, NULL}};
  gather_step_set_elements(step, in->dims ? in->dims + start : NONE, end - start);
}

static void infer_size(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t lengths[GATHER_MAX_RANK];
  gather_dim *part = gather_step_take(step, 1, sizeof *part);
  step->out.type = GATHER_TYPE_INT64;
  gather_step_shape(step, 0, NULL);
  if (!part || !gather_known_lengths(in, lengths) || !gather_shape_len(in->rank, lengths, &part->min)) return;
  part->max = part->min;
  gather_step_set_elements(step, part, 1);
}

/* Whether each value of `from` has the same value in `to`. */
static bool fits_all(gather_type from, gather_type to) {
  int32_t from_bits = gather_integer_bits(from), to_bits = gather_integer_bits(to);
  if (from_bits == 0 || to_bits == 0 || to == GATHER_TYPE_BOOL) return from == to;
  bool from_signed = from != GATHER_TYPE_BOOL && gather_type_get(from)->kind == GATHER_KIND_INT;
  bool to_signed = gather_type_get(to)->kind == GATHER_KIND_INT;
  if (from_signed == to_signed) return to_bits >= from_bits;
  return to_signed && to_bits > from_bits;
}

static gather_type cast_target(const gather_step *step) {
  int64_t number;
  if (step->openvino) return gather_step_named_type(step, "destination_type", GATHER_TYPE_NONE);
  if (!gather_step_find(step, "to") || !gather_step_integer(step, "to", 0, &number)) return GATHER_TYPE_NONE;
  for (int t = 1; t < 64; t++) {
    const gather_type_info *info = gather_type_get((gather_type)t);
    if (info && info->onnx > 0 && info->onnx == number) return info->type;
  }
  return GATHER_TYPE_NONE;
}

static void infer_cast(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  step->out.type = cast_target(step);
  gather_step_shape(step, in->rank, in->dims);
  step->out.unreadable = in->unreadable;
  bool turns = in->tensor && in->tensor->type == GATHER_TYPE_BOOL && step->out.type != GATHER_TYPE_BOOL;
  if (in->tensor && !turns && fits_all(in->tensor->type, step->out.type)) {
    step->out.tensor = in->tensor;
    return;
  }
  const gather_dim *parts = gather_step_elements(step, in, &count);
  if (parts && gather_parts_fit(parts, count, step->out.type)) gather_step_set_elements(step, parts, count);
}

/* One whole number; NULL where it is not known, not even as a name. */
static const gather_dim *number_of(gather_step *step, int32_t i) {
  int64_t count;
  const gather_dim *parts = gather_step_elements(step, gather_step_in(step, i), &count);
  return parts && count == 1 ? parts : NULL;
}

/* How many of start, start + by, ... come before end; -1 where that does not fit. */
static int64_t range_len(int64_t start, int64_t end, int64_t by) {
  int64_t way;
  if (by > 0 ? start >= end : start <= end) return 0;
  if (start == INT64_MIN || by == INT64_MIN || !gather_add(end, -start, &way) || way == INT64_MIN) return -1;
  if (way < 0) {
    way = -way;
    by = -by;
  }
  return (way - 1) / by + 1;
}

static void range_values(gather_step *step, int64_t start, int64_t end, int64_t by) {
  int64_t count = range_len(start, end, by);
  gather_dim len = count < 0 ? gather_any_dim : gather_exact_dim(count);
  gather_step_shape(step, 1, &len);
  if (count >= 0) follow_range(step, start, by);
}

static void infer_range(gather_step *step) {
  const gather_dim *start = number_of(step, 0), *end = number_of(step, 1), *by = number_of(step, 2);
  gather_type type = gather_step_in(step, 0)->type;
  step->out.type = step->openvino ? gather_step_named_type(step, "output_type", type) : type;
  if (start && end && by && gather_is_exact(start) && gather_is_exact(end) && gather_is_exact(by) && by->min != 0) {
    range_values(step, start->min, end->min, by->min);
    return;
  }
  bool counts = start && by && end && start->min == 0 && start->max == 0 && by->min == 1 && by->max == 1;
  gather_step_shape(step, 1, counts && end->min >= 0 ? end : &gather_any_dim); /* from 0 to N: N of them */
}

/* ---- the table */

const struct gather_rules_of_values gather_rules_values = {
    .compare = infer_compare,
    .binary = infer_binary,
    .variadic = infer_variadic,
    .where = infer_where,
    .expand = infer_expand,
    .broadcast = infer_broadcast,
    .constant = infer_constant,
    .constant_of_shape = infer_constant_of_shape,
    .tile = infer_tile,
    .shape_of = infer_shape_of,
    .size = infer_size,
    .cast = infer_cast,
    .range = infer_range,
};
