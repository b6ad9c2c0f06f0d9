/* SPDX-License-Identifier: MIT
 *
 * infer_value.c: operators whose values are followed: Shape, Size, Cast, Gather, Range.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/values.h"

void gather_infer_shape_of(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t start, end;
  step->out.type = gather_step_named_type(step, "output_type", GATHER_TYPE_INT64);
  if (in->rank < 0 || !gather_step_integer(step, "start", 0, &start) ||
      !gather_step_integer(step, "end", in->rank, &end)) {
    gather_step_shape(step, 1, &gather_any_dim);
    return;
  }
  if (start < 0) start = start < -in->rank ? 0 : start + in->rank;
  if (end < 0) end = end < -in->rank ? 0 : end + in->rank;
  if (end > in->rank) end = in->rank;
  if (start > end) start = end;
  gather_dim len = {end - start, end - start, NULL};
  gather_step_shape(step, 1, &len);
  static const gather_dim NONE[1] = {{0, 0, NULL}};
  gather_step_set_elements(step, in->dims ? in->dims + start : NONE, end - start);
}

void gather_infer_size(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t lengths[GATHER_MAX_RANK];
  gather_dim *part = gather_step_take(step, 1, sizeof *part);
  step->out.type = GATHER_TYPE_INT64;
  gather_step_shape(step, 0, NULL);
  if (!part || !gather_known_lengths(in, lengths) || !gather_shape_len(in->rank, lengths, &part->min)) return;
  part->max = part->min;
  gather_step_set_elements(step, part, 1);
}

/* Whether each value of `from` has the same value in `to`. */
static bool fits_all(gather_type from, gather_type to) {
  int32_t from_bits = gather_integer_bits(from), to_bits = gather_integer_bits(to);
  if (from_bits == 0 || to_bits == 0 || to == GATHER_TYPE_BOOL) return from == to;
  bool from_signed = from != GATHER_TYPE_BOOL && gather_type_get(from)->kind == GATHER_KIND_INT;
  bool to_signed = gather_type_get(to)->kind == GATHER_KIND_INT;
  if (from_signed == to_signed) return to_bits >= from_bits;
  return to_signed && to_bits > from_bits;
}

static gather_type cast_target(const gather_step *step) {
  int64_t number;
  if (step->openvino) return gather_step_named_type(step, "destination_type", GATHER_TYPE_NONE);
  if (!gather_step_find(step, "to") || !gather_step_integer(step, "to", 0, &number)) return GATHER_TYPE_NONE;
  for (int t = 1; t < 64; t++) {
    const gather_type_info *info = gather_type_get((gather_type)t);
    if (info && info->onnx > 0 && info->onnx == number) return info->type;
  }
  return GATHER_TYPE_NONE;
}

void gather_infer_cast(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  step->out.type = cast_target(step);
  gather_step_shape(step, in->rank, in->dims);
  step->out.unreadable = in->unreadable;
  bool turns = in->tensor && in->tensor->type == GATHER_TYPE_BOOL && step->out.type != GATHER_TYPE_BOOL;
  if (in->tensor && !turns && fits_all(in->tensor->type, step->out.type)) {
    step->out.tensor = in->tensor;
    return;
  }
  const gather_dim *parts = gather_step_elements(step, in, &count);
  if (parts && gather_parts_fit(parts, count, step->out.type)) gather_step_set_elements(step, parts, count);
}

/* An optional integer attribute; if it is absent, *value is unchanged. */
static gather_status read_attribute(const gather_scope *scope, const gather_node *node, const char *name,
                                    int64_t *value, gather_error *error) {
  const gather_attribute *attribute = gather_scope_attribute(scope, node, name);
  if (!attribute || gather_attribute_integer(attribute, value)) return GATHER_OK;
  return gather_attribute_wrong(attribute, name, "INT", "a 64-bit integer", error);
}

