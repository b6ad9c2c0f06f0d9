/* SPDX-License-Identifier: MIT
 *
 * infer_gather.c: gather nodes: their attributes, what is wrong with those of GatherBlockQuantized, and the shapes and elements of their
 * outputs. And the type and shape of DequantizeLinear.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "gather/tree.h"
#include "model/infer.h"
#include "model/writing_node.h"

/* ---- the attributes of gather nodes, and Gather, GatherElements, GatherND */

/* An optional integer attribute; if it is absent, *value is unchanged. */
static gather_status read_attribute(const gather_scope *scope, const gather_node *node, const char *name, int64_t *value,
                                    gather_error *error) {
  const gather_attribute *attribute = gather_scope_attribute(scope, node, name);
  if (!attribute || gather_attribute_integer(attribute, value)) return GATHER_OK;
  return gather_attribute_wrong(attribute, name, "INT", "a 64-bit integer", error);
}

static int64_t axis_input(const gather_op *op, const gather_scope *scope, const gather_node *node) {
  int64_t axis = GATHER_AXIS_UNKNOWN;
  const int32_t place = gather_inputs_of(op)->axis;
  const gather_known *input = scope && node->input_count > place ? gather_scope_find(scope, node->inputs[place]) : NULL;
  bool known = input && input->tensor && gather_axis_read(input->tensor, &axis, NULL) == GATHER_OK;
  return known ? axis : GATHER_AXIS_UNKNOWN;
}

static const char *axis_name(const gather_op *op) { return gather_op_is_quantized(op) ? "gather_axis" : "axis"; }

/* Whether an operator of ONNX has an attribute of that name, apart from those of quantised data. Runtimes ignore "__...". */
static bool has_attribute(const gather_op *op, const char *name) {
  if (strcmp(name, "axis") == 0) return op->axis_source == GATHER_AXIS_SOURCE_ATTRIBUTE;
  if (gather_node_writing_has(op, name)) return true;
  return strcmp(name, "batch_dims") == 0 ? op->batch_dims : strncmp(name, "__", 2) == 0;
}

/* Runtimes refuse a node with an attribute, an input or an output that its version of the operator lacks. */
static gather_status check_parts(const gather_model *model, const gather_op *op, const gather_node *node, gather_error *error) {
  if (!op || gather_model_is_openvino(model) || gather_op_is_quantized(op)) return GATHER_OK;
  for (int32_t i = 0; i < node->attribute_count; i++)
    if (!has_attribute(op, node->attributes[i].name))
      return gather_fail(error, GATHER_FILE_MALFORMED, "the node has the attribute '%.60s', but %s%s%s has no such attribute",
                         node->attributes[i].name, op->name, GATHER_RULES_TEXT(op));
  const int32_t most = gather_op_writes(op) ? 3 : 2; /* an axis is no input of ONNX's */
  for (int32_t i = most; i < node->input_count; i++)
    if (*node->inputs[i])
      return gather_fail(error, GATHER_FILE_MALFORMED, "the node has %" PRId32 " inputs, but %s%s%s has %" PRId32, node->input_count,
                         op->name, GATHER_RULES_TEXT(op), most);
  if (node->output_count <= 1) return GATHER_OK;
  return gather_fail(error, GATHER_FILE_MALFORMED, "the node has %" PRId32 " outputs, but %s%s%s has 1", node->output_count, op->name,
                     GATHER_RULES_TEXT(op));
}

gather_status gather_node_options(const gather_model *model, const gather_scope *scope, const gather_node *node, gather_options *options,
                                  gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  const gather_op *op = gather_model_rules(model, node);
  gather_status status = GATHER_OK;
  *options = INIT;
  options->axis = GATHER_AXIS_UNKNOWN;
  if (op && op->batch_dims) status = read_attribute(scope, node, "batch_dims", &options->batch_dims, error);
  const gather_axis_source source = op ? op->axis_source : GATHER_AXIS_SOURCE_ATTRIBUTE;
  int64_t axis = source == GATHER_AXIS_SOURCE_INPUT ? axis_input(op, scope, node) : gather_inputs_of(op)->default_axis;
  if (status == GATHER_OK && source == GATHER_AXIS_SOURCE_ATTRIBUTE) status = read_attribute(scope, node, axis_name(op), &axis, error);
  if (status == GATHER_OK) options->axis = axis;
  return status == GATHER_OK ? check_parts(model, op, node, error) : status;
}

