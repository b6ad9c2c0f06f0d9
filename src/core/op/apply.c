/* SPDX-License-Identifier: MIT
 *
 * apply.c: the one-call functions: a plan on the stack, run once.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/op/family.h"

static gather_status apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                           const gather_tensor *out, const gather_options *options, gather_error *error) {
  gather_options full;
  gather_plan plan;
  GATHER_TRY(gather_options_read(options, &full, error));
  if (!out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_lower_nest(op, data, indices, out, &full, &plan, error));
  gather_run run = {sizeof run, data->data, indices->data, out->data, full.executor, full.bad_count, full.fresh_output};
  if (gather_plan_execute_few(&plan, &run)) return GATHER_OK;
  gather_plan_choose(&plan);
  return gather_plan_execute(&plan, &run, error);
}

gather_status gather_apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                           const gather_tensor *out, const gather_options *options, gather_error *error) {
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  return gather_fail_op(error, op, apply(op, data, indices, out, options, error));
}

gather_status gather_take(const gather_tensor *data, const gather_tensor *indices, int64_t axis,
                          const gather_tensor *out, gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = axis;
  return gather_apply(gather_op_take, data, indices, out, &options, error);
}

gather_status gather_elements(const gather_tensor *data, const gather_tensor *indices, int64_t axis,
                              const gather_tensor *out, gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = axis;
  return gather_apply(gather_op_elements, data, indices, out, &options, error);
}

gather_status gather_nd(const gather_tensor *data, const gather_tensor *indices, int64_t batch_dims,
                        const gather_tensor *out, gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.batch_dims = batch_dims;
  return gather_apply(gather_op_nd, data, indices, out, &options, error);
}

static gather_status output_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                  const gather_options *options, gather_geometry *geometry, gather_error *error) {
  gather_options full;
  const gather_family_rules *rules;
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(gather_family_find(op, &rules, error));
  GATHER_TRY(gather_tensor_check_input(data, "data", error));
  GATHER_TRY(gather_tensor_check_input(indices, "indices", error));
  if (!gather_type_is_index(indices->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "indices", "indices must be integers, not %s",
                             gather_type_get(indices->type)->name);
  return gather_geometry_find(op, rules, data, indices, &full, geometry, error);
}

gather_status gather_output_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                  const gather_options *options, int64_t *shape, int32_t *rank, gather_error *error) {
  gather_geometry geometry;
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  gather_status status = output_shape(op, data, indices, options, &geometry, error);
  if (status != GATHER_OK) return gather_fail_op(error, op, status);
  for (int32_t d = 0; d < geometry.rank; d++) shape[d] = geometry.shape[d];
  *rank = geometry.rank;
  return GATHER_OK;
}

gather_status gather_infer_value(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                 const gather_tensor *out, const gather_options *options, gather_error *error) {
  /* A length is an element; all bits zero is the length 0, as rules that fill with zeros need. */
  if (data && (data->type != GATHER_TYPE_OPAQUE || data->item_bytes != (int64_t)sizeof(gather_dim)))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data", "data must have gather_dim elements");
  return gather_apply(op, data, indices, out, options, error);
}

gather_status gather_axis_read(const gather_tensor *axis, int64_t *value, gather_error *error) {
  GATHER_TRY(gather_tensor_check_input(axis, "axis", error));
  if (!gather_type_is_index(axis->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "axis", "the axis must be an integer, not %s",
                             gather_type_get(axis->type)->name);
  if (gather_tensor_len(axis) != 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "axis", "the axis must be one element, not %" PRId64,
                             gather_tensor_len(axis));
  if (!axis->data) return gather_fail_input(error, GATHER_USAGE, "axis", "the axis's data pointer is NULL");
  /* Reported like an index out of range: on an axis of length 0 every value is one. */
  gather_index_rule rule = {
      .type = axis->type, .swapped = (axis->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0, .on_bad = GATHER_ON_BAD_ERROR};
  int64_t first;
  (void)gather_indices_count_bad(&rule, axis->data, 0, 1, &first, value);
  if (axis->type == GATHER_TYPE_UINT64 && *value < 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "the axis is %" PRIu64, (uint64_t)*value);
  return GATHER_OK;
}
