/* SPDX-License-Identifier: MIT
 *
 * family_stablehlo.c: StableHLO's gather: each tuple of indices places a window of data, by dimension numbers. A window that would extend
 * past the end of data is moved: along a dimension of length n, a window of length w has n - w + 1 places.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/op/family.h"
#include "core/plan/plan_indices.h"

/* ---- dimension numbers: their constraints, and what each dimension of the output is */

/* The position of a dimension in a list; -1. */
static int32_t position_in(const int64_t *list, int64_t count, int64_t dim) {
  for (int64_t i = 0; i < count; i++)
    if (list[i] == dim) return (int32_t)i;
  return -1;
}

/* The rank of the output. */
static int32_t rank_of(const gather_dimension_numbers *n, int32_t indices_rank) {
  return (int32_t)n->offset_dims_count + indices_rank - (n->index_vector_dim < indices_rank);
}

/* ---- constraints */

#define LIST(n, name) (n)->name, (n)->name##_count, #name

static gather_status check_list(const int64_t *list, int64_t count, const char *name, gather_error *error) {
  if (count < 0 || count > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_USAGE, "%s has %" PRId64 " dimensions; at most %d are supported", name, count, GATHER_MAX_RANK);
  if (count > 0 && !list) return gather_fail(error, GATHER_USAGE, "%s is NULL", name);
  return GATHER_OK;
}

static gather_status check_lists(const gather_dimension_numbers *n, gather_error *error) {
  GATHER_TRY(check_list(LIST(n, offset_dims), error));
  GATHER_TRY(check_list(LIST(n, collapsed_slice_dims), error));
  GATHER_TRY(check_list(LIST(n, operand_batching_dims), error));
  GATHER_TRY(check_list(LIST(n, start_indices_batching_dims), error));
  GATHER_TRY(check_list(LIST(n, start_index_map), error));
  return check_list(LIST(n, slice_sizes), error);
}

/* Each dimension is in [0, rank) and occurs once; of: "data". */
static gather_status check_dims(const int64_t *list, int64_t count, const char *name, bool sorted, int64_t rank, const char *of,
                                gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    if (list[i] < 0 || list[i] >= rank)
      return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE, "%s[%" PRId64 "] = %" PRId64 " is outside [0, %" PRId64 "], the dimensions of %s",
                         name, i, list[i], rank - 1, of);
    if (position_in(list, i, list[i]) >= 0)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "dimension %" PRId64 " is given twice in %s", list[i], name);
    if (sorted && i > 0 && list[i] < list[i - 1])
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "%s must be in ascending order, but %" PRId64 " follows %" PRId64, name, list[i],
                         list[i - 1]);
  }
  return GATHER_OK;
}

/* No dimension is in both lists. */
static gather_status check_apart(const int64_t *a, int64_t a_count, const char *a_name, const int64_t *b, int64_t b_count,
                                 const char *b_name, gather_error *error) {
  for (int64_t i = 0; i < a_count; i++)
    if (position_in(b, b_count, a[i]) >= 0)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "dimension %" PRId64 " of data is in both %s and %s", a[i], a_name, b_name);
  return GATHER_OK;
}

/* The window has at most one element along dimensions that the output lacks. */
static gather_status check_thin(const gather_dimension_numbers *n, const int64_t *list, int64_t count, const char *name,
                                gather_error *error) {
  for (int64_t i = 0; i < count; i++)
    if (n->slice_sizes[list[i]] > 1)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "slice_sizes[%" PRId64 "] is %" PRId64 "; it is at most 1 for a dimension of %s",
                         list[i], n->slice_sizes[list[i]], name);
  return GATHER_OK;
}

