/* SPDX-License-Identifier: MIT
 *
 * family_gather.c: Gather: each index selects a whole row of data along the axis.
 *     out[b][o][i][r] = data[b][o][indices[b][i]][r]
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/op/family.h"

static gather_status attributes(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                const gather_options *options, bool definite, gather_attributes *found, gather_error *error) {
  (void)tuple_len;
  GATHER_TRY(gather_data_rank_check(op, data_rank, error));
  return gather_attributes_find(op, data_rank, indices_rank, options, definite, found, error);
}

/* data.shape[:axis] + indices.shape[batch_dims:] + data.shape[axis + 1:] */
static gather_status shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                           gather_geometry *g, gather_error *error) {
  GATHER_TRY(gather_data_rank_check(op, data->rank, error));
  GATHER_TRY(gather_attributes_find(op, data->rank, indices->rank, options, true, &g->at, error));
  const int32_t axis = g->at.axis, batch_dims = g->at.batch_dims;
  for (int32_t d = 0; d < batch_dims; d++)
    if (data->shape[d] != indices->shape[d]) return gather_shape_mismatch(error, d, data, indices, "batch dimensions must be equal");
  for (int32_t d = 0; d < axis; d++) GATHER_TRY(gather_shape_push(g, data->shape[d], error));
  for (int32_t d = batch_dims; d < indices->rank; d++) GATHER_TRY(gather_shape_push(g, indices->shape[d], error));
  for (int32_t d = axis + 1; d < data->rank; d++) GATHER_TRY(gather_shape_push(g, data->shape[d], error));
  return GATHER_OK;
}

static gather_status infer_batch(const gather_shape *data, const gather_shape *indices, int32_t batch_dims, gather_shape *out,
                                 gather_error *error) {
  for (int32_t d = 0; d < batch_dims; d++) {
    gather_dim both;
    if (!gather_dims_meet(&data->dims[d], &indices->dims[d], &both))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                               "batch dimension %" PRId32 " of data and of indices cannot be equal", d);
    GATHER_TRY(gather_infer_push(out, &both, error));
  }
  return GATHER_OK;
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_attributes *a,
                           gather_shape *out, gather_error *error) {
  (void)op;
  if (data->rank < 0 || indices->rank < 0 || a->batch_dims < 0) return GATHER_OK;
  int32_t rank = data->rank + indices->rank - 1 - a->batch_dims;
  out->rank = 0;
  GATHER_TRY(infer_batch(data, indices, a->batch_dims, out, error));
  if (a->axis < 0) {
    while (out->rank < rank) GATHER_TRY(gather_infer_push(out, &GATHER_LEN_UNKNOWN, error));
    return GATHER_OK;
  }
  for (int32_t d = a->batch_dims; d < a->axis; d++) GATHER_TRY(gather_infer_push(out, &data->dims[d], error));
  for (int32_t d = a->batch_dims; d < indices->rank; d++) GATHER_TRY(gather_infer_push(out, &indices->dims[d], error));
  for (int32_t d = a->axis + 1; d < data->rank; d++) GATHER_TRY(gather_infer_push(out, &data->dims[d], error));
  return GATHER_OK;
}

static int32_t sources(const gather_op *op, int32_t data_rank, int32_t indices_rank, const gather_attributes *a,
                       gather_dim_source *sources) {
  (void)op;
  int32_t rank = 0;
  for (int32_t d = 0; d < a->axis; d++) sources[rank++] = (gather_dim_source){d, d < a->batch_dims ? d : -1, 1};
  for (int32_t d = a->batch_dims; d < indices_rank; d++) sources[rank++] = (gather_dim_source){-1, d, 1};
  for (int32_t d = a->axis + 1; d < data_rank; d++) sources[rank++] = (gather_dim_source){d, -1, 1};
  return rank;
}

static void nest(gather_plan *plan, const gather_geometry *g, const gather_tensor *data, const gather_tensor *indices,
                 const gather_steps *s) {
  const int32_t axis = g->at.axis, batch_dims = g->at.batch_dims;
  gather_loop *at = plan->loops;
  int32_t o = 0;
  for (int32_t d = 0; d < axis; d++, o++)
    at = gather_nest_loop(at, data->shape[d], s->data[d], d < batch_dims ? s->indices[d] : 0, s->out[o]);
  for (int32_t d = batch_dims; d < indices->rank; d++, o++) at = gather_nest_loop(at, indices->shape[d], 0, s->indices[d], s->out[o]);
  for (int32_t d = axis + 1; d < data->rank; d++, o++) at = gather_nest_loop(at, data->shape[d], s->data[d], 0, s->out[o]);
  gather_nest_finish(plan, at);
  gather_plan_select(plan, data->shape[axis], s->data[axis]);
}

const gather_family_rules gather_family_gather = {attributes, shape, infer, sources, gather_column_along_axis, nest};
