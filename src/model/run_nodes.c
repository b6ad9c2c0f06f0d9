/* SPDX-License-Identifier: MIT
 *
 * run_nodes.c: the operators that can be computed, and the gathers themselves.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "gather/tree.h"
#include "model/infer.h"
#include "model/model_run.h"

typedef struct operation {
  const char *op;
  int32_t least, most;                                                                         /* inputs */
  gather_status (*compute)(gather_running *run, const gather_node *node, gather_error *error); /* NULL: nothing to do */
  int32_t dequantized; /* so many of its first inputs may be dequantised values, which have no elements yet */
} operation;

static gather_status identity(gather_running *run, const gather_node *node, gather_error *error) {
  gather_dequantized *dequantized = gather_run_dequantized(run, node, 0);
  (void)error;
  if (dequantized)
    gather_run_give_dequantized(run, node, gather_run_operand(run, node, 0), dequantized);
  else
    gather_run_give(run, node, gather_run_operand(run, node, 0));
  return GATHER_OK;
}

/* The reader knows all others: one whose value a function's body has from its call. */
static gather_status constant(gather_running *run, const gather_node *node, gather_error *error) {
  gather_run_value *value = node->output_count > 0 && *node->outputs[0] ? gather_run_find(run, node->outputs[0]) : NULL;
  if (!value || value->ready) return GATHER_OK;
  const gather_attribute *held = gather_constant_attribute(node);
  int64_t *shape = gather_arena_take(run->arena, 1, (int64_t)sizeof *shape);
  if (!shape) return gather_run_no_memory(error);
  if (!held || !gather_attribute_tensor(held, shape, &value->tensor))
    return gather_fail(error, GATHER_UNSUPPORTED, "this form of %s is not supported", node->op);
  value->unreadable = held->tensor && held->tensor->unreadable ? held->tensor : NULL;
  value->ready = true;
  return GATHER_OK;
}

/* The type a Cast or Convert makes: a number in ONNX, a name in IR and in ONNX's first versions. */
static gather_status cast_target(const gather_node *node, bool onnx, gather_type *type, gather_error *error) {
  const char *name = onnx ? "to" : "destination_type";
  const gather_attribute *to = gather_node_attribute(node, name);
  *type = GATHER_TYPE_NONE;
  if (!to) return GATHER_OK;
  if (to->kind == GATHER_ATTRIBUTE_TEXT) {
    *type = gather_type_parse(to->text.text);
    return GATHER_OK;
  }
  if (to->kind != GATHER_ATTRIBUTE_INT) return gather_attribute_wrong(to, name, "INT", "a type", error);
  for (int t = 1; to->integer > 0 && gather_type_get((gather_type)t); t++)
    if (gather_type_get((gather_type)t)->onnx == to->integer) *type = (gather_type)t;
  return GATHER_OK;
}

static gather_status cast(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0);
  gather_type type;
  gather_tensor made;
  const bool openvino = gather_model_is_openvino(run->model);
  GATHER_TRY(cast_target(node, !openvino, &type, error));
  const gather_type_info *target = gather_type_get(type);
  if (openvino && target && target->kind == GATHER_KIND_FLOAT && type != data->type &&
      gather_run_dequantizes(run, node))
    return gather_run_convert(run, node, type, error);
  if (type != data->type && (!gather_type_is_index(type) || !gather_type_is_index(data->type)))
    return gather_fail(error, GATHER_UNSUPPORTED, "it casts %s to %s; only casts between integer types are supported",
                       gather_type_get(data->type)->name,
                       gather_type_get(type) ? gather_type_get(type)->name : "an unknown type");
  GATHER_TRY(gather_run_cast(run, data, type, &made, error));
  gather_run_give(run, node, &made);
  return GATHER_OK;
}

static gather_status read_options(gather_running *run, const gather_node *node, const gather_op *op,
                                  gather_options *options, gather_error *error) {
  GATHER_TRY(gather_node_options(run->model, NULL, node, options, error));
  options->executor = run->executor;
  if (op->axis_source != GATHER_AXIS_SOURCE_INPUT) return GATHER_OK;
  const gather_tensor *axis = gather_run_operand(run, node, 2);
  if (!axis) return gather_fail_input(error, GATHER_FILE_MALFORMED, "axis", "it has no axis");
  return gather_axis_read(axis, &options->axis, error);
}