/* Of data: its rank is the number of slice_sizes (C1, C6 to C12, C18 to C20). */
static gather_status check_data(const gather_dimension_numbers *n, int32_t data_rank, gather_error *error) {
  const int64_t rank = n->slice_sizes_count;
  if (data_rank >= 0 && data_rank != rank)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "data has rank %" PRId32 ", but slice_sizes has %" PRId64 " lengths",
                             data_rank, rank);
  const int64_t all = n->offset_dims_count + n->collapsed_slice_dims_count + n->operand_batching_dims_count;
  if (all != rank)
    return gather_fail_input(
        error, GATHER_RANK_MISMATCH, "data",
        "offset_dims, collapsed_slice_dims and operand_batching_dims have %" PRId64 " dimensions together, data has %" PRId64, all, rank);
  GATHER_TRY(check_dims(LIST(n, collapsed_slice_dims), true, rank, "data", error));
  GATHER_TRY(check_dims(LIST(n, operand_batching_dims), true, rank, "data", error));
  GATHER_TRY(check_dims(LIST(n, start_index_map), false, rank, "data", error));
  GATHER_TRY(check_apart(LIST(n, collapsed_slice_dims), LIST(n, operand_batching_dims), error));
  GATHER_TRY(check_apart(LIST(n, start_index_map), LIST(n, operand_batching_dims), error));
  for (int64_t d = 0; d < rank; d++)
    if (n->slice_sizes[d] < 0)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "slice_sizes[%" PRId64 "] is %" PRId64 ", which is negative", d, n->slice_sizes[d]);
  GATHER_TRY(check_thin(n, LIST(n, collapsed_slice_dims), error));
  return check_thin(n, LIST(n, operand_batching_dims), error);
}

/* Of indices (C2, C13 to C16) and of the output (C4, C5). */
static gather_status check_indices(const gather_dimension_numbers *n, int32_t indices_rank, gather_error *error) {
  if (n->operand_batching_dims_count != n->start_indices_batching_dims_count)
    return gather_fail(error, GATHER_SHAPE_MISMATCH,
                       "operand_batching_dims has %" PRId64 " dimensions, start_indices_batching_dims %" PRId64,
                       n->operand_batching_dims_count, n->start_indices_batching_dims_count);
  const int64_t rank = indices_rank < 0 ? GATHER_MAX_RANK : indices_rank;
  if (n->index_vector_dim < 0 || n->index_vector_dim > rank)
    return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE, "index_vector_dim %" PRId64 " is outside [0, %" PRId64 "], the rank of indices",
                       n->index_vector_dim, rank);
  GATHER_TRY(check_dims(LIST(n, start_indices_batching_dims), false, rank, "indices", error));
  if (position_in(n->start_indices_batching_dims, n->start_indices_batching_dims_count, n->index_vector_dim) >= 0)
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "index_vector_dim %" PRId64 " is in start_indices_batching_dims", n->index_vector_dim);
  if (indices_rank == n->index_vector_dim && n->start_index_map_count != 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                             "index_vector_dim is the rank of indices, so that each number is a tuple, but "
                             "start_index_map has %" PRId64 " dimensions, not 1",
                             n->start_index_map_count);
  const int32_t out_rank = indices_rank < 0 ? GATHER_MAX_RANK : rank_of(n, indices_rank);
  return check_dims(LIST(n, offset_dims), true, out_rank, "the output", error);
}

/* Checks what the dimension numbers say among themselves and of ranks (C1, C2, C4 to C16, C18 to C20); a rank of -1 is unknown.
 * full: receives them with every field. */
static gather_status read_numbers(const gather_dimension_numbers *numbers, int32_t data_rank, int32_t indices_rank,
                                  gather_dimension_numbers *full, gather_error *error) {
  static const gather_dimension_numbers INIT = GATHER_DIMENSION_NUMBERS_INIT;
  if (!numbers) return gather_fail(error, GATHER_USAGE, "options.numbers is NULL: this operator needs its dimension numbers");
  *full = INIT;
  GATHER_TRY(gather_struct_read(full, sizeof *full, numbers, "gather_dimension_numbers", "GATHER_DIMENSION_NUMBERS_INIT", error));
  GATHER_TRY(check_lists(full, error));
  GATHER_TRY(check_data(full, data_rank, error));
  return check_indices(full, indices_rank, error);
}

/* ---- dimensions */

/* Whether the output lacks a dimension of data: it is collapsed, or follows the indices. */
static bool is_dropped(const gather_dimension_numbers *n, int32_t d) {
  return position_in(n->collapsed_slice_dims, n->collapsed_slice_dims_count, d) >= 0 ||
         position_in(n->operand_batching_dims, n->operand_batching_dims_count, d) >= 0;
}