/* Elements of a small tensor, gathered by known indices. */
static void gather_parts(gather_step *step, const gather_op *op, const gather_known *data, const gather_known *indices,
                         const gather_options *options) {
  int64_t count, data_shape[GATHER_MAX_RANK], out_shape[GATHER_MAX_RANK], out_len;
  const gather_dim *parts = gather_step_elements(step, data, &count);
  if (!parts || !indices->tensor || options->axis == GATHER_AXIS_UNKNOWN || !gather_known_lengths(data, data_shape) ||
      !gather_known_lengths(&step->out, out_shape) || !gather_shape_len(step->out.rank, out_shape, &out_len) || out_len > GATHER_MAX_PARTS)
    return;
  gather_dim *copy = gather_step_new_elements(step, count), *picked = gather_step_new_elements(step, out_len);
  if (!copy || !picked) return;
  if (count > 0) memcpy(copy, parts, (size_t)count * sizeof *copy);
  gather_tensor from = {
      .data = copy, .type = GATHER_TYPE_OPAQUE, .rank = data->rank, .item_bytes = (int64_t)sizeof(gather_dim), .shape = data_shape};
  gather_tensor to = from;
  to.data = picked;
  to.rank = step->out.rank;
  to.shape = out_shape;
  if (gather_infer_value(op, &from, indices->tensor, &to, options, NULL) == GATHER_OK) gather_step_set_elements(step, picked, out_len);
}

static void follow_gather(gather_step *step, const gather_op *op, const gather_options *options) {
  const gather_tensor *data = gather_step_in(step, 0)->tensor, *indices = gather_step_in(step, 1)->tensor;
  int64_t lengths[GATHER_MAX_RANK];
  gather_view to, from;
  gather_options strict = *options;
  if (!data || !indices || options->axis == GATHER_AXIS_UNKNOWN || !gather_step_is_open(step, lengths)) return;
  if (!gather_tensor_view(data, &from) || !gather_step_new_view(step, &to)) return;
  /* The elements are moved as they are stored: in the type of the data. */
  if (gather_type_get(from.type)->bits > gather_type_get(to.type)->bits) return;
  void *memory;
  memcpy(&memory, &to.data, sizeof memory);
  const gather_tensor out = {
      .data = memory, .type = data->type, .rank = to.rank, .shape = to.lengths, .flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED};
  strict.on_bad = GATHER_ON_BAD_ERROR;
  if (gather_apply(op, data, indices, &out, &strict, NULL) != GATHER_OK) return;
  to.type = from.type;
  to.swapped = from.swapped;
  gather_tensor_strides(&out, to.strides);
  (void)gather_step_set_view(step, &to);
}

static void shape_of(const gather_known *known, gather_shape *shape) {
  shape->rank = known->rank;
  if (known->rank > 0) memcpy(shape->dims, known->dims, (size_t)known->rank * sizeof *known->dims);
}

static void infer_gather(gather_step *step) {
  const gather_known *data = gather_step_in(step, 0), *indices = gather_step_in(step, 1);
  const gather_op *op = gather_model_is_gather(step->model, step->node) ? gather_model_rules(step->model, step->node) : NULL;
  step->out.type = data->type;
  if (!op) return;
  gather_options options;
  if (gather_node_options(step->model, step->scope, step->node, &options, NULL) == GATHER_FILE_MALFORMED) return;
  if (options.axis == GATHER_AXIS_UNKNOWN && op->axis_source == GATHER_AXIS_SOURCE_NONE) return; /* nor batch_dims */
  gather_shape shapes[3];
  shape_of(data, &shapes[0]);
  shape_of(indices, &shapes[1]);
  if (gather_infer_shape(op, &shapes[0], &shapes[1], &options, &shapes[2], NULL) != GATHER_OK || shapes[2].rank < 0) return;
  gather_step_shape(step, shapes[2].rank, shapes[2].dims);
  gather_parts(step, op, data, indices, &options);
  follow_gather(step, op, &options);
}

