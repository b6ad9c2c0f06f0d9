/* SPDX-License-Identifier: MIT
 *
 * stablehlo_numbers.c: the dimension numbers of StableHLO's gather: their constraints, and what each dimension of the output is.
 */
#include "core/op/stablehlo_numbers.h"

#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/struct.h"

int32_t gather_numbers_find(const int64_t *list, int64_t count, int64_t dim) {
  for (int64_t i = 0; i < count; i++)
    if (list[i] == dim) return (int32_t)i;
  return -1;
}

/* ---- constraints */

#define LIST(n, name) (n)->name, (n)->name##_count, #name

static gather_status check_list(const int64_t *list, int64_t count, const char *name, gather_error *error) {
  if (count < 0 || count > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_USAGE, "%s has %" PRId64 " dimensions; at most %d are supported", name, count,
                       GATHER_MAX_RANK);
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
static gather_status check_dims(const int64_t *list, int64_t count, const char *name, bool sorted, int64_t rank,
                                const char *of, gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    if (list[i] < 0 || list[i] >= rank)
      return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE,
                         "%s[%" PRId64 "] = %" PRId64 " is outside [0, %" PRId64 "], the dimensions of %s", name, i,
                         list[i], rank - 1, of);
    if (gather_numbers_find(list, i, list[i]) >= 0)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "%s has dimension %" PRId64 " twice", name, list[i]);
    if (sorted && i > 0 && list[i] < list[i - 1])
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "%s must be in ascending order, but %" PRId64 " follows %" PRId64, name, list[i], list[i - 1]);
  }
  return GATHER_OK;
}

/* No dimension is in both lists. */
static gather_status check_apart(const int64_t *a, int64_t a_count, const char *a_name, const int64_t *b,
                                 int64_t b_count, const char *b_name, gather_error *error) {
  for (int64_t i = 0; i < a_count; i++)
    if (gather_numbers_find(b, b_count, a[i]) >= 0)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "dimension %" PRId64 " of data is in both %s and %s", a[i],
                         a_name, b_name);
  return GATHER_OK;
}

/* The window has at most one element along dimensions that the output lacks. */
static gather_status check_thin(const gather_dimension_numbers *n, const int64_t *list, int64_t count, const char *name,
                                gather_error *error) {
  for (int64_t i = 0; i < count; i++)
    if (n->slice_sizes[list[i]] > 1)
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "slice_sizes[%" PRId64 "] is %" PRId64 "; it is at most 1 for a dimension of %s", list[i],
                         n->slice_sizes[list[i]], name);
  return GATHER_OK;
}

/* Of data: its rank is the number of slice_sizes (C1, C6 to C12, C18 to C20). */
static gather_status check_data(const gather_dimension_numbers *n, int32_t data_rank, gather_error *error) {
  const int64_t rank = n->slice_sizes_count;
  if (data_rank >= 0 && data_rank != rank)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "data",
                             "data has rank %" PRId32 ", but slice_sizes has %" PRId64 " lengths", data_rank, rank);
  const int64_t all = n->offset_dims_count + n->collapsed_slice_dims_count + n->operand_batching_dims_count;
  if (all != rank)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "data",
                             "offset_dims, collapsed_slice_dims and operand_batching_dims have %" PRId64
                             " dimensions together, data has %" PRId64,
                             all, rank);
  GATHER_TRY(check_dims(LIST(n, collapsed_slice_dims), true, rank, "data", error));
  GATHER_TRY(check_dims(LIST(n, operand_batching_dims), true, rank, "data", error));
  GATHER_TRY(check_dims(LIST(n, start_index_map), false, rank, "data", error));
  GATHER_TRY(check_apart(LIST(n, collapsed_slice_dims), LIST(n, operand_batching_dims), error));
  GATHER_TRY(check_apart(LIST(n, start_index_map), LIST(n, operand_batching_dims), error));
  for (int64_t d = 0; d < rank; d++)
    if (n->slice_sizes[d] < 0)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "slice_sizes[%" PRId64 "] is %" PRId64, d, n->slice_sizes[d]);
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
    return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE,
                       "index_vector_dim %" PRId64 " is outside [0, %" PRId64 "], the rank of indices",
                       n->index_vector_dim, rank);
  GATHER_TRY(check_dims(LIST(n, start_indices_batching_dims), false, rank, "indices", error));
  if (gather_numbers_find(n->start_indices_batching_dims, n->start_indices_batching_dims_count, n->index_vector_dim) >=
      0)
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "index_vector_dim %" PRId64 " is in start_indices_batching_dims",
                       n->index_vector_dim);
  if (indices_rank == n->index_vector_dim && n->start_index_map_count != 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "indices",
                             "index_vector_dim is the rank of indices, so that each number is a tuple, but "
                             "start_index_map has %" PRId64 " dimensions, not 1",
                             n->start_index_map_count);
  const int32_t out_rank = indices_rank < 0 ? GATHER_MAX_RANK : gather_numbers_rank(n, indices_rank);
  return check_dims(LIST(n, offset_dims), true, out_rank, "the output", error);
}

gather_status gather_stablehlo_numbers_read(const gather_dimension_numbers *numbers, int32_t data_rank,
                                            int32_t indices_rank, gather_dimension_numbers *full, gather_error *error) {
  static const gather_dimension_numbers INIT = GATHER_DIMENSION_NUMBERS_INIT;
  if (!numbers)
    return gather_fail(error, GATHER_USAGE, "options.numbers is NULL: this operator needs its dimension numbers");
  *full = INIT;
  GATHER_TRY(gather_struct_read(full, sizeof *full, numbers, "gather_dimension_numbers",
                                "GATHER_DIMENSION_NUMBERS_INIT", error));
  GATHER_TRY(check_lists(full, error));
  GATHER_TRY(check_data(full, data_rank, error));
  return check_indices(full, indices_rank, error);
}

/* ---- dimensions */

bool gather_numbers_drop(const gather_dimension_numbers *n, int32_t d) {
  return gather_numbers_find(n->collapsed_slice_dims, n->collapsed_slice_dims_count, d) >= 0 ||
         gather_numbers_find(n->operand_batching_dims, n->operand_batching_dims_count, d) >= 0;
}

int32_t gather_numbers_rank(const gather_dimension_numbers *n, int32_t indices_rank) {
  return (int32_t)n->offset_dims_count + indices_rank - (n->index_vector_dim < indices_rank);
}

void gather_numbers_next(const gather_dimension_numbers *n, int32_t o, gather_numbers_walk *last, bool *is_window) {
  *is_window = gather_numbers_find(n->offset_dims, n->offset_dims_count, o) >= 0;
  if (*is_window) {
    last->window++;
    while (gather_numbers_drop(n, last->window)) last->window++;
  } else {
    last->batch++;
    if (last->batch == n->index_vector_dim) last->batch++;
  }
}

int32_t gather_numbers_paired(const gather_dimension_numbers *n, int32_t d) {
  const int32_t i = gather_numbers_find(n->start_indices_batching_dims, n->start_indices_batching_dims_count, d);
  return i < 0 ? -1 : (int32_t)n->operand_batching_dims[i];
}
