/* SPDX-License-Identifier: MIT
 *
 * writing_check.c: nodes of operators that write, and of embedding bags: what is wrong with them, repeated indices, offsets.
 */
#include "model/writing_check.h"

#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/tensor.h"

/* ---- what is wrong apart from indices */

static const gather_known *input_of(const gather_scope *scope, const gather_node *node, int32_t i) {
  return i < node->input_count && *node->inputs[i] ? gather_scope_find(scope, node->inputs[i]) : NULL;
}

static void operand_shape(const gather_operand *operand, gather_shape *shape) {
  shape->rank = operand->rank;
  if (operand->rank > 0) memcpy(shape->dims, operand->dims, (size_t)operand->rank * sizeof *shape->dims);
}

static gather_status check_inputs(const gather_op *op, const gather_node *node, gather_error *why) {
  const gather_node_inputs *inputs = gather_inputs_of(op);
  for (int32_t i = 0; i < (int32_t)(sizeof inputs->needs / sizeof *inputs->needs) && inputs->needs[i]; i++)
    if (i >= node->input_count || !*node->inputs[i]) return gather_fail(why, GATHER_FILE_MALFORMED, "the node has no %s", inputs->needs[i]);
  return GATHER_OK;
}

static gather_status check_updates_type(const gather_model_node *out, gather_error *why) {
  const gather_type data = out->data.type, updates = out->updates.type;
  if (!*out->updates.name || data == GATHER_TYPE_NONE || updates == GATHER_TYPE_NONE || data == updates) return GATHER_OK;
  return gather_fail_input(why, GATHER_TYPE_MISMATCH, "updates", "the updates are %s, data is %s", gather_type_get(updates)->name,
                           gather_type_get(data)->name);
}

static gather_status scatter_fault(const gather_model_node *out, const gather_options *options, gather_error *why) {
  gather_scatter_options how = GATHER_SCATTER_OPTIONS_INIT;
  gather_shape shapes[4];
  if (!out->axis_known && out->rules->axis_source == GATHER_AXIS_SOURCE_NONE) return GATHER_OK;
  operand_shape(&out->data, &shapes[0]);
  operand_shape(&out->indices, &shapes[1]);
  operand_shape(&out->updates, &shapes[2]);
  how.axis = options->axis;
  return gather_scatter_infer_shape(out->rules, &shapes[0], &shapes[1], &shapes[2], &how, &shapes[3], why);
}

/* ---- TensorScatter */

static bool can_be_equal(const gather_dim *a, const gather_dim *b) { return a->min <= b->max && b->min <= a->max; }

static gather_status cache_lengths(const gather_model_node *out, gather_error *why) {
  const gather_operand *data = &out->data, *updates = &out->updates, *indices = &out->indices;
  for (int32_t d = 0; d < data->rank; d++) {
    const gather_dim *a = &data->dims[d], *b = &updates->dims[d];
    if (d == out->axis ? b->min > a->max : !can_be_equal(a, b))
      return gather_fail_input(why, GATHER_SHAPE_MISMATCH, "updates", "the update does not fit past_cache in dimension %" PRId32, d);
  }
  if (*indices->name && indices->rank == 1 && !can_be_equal(&indices->dims[0], &data->dims[0]))
    return gather_fail_input(why, GATHER_SHAPE_MISMATCH, "write_indices", "write_indices have another length than the batch");
  return GATHER_OK;
}

static gather_status cache_fault(const gather_model_node *out, gather_error *why) {
  const gather_operand *data = &out->data, *updates = &out->updates, *indices = &out->indices;
  if (*indices->name && indices->type != GATHER_TYPE_NONE && !gather_type_is_index(indices->type))
    return gather_fail_input(why, GATHER_TYPE_UNSUPPORTED, "write_indices", "indices of type %s are not integers",
                             gather_type_get(indices->type)->name);
  if (*indices->name && indices->rank >= 0 && indices->rank != 1)
    return gather_fail_input(why, GATHER_RANK_MISMATCH, "write_indices", "write_indices have rank %" PRId32 ", not 1", indices->rank);
  if (data->rank < 0) return GATHER_OK;
  if (data->rank < 2) return gather_fail_input(why, GATHER_RANK_MISMATCH, "data", "past_cache has rank %" PRId32, data->rank);
  if (out->axis_known && (out->axis < 1 || out->axis >= data->rank))
    return gather_fail(why, GATHER_AXIS_OUT_OF_RANGE, "the axis %" PRId64 " is the batch, or outside the rank %" PRId32, out->axis,
                       data->rank);
  if (updates->rank < 0) return GATHER_OK;
  if (updates->rank != data->rank)
    return gather_fail_input(why, GATHER_RANK_MISMATCH, "updates", "the update has rank %" PRId32 ", past_cache %" PRId32, updates->rank,
                             data->rank);
  return out->axis_known ? cache_lengths(out, why) : GATHER_OK;
}

const char *gather_writing_reduction(const gather_scope *scope, const gather_node *node, const gather_op *op) {
  gather_node_writing writing;
  if (!gather_op_writes(op) || gather_op_is_cache(op)) return "";
  if (gather_node_writing_read(op, scope, node, &writing, NULL) != GATHER_OK) return "";
  const bool bag = gather_inputs_of(op)->updates < 0;
  return bag && writing.reduction == GATHER_REDUCTION_NONE ? "add" : gather_reduction_name(writing.reduction);
}

gather_status gather_writing_fault(const gather_scope *scope, const gather_node *node, const gather_model_node *out,
                                   const gather_options *options, gather_error *why) {
  gather_node_writing writing;
  GATHER_TRY(check_inputs(out->rules, node, why));
  GATHER_TRY(gather_node_writing_read(out->rules, scope, node, &writing, why));
  GATHER_TRY(check_updates_type(out, why));
  if (gather_op_is_cache(out->rules)) return cache_fault(out, why);
  return *out->updates.name ? scatter_fault(out, options, why) : GATHER_OK;
}

