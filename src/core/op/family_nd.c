/* SPDX-License-Identifier: MIT
 *
 * family_nd.c: GatherND: each index is a tuple of numbers, which select on the dimensions of data after the batch dimensions.
 *     out[b][i][r] = data[b][indices[b][i][0]][indices[b][i][1]]..[r]
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/op/family.h"
#include "core/plan/plan_indices.h"

/* ---- ranks and attributes */

static gather_status check_axis(const gather_op *op, const gather_options *options, gather_error *error) {
  if (options->axis == 0 || options->axis == GATHER_AXIS_UNKNOWN) return GATHER_OK;
  return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "the axis is %" PRId64 ", but %s%s%s has no axis", options->axis,
                           op->name, GATHER_RULES_TEXT(op));
}

/* In [0, min(ranks)): both tensors have at least one more dimension. An unknown rank limits nothing. */
static gather_status read_batch_dims(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t batch_dims, int32_t *found,
                                     gather_error *error) {
  int32_t least = GATHER_MAX_RANK;
  *found = 0;
  if (batch_dims == 0) return GATHER_OK;
  if (!op->batch_dims)
    return gather_fail(error, GATHER_BATCH_DIMS_OUT_OF_RANGE, "batch_dims is %" PRId64 ", but %s%s%s has no such attribute", batch_dims,
                       op->name, GATHER_RULES_TEXT(op));
  if (data_rank >= 0) least = data_rank;
  if (indices_rank >= 0 && indices_rank < least) least = indices_rank;
  if (batch_dims < 0 || batch_dims >= least)
    return gather_fail(error, GATHER_BATCH_DIMS_OUT_OF_RANGE,
                       "batch_dims %" PRId64 " is outside [0, %" PRId32 "]: data and indices must have more dimensions", batch_dims,
                       least - 1);
  *found = (int32_t)batch_dims;
  return GATHER_OK;
}

static int64_t least_tuple(const gather_op *op) { return op->tuples == GATHER_TUPLES_ANY ? 0 : 1; }

static gather_status tuple_fail(const gather_op *op, int32_t data_rank, int32_t batch_dims, int64_t least, int64_t most,
                                gather_error *error) {
  char has[64];
  if (least == most)
    (void)snprintf(has, sizeof has, "%" PRId64, least);
  else if (most == GATHER_DIM_UNBOUNDED)
    (void)snprintf(has, sizeof has, "at least %" PRId64, least);
  else
    (void)snprintf(has, sizeof has, "%" PRId64 " to %" PRId64, least, most);
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                           "the last dimension of indices, the numbers of a tuple, is %s; %s%s%s on data of rank %" PRId32
                           " with batch_dims %" PRId32 " takes %" PRId64 " to %" PRId32,
                           has, op->name, GATHER_RULES_TEXT(op), data_rank, batch_dims, least_tuple(op), data_rank - batch_dims);
}

static gather_status attributes(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                const gather_options *options, bool definite, gather_attributes *found, gather_error *error) {
  GATHER_TRY(gather_data_rank_check(op, data_rank, error));
  if (indices_rank == 0)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "indices", "indices are 0-D; %s needs a rank of at least 1", op->name);
  GATHER_TRY(check_axis(op, options, error));
  GATHER_TRY(read_batch_dims(op, data_rank, indices_rank, options->batch_dims, &found->batch_dims, error));
  found->axis = found->batch_dims;
  found->tuple_len = -1;
  if (!definite && (data_rank < 0 || tuple_len == -1)) return GATHER_OK;
  if (tuple_len < least_tuple(op) || tuple_len > data_rank - found->batch_dims)
    return tuple_fail(op, data_rank, found->batch_dims, tuple_len, tuple_len, error);
  found->tuple_len = (int32_t)tuple_len;
  return GATHER_OK;
}

/* ---- shapes */

/* The batch dimensions: one each, or the product of their lengths. */
static gather_status push_batch(const gather_op *op, const gather_tensor *data, int32_t batch_dims, gather_geometry *g,
                                gather_error *error) {
  int64_t all = 1;
  if (!op->fused_batch) {
    for (int32_t d = 0; d < batch_dims; d++) GATHER_TRY(gather_shape_push(g, data->shape[d], error));
    return GATHER_OK;
  }
  for (int32_t d = 0; d < batch_dims; d++)
    if (!gather_mul(all, data->shape[d], &all))
      return gather_fail_input(error, GATHER_OVERFLOW, "output", "the product of the batch dimensions is too large");
  return batch_dims > 0 ? gather_shape_push(g, all, error) : GATHER_OK;
}

/* indices.shape[:-1] + data.shape[batch_dims + tuple_len:], the batch dimensions fused or not */
static gather_status shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                           gather_geometry *g, gather_error *error) {
  const int32_t r = data->rank, q = indices->rank;
  GATHER_TRY(attributes(op, r, q, q > 0 ? indices->shape[q - 1] : 0, options, true, &g->at, error));
  const int32_t b = g->at.batch_dims, k = g->at.tuple_len;
  for (int32_t d = 0; d < b; d++)
    if (data->shape[d] != indices->shape[d]) return gather_shape_mismatch(error, d, data, indices, "batch dimensions must be equal");
  GATHER_TRY(push_batch(op, data, b, g, error));
  for (int32_t d = b; d < q - 1; d++) GATHER_TRY(gather_shape_push(g, indices->shape[d], error));
  for (int32_t d = b + k; d < r; d++) GATHER_TRY(gather_shape_push(g, data->shape[d], error));
  return gather_tuples_room(q - 1 + r - b - k, k, error);
}

/* ---- inferred shapes */

