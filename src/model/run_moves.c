/* SPDX-License-Identifier: MIT
 *
 * run_moves.c: operators that move whole tensors without an index: Transpose and Concat, which exporters put before and
 * after a GatherND.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/infer.h"
#include "model/model_run.h"

/* The axes in their new order: ONNX's attribute perm, an IR layer's second input; without any, reversed. */
static gather_status read_order(const gather_running *run, const gather_node *node, int64_t order[GATHER_MAX_RANK],
                                int32_t *count, gather_error *error) {
  const gather_tensor *input = gather_run_operand(run, node, 1);
  const gather_attribute *perm = gather_node_attribute(node, "perm");
  *count = 0;
  if (gather_model_is_openvino(run->model))
    return input ? gather_run_integers(input, "order", order, count, error)
                 : gather_fail(error, GATHER_FILE_MALFORMED, "it has no order of axes");
  if (!perm) return GATHER_OK;
  if (perm->kind != GATHER_ATTRIBUTE_INTS)
    return gather_attribute_wrong(perm, "perm", "INTS", "a list of integers", error);
  if (perm->count > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "attribute 'perm' has more than %d integers", GATHER_MAX_RANK);
  for (int64_t i = 0; i < perm->count; i++) order[i] = perm->integers[i];
  *count = (int32_t)perm->count;
  return GATHER_OK;
}

/* Each axis of data must occur once. */
static gather_status check_order(const int64_t *order, int32_t count, int32_t rank, gather_error *error) {
  bool seen[GATHER_MAX_RANK] = {false};
  bool fits = count == rank;
  for (int32_t d = 0; fits && d < rank; d++) {
    fits = order[d] >= 0 && order[d] < rank && !seen[order[d]];
    if (fits) seen[order[d]] = true;
  }
  if (fits) return GATHER_OK;
  return gather_fail(error, GATHER_SHAPE_MISMATCH, "its order does not have each of the %" PRId32 " axes once", rank);
}

gather_status gather_run_transpose(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0);
  int64_t order[GATHER_MAX_RANK], own[GATHER_MAX_RANK], shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  gather_tensor turned = *data, dense;
  int32_t count;
  GATHER_TRY(read_order(run, node, order, &count, error));
  const bool reversed = count == 0;
  if (!reversed) GATHER_TRY(check_order(order, count, data->rank, error));
  gather_tensor_strides(data, own);
  for (int32_t d = 0; d < data->rank; d++) {
    const int64_t from = reversed ? data->rank - 1 - d : order[d];
    shape[d] = data->shape[from];
    strides[d] = own[from];
  }
  GATHER_TRY(gather_run_shape(run, data->rank, shape, &turned.shape, error));
  turned.strides = strides;
  GATHER_TRY(gather_run_dense(run, &turned, &dense, error));
  gather_run_give(run, node, &dense);
  return GATHER_OK;
}

/* ---- Concat */

/* The axis; the first version of ONNX's operator has a default. */
static gather_status concat_axis(const gather_node *node, bool onnx, int32_t rank, int32_t *axis, gather_error *error) {
  const gather_attribute *attribute = gather_node_attribute(node, "axis");
  int64_t number = 1;
  if (!attribute && !(onnx && node->opset < 4)) return gather_fail(error, GATHER_FILE_MALFORMED, "it has no axis");
  if (attribute && !gather_attribute_integer(attribute, &number))
    return gather_attribute_wrong(attribute, "axis", "INT", "a 64-bit integer", error);
  if (gather_wrap_axis(number, rank, axis)) return GATHER_OK;
  return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE, "axis %" PRId64 " is outside [-%" PRId32 ", %" PRId32 "]", number,
                     rank, rank - 1);
}

/* Checks that a part fits the first one, and adds its length. */
static gather_status add_part(const gather_tensor *first, const gather_tensor *part, int32_t axis, int64_t *len,
                              gather_error *error) {
  const bool same_bytes = first->type != GATHER_TYPE_OPAQUE || part->item_bytes == first->item_bytes;
  if (part->type != first->type || !same_bytes || ((part->flags ^ first->flags) & GATHER_TENSOR_BYTE_SWAPPED))
    return gather_fail(error, GATHER_TYPE_MISMATCH, "its inputs differ in type or byte order");
  bool fits = part->rank == first->rank;
  for (int32_t d = 0; fits && d < part->rank; d++) fits = d == axis || part->shape[d] == first->shape[d];
  if (!fits)
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "its inputs differ in rank, or in length off axis %" PRId32, axis);
  return gather_add(*len, part->shape[axis], len)
             ? GATHER_OK
             : gather_fail(error, GATHER_OVERFLOW, "the lengths of its inputs do not fit 63 bits together");
}

/* Copies a part to its place in the output: `begin` elements along the axis. */
static gather_status copy_part(gather_running *run, const gather_tensor *out, const gather_tensor *part, int32_t axis,
                               int64_t begin, gather_error *error) {
  int64_t strides[GATHER_MAX_RANK];
  gather_tensor to = *out;
  if (gather_tensor_len(part) == 0) return GATHER_OK;
  gather_tensor_strides(out, strides);
  to.shape = part->shape;
  to.strides = strides;
  if (gather_type_is_packed(gather_type_get(out->type)))
    to.packed_offset += begin * strides[axis];
  else
    to.data = (char *)to.data + begin * strides[axis];
  return gather_run_copy(run, part, &to, error);
}

gather_status gather_run_concat(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *first = gather_run_operand(run, node, 0), *part;
  int64_t shape[GATHER_MAX_RANK], begin = 0, len = 0;
  int32_t axis;
  GATHER_TRY(concat_axis(node, !gather_model_is_openvino(run->model), first->rank, &axis, error));
  for (int32_t i = 0; i < node->input_count; i++) {
    if (!(part = gather_run_operand(run, node, i)))
      return gather_fail(error, GATHER_FILE_MALFORMED, "Concat lacks its input %" PRId32, i);
    GATHER_TRY(add_part(first, part, axis, &len, error));
  }
  gather_tensor out = {.type = first->type, .rank = first->rank, .item_bytes = first->item_bytes};
  out.flags = first->flags & GATHER_TENSOR_BYTE_SWAPPED;
  for (int32_t d = 0; d < first->rank; d++) shape[d] = d == axis ? len : first->shape[d];
  GATHER_TRY(gather_run_shape(run, out.rank, shape, &out.shape, error));
  GATHER_TRY(gather_run_allocate(run, &out, error));
  for (int32_t i = 0; i < node->input_count; i++) {
    part = gather_run_operand(run, node, i);
    GATHER_TRY(copy_part(run, &out, part, axis, begin, error));
    begin += part->shape[axis];
  }
  gather_run_give(run, node, &out);
  return GATHER_OK;
}