/* ---- GatherBlockQuantized */

/* Its attributes. scope: NULL = none. Returns as gather_node_options. */
static gather_status read_block_quantized(const gather_scope *scope, const gather_node *node, gather_block_quantized *attributes,
                                          gather_error *error) {
  static const gather_block_quantized INIT = GATHER_BLOCK_QUANTIZED_INIT;
  *attributes = INIT;
  const struct {
    const char *name;
    int64_t *value;
  } all[] = {{"bits", &attributes->bits},
             {"block_size", &attributes->block_size},
             {"quantize_axis", &attributes->quantize_axis},
             {"gather_axis", &attributes->gather_axis}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const gather_attribute *attribute = gather_scope_attribute(scope, node, all[i].name);
    if (attribute && !gather_attribute_integer(attribute, all[i].value))
      return gather_attribute_wrong(attribute, all[i].name, "INT", "a 64-bit integer", error);
  }
  return GATHER_OK;
}

/* gather_block_quantized_describe for tensors of a file: what is wrong with the attributes is GATHER_FILE_MALFORMED. */
static gather_status describe_tensors(const gather_tensor *data, const gather_tensor *scales, const gather_tensor *zero_points,
                                      const gather_block_quantized *attributes, gather_quantized *quantized, gather_error *error) {
  gather_status status = gather_block_quantized_describe(data, scales, zero_points, attributes, quantized, error);
  if (status != GATHER_USAGE) return status;
  if (error) error->status = GATHER_FILE_MALFORMED;
  return GATHER_FILE_MALFORMED;
}

gather_status gather_node_describe(const gather_node *node, const gather_tensor *data, const gather_tensor *scales,
                                   const gather_tensor *zero_points, gather_quantized *quantized, gather_error *error) {
  gather_block_quantized attributes;
  GATHER_TRY(read_block_quantized(NULL, node, &attributes, error));
  return describe_tensors(data, scales, zero_points, &attributes, quantized, error);
}

/* A tensor of a value's type and shape, without elements; false where they are not known exactly. */
static bool tensor_like(const gather_known *known, int64_t shape[GATHER_MAX_RANK], gather_tensor *tensor) {
  if (!known || known->type == GATHER_TYPE_NONE || !gather_known_lengths(known, shape)) return false;
  /* Not NULL, which a tensor with elements must not be; nothing reads it. */
  *tensor = (gather_tensor){.data = shape, .type = known->type, .rank = known->rank, .shape = shape};
  return true;
}

static const gather_known *input_of(const gather_scope *scope, const gather_node *node, int32_t i) {
  return i < node->input_count && *node->inputs[i] ? gather_scope_find(scope, node->inputs[i]) : NULL;
}

gather_status gather_quantized_fault(const gather_scope *scope, const gather_node *node, gather_error *error) {
  int64_t shapes[3][GATHER_MAX_RANK];
  gather_tensor data, scales, points;
  gather_block_quantized attributes;
  gather_quantized quantized;
  bool has_points = node->input_count > GATHER_QUANTIZED_ZERO_POINTS && *node->inputs[GATHER_QUANTIZED_ZERO_POINTS];
  gather_status status = read_block_quantized(scope, node, &attributes, error);
  if (status != GATHER_OK) return status == GATHER_UNSUPPORTED ? GATHER_OK : status;
  if (node->input_count <= GATHER_QUANTIZED_SCALES || !*node->inputs[GATHER_QUANTIZED_SCALES])
    return gather_fail_input(error, GATHER_FILE_MALFORMED, "scales", "the node has no scales");
  if (!tensor_like(input_of(scope, node, GATHER_QUANTIZED_DATA), shapes[0], &data) ||
      !tensor_like(input_of(scope, node, GATHER_QUANTIZED_SCALES), shapes[1], &scales) ||
      (has_points && !tensor_like(input_of(scope, node, GATHER_QUANTIZED_ZERO_POINTS), shapes[2], &points)))
    return GATHER_OK;
  return describe_tensors(&data, &scales, has_points ? &points : NULL, &attributes, &quantized, error);
}