static gather_status gather_it(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_op *op = gather_model_rules(run->model, node);
  gather_options options;
  int64_t shape[GATHER_MAX_RANK];
  GATHER_TRY(read_options(run, node, op, &options, error));
  if (gather_op_is_quantized(op)) return gather_run_block_quantized(run, node, op, &options, error);
  if (gather_run_decodes_rows(run, node, op, &options))
    return gather_run_gather_dequantized(run, node, op, &options, error);
  GATHER_TRY(gather_run_decode(run, gather_run_find(run, node->inputs[0]), error));
  const gather_tensor *data = gather_run_operand(run, node, 0), *indices = gather_run_operand(run, node, 1);
  gather_tensor out = {.type = data->type, .item_bytes = data->item_bytes};
  GATHER_TRY(gather_output_shape(op, data, indices, &options, shape, &out.rank, error));
  GATHER_TRY(gather_run_shape(run, out.rank, shape, &out.shape, error));
  GATHER_TRY(gather_run_allocate(run, &out, error));
  out.flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED;
  options.fresh_output = true; /* discarded after an error */
  GATHER_TRY(gather_apply(op, data, indices, &out, &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

static gather_status tree_it(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *in[4];
  gather_options options = GATHER_OPTIONS_INIT;
  for (int32_t i = 0; i < 4; i++) in[i] = gather_run_operand(run, node, i);
  gather_tensor out = {.type = in[0]->type, .rank = in[0]->rank, .shape = in[0]->shape};
  options.executor = run->executor;
  options.fresh_output = true; /* discarded after an error */
  GATHER_TRY(gather_run_allocate(run, &out, error));
  out.flags = in[0]->flags & GATHER_TENSOR_BYTE_SWAPPED;
  GATHER_TRY(gather_tree(in[0], in[1], in[2], in[3], &out, &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

static const operation OPERATIONS[] = {
    {"Constant", 0, 0, constant, 0},
    {"Const", 0, 0, NULL, 0},
    {"Parameter", 0, 0, NULL, 0},
    {"Result", 1, 1, identity, 1},
    {"Identity", 1, 1, identity, 1},
    {"Cast", 1, 1, cast, 0},
    {"Convert", 1, 1, cast, 1},
    {"Subtract", 2, 2, gather_run_subtract, 2},
    {"Multiply", 2, 2, gather_run_multiply, 2},
    {"DequantizeLinear", 2, 3, gather_run_dequantize_linear, 0},
    {"Shape", 1, 1, gather_run_shape_of, 1},
    {"ShapeOf", 1, 1, gather_run_shape_of, 1},
    {"Reshape", 1, 2, gather_run_reshape, 1},
    {"Squeeze", 1, 2, gather_run_squeeze, 1},
    {"Unsqueeze", 1, 2, gather_run_unsqueeze, 1},
    {"Transpose", 1, 2, gather_run_transpose, 0},
    {"Concat", 1, INT32_MAX, gather_run_concat, 0},
    {"Mod", 2, 2, gather_run_modulo, 0},
};

/* Operators that are computed only where they dequantise constants. */
static bool is_dequantization(const operation *found) {
  return found->compute == gather_run_subtract || found->compute == gather_run_multiply ||
         found->compute == gather_run_dequantize_linear;
}

/* The operators of ops.def. The axis is the third input where a version of the operator takes it as one. */
static const operation *find_gather(const gather_model *model, const gather_node *node) {
  static const operation GATHERS[] = {{"", 2, 2, gather_it, 1}, {"", 2, 3, gather_it, 1}},
                         QUANTIZED = {"", 3, 4, gather_it, 0}, TREE = {"", 4, 4, tree_it, 0};
  const operation *found = NULL;
  if (!gather_model_is_gather(model, node)) return NULL;
  const gather_op *rules = gather_model_rules(model, node);
  if (gather_op_is_quantized(rules)) return &QUANTIZED;
  if (rules && gather_family_get(rules->family)->function) return &TREE;
  for (size_t i = 0; i < gather_op_count(); i++) {
    const gather_op *op = gather_op_at(i);
    bool is_input = op->axis_source == GATHER_AXIS_SOURCE_INPUT;
    if (strcmp(op->name, node->op) == 0 && (!found || is_input)) found = &GATHERS[is_input];
  }
  return found;
}

/* ONNX Runtime's DequantizeLinear differs from ONNX's in its types only. */
static bool is_microsoft_linear(const gather_model *model, const gather_node *node) {
  return !gather_model_is_openvino(model) && strcmp(node->domain, "com.microsoft") == 0 &&
         strcmp(node->op, "DequantizeLinear") == 0;
}

static const operation *find_operation(const gather_model *model, const gather_node *node) {
  const bool own = gather_run_is_own(model, node) || is_microsoft_linear(model, node);
  for (size_t i = 0; own && i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
    if (strcmp(OPERATIONS[i].op, node->op) == 0) return &OPERATIONS[i];
  return find_gather(model, node);
}

bool gather_run_supports(const gather_running *run, const gather_node *node) {
  const operation *found = find_operation(run->model, node);
  if (!found || (found->compute == gather_it && !gather_model_rules(run->model, node))) return false;
  return !is_dequantization(found) || gather_run_dequantizes(run, node);
}

/* Puts the node's name before the message. */
static gather_status name_node(const gather_node *node, gather_error *error, gather_status status) {
  char message[sizeof error->message];
  if (!error) return status;
  memcpy(message, error->message, sizeof message);
  int room = (int)sizeof message - 160;
  (void)snprintf(error->message, sizeof error->message, "node '%.100s': %.*s", gather_run_name(node), room, message);
  return status;
}

/* The elements of a node's inputs must be readable, unless it needs only their shapes. */
static gather_status check_readable(const gather_running *run, const gather_node *node, gather_error *error) {
  if (gather_run_needs_shape(run->model, node)) return GATHER_OK;
  for (int32_t i = 0; i < node->input_count; i++) {
    const gather_run_value *value = *node->inputs[i] ? gather_run_find(run, node->inputs[i]) : NULL;
    if (value) GATHER_TRY(gather_run_readable(value, error));
  }
  return GATHER_OK;
}

gather_status gather_run_check_readable(gather_running *run, int64_t i, gather_error *error) {
  const gather_node *node = &run->graph->nodes[i];
  gather_status status = check_readable(run, node, error);
  if (status == GATHER_OK) return GATHER_OK;
  run->common->at = node;
  return name_node(node, error, status);
}

static gather_status compute(gather_running *run, const gather_node *node, gather_error *error) {
  const operation *found = find_operation(run->model, node);
  if (node->input_count < found->least || node->input_count > found->most)
    return gather_fail(error, GATHER_FILE_MALFORMED, "%s has %d inputs", node->op, (int)node->input_count);
  for (int32_t i = 0; i < found->least; i++)
    if (!gather_run_operand(run, node, i))
      return gather_fail(error, GATHER_FILE_MALFORMED, "%s lacks its input %d", node->op, (int)i);
  GATHER_TRY(check_readable(run, node, error));
  for (int32_t i = found->dequantized; i < node->input_count; i++)
    if (*node->inputs[i]) GATHER_TRY(gather_run_decode(run, gather_run_find(run, node->inputs[i]), error));
  if (found->compute) return found->compute(run, node, error);
  for (int32_t i = 0; i < node->output_count; i++) {
    gather_run_value *value = gather_run_find(run, node->outputs[i]);
    if (value && !value->ready)
      return gather_fail(error, GATHER_UNSUPPORTED, "this form of %s is not supported", node->op);
  }
  return GATHER_OK;
}

static bool makes_output(const gather_running *run, const gather_node *node) {
  bool wanted = false;
  for (int32_t i = 0; i < node->output_count && !wanted; i++) {
    const gather_run_value *value = *node->outputs[i] ? gather_run_find(run, node->outputs[i]) : NULL;
    wanted = value && value->wanted;
  }
  return wanted;
}

gather_status gather_run_node(gather_running *run, const gather_node *node, gather_error *error) {
  run->common->at = node;
  run->for_output = makes_output(run, node);
  gather_status status = compute(run, node, error);
  return status == GATHER_OK ? GATHER_OK : name_node(node, error, status);
}
