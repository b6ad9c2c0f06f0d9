/* SPDX-License-Identifier: MIT
 *
 * infer_value.c: operators whose values are followed: Shape, Size, Cast, Gather, Slice, arithmetic, Range.
 */
#include <string.h>

#include "base/checked.h"
#include "base/tensor.h"
#include "model/infer.h"

void gather_infer_shape_of(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  const gather_attribute *output_type = gather_node_attribute(step->node, "output_type");
  step->out.type = GATHER_TYPE_INT64;
  if (output_type && output_type->kind == GATHER_ATTRIBUTE_TEXT)
    step->out.type = gather_type_parse(output_type->text.text);
  int64_t start = 0, end = in->rank;
  bool cut = gather_node_integer(step->node, "start", &start);
  cut |= gather_node_integer(step->node, "end", &end);
  if (in->rank < 0) {
    if (!cut) gather_step_shape(step, 1, &gather_any_dim);
    return;
  }
  if (start < 0) start = start < -in->rank ? 0 : start + in->rank;
  if (end < 0) end = end < -in->rank ? 0 : end + in->rank;
  if (end > in->rank) end = in->rank;
  if (start > end) start = end;
  gather_dim len = {end - start, end - start, NULL};
  gather_step_shape(step, 1, &len);
  static const gather_dim NONE[1] = {{0, 0, NULL}};
  gather_step_set_parts(step, in->dims ? in->dims + start : NONE, end - start);
}

void gather_infer_size(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t lengths[GATHER_MAX_RANK];
  gather_dim *part = gather_step_take(step, 1, sizeof *part);
  step->out.type = GATHER_TYPE_INT64;
  gather_step_shape(step, 0, NULL);
  if (!part || !gather_known_lengths(in, lengths) || !gather_shape_len(in->rank, lengths, &part->min)) return;
  part->max = part->min;
  gather_step_set_parts(step, part, 1);
}

/* Bits of a whole-byte integer type, bool as one; 0 for others. */
static int32_t integer_bits(gather_type type) {
  if (type == GATHER_TYPE_BOOL) return 1;
  return gather_type_is_index(type) ? gather_type_get(type)->bits : 0;
}

/* Whether each value of `from` has the same value in `to`. */
static bool fits_all(gather_type from, gather_type to) {
  int32_t from_bits = integer_bits(from), to_bits = integer_bits(to);
  if (from_bits == 0 || to_bits == 0 || to == GATHER_TYPE_BOOL) return from == to;
  bool from_signed = from != GATHER_TYPE_BOOL && gather_type_get(from)->kind == GATHER_KIND_INT;
  bool to_signed = gather_type_get(to)->kind == GATHER_KIND_INT;
  if (from_signed == to_signed) return to_bits >= from_bits;
  return to_signed && to_bits > from_bits;
}

/* Whether every part stands in the type. */
static bool parts_fit(const gather_dim *parts, int64_t count, gather_type to) {
  int32_t bits = integer_bits(to);
  if (bits < 8) return false;
  bool is_signed = gather_type_get(to)->kind == GATHER_KIND_INT;
  int64_t high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  int64_t low = !is_signed ? 0 : bits == 64 ? INT64_MIN : -high - 1;
  for (int64_t i = 0; i < count; i++)
    if (parts[i].min < low || (parts[i].min == parts[i].max && parts[i].max > high)) return false;
  return true;
}

static gather_type cast_target(const gather_step *step) {
  int64_t number;
  const gather_attribute *name = gather_node_attribute(step->node, "destination_type");
  if (name && name->kind == GATHER_ATTRIBUTE_TEXT) return gather_type_parse(name->text.text);
  if (!gather_node_integer(step->node, "to", &number)) return GATHER_TYPE_NONE;
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
  if (in->tensor && fits_all(in->tensor->type, step->out.type)) {
    step->out.tensor = in->tensor;
    return;
  }
  const gather_dim *parts = gather_step_parts(step, in, &count);
  if (parts && parts_fit(parts, count, step->out.type)) gather_step_set_parts(step, parts, count);
}

gather_options gather_node_options(const gather_model *model, const gather_scope *scope, const gather_node *node) {
  gather_options options = GATHER_OPTIONS_INIT;
  const gather_op *op = gather_model_rules(model, node);
  const gather_attribute *axis = gather_node_attribute(node, "axis");
  if (axis && !gather_node_integer(node, "axis", &options.axis)) options.axis = GATHER_AXIS_UNKNOWN;
  if (op && op->batch_dims) (void)gather_node_integer(node, "batch_dims", &options.batch_dims);
  if (!op || !op->axis_is_input) return options;
  const gather_known *input = node->input_count > 2 ? gather_scope_find(scope, node->inputs[2]) : NULL;
  options.axis = GATHER_AXIS_UNKNOWN;
  if (input && input->tensor && gather_axis_read(input->tensor, &options.axis, NULL) != GATHER_OK)
    options.axis = GATHER_AXIS_UNKNOWN;
  return options;
}

