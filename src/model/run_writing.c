/* SPDX-License-Identifier: MIT
 *
 * run_writing.c: runs nodes of operators that write by index, and embedding bags. By then their inputs have elements.
 */
#include "core/base/error.h"
#include "model/model_run.h"
#include "model/writing_node.h"

/* Attributes of the node, and its axis. */
static gather_status read_node(gather_running *run, const gather_node *node, const gather_op *op, gather_scatter_options *options,
                               gather_node_writing *writing, gather_error *error) {
  static const gather_scatter_options INIT = GATHER_SCATTER_OPTIONS_INIT;
  gather_options found;
  *options = INIT;
  GATHER_TRY(gather_node_options(run->model, NULL, node, &found, error));
  GATHER_TRY(gather_node_writing_read(op, NULL, node, writing, error));
  options->axis = found.axis;
  options->reduction = writing->reduction;
  options->neutral = writing->neutral;
  options->executor = run->executor;
  if (op->axis_source != GATHER_AXIS_SOURCE_INPUT) return GATHER_OK;
  const gather_tensor *axis = gather_run_operand(run, node, gather_inputs_of(op)->axis);
  if (!axis) return gather_fail_input(error, GATHER_FILE_MALFORMED, "axis", "it has no axis");
  return gather_axis_read(axis, &options->axis, error);
}

/* Memory for an output of the type of `like`. */
static gather_status make(gather_running *run, const gather_tensor *like, int32_t rank, const int64_t *lengths, gather_tensor *out,
                          gather_error *error) {
  *out = (gather_tensor){.type = like->type, .item_bytes = like->item_bytes, .rank = rank};
  GATHER_TRY(gather_run_shape(run, rank, lengths, &out->shape, error));
  GATHER_TRY(gather_run_allocate(run, out, error));
  out->flags = like->flags & GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

gather_status gather_run_scatter(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_op *op = gather_model_rules(run->model, node);
  const gather_tensor *data = gather_run_operand(run, node, 0), *indices = gather_run_operand(run, node, 1);
  gather_scatter_options options;
  gather_node_writing writing;
  gather_tensor out;
  GATHER_TRY(read_node(run, node, op, &options, &writing, error));
  GATHER_TRY(make(run, data, data->rank, data->shape, &out, error));
  GATHER_TRY(gather_scatter_apply(op, data, indices, gather_run_operand(run, node, 2), &out, &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

gather_status gather_run_tensor_scatter(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_op *op = gather_model_rules(run->model, node);
  const gather_tensor *cache = gather_run_operand(run, node, 0);
  gather_scatter_options options;
  gather_node_writing writing;
  gather_tensor out;
  GATHER_TRY(read_node(run, node, op, &options, &writing, error));
  const int64_t axis = options.axis;
  options.axis = 0; /* the function has an axis of its own */
  GATHER_TRY(make(run, cache, cache->rank, cache->shape, &out, error));
  GATHER_TRY(gather_tensor_scatter(cache, gather_run_operand(run, node, 1), gather_run_operand(run, node, 2), axis, writing.circular, &out,
                                   &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

gather_status gather_run_embedding_bag(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_op *op = gather_model_rules(run->model, node);
  const gather_tensor *inputs[GATHER_MOST_BAG_INPUTS];
  gather_scatter_options options;
  gather_node_writing writing;
  gather_bags bags;
  gather_tensor out;
  int64_t lengths[GATHER_MAX_RANK];
  for (int32_t i = 0; i < GATHER_MOST_BAG_INPUTS; i++) inputs[i] = i < node->input_count ? gather_run_operand(run, node, i) : NULL;
  const gather_tensor *table = inputs[0];
  GATHER_TRY(read_node(run, node, op, &options, &writing, error));
  GATHER_TRY(gather_node_bags(op, inputs, &bags, error));
  if (table->rank < 1) return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "the table is 0-D");
  for (int32_t d = 1; d < table->rank; d++) lengths[d] = table->shape[d];
  GATHER_TRY(gather_bags_count(&bags, &lengths[0], error));
  GATHER_TRY(make(run, table, table->rank, lengths, &out, error));
  GATHER_TRY(gather_embedding_bag(op, table, &bags, &out, &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}
