/* SPDX-License-Identifier: MIT
 *
 * shape.c: the steps of ranks, axis, batch_dims and shapes that the families share.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/op/family.h"

gather_status gather_options_read(const gather_options *options, gather_options *full, gather_error *error) {
  if (options && options->size == sizeof *options) {
    *full = *options;
  } else {
    *full = (gather_options)GATHER_OPTIONS_INIT;
    GATHER_TRY(gather_struct_read(full, sizeof *full, options, "gather_options", "GATHER_OPTIONS_INIT", error));
  }
  if ((int)full->on_bad < 0 || full->on_bad > GATHER_ON_BAD_PROMISE) /* not SKIP: it is for what writes */
    return gather_fail(error, GATHER_USAGE, "invalid options.on_bad %d", (int)full->on_bad);
  if ((int)full->negative < 0 || full->negative > GATHER_NEGATIVE_OFF)
    return gather_fail(error, GATHER_USAGE, "invalid options.negative %d", (int)full->negative);
  if (full->on_bad == GATHER_ON_BAD_FILL && !full->fill)
    return gather_fail(error, GATHER_USAGE, "options.on_bad is fill, but options.fill is NULL");
  return GATHER_OK;
}

/* The axis in [0, rank), from an attribute in [-rank, rank - 1]. */
static gather_status resolve_axis(const gather_op *op, int64_t axis, int32_t rank, int32_t *resolved, gather_error *error) {
  if (axis < -rank || axis >= rank)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis",
                             "axis %" PRId64 " is outside [%" PRId32 ", %" PRId32 "] (%s of data of rank %" PRId32 ")", axis, -rank,
                             rank - 1, op->name, rank);
  *resolved = (int32_t)(axis < 0 ? axis + rank : axis);
  return GATHER_OK;
}

/* batch_dims in [0, min(ranks)], from an attribute that counts from the rank of indices where it is negative, and not above the axis (-1 =
 * the axis is not known). */
static gather_status resolve_batch_dims(const gather_op *op, int64_t batch_dims, int32_t data_rank, int32_t indices_rank, int32_t axis,
                                        int32_t *resolved, gather_error *error) {
  const gather_status status = GATHER_BATCH_DIMS_OUT_OF_RANGE;
  *resolved = 0;
  if (!op->batch_dims) {
    if (batch_dims == 0) return GATHER_OK;
    return gather_fail(error, status, "batch_dims is %" PRId64 ", but %s%s%s has no such attribute", batch_dims, op->name,
                       GATHER_RULES_TEXT(op));
  }
  int32_t least = data_rank < indices_rank ? data_rank : indices_rank;
  if (batch_dims < -least || batch_dims > least)
    return gather_fail(error, status,
                       "batch_dims %" PRId64 " is outside [%" PRId32 ", %" PRId32 "] (the smaller of the ranks %" PRId32 " and %" PRId32
                       ")",
                       batch_dims, -least, least, data_rank, indices_rank);
  *resolved = (int32_t)(batch_dims < 0 ? batch_dims + indices_rank : batch_dims);
  if (axis >= 0 && *resolved > axis)
    return gather_fail(error, status, "batch_dims %" PRId32 " is above the axis, %" PRId32, *resolved, axis);
  if (*resolved > data_rank - 1)
    return gather_fail(error, status, "batch_dims %" PRId32 " leaves no axis of data (rank %" PRId32 ")", *resolved, data_rank);
  return GATHER_OK;
}

gather_status gather_attributes_resolve(const gather_op *op, int32_t data_rank, int32_t indices_rank, const gather_options *options,
                                        bool definite, gather_attributes *found, gather_error *error) {
  found->axis = found->batch_dims = -1;
  if (definite || (options->axis != GATHER_AXIS_UNKNOWN && data_rank >= 0))
    GATHER_TRY(resolve_axis(op, options->axis, data_rank, &found->axis, error));
  if (!op->batch_dims || options->batch_dims == 0 || (data_rank >= 0 && indices_rank >= 0))
    GATHER_TRY(resolve_batch_dims(op, options->batch_dims, data_rank < 0 ? GATHER_MAX_RANK : data_rank,
                                  indices_rank < 0 ? GATHER_MAX_RANK : indices_rank, found->axis, &found->batch_dims, error));
  return GATHER_OK;
}

gather_status gather_shape_mismatch(gather_error *error, int32_t d, const gather_tensor *data, const gather_tensor *indices,
                                    const char *rule) {
  char data_text[96], indices_text[96];
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices", "dimension %" PRId32 " of data %s and of indices %s: %s", d,
                           gather_shape_text(data_text, sizeof data_text, data->rank, data->shape),
                           gather_shape_text(indices_text, sizeof indices_text, indices->rank, indices->shape), rule);
}
