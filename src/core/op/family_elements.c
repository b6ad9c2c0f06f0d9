/* SPDX-License-Identifier: MIT
 *
 * family_elements.c: GatherElements: each index selects one element, at its own coordinates except for the axis.
 * out[..i..] = data[.. indices[..i..] at the axis ..]
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/op/family.h"

GATHER_INLINE gather_status check_ranks(const gather_op *op, int32_t data_rank, int32_t indices_rank, gather_error *error) {
  GATHER_TRY(gather_data_rank_check(op, data_rank, error));
  if (indices_rank == 0)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "indices", "indices are 0-D; %s needs a rank of at least 1", op->name);
  if (data_rank >= 0 && indices_rank >= 0 && data_rank != indices_rank)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "indices",
                             "data has rank %" PRId32 ", indices have rank %" PRId32 "; %s needs equal ranks", data_rank, indices_rank,
                             op->name);
  return GATHER_OK;
}

/* The ranks are equal: one gives the other. */
static gather_status attributes(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                const gather_options *options, bool definite, gather_attributes *found, gather_error *error) {
  (void)tuple_len;
  GATHER_TRY(check_ranks(op, data_rank, indices_rank, error));
  return gather_attributes_find(op, data_rank < 0 ? indices_rank : data_rank, indices_rank, options, definite, found, error);
}

static gather_status shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                           gather_geometry *g, gather_error *error) {
  GATHER_TRY(check_ranks(op, data->rank, indices->rank, error));
  GATHER_TRY(gather_attributes_find(op, data->rank, indices->rank, options, true, &g->at, error));
  const int32_t rank = data->rank, axis = g->at.axis;
  for (int32_t d = 0; d < rank; d++) {
    const int64_t len = indices->shape[d];
    if (d != axis && op->off_axis == GATHER_OFF_AXIS_EQUAL && len != data->shape[d])
      return gather_shape_mismatch(error, d, data, indices, "lengths off the axis must be equal");
    if (d != axis && op->off_axis == GATHER_OFF_AXIS_AT_MOST && len > data->shape[d])
      return gather_shape_mismatch(error, d, data, indices, "off the axis, indices must not be longer than data");
    g->shape[d] = len;
  }
  g->rank = rank; /* which a tensor has: it fits */
  return GATHER_OK;
}

/* A length off the axis, from the known lengths of data and indices; false: they cannot fit. */
static bool off_axis(const gather_op *op, const gather_dim *data, const gather_dim *indices, gather_dim *dim) {
  if (op->off_axis == GATHER_OFF_AXIS_EQUAL) return gather_dims_meet(data, indices, dim);
  *dim = *indices;
  if (dim->max > data->max) dim->max = data->max;
  return dim->min <= dim->max;
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_attributes *a,
                           gather_shape *out, gather_error *error) {
  int32_t rank = data->rank >= 0 ? data->rank : indices->rank, misfits = 0;
  if (rank < 0) return GATHER_OK;
  out->rank = 0;
  for (int32_t d = 0; d < rank; d++) {
    const gather_dim *from = data->rank >= 0 ? &data->dims[d] : &GATHER_LEN_UNKNOWN,
                     *index = indices->rank >= 0 ? &indices->dims[d] : &GATHER_LEN_UNKNOWN;
    gather_dim dim = *index;
    bool fits = d == a->axis || off_axis(op, from, index, &dim);
    misfits += !fits;
    /* The unknown axis may be the one dimension that does not fit. */
    if (!fits && (a->axis >= 0 || misfits > 1))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices", "dimension %" PRId32 " of data and of indices cannot fit", d);
    GATHER_TRY(gather_infer_push(out, a->axis >= 0 ? &dim : index, error));
  }
  return GATHER_OK;
}

static int32_t sources(const gather_op *op, int32_t data_rank, int32_t indices_rank, const gather_attributes *a,
                       gather_dim_source *sources) {
  (void)op, (void)indices_rank;
  for (int32_t d = 0; d < data_rank; d++) sources[d] = (gather_dim_source){d == a->axis ? -1 : d, d, 1};
  return data_rank;
}

static void nest(gather_plan *plan, const gather_geometry *g, const gather_tensor *data, const gather_tensor *indices,
                 const gather_steps *s) {
  const int32_t axis = g->at.axis;
  gather_loop *at = plan->loops;
  for (int32_t d = 0; d < indices->rank; d++)
    at = gather_nest_loop(at, indices->shape[d], d == axis ? 0 : s->data[d], s->indices[d], s->out[d]);
  gather_nest_finish(plan, at);
  gather_plan_select(plan, data->shape[axis], s->data[axis]);
}

const gather_family_rules gather_family_elements = {attributes, shape, infer, sources, gather_column_along_axis, nest};