/* Elements of a small tensor, picked by known indices. */
static void gather_parts(gather_step *step, const gather_op *op, const gather_known *data, const gather_known *indices,
                         const gather_options *options) {
  int64_t count, data_shape[GATHER_MAX_RANK], out_shape[GATHER_MAX_RANK], out_len;
  const gather_dim *parts = gather_step_parts(step, data, &count);
  if (!parts || !indices->tensor || options->axis == GATHER_AXIS_UNKNOWN || !gather_known_lengths(data, data_shape) ||
      !gather_known_lengths(&step->out, out_shape) || !gather_shape_len(step->out.rank, out_shape, &out_len) ||
      out_len > GATHER_MAX_PARTS)
    return;
  gather_dim *copy = gather_step_take(step, count, sizeof *copy),
             *picked = gather_step_take(step, out_len, sizeof *picked);
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
    gather_step_set_parts(step, picked, out_len);
}

void gather_infer_gather(gather_step *step) {
  const gather_known *data = gather_step_in(step, 0), *indices = gather_step_in(step, 1);
  const gather_op *op =
      gather_model_is_gather(step->model, step->node) ? gather_model_rules(step->model, step->node) : NULL;
  step->out.type = data->type;
  if (!op) return;
  gather_options options = gather_node_options(step->model, step->scope, step->node);
  gather_shape shapes[3];
  shapes[0].rank = data->rank;
  shapes[1].rank = indices->rank;
  if (data->rank > 0) memcpy(shapes[0].dims, data->dims, (size_t)data->rank * sizeof *data->dims);
  if (indices->rank > 0) memcpy(shapes[1].dims, indices->dims, (size_t)indices->rank * sizeof *indices->dims);
  if (gather_infer_shape(op, &shapes[0], &shapes[1], &options, &shapes[2], NULL) != GATHER_OK || shapes[2].rank < 0)
    return;
  gather_step_shape(step, shapes[2].rank, shapes[2].dims);
  gather_parts(step, op, data, indices, &options);
}

/* Start and end of a slice with step 1 or any other, made definite for a length. */
static int64_t clamp(int64_t value, int64_t len, int64_t low, int64_t high) {
  if (value < 0) value = value < -len ? low : value + len;
  return value < low ? low : value > high ? high : value;
}

static int64_t slice_len(int64_t *start, int64_t end, int64_t by, int64_t len) {
  *start = by > 0 ? clamp(*start, len, 0, len) : clamp(*start, len, -1, len - 1);
  end = by > 0 ? clamp(end, len, 0, len) : clamp(end, len, -1, len - 1);
  if (by > 0) return end > *start ? (end - *start - 1) / by + 1 : 0;
  return *start > end ? (*start - end - 1) / (by == INT64_MIN ? INT64_MAX : -by) + 1 : 0;
}

/* Input i of a Slice, or its attribute before opset 10. */
static const int64_t *slice_input(gather_step *step, int32_t i, const char *name, int64_t *count) {
  if (gather_step_has(step, i)) return gather_step_integers(step, gather_step_in(step, i), count);
  return gather_step_attribute(step, name, count);
}

static void slice_values(gather_step *step, const gather_known *in, int64_t start, int64_t by, int64_t len) {
  int64_t count;
  const gather_dim *parts = in->rank == 1 ? gather_step_parts(step, in, &count) : NULL;
  gather_dim *cut = parts && len <= GATHER_MAX_PARTS ? gather_step_take(step, len, sizeof *cut) : NULL;
  if (!cut) return;
  for (int64_t i = 0; i < len; i++) cut[i] = parts[start + i * by];
  gather_step_set_parts(step, cut, len);
}

void gather_infer_slice(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t starts_count, ends_count, axes_count = 0, steps_count = 0, start = 0, len = 0, by = 1;
  bool has_axes = gather_step_has(step, 3) || gather_node_attribute(step->node, "axes"),
       has_steps = gather_step_has(step, 4);
  const int64_t *starts = slice_input(step, 1, "starts", &starts_count),
                *ends = slice_input(step, 2, "ends", &ends_count);
  const int64_t *axes = has_axes ? slice_input(step, 3, "axes", &axes_count) : NULL;
  const int64_t *steps = has_steps ? slice_input(step, 4, "steps", &steps_count) : NULL;
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 1) return;
  for (int32_t d = 0; d < in->rank; d++) dims[d] = in->dims[d];
  bool readable = starts && ends && starts_count == ends_count && (!has_axes || (axes && axes_count == starts_count)) &&
                  (!has_steps || (steps && steps_count == starts_count)) && (has_axes || starts_count <= in->rank);
  for (int32_t d = 0; !readable && d < in->rank; d++)
    dims[d].min = 0, dims[d].max = GATHER_DIM_UNBOUNDED, dims[d].symbol = NULL;
  for (int64_t i = 0; readable && i < starts_count; i++) {
    int32_t axis;
    if (!gather_wrap_axis(axes ? axes[i] : i, in->rank, &axis)) return;
    by = steps ? steps[i] : 1;
    if (by == 0) return;
    if (dims[axis].min != dims[axis].max) {
      dims[axis] = (gather_dim){0, dims[axis].max, NULL};
      continue;
    }
    start = starts[i];
    len = slice_len(&start, ends[i], by, dims[axis].min);
    dims[axis] = (gather_dim){len, len, NULL};
  }
  gather_step_shape(step, in->rank, dims);
  if (readable && starts_count == 1 && in->rank == 1 && in->dims[0].min == in->dims[0].max)
    slice_values(step, in, start, by, len);
}

