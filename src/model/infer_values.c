/* SPDX-License-Identifier: MIT
 *
 * infer_values.c: operators that broadcast shapes: element-wise operators, Expand, Broadcast, Tile, ConstantOfShape.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/values.h"

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

void gather_step_broadcast(gather_step *step, int64_t since) {
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

void gather_step_fill(gather_step *step, gather_dim part) {
  int64_t lengths[GATHER_MAX_RANK], len = 1;
  if (!gather_known_lengths(&step->out, lengths)) return;
  for (int32_t d = 0; d < step->out.rank; d++)
    if (!gather_mul(len, lengths[d], &len)) return;
  gather_dim *parts = len <= GATHER_MAX_PARTS ? gather_step_new_elements(step, len) : NULL;
  for (int64_t i = 0; parts && i < len; i++) parts[i] = part;
  if (parts) gather_step_set_elements(step, parts, len);
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
  gather_follow_expand(step);
}

void gather_infer_expand(gather_step *step) {
  gather_dim target[GATHER_MAX_RANK];
  step->out.type = gather_step_in(step, 0)->type;
  expand_to(step, wanted_shape(step, gather_step_in(step, 1), target), target);
}

void gather_infer_broadcast(gather_step *step) {
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
  gather_follow_expand(step);
}

/* The reader knows all others: one whose value a function's body has from its call. */
void gather_infer_constant(gather_step *step) {
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

void gather_infer_constant_of_shape(gather_step *step) {
  gather_dim dims[GATHER_MAX_RANK], part = gather_exact_dim(0);
  const gather_attribute *value = gather_step_find(step, "value");
  const gather_file_tensor *held = value && value->kind == GATHER_ATTRIBUTE_TENSOR ? value->tensor : NULL;
  const gather_tensor *tensor = held ? &held->tensor : NULL;
  if (!value) step->out.type = GATHER_TYPE_FLOAT32;
  if (tensor) step->out.type = tensor->type;
  gather_step_shape(step, wanted_shape(step, gather_step_in(step, 0), dims), dims);
  if (held && held->unreadable) step->out.unreadable = held;
  if (!tensor || held->unreadable || tensor->rank != 1 || tensor->shape[0] != 1 ||
      !gather_tensor_integer(tensor, 0, &part.min))
    return;
  part.max = part.min;
  if (step->out.rank < 0) return;
  gather_step_fill(step, part);
  gather_follow_fill(step, tensor);
}

static gather_dim times(const gather_dim *dim, const gather_dim *repeats) {
  int64_t len;
  if (repeats->min == 1 && repeats->max == 1) return *dim;
  if (dim->min == 1 && dim->max == 1 && repeats->min >= 0) return *repeats;
  if (!gather_is_exact(dim) || !gather_is_exact(repeats) || !gather_mul(dim->min, repeats->min, &len) || len < 0)
    return gather_any_dim;
  return gather_exact_dim(len);
}

void gather_infer_tile(gather_step *step) {
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
  gather_follow_tile(step);
}
