/* SPDX-License-Identifier: MIT
 *
 * infer.c: shapes of which not everything is known. A length is an interval; a rank may be unknown; the rules are those of
 * shape.c, and an error means that no input that fits could be legal.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "op/op.h"

static const gather_dim ANY = {0, GATHER_DIM_UNBOUNDED, NULL};

static gather_status check_shape(const gather_shape *shape, const char *input, gather_error *error) {
  if (!shape) return gather_fail_input(error, GATHER_USAGE, input, "%s: the shape is NULL", input);
  if (shape->rank < -1 || shape->rank > GATHER_MAX_RANK)
    return gather_fail_input(error, GATHER_UNSUPPORTED, input, "%s has rank %" PRId32, input, shape->rank);
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dims[d].min < 0 || shape->dims[d].min > shape->dims[d].max)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s: dimension %" PRId32 " is no interval", input,
                               d);
  return GATHER_OK;
}

/* What is common to two lengths that must be equal. Either one's name names both. */
static bool intersect(const gather_dim *a, const gather_dim *b, gather_dim *both) {
  both->min = a->min > b->min ? a->min : b->min;
  both->max = a->max < b->max ? a->max : b->max;
  both->symbol = a->symbol ? a->symbol : b->symbol;
  return both->min <= both->max;
}

static gather_status push(gather_shape *out, const gather_dim *dim, gather_error *error) {
  if (out->rank >= GATHER_MAX_RANK)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "the output would have a rank above %d",
                             GATHER_MAX_RANK);
  out->dims[out->rank++] = *dim;
  return GATHER_OK;
}

/* The axis and batch_dims as far as they can be made definite: -1 where not. */
typedef struct {
  int32_t axis, batch_dims;
} attributes;

static gather_status find_attributes(const gather_op *op, int32_t data_rank, int32_t indices_rank,
                                     const gather_options *options, attributes *a, gather_error *error) {
  a->axis = a->batch_dims = -1;
  if (options->axis != GATHER_AXIS_UNKNOWN && data_rank >= 0)
    GATHER_TRY(gather_axis_resolve(op, options->axis, data_rank, &a->axis, error));
  if (!op->batch_dims || options->batch_dims == 0 || (data_rank >= 0 && indices_rank >= 0))
    GATHER_TRY(gather_batch_dims_resolve(op, options->batch_dims, data_rank < 0 ? GATHER_MAX_RANK : data_rank,
                                         indices_rank < 0 ? GATHER_MAX_RANK : indices_rank, a->axis, &a->batch_dims,
                                         error));
  return GATHER_OK;
}

static gather_status push_batch(const gather_shape *data, const gather_shape *indices, int32_t batch_dims,
                                gather_shape *out, gather_error *error) {
  for (int32_t d = 0; d < batch_dims; d++) {
    gather_dim both;
    if (!intersect(&data->dims[d], &indices->dims[d], &both))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                               "batch dimension %" PRId32 " of data and of indices cannot be equal", d);
    GATHER_TRY(push(out, &both, error));
  }
  return GATHER_OK;
}

static gather_status infer_gather(const gather_shape *data, const gather_shape *indices, const attributes *a,
                                  gather_shape *out, gather_error *error) {
  if (data->rank < 0 || indices->rank < 0 || a->batch_dims < 0) return GATHER_OK;
  int32_t rank = data->rank + indices->rank - 1 - a->batch_dims;
  out->rank = 0;
  GATHER_TRY(push_batch(data, indices, a->batch_dims, out, error));
  if (a->axis < 0) {
    while (out->rank < rank) GATHER_TRY(push(out, &ANY, error));
    return GATHER_OK;
  }
  for (int32_t d = a->batch_dims; d < a->axis; d++) GATHER_TRY(push(out, &data->dims[d], error));
  for (int32_t d = a->batch_dims; d < indices->rank; d++) GATHER_TRY(push(out, &indices->dims[d], error));
  for (int32_t d = a->axis + 1; d < data->rank; d++) GATHER_TRY(push(out, &data->dims[d], error));
  return GATHER_OK;
}

/* A length off the axis, from what is known of data's and of the indices'. */
static bool off_axis(const gather_op *op, const gather_dim *data, const gather_dim *indices, gather_dim *dim) {
  if (op->off_axis == GATHER_OFF_AXIS_EQUAL) return intersect(data, indices, dim);
  *dim = *indices;
  if (dim->max > data->max) dim->max = data->max;
  return dim->min <= dim->max;
}

static gather_status infer_elements(const gather_op *op, const gather_shape *data, const gather_shape *indices,
                                    const attributes *a, gather_shape *out, gather_error *error) {
  int32_t rank = data->rank >= 0 ? data->rank : indices->rank, misfits = 0;
  if (rank < 0) return GATHER_OK;
  out->rank = 0;
  for (int32_t d = 0; d < rank; d++) {
    const gather_dim *from = data->rank >= 0 ? &data->dims[d] : &ANY,
                     *index = indices->rank >= 0 ? &indices->dims[d] : &ANY;
    gather_dim dim = *index;
    bool fits = d == a->axis || off_axis(op, from, index, &dim);
    misfits += !fits;
    /* An axis that is not known may be the one dimension that does not fit. */
    if (!fits && (a->axis >= 0 || misfits > 1))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                               "dimension %" PRId32 " of data and of indices cannot fit", d);
    GATHER_TRY(push(out, a->axis >= 0 ? &dim : index, error));
  }
  return GATHER_OK;
}

gather_status gather_infer_shape(const gather_op *op, const gather_shape *data, const gather_shape *indices,
                                 const gather_options *options, gather_shape *out, gather_error *error) {
  gather_options full;
  attributes a;
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  if (!out) return gather_fail(error, GATHER_USAGE, "out is NULL");
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(check_shape(data, "data", error));
  GATHER_TRY(check_shape(indices, "indices", error));
  gather_status status = gather_ranks_check(op, data->rank, indices->rank, error);
  /* Equal ranks: either one tells the other. */
  bool elements = op->family == GATHER_FAMILY_ELEMENTS;
  int32_t data_rank = elements && data->rank < 0 ? indices->rank : data->rank;
  if (status == GATHER_OK) status = find_attributes(op, data_rank, indices->rank, &full, &a, error);
  gather_shape result; /* out may be data or indices */
  result.rank = -1;
  if (status == GATHER_OK)
    status = elements ? infer_elements(op, data, indices, &a, &result, error)
                      : infer_gather(data, indices, &a, &result, error);
  if (status != GATHER_OK) return gather_fail_op(error, op, status);
  out->rank = result.rank;
  if (result.rank > 0) memcpy(out->dims, result.dims, (size_t)result.rank * sizeof *result.dims);
  return GATHER_OK;
}
