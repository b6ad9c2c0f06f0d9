/* SPDX-License-Identifier: MIT
 *
 * family_stablehlo.c: StableHLO's gather: each tuple of indices places a window of data, by dimension numbers. A window that would
 * extend past the end of data is moved: along a dimension of length n, a window of length w has n - w + 1 places.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/op/family.h"
#include "core/op/stablehlo_numbers.h"
#include "core/plan/columns.h"

static gather_status attributes(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                const gather_options *options, bool definite, gather_attributes *found,
                                gather_error *error) {
  (void)op, (void)tuple_len, (void)definite; /* start_index_map has the length of the tuples */
  if (options->axis != 0 && options->axis != GATHER_AXIS_UNKNOWN)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis",
                             "the axis is %" PRId64 ", but StableHLO's gather has dimension numbers instead",
                             options->axis);
  if (options->batch_dims != 0)
    return gather_fail(error, GATHER_BATCH_DIMS_OUT_OF_RANGE,
                       "batch_dims is %" PRId64 ", but StableHLO's gather has dimension numbers instead",
                       options->batch_dims);
  GATHER_TRY(gather_stablehlo_numbers_read(options->numbers, data_rank, indices_rank, &found->numbers, error));
  found->batch_dims = 0, found->tuple_len = (int32_t)found->numbers.start_index_map_count;
  found->axis = found->tuple_len ? (int32_t)found->numbers.start_index_map[0] : 0;
  return GATHER_OK;
}

/* ---- shapes */

/* C3, C17 and C21. */
static gather_status check_lengths(const gather_dimension_numbers *n, const gather_tensor *data,
                                   const gather_tensor *indices, gather_error *error) {
  for (int32_t d = 0; d < data->rank; d++)
    if (n->slice_sizes[d] > data->shape[d])
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                               "slice_sizes[%" PRId32 "] is %" PRId64 ", but data has the length %" PRId64 " there", d,
                               n->slice_sizes[d], data->shape[d]);
  if (n->index_vector_dim < indices->rank && indices->shape[n->index_vector_dim] != n->start_index_map_count)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                             "dimension %" PRId64 " of indices, the numbers of a tuple, is %" PRId64
                             "; start_index_map has %" PRId64 " dimensions",
                             n->index_vector_dim, indices->shape[n->index_vector_dim], n->start_index_map_count);
  for (int64_t i = 0; i < n->operand_batching_dims_count; i++) {
    const int64_t of_data = n->operand_batching_dims[i], of_indices = n->start_indices_batching_dims[i];
    if (data->shape[of_data] != indices->shape[of_indices])
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                               "dimension %" PRId64 " of data is %" PRId64 ", and dimension %" PRId64
                               " of indices, its batching dimension, is %" PRId64,
                               of_data, data->shape[of_data], of_indices, indices->shape[of_indices]);
  }
  return GATHER_OK;
}

/* A window without elements along a dimension that the output lacks has no element for the output. */
static gather_status check_collapsed(const gather_dimension_numbers *n, const gather_geometry *g, gather_error *error) {
  for (int32_t o = 0; o < g->rank; o++)
    if (g->shape[o] == 0) return GATHER_OK;
  for (int64_t d = 0; d < n->slice_sizes_count; d++)
    if (n->slice_sizes[d] == 0 && gather_numbers_drop(n, (int32_t)d))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                               "slice_sizes[%" PRId64
                               "] is 0: the output, which lacks this dimension, needs an element "
                               "there",
                               d);
  return GATHER_OK;
}

static gather_status shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                           const gather_options *options, gather_geometry *g, gather_error *error) {
  GATHER_TRY(attributes(op, data->rank, indices->rank, -1, options, true, &g->at, error));
  const gather_dimension_numbers *n = &g->at.numbers;
  GATHER_TRY(check_lengths(n, data, indices, error));
  gather_numbers_walk at = {-1, -1};
  const int32_t rank = gather_numbers_rank(n, indices->rank);
  for (int32_t o = 0; o < rank; o++) {
    bool is_window;
    gather_numbers_next(n, o, &at, &is_window);
    GATHER_TRY(gather_shape_push(g, is_window ? n->slice_sizes[at.window] : indices->shape[at.batch], error));
  }
  if (n->index_vector_dim == indices->rank) g->tuple_dim = GATHER_TUPLE_DIM_NONE;
  if (n->index_vector_dim < indices->rank - 1) g->tuple_dim = (int32_t)n->index_vector_dim;
  GATHER_TRY(check_collapsed(n, g, error));
  return gather_tuples_room(rank, g->at.tuple_len, error);
}

/* ---- inferred shapes */

static gather_status infer_lengths(const gather_dimension_numbers *n, const gather_shape *data,
                                   const gather_shape *indices, gather_error *error) {
  for (int32_t d = 0; d < data->rank; d++)
    if (n->slice_sizes[d] > data->dims[d].max)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                               "slice_sizes[%" PRId32 "] is %" PRId64 ", but data has at most %" PRId64
                               " elements there",
                               d, n->slice_sizes[d], data->dims[d].max);
  if (n->index_vector_dim >= indices->rank) return GATHER_OK;
  const gather_dim *tuple = &indices->dims[n->index_vector_dim];
  if (n->start_index_map_count >= tuple->min && n->start_index_map_count <= tuple->max) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                           "dimension %" PRId64 " of indices cannot be %" PRId64 ", the length of start_index_map",
                           n->index_vector_dim, n->start_index_map_count);
}