/* ---- what is left to check */

static gather_status not_known(gather_error *why, const char *what, const char *name) {
  return gather_fail(why, GATHER_UNSUPPORTED, "%s '%.100s' is known only when the model runs", what, name);
}

/* Plans that replace refuse an index that is there twice. Nothing is read of the updates but their shape. */
static gather_status find_repeated(const gather_check *check, const gather_model_node *out, const gather_options *options,
                                   const gather_tensor *data, gather_error *why) {
  int64_t shape[GATHER_MAX_RANK];
  gather_scatter_options how = GATHER_SCATTER_OPTIONS_INIT;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  gather_scatter_plan *plan = NULL;
  gather_tensor updates = {.type = data->type, .shape = shape};
  how.axis = options->axis;
  how.unique = true;
  run.indices = out->indices.value->data;
  run.executor = check->options.executor;
  GATHER_TRY(gather_scatter_updates_shape(out->rules, data, out->indices.value, &how, shape, &updates.rank, why));
  gather_status status = gather_scatter_plan_create(out->rules, data, out->indices.value, &updates, NULL, &how, &plan, why);
  if (status == GATHER_OK) status = gather_scatter_plan_check(plan, &run, why);
  gather_scatter_plan_destroy(plan);
  return status;
}

/* The offsets or segments of bags: the table has rows of no elements. */
static gather_status check_bags(const gather_check *check, const gather_scope *scope, const gather_node *node, const gather_model_node *out,
                                gather_error *why) {
  const gather_tensor *inputs[GATHER_MOST_BAG_INPUTS] = {NULL};
  gather_scatter_options how = GATHER_SCATTER_OPTIONS_INIT;
  gather_bags bags;
  int64_t rows[2] = {out->components[0].len, 0}, count[2] = {0, 0};
  int32_t which[3], counted;
  bool as_number;
  const int32_t needed = gather_bag_inputs(out->rules, which, &counted, &as_number);
  for (int32_t i = 0; i < GATHER_MOST_BAG_INPUTS; i++) {
    const gather_known *known = input_of(scope, node, i);
    if (known) inputs[i] = known->tensor;
  }
  inputs[1] = out->indices.value;
  for (int32_t i = 0; i < needed; i++)
    if (which[i] < node->input_count && !inputs[which[i]]) return not_known(why, "the indices are in range, but", node->inputs[which[i]]);
  GATHER_TRY(gather_node_bags(out->rules, inputs, &bags, why));
  bags.weights = NULL; /* their number is compared with that of indices when the node runs */
  how.executor = check->options.executor;
  GATHER_TRY(gather_bags_count(&bags, &count[0], why));
  const gather_tensor table = {.type = GATHER_TYPE_UINT8, .rank = 2, .shape = rows};
  const gather_tensor sums = {.type = GATHER_TYPE_UINT8, .rank = 2, .shape = count};
  return gather_embedding_bag(out->rules, &table, &bags, &sums, &how, why);
}

/* A cache whose rows have no elements. */
static gather_status check_cache(const gather_check *check, const gather_scope *scope, const gather_node *node,
                                 const gather_model_node *out, gather_error *why) {
  int64_t shapes[2][GATHER_MAX_RANK] = {{0}};
  gather_scatter_options how = GATHER_SCATTER_OPTIONS_INIT;
  gather_node_writing writing;
  const gather_dim *batch = &out->data.dims[0];
  const int32_t rank = out->data.rank + 1;
  GATHER_TRY(gather_node_writing_read(out->rules, scope, node, &writing, why));
  if (out->updates.rank != out->data.rank || !gather_is_exact(&out->updates.dims[out->axis]))
    return not_known(why, "the length of the update", out->updates.name);
  if (!out->indices.value && !gather_is_exact(batch)) return not_known(why, "the batch of", out->data.name);
  if (rank > GATHER_MAX_RANK) return gather_fail(why, GATHER_UNSUPPORTED, "past_cache has too many dimensions to be checked");
  shapes[0][0] = shapes[1][0] = out->indices.value ? out->indices.value->shape[0] : batch->min;
  shapes[0][out->axis] = out->components[0].len;
  shapes[1][out->axis] = out->updates.dims[out->axis].min;
  how.executor = check->options.executor;
  const gather_tensor cache = {.type = GATHER_TYPE_UINT8, .rank = rank, .shape = shapes[0]};
  const gather_tensor update = {.type = GATHER_TYPE_UINT8, .rank = rank, .shape = shapes[1]};
  return gather_tensor_scatter(&cache, &update, out->indices.value, out->axis, writing.circular, &cache, &how, why);
}

gather_status gather_writing_compare(const gather_check *check, const gather_scope *scope, const gather_node *node,
                                     const gather_model_node *out, const gather_options *options, const gather_tensor *data,
                                     gather_error *why) {
  gather_node_writing writing;
  if (gather_op_is_cache(out->rules)) return check_cache(check, scope, node, out, why);
  if (!*out->updates.name) return check_bags(check, scope, node, out, why);
  GATHER_TRY(gather_node_writing_read(out->rules, scope, node, &writing, why));
  return writing.reduction == GATHER_REDUCTION_NONE ? find_repeated(check, out, options, data, why) : GATHER_OK;
}

bool gather_writing_is_of_indices(const gather_error *why) {
  static const char *const OTHERS[] = {"offsets", "segment_ids", "default_index"};
  for (size_t i = 0; why->input && i < sizeof OTHERS / sizeof *OTHERS; i++)
    if (strcmp(why->input, OTHERS[i]) == 0) return false;
  return true;
}