/* For dimension o of the output, in order: `window`, the dimension of data it runs along, or `batch`, that of indices; the other
 * is -1. Starts as {-1, -1}. */
typedef struct numbers_walk {
  int32_t window, batch;
} numbers_walk;

static void next_dimension(const gather_dimension_numbers *n, int32_t o, numbers_walk *last, bool *is_window) {
  *is_window = position_in(n->offset_dims, n->offset_dims_count, o) >= 0;
  if (*is_window) {
    last->window++;
    while (is_dropped(n, last->window)) last->window++;
  } else {
    last->batch++;
    if (last->batch == n->index_vector_dim) last->batch++;
  }
}

/* The dimension of data that is paired with a dimension of indices; -1. */
static int32_t paired_with(const gather_dimension_numbers *n, int32_t d) {
  const int32_t i = position_in(n->start_indices_batching_dims, n->start_indices_batching_dims_count, d);
  return i < 0 ? -1 : (int32_t)n->operand_batching_dims[i];
}

/* ---- the family */

static gather_status attributes(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                const gather_options *options, bool definite, gather_attributes *found, gather_error *error) {
  (void)op, (void)tuple_len, (void)definite; /* start_index_map has the length of the tuples */
  if (options->axis != 0 && options->axis != GATHER_AXIS_UNKNOWN)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis",
                             "the axis is %" PRId64 ", but StableHLO's gather has dimension numbers instead", options->axis);
  if (options->batch_dims != 0)
    return gather_fail(error, GATHER_BATCH_DIMS_OUT_OF_RANGE,
                       "batch_dims is %" PRId64 ", but StableHLO's gather has dimension numbers instead", options->batch_dims);
  GATHER_TRY(read_numbers(options->numbers, data_rank, indices_rank, &found->numbers, error));
  found->batch_dims = 0, found->tuple_len = (int32_t)found->numbers.start_index_map_count;
  found->axis = found->tuple_len ? (int32_t)found->numbers.start_index_map[0] : 0;
  return GATHER_OK;
}

/* ---- shapes */

/* C3, C17 and C21. A scatter only compares lengths that its updates have: along the dimensions that they lack a window has one element,
 * of which none is inside data without elements there. */
static gather_status check_lengths(const gather_geometry *g, const gather_tensor *data, const gather_tensor *indices, gather_error *error) {
  const gather_dimension_numbers *n = &g->at.numbers;
  for (int32_t d = 0; d < data->rank; d++)
    if (n->slice_sizes[d] > data->shape[d] && !(g->writes && is_dropped(n, d)))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                               "slice_sizes[%" PRId32 "] is %" PRId64 ", but this dimension of data has length %" PRId64, d,
                               n->slice_sizes[d], data->shape[d]);
  if (n->index_vector_dim < indices->rank && indices->shape[n->index_vector_dim] != n->start_index_map_count)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                             "dimension %" PRId64 " of indices, the numbers of a tuple, is %" PRId64 "; start_index_map has %" PRId64
                             " dimensions",
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
    if (n->slice_sizes[d] == 0 && is_dropped(n, (int32_t)d))
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                               "slice_sizes[%" PRId64
                               "] is 0: the output, which lacks this dimension, needs an element "
                               "there",
                               d);
  return GATHER_OK;
}

static gather_status shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                           gather_geometry *g, gather_error *error) {
  GATHER_TRY(attributes(op, data->rank, indices->rank, -1, options, true, &g->at, error));
  const gather_dimension_numbers *n = &g->at.numbers;
  GATHER_TRY(check_lengths(g, data, indices, error));
  numbers_walk at = {-1, -1};
  const int32_t rank = rank_of(n, indices->rank);
  for (int32_t o = 0; o < rank; o++) {
    bool is_window;
    next_dimension(n, o, &at, &is_window);
    GATHER_TRY(gather_shape_push(g, is_window ? n->slice_sizes[at.window] : indices->shape[at.batch], error));
  }
  if (n->index_vector_dim == indices->rank) g->tuple_dim = GATHER_TUPLE_DIM_NONE;
  if (n->index_vector_dim < indices->rank - 1) g->tuple_dim = (int32_t)n->index_vector_dim;
  GATHER_TRY(check_collapsed(n, g, error));
  return gather_tuples_room(rank, g->at.tuple_len, error);
}