/* A product of lengths; one that is too large to know is not bounded. */
static gather_dim product(const gather_dim *a, const gather_dim *b) {
  gather_dim both = {0, 0, NULL};
  if (!gather_mul(a->min, b->min, &both.min)) both.min = GATHER_DIM_UNBOUNDED - 1;
  if (a->max == 0 || b->max == 0) return both;
  if (a->max == GATHER_DIM_UNBOUNDED || b->max == GATHER_DIM_UNBOUNDED || !gather_mul(a->max, b->max, &both.max))
    both.max = GATHER_DIM_UNBOUNDED;
  return both;
}

/* Appends the batch dimensions to `out`. */
static gather_status infer_batch(const gather_op *op, const gather_shape *data, const gather_shape *indices, int32_t batch_dims,
                                 gather_shape *out, gather_error *error) {
  gather_dim all = {1, 1, NULL};
  for (int32_t d = 0; d < batch_dims; d++) {
    gather_dim both;
    if (!gather_dims_meet(&data->dims[d], &indices->dims[d], &both))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                               "batch dimension %" PRId32 " of data and of indices cannot be equal", d);
    if (!op->fused_batch) GATHER_TRY(gather_infer_push(out, &both, error));
    all = d == 0 ? both : product(&all, &both);
  }
  return op->fused_batch && batch_dims > 0 ? gather_infer_push(out, &all, error) : GATHER_OK;
}

/* The length of the tuples: -1 = not known. Fails if no length is possible. */
static gather_status infer_tuple(const gather_op *op, const gather_shape *data, const gather_shape *indices, int32_t batch_dims,
                                 int32_t *found, gather_error *error) {
  const gather_dim *last = &indices->dims[indices->rank - 1];
  const int64_t least = last->min > least_tuple(op) ? last->min : least_tuple(op);
  const int64_t most = last->max < data->rank - batch_dims ? last->max : data->rank - batch_dims;
  if (least > most) return tuple_fail(op, data->rank, batch_dims, last->min, last->max, error);
  *found = least == most ? (int32_t)least : -1;
  return GATHER_OK;
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_attributes *a,
                           gather_shape *out, gather_error *error) {
  gather_shape known = {.rank = 0};
  const int32_t b = a->batch_dims;
  int32_t k = -1;
  if (data->rank < 0 || indices->rank < 0) return GATHER_OK;
  GATHER_TRY(infer_tuple(op, data, indices, b, &k, error));
  GATHER_TRY(infer_batch(op, data, indices, b, &known, error));
  if (k < 0) return GATHER_OK;
  for (int32_t d = b; d < indices->rank - 1; d++) GATHER_TRY(gather_infer_push(&known, &indices->dims[d], error));
  for (int32_t d = b + k; d < data->rank; d++) GATHER_TRY(gather_infer_push(&known, &data->dims[d], error));
  GATHER_TRY(gather_tuples_room(indices->rank - 1 + data->rank - b - k, k, error));
  *out = known;
  return GATHER_OK;
}

/* ---- sources and nest */

static int32_t sources(const gather_op *op, int32_t data_rank, int32_t indices_rank, const gather_attributes *a,
                       gather_dim_source *sources) {
  const int32_t b = a->batch_dims;
  int32_t rank = 0;
  if (op->fused_batch && b > 0)
    sources[rank++] = (gather_dim_source){0, 0, b};
  else
    for (int32_t d = 0; d < b; d++) sources[rank++] = (gather_dim_source){d, d, 1};
  for (int32_t d = b; d < indices_rank - 1; d++) sources[rank++] = (gather_dim_source){-1, d, 1};
  for (int32_t d = b + a->tuple_len; d < data_rank; d++) sources[rank++] = (gather_dim_source){d, -1, 1};
  return rank;
}

/* The steps of the batch dimensions in the output; returns how many of its dimensions they are. */
static int32_t batch_steps(const gather_tensor *data, const int64_t *out, bool fused, int32_t batch_dims, int64_t *steps) {
  if (!fused || batch_dims == 0) {
    for (int32_t d = 0; d < batch_dims; d++) steps[d] = out[d];
    return batch_dims;
  }
  int64_t step = out[0];
  for (int32_t d = batch_dims - 1; d >= 0; d--) {
    steps[d] = step;
    /* Only the steps of an output without elements can be too large: they are not used. */
    if (!gather_mul(step, data->shape[d], &step)) step = 0;
  }
  return 1;
}

/* Empty tuples: every row is the same, and there is no number to read. The plan runs on one index 0 of its own, which plans of
 * shared indices look for. */
static void select_all(gather_plan *plan) {
  gather_plan_select(plan, 1, 0);
  plan->shared = true;
}

static void nest(gather_plan *plan, const gather_geometry *g, const gather_tensor *data, const gather_tensor *indices,
                 const gather_steps *s) {
  const int32_t b = g->at.batch_dims, k = g->at.tuple_len, last = indices->rank - 1;
  int64_t steps[GATHER_MAX_RANK];
  gather_loop *at = plan->loops;
  int32_t o = batch_steps(data, s->out, plan->op->fused_batch, b, steps);
  const int64_t *index = s->indices;
  for (int32_t d = 0; d < b; d++) at = gather_nest_loop(at, data->shape[d], s->data[d], k ? index[d] : 0, steps[d]);
  for (int32_t d = b; d < last; d++, o++) at = gather_nest_loop(at, indices->shape[d], 0, k ? index[d] : 0, s->out[o]);
  for (int32_t d = b + k; d < data->rank; d++, o++) at = gather_nest_loop(at, data->shape[d], s->data[d], 0, s->out[o]);
  gather_nest_finish(plan, at);
  if (k == 0)
    select_all(plan);
  else
    gather_plan_select_tuples(plan, k, index[last], data->shape + b, s->data + b);
}

const gather_family_rules gather_family_nd = {attributes, shape, infer, sources, gather_column_of_tuple, nest};
