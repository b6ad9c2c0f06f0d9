/* SPDX-License-Identifier: MIT
 *
 * window_numbers.c: what the dimension numbers of StableHLO's scatter say of its windows: their lengths, which the updates have, and which
 * dimension of what each dimension of data follows.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/scatter/scatter_plan.h"

static int32_t position_in(const int64_t *list, int64_t count, int64_t dim) {
  for (int64_t i = 0; list && i < count; i++)
    if (list[i] == dim) return (int32_t)i;
  return -1;
}

/* Lists that do not fit the ranks are left to the family's checks. */
gather_status gather_windows_measure(const gather_dimension_numbers *given, const gather_tensor *data, const gather_tensor *updates,
                                     gather_window_sizes *w, gather_error *error) {
  gather_dimension_numbers *n = &w->numbers;
  *n = (gather_dimension_numbers)GATHER_DIMENSION_NUMBERS_INIT;
  GATHER_TRY(gather_struct_read(n, sizeof *n, given, "gather_dimension_numbers", "GATHER_DIMENSION_NUMBERS_INIT", error));
  int64_t window = 0;
  for (int32_t d = 0; d < data->rank; d++) {
    const bool dropped = position_in(n->collapsed_slice_dims, n->collapsed_slice_dims_count, d) >= 0 ||
                         position_in(n->operand_batching_dims, n->operand_batching_dims_count, d) >= 0;
    w->slice_sizes[d] = 1;
    if (dropped || window >= n->offset_dims_count || !n->offset_dims) continue;
    const int64_t from = n->offset_dims[window++];
    if (from < 0 || from >= updates->rank) continue;
    w->slice_sizes[d] = updates->shape[from];
    if (updates->shape[from] > data->shape[d])
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "updates",
                               "dimension %" PRId64 " of the updates, that of windows along dimension %" PRId32 " of data, is %" PRId64
                               "; data has the length %" PRId64 " there",
                               from, d, updates->shape[from], data->shape[d]);
  }
  n->slice_sizes = w->slice_sizes, n->slice_sizes_count = data->rank;
  return GATHER_OK;
}

/* Of a dimension of indices its number without the dimension of the tuples, which the nest has last. */
static int8_t without_tuples(const gather_dimension_numbers *n, int64_t d) { return (int8_t)(d > n->index_vector_dim ? d - 1 : d); }

void gather_windows_set(gather_windows *w, const gather_dimension_numbers *n, const gather_tensor *data, const gather_tensor *updates) {
  w->partial = true;
  for (int32_t d = 0; d < data->rank; d++) {
    const int32_t batch = position_in(n->operand_batching_dims, n->operand_batching_dims_count, d);
    w->window[d] = -1;
    w->number[d] = (int8_t)position_in(n->start_index_map, n->start_index_map_count, d);
    w->paired[d] = batch < 0 ? -1 : without_tuples(n, n->start_indices_batching_dims[batch]);
  }
  int64_t batch = -1;
  int32_t d = -1;
  for (int32_t o = 0; o < updates->rank; o++) {
    w->from[o] = -1;
    if (position_in(n->offset_dims, n->offset_dims_count, o) >= 0) {
      do d++;
      while (position_in(n->collapsed_slice_dims, n->collapsed_slice_dims_count, d) >= 0 || w->paired[d] >= 0);
      w->window[d] = (int8_t)o;
    } else {
      if (++batch == n->index_vector_dim) batch++;
      w->from[o] = without_tuples(n, batch);
    }
  }
  gather_tensor_strides(updates, w->updates_strides);
  w->updates_offset = updates->packed_offset;
}
