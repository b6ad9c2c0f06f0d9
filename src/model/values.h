/* SPDX-License-Identifier: MIT
 *
 * values.h: whole tensors of integers and bools, followed from node to node: exactly what a runtime computes, or
 * unknown. If elements only move, the output is another view of the same memory where strides allow it.
 */
#ifndef GATHER_MODEL_VALUES_H
#define GATHER_MODEL_VALUES_H

#include "model/infer.h"

/* A strided view of elements, with a shape of its own. */
typedef struct gather_view {
  const char *data;
  gather_type type; /* as they are stored */
  bool swapped;
  int32_t rank;
  int64_t lengths[GATHER_MAX_RANK], strides[GATHER_MAX_RANK]; /* strides in bytes */
} gather_view;

/* Input i as a view; false where it is not known whole, or holds no integers. */
bool gather_step_input_view(const gather_step *step, int32_t i, gather_view *view);
bool gather_tensor_view(const gather_tensor *tensor, gather_view *view);
/* Makes the output, whose shape is set, that view: false where the shapes differ. */
bool gather_step_set_view(gather_step *step, const gather_view *view);
/* Room for all elements of the output, whose shape is set, of a type that holds the output's. The view covers it; `data` may be
 * written. False where a length is not known, or no more elements may be followed. Gives the output no tensor yet. */
bool gather_step_new_view(gather_step *step, gather_view *view);
/* The output's elements become those of the view, in row-major order, whatever its shape. */
void gather_step_copy_view(gather_step *step, const gather_view *from);

/* Computes each element of `to` from those of count views of the same shape; false if one is uncertain, or does not fit
 * the type of the output. function NULL: copies. */
bool gather_step_each(const gather_step *step, const gather_view *from, int32_t count, gather_element_fn function,
                      const gather_view *to);

/* Writes element i of a new view of rank 1. */
void gather_view_put(const gather_view *view, int64_t i, int64_t value);

/* Stretches a view to the lengths of the output as numpy does; false where it does not fit. */
bool gather_view_stretch(gather_view *view, int32_t rank, const int64_t *lengths);
/* Slices one axis: len elements from start on, `by` apart. The slice must be inside the axis. */
void gather_view_cut(gather_view *view, int32_t axis, int64_t start, int64_t by, int64_t len);

/* Element-wise operators (values_each.c): the output where all inputs are known whole. Clip has bounds of its own; a Reduce makes one
 * element of a list. */
void gather_follow_elements(gather_step *step);
void gather_follow_clip(gather_step *step);
void gather_follow_fold(gather_step *step);
/* Element-wise operators on small inputs of which some elements are intervals or names (intervals.c). */
void gather_follow_intervals(gather_step *step);
/* The same elements in another shape; Expand and Broadcast; one element repeated over the output; Transpose; Concat
 * along an axis; Tile; a gather whose data and indices are known (values_move.c). */
void gather_follow_reshape(gather_step *step, const gather_tensor *from);
void gather_follow_expand(gather_step *step);
void gather_follow_fill(gather_step *step, const gather_tensor *element);
void gather_follow_transpose(gather_step *step, const int32_t *axes);
void gather_follow_concat(gather_step *step, int32_t axis);
void gather_follow_tile(gather_step *step);
/* Range: start, start + by, ... */
void gather_follow_range(gather_step *step, int64_t start, int64_t by);
void gather_follow_gather(gather_step *step, const gather_op *op, const gather_options *options);

#endif
