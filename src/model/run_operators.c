/* SPDX-License-Identifier: MIT
 *
 * run_operators.c: operators that change the shape of a tensor, and the one that returns it. The elements are copied only
 * if they are not dense.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/model_run.h"

static bool is_onnx(const gather_running *run) { return strcmp(run->model->graph_file->dialect, "onnx") == 0; }

/* A list of integers: input number 1, or (older ONNX versions) an attribute. *count -1: there is neither. */
static gather_status read_list(const gather_running *run, const gather_node *node, const char *name,
                               int64_t values[GATHER_MAX_RANK], int32_t *count, gather_error *error) {
  const gather_tensor *tensor = gather_run_operand(run, node, 1);
  if (tensor) return gather_run_integers(tensor, name, values, count, error);
  const gather_attribute *attribute = gather_node_attribute(node, name);
  *count = -1;
  if (!attribute) return GATHER_OK;
  if (attribute->kind != GATHER_ATTRIBUTE_INTS)
    return gather_attribute_wrong(attribute, name, "INTS", "a list of integers", error);
  if (attribute->count > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "attribute '%s' has more than %d integers", name, GATHER_MAX_RANK);
  for (int64_t i = 0; i < attribute->count; i++) values[i] = attribute->integers[i];
  *count = (int32_t)attribute->count;
  return GATHER_OK;
}

/* Gives the node's input number 0 another shape of as many elements. */
static gather_status rename_shape(gather_running *run, const gather_node *node, int32_t rank, const int64_t *lengths,
                                  gather_error *error) {
  gather_dequantized *dequantized = gather_run_dequantized(run, node, 0);
  gather_tensor dense = *gather_run_operand(run, node, 0);
  if (!dequantized) GATHER_TRY(gather_run_dense(run, gather_run_operand(run, node, 0), &dense, error));
  dense.rank = rank;
  GATHER_TRY(gather_run_shape(run, rank, lengths, &dense.shape, error));
  if (dequantized)
    gather_run_give_dequantized(run, node, &dense, dequantized);
  else
    gather_run_give(run, node, &dense);
  return GATHER_OK;
}

/* Whether a 0 in the target copies the current length. */
static gather_status zero_copies(const gather_running *run, const gather_node *node, bool *copies,
                                 gather_error *error) {
  const char *name = is_onnx(run) ? "allowzero" : "special_zero";
  const gather_attribute *attribute = gather_node_attribute(node, name);
  bool flag = false;
  if (attribute && !gather_attribute_flag(attribute, &flag))
    return gather_attribute_wrong(attribute, name, "INT", "true or false", error);
  *copies = flag != is_onnx(run);
  return GATHER_OK;
}

/* Resolves 0 and -1. */
static gather_status resolve_target(const gather_tensor *data, bool copies, int32_t rank, int64_t *target,
                                    gather_error *error) {
  int64_t len = gather_tensor_len(data), known = 1;
  int32_t open = -1;
  for (int32_t d = 0; d < rank; d++) {
    if (target[d] == 0 && copies && d >= data->rank)
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "the target shape copies dimension %" PRId32 ", but the rank is %" PRId32, d, data->rank);
    if (target[d] == 0 && copies) target[d] = data->shape[d];
    if (target[d] < -1 || (target[d] == -1 && open >= 0))
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "the target shape has a length below -1, or -1 twice");
    if (target[d] == -1)
      open = d;
    else if (!gather_mul(known, target[d], &known))
      return gather_fail(error, GATHER_OVERFLOW, "the target shape has more than 2^63 elements");
  }
  if (open >= 0 && known > 0 && len % known == 0) target[open] = len / known, known = len;
  if (known != len || (open >= 0 && target[open] < 0))
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "%" PRId64 " elements do not fit the target shape", len);
  return GATHER_OK;
}

gather_status gather_run_reshape(gather_running *run, const gather_node *node, gather_error *error) {
  int64_t target[GATHER_MAX_RANK];
  int32_t rank;
  bool copies = false;
  GATHER_TRY(zero_copies(run, node, &copies, error));
  GATHER_TRY(read_list(run, node, "shape", target, &rank, error));
  if (rank < 0) return gather_fail(error, GATHER_FILE_MALFORMED, "it has no target shape");
  GATHER_TRY(resolve_target(gather_run_operand(run, node, 0), copies, rank, target, error));
  return rename_shape(run, node, rank, target, error);
}

