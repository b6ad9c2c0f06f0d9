/* SPDX-License-Identifier: MIT
 *
 * values_move.c: elements that are repeated, concatenated or gathered.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/values.h"

/* Whether the output can become known here. */
static bool is_open(const gather_step *step, int64_t lengths[GATHER_MAX_RANK]) {
  return !step->out.tensor && gather_known_lengths(&step->out, lengths);
}

/* Gives the view the lengths of the output, if only axes of length 1 are added or removed. */
static bool same_axes(gather_view *view, int32_t rank, const int64_t *lengths) {
  int64_t strides[GATHER_MAX_RANK];
  int32_t from = 0;
  for (int32_t d = 0; d < rank; d++) {
    strides[d] = 0;
    if (lengths[d] == 1) continue;
    while (from < view->rank && view->lengths[from] == 1) from++;
    if (from == view->rank || view->lengths[from] != lengths[d]) return false;
    strides[d] = view->strides[from++];
  }
  while (from < view->rank && view->lengths[from] == 1) from++;
  if (from < view->rank) return false;
  view->rank = rank;
  if (rank > 0) memcpy(view->strides, strides, (size_t)rank * sizeof *strides);
  if (rank > 0) memcpy(view->lengths, lengths, (size_t)rank * sizeof *lengths);
  return true;
}

void gather_follow_reshape(gather_step *step, const gather_tensor *from) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view;
  if (!is_open(step, lengths) || !gather_tensor_view(from, &view)) return;
  if (same_axes(&view, step->out.rank, lengths))
    (void)gather_step_set_view(step, &view);
  else
    gather_step_copy_view(step, &view);
}

/* Whether a tensor is in row-major order, so that another shape is another view of it. */
static bool is_dense(const gather_tensor *tensor) { return tensor->strides == NULL; }

void gather_step_alias(gather_step *step, const gather_known *from) {
  int64_t lengths[GATHER_MAX_RANK], len;
  step->out.unreadable = from->unreadable;
  if (!gather_known_lengths(&step->out, lengths) || !gather_shape_len(step->out.rank, lengths, &len)) return;
  if (from->parts && from->part_count == len) {
    step->out.parts = from->parts;
    step->out.part_count = len;
  }
  if (!from->tensor || gather_tensor_len(from->tensor) != len) return;
  if (!is_dense(from->tensor)) {
    gather_follow_reshape(step, from->tensor);
    return;
  }
  gather_tensor *tensor = gather_step_take(step, 1, sizeof *tensor);
  int64_t *shape = gather_step_take(step, step->out.rank, sizeof *shape);
  if (!tensor || !shape) return;
  for (int32_t d = 0; d < step->out.rank; d++) shape[d] = lengths[d];
  *tensor = *from->tensor;
  tensor->rank = step->out.rank;
  tensor->shape = shape;
  step->out.tensor = tensor;
}

void gather_follow_range(gather_step *step, int64_t start, int64_t by) {
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

void gather_follow_expand(gather_step *step) {
  static const char *const WORDS[] = {"numpy", "explicit", "bidirectional"};
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view;
  int32_t mode = 0;
  if (!is_open(step, lengths) || !gather_step_input_view(step, 0, &view)) return;
  if (step->openvino && !gather_step_word(step, "mode", WORDS, 3, &mode)) return;
  if (mode == 1 && !place_axes(step, &view, step->out.rank)) return;
  if (gather_view_stretch(&view, step->out.rank, lengths)) (void)gather_step_set_view(step, &view);
}

void gather_follow_fill(gather_step *step, const gather_tensor *element) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view;
  if (!is_open(step, lengths) || !gather_tensor_view(element, &view)) return;
  view.rank = 0;
  if (gather_view_stretch(&view, step->out.rank, lengths)) (void)gather_step_set_view(step, &view);
}

void gather_follow_transpose(gather_step *step, const int32_t *axes) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view, turned;
  if (!is_open(step, lengths) || !gather_step_input_view(step, 0, &view) || view.rank != step->out.rank) return;
  turned = view;
  for (int32_t d = 0; d < view.rank; d++) {
    turned.lengths[d] = view.lengths[axes[d]];
    turned.strides[d] = view.strides[axes[d]];
  }
  (void)gather_step_set_view(step, &turned);
}

void gather_follow_concat(gather_step *step, int32_t axis) {
  int64_t lengths[GATHER_MAX_RANK], at = 0;
  gather_view to, from;
  if (!is_open(step, lengths)) return;
  for (int32_t i = 0; i < step->node->input_count; i++) /* before any memory is taken */
    if (!gather_step_input_view(step, i, &from) || from.rank != step->out.rank) return;
  if (!gather_step_new_view(step, &to)) return;
  for (int32_t i = 0; i < step->node->input_count; i++) {
    if (!gather_step_input_view(step, i, &from) || from.lengths[axis] > lengths[axis] - at) return;
    gather_view part = to;
    part.data += from.lengths[axis] > 0 ? at * to.strides[axis] : 0;
    part.lengths[axis] = from.lengths[axis];
    for (int32_t d = 0; d < to.rank; d++)
      if (part.lengths[d] != from.lengths[d]) return;
    if (!gather_step_each(step, &from, 1, NULL, &part)) return;
    at += from.lengths[axis];
  }
  if (at == lengths[axis]) (void)gather_step_set_view(step, &to);
}

/* Each axis that is repeated becomes two: how often, and its elements. */
void gather_follow_tile(gather_step *step) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view in, all;
  bool stretched = true;
  if (!is_open(step, lengths) || !gather_step_input_view(step, 0, &in) || in.rank > step->out.rank) return;
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

void gather_follow_gather(gather_step *step, const gather_op *op, const gather_options *options) {
  const gather_tensor *data = gather_step_in(step, 0)->tensor, *indices = gather_step_in(step, 1)->tensor;
  int64_t lengths[GATHER_MAX_RANK];
  gather_view to, from;
  gather_options strict = *options;
  if (!data || !indices || options->axis == GATHER_AXIS_UNKNOWN || !is_open(step, lengths)) return;
  if (!gather_tensor_view(data, &from) || !gather_step_new_view(step, &to)) return;
  /* The elements are moved as they are stored: in the type of the data. */
  if (gather_type_get(from.type)->bits > gather_type_get(to.type)->bits) return;
  void *memory;
  memcpy(&memory, &to.data, sizeof memory);
  const gather_tensor out = {.data = memory,
                             .type = data->type,
                             .rank = to.rank,
                             .shape = to.lengths,
                             .flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED};
  strict.on_bad = GATHER_ON_BAD_ERROR;
  if (gather_apply(op, data, indices, &out, &strict, NULL) != GATHER_OK) return;
  to.type = from.type;
  to.swapped = from.swapped;
  gather_tensor_strides(&out, to.strides);
  (void)gather_step_set_view(step, &to);
}