static bool calculate(const char *op, int64_t a, int64_t b, int64_t *value) {
  if (strcmp(op, "Add") == 0) return gather_add(a, b, value);
  if (strcmp(op, "Sub") == 0 || strcmp(op, "Subtract") == 0) return b != INT64_MIN && gather_add(a, -b, value);
  if (strcmp(op, "Mul") == 0 || strcmp(op, "Multiply") == 0) return gather_mul(a, b, value);
  /* Rounding of quotients below zero differs between the documents: only what all agree on. */
  if (strcmp(op, "Div") == 0 || strcmp(op, "Divide") == 0) return a >= 0 && b > 0 && (*value = a / b, true);
  if (strcmp(op, "Mod") == 0) return a >= 0 && b > 0 && (*value = a % b, true);
  if (strcmp(op, "Min") == 0 || strcmp(op, "Minimum") == 0) return *value = a < b ? a : b, true;
  if (strcmp(op, "Max") == 0 || strcmp(op, "Maximum") == 0) return *value = a > b ? a : b, true;
  return false;
}

/* Arithmetic on small integers: equal counts, or one of a single element. */
static void binary_values(gather_step *step) {
  int64_t counts[2];
  if (step->node->input_count != 2 || integer_bits(step->out.type) < 8) return;
  const gather_dim *a = gather_step_parts(step, gather_step_in(step, 0), &counts[0]);
  const gather_dim *b = gather_step_parts(step, gather_step_in(step, 1), &counts[1]);
  if (!a || !b || (counts[0] != counts[1] && counts[0] != 1 && counts[1] != 1) || step->out.rank > 1) return;
  int64_t count = counts[0] == 1 ? counts[1] : counts[0];
  gather_dim *parts = gather_step_take(step, count, sizeof *parts);
  for (int64_t i = 0; parts && i < count; i++) {
    const gather_dim *left = &a[counts[0] == 1 ? 0 : i], *right = &b[counts[1] == 1 ? 0 : i];
    parts[i] = gather_any_dim;
    if (left->min != left->max || right->min != right->max) {
      parts[i].min = INT64_MIN;
      continue;
    }
    if (!calculate(step->node->op, left->min, right->min, &parts[i].min)) return;
    parts[i].max = parts[i].min;
  }
  if (parts && parts_fit(parts, count, step->out.type)) gather_step_set_parts(step, parts, count);
}

void gather_infer_binary(gather_step *step) {
  gather_infer_compare(step);
  const gather_known *first = gather_step_in(step, 0), *second = gather_step_in(step, 1);
  step->out.type = first->type != GATHER_TYPE_NONE ? first->type : second->type;
  binary_values(step);
}

void gather_infer_range(gather_step *step) {
  const gather_known *start = gather_step_in(step, 0), *end = gather_step_in(step, 1), *by = gather_step_in(step, 2);
  int64_t counts[3], count = 0;
  const int64_t *s = gather_step_integers(step, start, &counts[0]), *e = gather_step_integers(step, end, &counts[1]),
                *b = gather_step_integers(step, by, &counts[2]);
  step->out.type = start->type;
  if (!s || !e || !b || counts[0] != 1 || counts[1] != 1 || counts[2] != 1 || *b == 0) {
    gather_step_shape(step, 1, &gather_any_dim);
    return;
  }
  for (int64_t at = *s; (*b > 0 ? at < *e : at > *e) && count <= GATHER_MAX_PARTS; count++)
    if (!gather_add(at, *b, &at)) break;
  gather_dim len = count > GATHER_MAX_PARTS ? gather_any_dim : (gather_dim){count, count, NULL};
  gather_step_shape(step, 1, &len);
  gather_dim *parts = count <= GATHER_MAX_PARTS ? gather_step_take(step, count, sizeof *parts) : NULL;
  for (int64_t i = 0; parts && i < count; i++) parts[i] = (gather_dim){*s + i * *b, *s + i * *b, NULL};
  if (parts) gather_step_set_parts(step, parts, count);
}