/* ---- inferred shapes */

static gather_status infer_lengths(const gather_dimension_numbers *n, const gather_shape *data, const gather_shape *indices,
                                   gather_error *error) {
  for (int32_t d = 0; d < data->rank; d++)
    if (n->slice_sizes[d] > data->dims[d].max)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                               "slice_sizes[%" PRId32 "] is %" PRId64 ", but this dimension of data has at most %" PRId64 " elements", d,
                               n->slice_sizes[d], data->dims[d].max);
  if (n->index_vector_dim >= indices->rank) return GATHER_OK;
  const gather_dim *tuple = &indices->dims[n->index_vector_dim];
  if (n->start_index_map_count >= tuple->min && n->start_index_map_count <= tuple->max) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                           "dimension %" PRId64 " of indices cannot be %" PRId64 ", the length of start_index_map", n->index_vector_dim,
                           n->start_index_map_count);
}

/* The length of a dimension of indices, which may be paired with one of data. */
static gather_status infer_batch(const gather_dimension_numbers *n, const gather_shape *data, const gather_shape *indices, int32_t d,
                                 gather_dim *both, gather_error *error) {
  const int32_t paired = paired_with(n, d);
  *both = indices->dims[d];
  if (paired < 0 || data->rank < 0 || gather_dims_meet(&indices->dims[d], &data->dims[paired], both)) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                           "dimension %" PRId32 " of indices and dimension %" PRId32 " of data, its batching dimension, cannot be equal", d,
                           paired);
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_attributes *a,
                           gather_shape *out, gather_error *error) {
  (void)op;
  const gather_dimension_numbers *n = &a->numbers;
  gather_shape known = {.rank = 0};
  GATHER_TRY(infer_lengths(n, data, indices, error));
  if (indices->rank < 0) return GATHER_OK;
  numbers_walk at = {-1, -1};
  const int32_t rank = rank_of(n, indices->rank);
  for (int32_t o = 0; o < rank; o++) {
    bool is_window;
    next_dimension(n, o, &at, &is_window);
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
  const int32_t rank = rank_of(n, indices_rank);
  numbers_walk at = {-1, -1};
  for (int32_t o = 0; o < rank; o++) {
    bool is_window;
    next_dimension(n, o, &at, &is_window);
    sources[o] = is_window ? (gather_dim_source){at.window, -1, 1} : (gather_dim_source){paired_with(n, at.batch), at.batch, 1};
  }
  return rank;
}

static int32_t column(const gather_attributes *a, int32_t d) {
  return position_in(a->numbers.start_index_map, a->numbers.start_index_map_count, d);
}

/* How many places a window has along a dimension. A window without elements has one more than the longest dimension: the last place
 * is then left out. */
static int64_t places_of(int64_t len, int64_t window) {
  const int64_t last = len - window; /* at least 0, or -1 (check_lengths): then there is none */
  return last < INT64_MAX ? last + 1 : last;
}

/* The numbers of a tuple select where the window begins. */
static void select_windows(gather_plan *plan, const gather_dimension_numbers *n, const gather_tensor *data, const gather_tensor *indices,
                           const gather_steps *s) {
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
  numbers_walk at = {-1, -1};
  gather_loop *loop = plan->loops;
  for (int32_t o = 0; o < g->rank; o++) {
    bool is_window;
    next_dimension(n, o, &at, &is_window);
    if (is_window) {
      loop = gather_nest_loop(loop, g->shape[o], s->data[at.window], 0, s->out[o]);
      continue;
    }
    const int32_t paired = paired_with(n, at.batch);
    const int32_t d = at.batch > n->index_vector_dim ? at.batch - 1 : at.batch;
    loop = gather_nest_loop(loop, g->shape[o], paired < 0 ? 0 : s->data[paired], reads ? s->indices[d] : 0, s->out[o]);
  }
  gather_nest_finish(plan, loop);
  select_windows(plan, n, data, indices, s);
}

const gather_family_rules gather_family_stablehlo = {attributes, shape, infer, sources, column, nest};