/* The length of a dimension of indices, which may be paired with one of data. */
static gather_status infer_batch(const gather_dimension_numbers *n, const gather_shape *data,
                                 const gather_shape *indices, int32_t d, gather_dim *both, gather_error *error) {
  const int32_t paired = gather_numbers_paired(n, d);
  *both = indices->dims[d];
  if (paired < 0 || data->rank < 0 || gather_dims_meet(&indices->dims[d], &data->dims[paired], both)) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                           "dimension %" PRId32 " of indices and dimension %" PRId32
                           " of data, its batching dimension, cannot be equal",
                           d, paired);
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices,
                           const gather_attributes *a, gather_shape *out, gather_error *error) {
  (void)op;
  const gather_dimension_numbers *n = &a->numbers;
  gather_shape known = {.rank = 0};
  GATHER_TRY(infer_lengths(n, data, indices, error));
  if (indices->rank < 0) return GATHER_OK;
  gather_numbers_walk at = {-1, -1};
  const int32_t rank = gather_numbers_rank(n, indices->rank);
  for (int32_t o = 0; o < rank; o++) {
    bool is_window;
    gather_numbers_next(n, o, &at, &is_window);
    gather_dim dim = {0, 0, NULL};
    if (is_window)
      dim.min = dim.max = n->slice_sizes[at.window];
    else
      GATHER_TRY(infer_batch(n, data, indices, at.batch, &dim, error));
    GATHER_TRY(gather_infer_push(&known, &dim, error));
  }
  GATHER_TRY(gather_tuples_room(rank, a->tuple_len, error));
  *out = known;
  return GATHER_OK;
}

/* ---- sources and nest */

static int32_t sources(const gather_op *op, int32_t data_rank, int32_t indices_rank, const gather_attributes *a,
                       gather_dim_source *sources) {
  (void)op, (void)data_rank;
  const gather_dimension_numbers *n = &a->numbers;
  const int32_t rank = gather_numbers_rank(n, indices_rank);
  gather_numbers_walk at = {-1, -1};
  for (int32_t o = 0; o < rank; o++) {
    bool is_window;
    gather_numbers_next(n, o, &at, &is_window);
    sources[o] = is_window ? (gather_dim_source){at.window, -1, 1}
                           : (gather_dim_source){gather_numbers_paired(n, at.batch), at.batch, 1};
  }
  return rank;
}

static int32_t column(const gather_attributes *a, int32_t d) {
  return gather_numbers_find(a->numbers.start_index_map, a->numbers.start_index_map_count, d);
}

/* How many places a window has along a dimension. A window without elements has one more than the longest dimension: the last place
 * is then left out. */
static int64_t places_of(int64_t len, int64_t window) {
  const int64_t last = len - window; /* at least 0 (check_lengths) */
  return last < INT64_MAX ? last + 1 : last;
}

/* The numbers of a tuple select where the window begins. */
static void select_windows(gather_plan *plan, const gather_dimension_numbers *n, const gather_tensor *data,
                           const gather_tensor *indices, const gather_steps *s) {
  int64_t places[GATHER_MAX_RANK], steps[GATHER_MAX_RANK];
  const int32_t k = (int32_t)n->start_index_map_count;
  for (int32_t j = 0; j < k; j++) {
    const int64_t d = n->start_index_map[j];
    places[j] = places_of(data->shape[d], n->slice_sizes[d]), steps[j] = s->data[d];
  }
  if (k == 0) { /* as GatherND's empty tuples: an index 0 of the plan's own */
    gather_plan_select(plan, 1, 0);
    plan->shared = true;
    return;
  }
  const int64_t step = n->index_vector_dim < indices->rank ? s->indices[indices->rank - 1] : 0;
  gather_plan_select_tuples(plan, k, step, places, steps);
  plan->has_axes = true;
  for (int32_t j = 0; j < k; j++) plan->column_axes[j] = (int8_t)n->start_index_map[j];
}

/* indices: with the numbers of the tuples in the last dimension (lower.c). */
static void nest(gather_plan *plan, const gather_geometry *g, const gather_tensor *data, const gather_tensor *indices,
                 const gather_steps *s) {
  const gather_dimension_numbers *n = &g->at.numbers;
  const bool reads = n->start_index_map_count > 0;
  gather_numbers_walk at = {-1, -1};
  gather_loop *loop = plan->loops;
  for (int32_t o = 0; o < g->rank; o++) {
    bool is_window;
    gather_numbers_next(n, o, &at, &is_window);
    if (is_window) {
      loop = gather_nest_loop(loop, g->shape[o], s->data[at.window], 0, s->out[o]);
      continue;
    }
    const int32_t paired = gather_numbers_paired(n, at.batch);
    const int32_t d = at.batch > n->index_vector_dim ? at.batch - 1 : at.batch;
    loop = gather_nest_loop(loop, g->shape[o], paired < 0 ? 0 : s->data[paired], reads ? s->indices[d] : 0, s->out[o]);
  }
  gather_nest_finish(plan, loop);
  select_windows(plan, n, data, indices, s);
}

const gather_family_rules gather_family_stablehlo = {attributes, shape, infer, sources, column, nest};