/* Marks the axes in a row of flags; each may be given once (Unsqueeze) or repeatedly (Squeeze). */
static gather_status mark_axes(const int64_t *axes, int32_t count, int32_t rank, bool *marked, gather_error *error) {
  memset(marked, 0, GATHER_MAX_RANK * sizeof *marked);
  for (int32_t i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis",
                               "axis %" PRId64 " is not in [%" PRId32 ", %" PRId32 "]", axes[i], -rank, rank - 1);
    marked[axis] = true;
  }
  return GATHER_OK;
}

gather_status gather_run_squeeze(gather_running *run, const gather_node *node, gather_error *error) {
  int64_t axes[GATHER_MAX_RANK], lengths[GATHER_MAX_RANK];
  bool marked[GATHER_MAX_RANK];
  int32_t count, rank = 0;
  const gather_tensor *data = gather_run_operand(run, node, 0);
  GATHER_TRY(read_list(run, node, "axes", axes, &count, error));
  GATHER_TRY(mark_axes(axes, count, data->rank, marked, error));
  for (int32_t d = 0; d < data->rank; d++) {
    bool away = count < 0 ? data->shape[d] == 1 : marked[d];
    if (away && data->shape[d] != 1 && is_onnx(run))
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "dimension %" PRId32 " has the length %" PRId64 ", not 1", d,
                         data->shape[d]);
    if (!away || data->shape[d] != 1) lengths[rank++] = data->shape[d];
  }
  return rename_shape(run, node, rank, lengths, error);
}

gather_status gather_run_unsqueeze(gather_running *run, const gather_node *node, gather_error *error) {
  int64_t axes[GATHER_MAX_RANK], lengths[GATHER_MAX_RANK];
  bool marked[GATHER_MAX_RANK];
  int32_t count, at = 0;
  const gather_tensor *data = gather_run_operand(run, node, 0);
  GATHER_TRY(read_list(run, node, "axes", axes, &count, error));
  if (count < 0) return gather_fail(error, GATHER_FILE_MALFORMED, "it has no axes");
  if (data->rank > GATHER_MAX_RANK - count)
    return gather_fail(error, GATHER_UNSUPPORTED, "the rank would be above %d", GATHER_MAX_RANK);
  int32_t rank = data->rank + count;
  GATHER_TRY(mark_axes(axes, count, rank, marked, error));
  for (int32_t d = 0; d < rank; d++) {
    if (!marked[d] && at == data->rank) return gather_fail(error, GATHER_SHAPE_MISMATCH, "an axis is given twice");
    lengths[d] = marked[d] ? 1 : data->shape[at++];
  }
  return rename_shape(run, node, rank, lengths, error);
}

/* start and end of ONNX Shape-15, cut to [0, rank]. */
static gather_status cut(const gather_node *node, const char *name, int32_t rank, int32_t *at, gather_error *error) {
  int64_t value;
  const gather_attribute *attribute = gather_node_attribute(node, name);
  if (!attribute) return GATHER_OK;
  if (!gather_attribute_integer(attribute, &value))
    return gather_attribute_wrong(attribute, name, "INT", "a 64-bit integer", error);
  if (value < 0) value = value < -rank ? 0 : value + rank;
  *at = value > rank ? rank : (int32_t)value;
  return GATHER_OK;
}

/* OpenVINO's type of the shape. */
static gather_status shape_type(const gather_running *run, const gather_node *node, gather_type *type,
                                gather_error *error) {
  const gather_attribute *attribute = is_onnx(run) ? NULL : gather_node_attribute(node, "output_type");
  *type = attribute ? gather_type_parse(attribute->text.text) : GATHER_TYPE_INT64;
  return gather_type_is_index(*type)
             ? GATHER_OK
             : gather_attribute_wrong(attribute, "output_type", "INT", "an integer type", error);
}

gather_status gather_run_shape_of(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0);
  int32_t begin = 0, end = data->rank;
  gather_type wanted;
  GATHER_TRY(shape_type(run, node, &wanted, error));
  if (is_onnx(run)) GATHER_TRY(cut(node, "start", data->rank, &begin, error));
  if (is_onnx(run)) GATHER_TRY(cut(node, "end", data->rank, &end, error));
  int64_t len = end > begin ? end - begin : 0;
  gather_tensor wide = {.type = GATHER_TYPE_INT64, .rank = 1}, shape;
  GATHER_TRY(gather_run_shape(run, 1, &len, &wide.shape, error));
  GATHER_TRY(gather_run_allocate(run, &wide, error));
  if (len > 0) memcpy(wide.data, data->shape + begin, (size_t)len * sizeof(int64_t));
  GATHER_TRY(gather_run_cast(run, &wide, wanted, &shape, error));
  gather_run_give(run, node, &shape);
  return GATHER_OK;
}