static int64_t axis_input(const gather_scope *scope, const gather_node *node) {
  int64_t axis = GATHER_AXIS_UNKNOWN;
  const gather_known *input = scope && node->input_count > 2 ? gather_scope_find(scope, node->inputs[2]) : NULL;
  bool known = input && input->tensor && gather_axis_read(input->tensor, &axis, NULL) == GATHER_OK;
  return known ? axis : GATHER_AXIS_UNKNOWN;
}

static const char *axis_name(const gather_op *op) { return gather_op_is_quantized(op) ? "gather_axis" : "axis"; }

/* Whether an operator of ONNX has an attribute of that name, apart from those of quantised data. Runtimes ignore "__...". */
static bool has_attribute(const gather_op *op, const char *name) {
  if (strcmp(name, "axis") == 0) return op->axis_source == GATHER_AXIS_SOURCE_ATTRIBUTE;
  return strcmp(name, "batch_dims") == 0 ? op->batch_dims : strncmp(name, "__", 2) == 0;
}

/* Runtimes refuse a node with an attribute, an input or an output that its version of the operator lacks. */
static gather_status check_parts(const gather_model *model, const gather_op *op, const gather_node *node,
                                 gather_error *error) {
  if (!op || gather_model_is_openvino(model) || gather_op_is_quantized(op)) return GATHER_OK;
  for (int32_t i = 0; i < node->attribute_count; i++)
    if (!has_attribute(op, node->attributes[i].name))
      return gather_fail(error, GATHER_FILE_MALFORMED,
                         "the node has the attribute '%.60s', but %s%s%s has none of that name",
                         node->attributes[i].name, op->name, GATHER_RULES_TEXT(op));
  for (int32_t i = 2; i < node->input_count; i++)
    if (*node->inputs[i])
      return gather_fail(error, GATHER_FILE_MALFORMED, "the node has %" PRId32 " inputs, but %s%s%s has 2",
                         node->input_count, op->name, GATHER_RULES_TEXT(op));
  if (node->output_count <= 1) return GATHER_OK;
  return gather_fail(error, GATHER_FILE_MALFORMED, "the node has %" PRId32 " outputs, but %s%s%s has 1",
                     node->output_count, op->name, GATHER_RULES_TEXT(op));
}

gather_status gather_node_options(const gather_model *model, const gather_scope *scope, const gather_node *node,
                                  gather_options *options, gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  const gather_op *op = gather_model_rules(model, node);
  gather_status status = GATHER_OK;
  *options = INIT;
  options->axis = GATHER_AXIS_UNKNOWN;
  if (op && op->batch_dims) status = read_attribute(scope, node, "batch_dims", &options->batch_dims, error);
  const gather_axis_source source = op ? op->axis_source : GATHER_AXIS_SOURCE_ATTRIBUTE;
  int64_t axis = source == GATHER_AXIS_SOURCE_INPUT ? axis_input(scope, node) : 0;
  if (status == GATHER_OK && source == GATHER_AXIS_SOURCE_ATTRIBUTE)
    status = read_attribute(scope, node, axis_name(op), &axis, error);
  if (status == GATHER_OK) options->axis = axis;
  return status == GATHER_OK ? check_parts(model, op, node, error) : status;
}

/* Elements of a small tensor, gathered by known indices. */
static void gather_parts(gather_step *step, const gather_op *op, const gather_known *data, const gather_known *indices,
                         const gather_options *options) {
  int64_t count, data_shape[GATHER_MAX_RANK], out_shape[GATHER_MAX_RANK], out_len;
  const gather_dim *parts = gather_step_elements(step, data, &count);
  if (!parts || !indices->tensor || options->axis == GATHER_AXIS_UNKNOWN || !gather_known_lengths(data, data_shape) ||
      !gather_known_lengths(&step->out, out_shape) || !gather_shape_len(step->out.rank, out_shape, &out_len) ||
      out_len > GATHER_MAX_PARTS)
    return;
  gather_dim *copy = gather_step_new_elements(step, count), *picked = gather_step_new_elements(step, out_len);
  if (!copy || !picked) return;
  if (count > 0) memcpy(copy, parts, (size_t)count * sizeof *copy);
  gather_tensor from = {.data = copy,
                        .type = GATHER_TYPE_OPAQUE,
                        .rank = data->rank,
                        .item_bytes = (int64_t)sizeof(gather_dim),
                        .shape = data_shape};
  gather_tensor to = from;
  to.data = picked;
  to.rank = step->out.rank;
  to.shape = out_shape;
  if (gather_infer_value(op, &from, indices->tensor, &to, options, NULL) == GATHER_OK)
    gather_step_set_elements(step, picked, out_len);
}

