/* SPDX-License-Identifier: MIT
 *
 * infer_gather.c: the attributes of a GatherBlockQuantized node, what is wrong with it, and the shape of its output.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "model/quantized.h"

gather_status gather_node_block_quantized(const gather_scope *scope, const gather_node *node,
                                          gather_block_quantized *attributes, gather_error *error) {
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

gather_status gather_node_describe(const gather_tensor *data, const gather_tensor *scales,
                                   const gather_tensor *zero_points, const gather_block_quantized *attributes,
                                   gather_quantized *quantized, gather_error *error) {
  gather_status status = gather_block_quantized_describe(data, scales, zero_points, attributes, quantized, error);
  if (status != GATHER_USAGE) return status;
  if (error) error->status = GATHER_FILE_MALFORMED;
  return GATHER_FILE_MALFORMED;
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
  gather_status status = gather_node_block_quantized(scope, node, &attributes, error);
  if (status != GATHER_OK) return status == GATHER_UNSUPPORTED ? GATHER_OK : status;
  if (node->input_count <= GATHER_QUANTIZED_SCALES || !*node->inputs[GATHER_QUANTIZED_SCALES])
    return gather_fail_input(error, GATHER_FILE_MALFORMED, "scales", "the node has no scales");
  if (!tensor_like(input_of(scope, node, GATHER_QUANTIZED_DATA), shapes[0], &data) ||
      !tensor_like(input_of(scope, node, GATHER_QUANTIZED_SCALES), shapes[1], &scales) ||
      (has_points && !tensor_like(input_of(scope, node, GATHER_QUANTIZED_ZERO_POINTS), shapes[2], &points)))
    return GATHER_OK;
  return gather_node_describe(&data, &scales, has_points ? &points : NULL, &attributes, &quantized, error);
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

void gather_infer_block_quantized(gather_step *step) {
  const gather_known *data = gather_step_in(step, GATHER_QUANTIZED_DATA);
  const gather_known *indices = gather_step_in(step, GATHER_QUANTIZED_INDICES);
  const gather_op *op = gather_model_rules(step->model, step->node);
  gather_options options;
  gather_block_quantized attributes;
  gather_shape shapes[3];
  step->out.type = gather_step_in(step, GATHER_QUANTIZED_SCALES)->type;
  if (!gather_op_is_quantized(op) || data->type == GATHER_TYPE_NONE || data->rank < 1 || indices->rank < 0) return;
  if (gather_node_options(step->model, step->scope, step->node, &options, NULL) != GATHER_OK ||
      gather_node_block_quantized(step->scope, step->node, &attributes, NULL) != GATHER_OK)
    return;
  int64_t count = per_element(data->type, &attributes);
  if (count == 0) return;
  shapes[0].rank = data->rank;
  shapes[1].rank = indices->rank;
  memcpy(shapes[0].dims, data->dims, (size_t)data->rank * sizeof *data->dims);
  if (indices->rank > 0) memcpy(shapes[1].dims, indices->dims, (size_t)indices->rank * sizeof *indices->dims);
  shapes[0].dims[data->rank - 1] = unpacked(shapes[0].dims[data->rank - 1], count);
  if (gather_infer_shape(op, &shapes[0], &shapes[1], &options, &shapes[2], NULL) == GATHER_OK && shapes[2].rank >= 0)
    gather_step_shape(step, shapes[2].rank, shapes[2].dims);
}

/* The type is that of the scale, or (from opset 23 on) an attribute. */
void gather_infer_dequantize_linear(gather_step *step) {
  int64_t number;
  gather_infer_like(step);
  if (!gather_step_integer(step, "output_dtype", 0, &number)) return;
  step->out.type = number == 0 ? gather_step_in(step, 1)->type : GATHER_TYPE_NONE;
  for (int t = 1; number > 0 && gather_type_get((gather_type)t); t++)
    if (gather_type_get((gather_type)t)->onnx == number) step->out.type = (gather_type)t;
}

enum { MOST_STEPS = 8 };

static bool is_small_constant(const gather_known *known) {
  const gather_type_info *type = gather_type_get(known->type);
  bool integer = type && (type->kind == GATHER_KIND_INT || type->kind == GATHER_KIND_UINT);
  bool constant = known->source == GATHER_SOURCE_INITIALIZER || known->source == GATHER_SOURCE_CONSTANT;
  return constant && integer && (type->bits == 4 || type->bits == 8);
}

/* Whether a node may be a step of a dequantisation, which goes on to its input number 0. */
static bool dequantizes(const gather_model *model, const gather_node *node) {
  static const char *const STEPS[] = {"DequantizeLinear", "Convert", "Subtract", "Multiply", "Reshape"};
  if (node->input_count < 1) return false;
  for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++)
    if (gather_model_same_op(model, node->op, STEPS[i])) return true;
  return false;
}

bool gather_known_is_dequantized(const gather_model *model, const gather_scope *scope, const gather_known *known) {
  for (int step = 0; known && known->maker && step < MOST_STEPS; step++) {
    if (!dequantizes(model, known->maker)) return false;
    known = gather_scope_find(scope, known->maker->inputs[0]);
    if (known && is_small_constant(known)) return true;
  }
  return false;
}
