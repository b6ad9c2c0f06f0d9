/* SPDX-License-Identifier: MIT
 *
 * infer_writing.c: the shapes of the outputs of operators that write by index and of embedding bags, and the elements of small tensors that
 * are written.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/writing_node.h"

static void shape_of(const gather_known *known, gather_shape *shape) {
  shape->rank = known->rank;
  if (known->rank > 0) memcpy(shape->dims, known->dims, (size_t)known->rank * sizeof *known->dims);
}

/* The rules of the step's node, and its attributes as far as they are known; NULL where the node cannot be right. */
static const gather_op *read_node(const gather_step *step, gather_scatter_options *options, gather_node_writing *writing) {
  static const gather_scatter_options INIT = GATHER_SCATTER_OPTIONS_INIT;
  const gather_op *op = gather_model_is_gather(step->model, step->node) ? gather_model_rules(step->model, step->node) : NULL;
  gather_options axis;
  *options = INIT;
  if (!gather_op_writes(op)) return NULL;
  if (gather_node_options(step->model, step->scope, step->node, &axis, NULL) == GATHER_FILE_MALFORMED) return NULL;
  if (gather_node_writing_read(op, step->scope, step->node, writing, NULL) != GATHER_OK) return NULL;
  options->axis = axis.axis;
  options->reduction = writing->reduction;
  options->neutral = writing->neutral;
  options->unique = true; /* which of two updates is left is known to be the last only here */
  return op;
}

/* ---- scatters */

/* Elements of a small tensor that are intervals or names, replaced by others at known places. */
static void write_parts(gather_step *step, const gather_op *op, const gather_scatter_options *options) {
  const gather_known *data = gather_step_in(step, 0), *indices = gather_step_in(step, 1), *updates = gather_step_in(step, 2);
  int64_t count, updates_count, shape[GATHER_MAX_RANK], updates_shape[GATHER_MAX_RANK];
  const gather_dim *parts = gather_step_elements(step, data, &count), *written = gather_step_elements(step, updates, &updates_count);
  if (!parts || !written || !indices->tensor || options->reduction || !gather_known_lengths(data, shape) ||
      !gather_known_lengths(updates, updates_shape))
    return;
  gather_dim *from = gather_step_new_elements(step, count), *to = gather_step_new_elements(step, count);
  gather_dim *with = gather_step_new_elements(step, updates_count);
  if (!from || !to || !with) return;
  if (count > 0) memcpy(from, parts, (size_t)count * sizeof *from);
  if (updates_count > 0) memcpy(with, written, (size_t)updates_count * sizeof *with);
  const gather_tensor before = {
      .data = from, .type = GATHER_TYPE_OPAQUE, .rank = data->rank, .item_bytes = (int64_t)sizeof(gather_dim), .shape = shape};
  gather_tensor out = before, by = before;
  out.data = to;
  by.data = with, by.rank = updates->rank, by.shape = updates_shape;
  if (gather_scatter_apply(op, &before, indices->tensor, &by, &out, options, NULL) == GATHER_OK) gather_step_set_elements(step, to, count);
}

/* Whole tensors of integers, of one type. */
static void write_whole(gather_step *step, const gather_op *op, const gather_scatter_options *options) {
  const gather_tensor *data = gather_step_in(step, 0)->tensor, *indices = gather_step_in(step, 1)->tensor;
  const gather_tensor *updates = gather_step_in(step, 2)->tensor;
  int64_t lengths[GATHER_MAX_RANK];
  gather_view to, from;
  if (!data || !indices || !updates || options->reduction || step->out.tensor || !gather_step_is_open(step, lengths)) return;
  if (data->type != updates->type || ((data->flags ^ updates->flags) & GATHER_TENSOR_BYTE_SWAPPED)) return;
  if (!gather_tensor_view(data, &from) || !gather_step_new_view(step, &to)) return;
  if (gather_type_get(from.type)->bits > gather_type_get(to.type)->bits) return;
  void *memory;
  memcpy(&memory, &to.data, sizeof memory);
  const gather_tensor out = {
      .data = memory, .type = data->type, .rank = to.rank, .shape = to.lengths, .flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED};
  if (gather_scatter_apply(op, data, indices, updates, &out, options, NULL) != GATHER_OK) return;
  to.type = from.type;
  to.swapped = from.swapped;
  gather_tensor_strides(&out, to.strides);
  (void)gather_step_set_view(step, &to);
}

static void infer_scatter(gather_step *step) {
  gather_scatter_options options;
  gather_node_writing writing;
  gather_shape shapes[4];
  const gather_op *op = read_node(step, &options, &writing);
  step->out.type = gather_step_in(step, 0)->type;
  if (!op || (options.axis == GATHER_AXIS_UNKNOWN && op->axis_source == GATHER_AXIS_SOURCE_NONE)) return;
  for (int32_t i = 0; i < 3; i++) shape_of(gather_step_in(step, i), &shapes[i]);
  if (gather_scatter_infer_shape(op, &shapes[0], &shapes[1], &shapes[2], &options, &shapes[3], NULL) != GATHER_OK || shapes[3].rank < 0)
    return;
  gather_step_shape(step, shapes[3].rank, shapes[3].dims);
  if (options.axis == GATHER_AXIS_UNKNOWN) return;
  write_parts(step, op, &options);
  write_whole(step, op, &options);
}

/* ---- TensorScatter: past_cache's shape */

static void infer_tensor_scatter(gather_step *step) {
  const gather_known *cache = gather_step_in(step, 0);
  step->out.type = cache->type;
  if (cache->rank >= 0) gather_step_shape(step, cache->rank, cache->dims);
}

/* ---- embedding bags: a row for each bag */

static void infer_embedding_bag(gather_step *step) {
  gather_scatter_options options;
  gather_node_writing writing;
  gather_dim dims[GATHER_MAX_RANK];
  int32_t which[3], count;
  int64_t elements;
  bool as_number;
  const gather_op *op = read_node(step, &options, &writing);
  const gather_known *table = gather_step_in(step, 0);
  step->out.type = table->type;
  if (!op || table->rank < 1) return;
  (void)gather_bag_inputs(op, which, &count, &as_number);
  const gather_known *bags = gather_step_in(step, count);
  memcpy(dims, table->dims, (size_t)table->rank * sizeof *dims);
  dims[0] = !as_number && bags->rank > 0 ? bags->dims[0] : gather_any_dim;
  const gather_dim *number = as_number ? gather_step_elements(step, bags, &elements) : NULL;
  if (number && elements == 1 && number->min >= 0) dims[0] = *number;
  gather_step_shape(step, table->rank, dims);
}

/* ---- the table */

const struct gather_rules_of_writing gather_rules_writing = {
    .gather_scatter_apply = infer_scatter,
    .gather_tensor_scatter = infer_tensor_scatter,
    .gather_embedding_bag = infer_embedding_bag,
};