void gather_infer_gather(gather_step *step) {
  const gather_known *data = gather_step_in(step, 0), *indices = gather_step_in(step, 1);
  const gather_op *op =
      gather_model_is_gather(step->model, step->node) ? gather_model_rules(step->model, step->node) : NULL;
  step->out.type = data->type;
  if (!op) return;
  gather_options options;
  if (gather_node_options(step->model, step->scope, step->node, &options, NULL) == GATHER_FILE_MALFORMED) return;
  if (options.axis == GATHER_AXIS_UNKNOWN && op->axis_source == GATHER_AXIS_SOURCE_NONE) return; /* nor batch_dims */
  gather_shape shapes[3];
  shapes[0].rank = data->rank;
  shapes[1].rank = indices->rank;
  if (data->rank > 0) memcpy(shapes[0].dims, data->dims, (size_t)data->rank * sizeof *data->dims);
  if (indices->rank > 0) memcpy(shapes[1].dims, indices->dims, (size_t)indices->rank * sizeof *indices->dims);
  if (gather_infer_shape(op, &shapes[0], &shapes[1], &options, &shapes[2], NULL) != GATHER_OK || shapes[2].rank < 0)
    return;
  gather_step_shape(step, shapes[2].rank, shapes[2].dims);
  gather_parts(step, op, data, indices, &options);
  gather_follow_gather(step, op, &options);
}

/* One whole number; NULL where it is not known, not even as a name. */
static const gather_dim *number_of(gather_step *step, int32_t i) {
  int64_t count;
  const gather_dim *parts = gather_step_elements(step, gather_step_in(step, i), &count);
  return parts && count == 1 ? parts : NULL;
}

/* How many of start, start + by, ... come before end; -1 where that does not fit. */
static int64_t range_len(int64_t start, int64_t end, int64_t by) {
  int64_t way;
  if (by > 0 ? start >= end : start <= end) return 0;
  if (start == INT64_MIN || by == INT64_MIN || !gather_add(end, -start, &way) || way == INT64_MIN) return -1;
  if (way < 0) {
    way = -way;
    by = -by;
  }
  return (way - 1) / by + 1;
}

static void range_values(gather_step *step, int64_t start, int64_t end, int64_t by) {
  int64_t count = range_len(start, end, by);
  gather_dim len = count < 0 ? gather_any_dim : gather_exact_dim(count);
  gather_step_shape(step, 1, &len);
  if (count >= 0) gather_follow_range(step, start, by);
}

void gather_infer_range(gather_step *step) {
  const gather_dim *start = number_of(step, 0), *end = number_of(step, 1), *by = number_of(step, 2);
  gather_type type = gather_step_in(step, 0)->type;
  step->out.type = step->openvino ? gather_step_named_type(step, "output_type", type) : type;
  if (start && end && by && gather_is_exact(start) && gather_is_exact(end) && gather_is_exact(by) && by->min != 0) {
    range_values(step, start->min, end->min, by->min);
    return;
  }
  bool counts = start && by && end && start->min == 0 && start->max == 0 && by->min == 1 && by->max == 1;
  gather_step_shape(step, 1, counts && end->min >= 0 ? end : &gather_any_dim); /* from 0 to N: N of them */
}