/* Elements in one of a packed uint8 tensor; 0 where the bits are not known or wrong. */
static int64_t per_element(gather_type type, const gather_block_quantized *attributes) {
  int64_t bits = attributes->bits;
  if (type != GATHER_TYPE_UINT8) return 1;
  return bits == 2 || bits == 4 || bits == 8 ? 8 / bits : 0;
}

/* The last dimension in elements: uint8 data holds several in one. */
static gather_dim unpacked(gather_dim dim, int64_t count) {
  gather_dim all = {0, GATHER_DIM_UNBOUNDED, NULL};
  if (count == 1) return dim;
  if (!gather_mul(dim.min, count, &all.min)) return gather_any_dim;
  if (dim.max == GATHER_DIM_UNBOUNDED || !gather_mul(dim.max, count, &all.max)) all.max = GATHER_DIM_UNBOUNDED;
  return all;
}

static void infer_block_quantized(gather_step *step) {
  const gather_known *data = gather_step_in(step, GATHER_QUANTIZED_DATA);
  const gather_known *indices = gather_step_in(step, GATHER_QUANTIZED_INDICES);
  const gather_op *op = gather_model_rules(step->model, step->node);
  gather_options options;
  gather_block_quantized attributes;
  gather_shape shapes[3];
  step->out.type = gather_step_in(step, GATHER_QUANTIZED_SCALES)->type;
  if (!gather_op_is_quantized(op) || data->type == GATHER_TYPE_NONE || data->rank < 1 || indices->rank < 0) return;
  if (gather_node_options(step->model, step->scope, step->node, &options, NULL) != GATHER_OK ||
      read_block_quantized(step->scope, step->node, &attributes, NULL) != GATHER_OK)
    return;
  int64_t count = per_element(data->type, &attributes);
  if (count == 0) return;
  shape_of(data, &shapes[0]);
  shape_of(indices, &shapes[1]);
  shapes[0].dims[data->rank - 1] = unpacked(shapes[0].dims[data->rank - 1], count);
  if (gather_infer_shape(op, &shapes[0], &shapes[1], &options, &shapes[2], NULL) == GATHER_OK && shapes[2].rank >= 0)
    gather_step_shape(step, shapes[2].rank, shapes[2].dims);
}

/* ---- DequantizeLinear */

/* The type is that of the scale, or (from opset 23 on) an attribute. */
static void infer_dequantize_linear(gather_step *step) {
  int64_t number;
  step->out.rank = gather_step_in(step, 0)->rank;
  step->out.dims = gather_step_in(step, 0)->dims;
  if (!gather_step_integer(step, "output_dtype", 0, &number)) return;
  step->out.type = number == 0 ? gather_step_in(step, 1)->type : GATHER_TYPE_NONE;
  for (int t = 1; number > 0 && gather_type_get((gather_type)t); t++)
    if (gather_type_get((gather_type)t)->onnx == number) step->out.type = (gather_type)t;
}

/* ---- GatherTree */

static void infer_gather_tree(gather_step *step) {
  gather_shape shapes[4], out;
  for (int32_t i = 0; i < 4; i++) shape_of(gather_step_in(step, i), &shapes[i]);
  step->out.type = gather_step_in(step, 0)->type;
  if (gather_tree_infer_shape(&shapes[0], &shapes[1], &shapes[2], &shapes[3], &out, NULL) == GATHER_OK)
    gather_step_shape(step, out.rank, out.dims);
}

/* ---- the table */

const struct gather_rules_of_gather gather_rules_gather = {
    .gather = infer_gather,
    .gather_tree = infer_gather_tree,
    .block_quantized = infer_block_quantized,
    .dequantize_linear = infer_dequantize_linear,
};
