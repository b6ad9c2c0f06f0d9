/* SPDX-License-Identifier: MIT
 *
 * infer.h: what a node's output is, from what its inputs are. One function per kind of operator (infer_table in infer.c).
 */
#ifndef GATHER_MODEL_INFER_H
#define GATHER_MODEL_INFER_H

#include "model/scope.h"

/* One node being inferred. The functions fill in `out`, the first output; what they do not know they leave. */
typedef struct gather_step {
  gather_arena *arena;
  const gather_model *model;
  const gather_scope *scope;
  const gather_node *node;
  bool openvino;
  int64_t *parts_left; /* how many elements may still be followed, so that no file can make them fill the memory */
  gather_known out;
  bool no_memory;
} gather_step;

typedef void (*gather_infer_fn)(gather_step *step);

/* Infers the first output of a node of an operator that is known; out is all unknown for others. */
GATHER_CHECKED gather_status gather_infer_node(gather_step *step, gather_error *error);

/* ---- for the functions (step.c) */

extern const gather_dim gather_any_dim;

/* Input number i; where it is left out or leads nowhere, a value of which nothing is known. Never NULL. */
const gather_known *gather_step_in(const gather_step *step, int32_t i);
/* Whether input i is given at all. */
bool gather_step_has(const gather_step *step, int32_t i);
/* Memory of the step's arena; NULL notes that there was none. */
void *gather_step_take(gather_step *step, int64_t count, size_t bytes);
/* Sets the shape. */
void gather_step_shape(gather_step *step, int32_t rank, const gather_dim *dims);
/* The elements of a small integer tensor; NULL where they are not known or too many. */
const gather_dim *gather_step_parts(gather_step *step, const gather_known *known, int64_t *count);
/* The same where every one is known exactly. */
const int64_t *gather_step_integers(gather_step *step, const gather_known *known, int64_t *count);
/* Sets the elements of a small output, whose shape is set: count of them. Where all are exact it becomes a tensor. */
void gather_step_set_parts(gather_step *step, const gather_dim *parts, int64_t count);
/* Sets the elements to those of `from` in the shape that is set, where that fits. */
void gather_step_alias(gather_step *step, const gather_known *from);
/* Whole lengths of a known shape; false where one is not known. */
bool gather_known_lengths(const gather_known *known, int64_t lengths[GATHER_MAX_RANK]);
/* An attribute's integers: ONNX has a list, an IR layer text with commas. NULL where absent. */
const int64_t *gather_step_attribute(gather_step *step, const char *name, int64_t *count);
/* Axis in [0, rank); false outside [-rank, rank-1]. */
bool gather_wrap_axis(int64_t axis, int32_t rank, int32_t *wrapped);
/* Element number i, in row-major order, of an integer or bool tensor: false for other types. */
bool gather_tensor_integer(const gather_tensor *tensor, int64_t i, int64_t *value);

/* ---- the functions (infer_*.c) */

void gather_infer_same(gather_step *step);
void gather_infer_identity(gather_step *step);
void gather_infer_cast(gather_step *step);
void gather_infer_shape_of(gather_step *step);
void gather_infer_size(gather_step *step);
void gather_infer_gather(gather_step *step);
void gather_infer_unsqueeze(gather_step *step);
void gather_infer_squeeze(gather_step *step);
void gather_infer_reshape(gather_step *step);
void gather_infer_flatten(gather_step *step);
void gather_infer_transpose(gather_step *step);
void gather_infer_concat(gather_step *step);
void gather_infer_slice(gather_step *step);
void gather_infer_binary(gather_step *step);
void gather_infer_compare(gather_step *step);
void gather_infer_matmul(gather_step *step);
void gather_infer_range(gather_step *step);
void gather_infer_expand(gather_step *step);

/* The rules, axis and attributes of a gather node as far as they are known; axis_known false: GATHER_AXIS_UNKNOWN. */
gather_options gather_node_options(const gather_model *model, const gather_scope *scope, const gather_node *node);

#endif
