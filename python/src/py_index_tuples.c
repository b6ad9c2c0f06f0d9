/* SPDX-License-Identifier: MIT
 *
 * py_index_tuples.c: the tuples of a key's columns, as the engine's indices.
 */
#include "py_index_tuples.h"

#include <stdlib.h>
#include <string.h>

static gather_status no_memory(gather_error *error) {
  return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for the tuples of the key's arrays");
}

/* A tensor's bytes: [*low, *high), as numbers. */
static void find_span(const gather_tensor *tensor, uint64_t *low, uint64_t *high) {
  const gather_type_info *type = gather_type_get(tensor->type);
  const bool packed = type->packing != GATHER_PACKING_BYTES;
  *low = *high = (uint64_t)(uintptr_t)tensor->data;
  *high += type->kind == GATHER_KIND_OPAQUE ? (uint64_t)tensor->item_bytes : 16;
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] == 0) *high = *low;
    if (tensor->shape[d] == 0) return;
    const int64_t last = (tensor->shape[d] - 1) * tensor->strides[d] / (packed ? 2 : 1);
    if (last < 0)
      *low -= (uint64_t)-last;
    else
      *high += (uint64_t)last;
  }
}

/* Whether the output is in between: two arrays are always evenly spaced, with anything between them, and the engine would refuse an
 * output there. */
static bool is_apart(const gather_py_made *indices, const gather_py_view *out) {
  uint64_t low, high, out_low, out_high;
  gather_tensor written = out->tensor;
  written.strides = out->strides;
  find_span(&indices->tensor, &low, &high);
  find_span(&written, &out_low, &out_high);
  return high <= out_low || out_high <= low;
}

enum { HUGE_BYTES = 4 << 20 };

gather_status gather_py_tuples_make(gather_py_indexing *ix, const gather_py_view *out, gather_py_made *indices, gather_error *error) {
  int64_t step;
  gather_py_made_indices(indices, ix->columns);
  if (gather_py_columns_are_even(ix, &step)) {
    for (int32_t d = 0; d < ix->rank; d++) gather_py_made_push(indices, ix->shape[d], ix->columns[0].strides[d]);
    gather_py_made_push(indices, ix->column_count, step);
    if (is_apart(indices, out)) return GATHER_OK;
  }
  /* Neither product overflows: broadcasting checked it. */
  const uint64_t bytes = (uint64_t)ix->len * (uint64_t)ix->column_count * sizeof *ix->tuples;
  if (bytes > SIZE_MAX / 2) return no_memory(error);
  ix->tuples = malloc((size_t)bytes + 1);
  if (!ix->tuples) return no_memory(error);
  if (bytes >= HUGE_BYTES) (void)gather_advise_huge_pages(ix->tuples, (size_t)bytes); /* fewer page faults */
  for (int32_t i = 0; i < ix->column_count; i++) gather_py_column_copy(ix, &ix->columns[i], ix->tuples + i * ix->len);
  gather_py_made_start(indices, &indices->tensor, ix->tuples);
  indices->tensor.type = GATHER_TYPE_INT64, indices->tensor.flags = 0;
  int64_t strides[GATHER_MAX_RANK];
  gather_py_row_major(ix->rank, ix->shape, (int64_t)sizeof *ix->tuples, strides);
  for (int32_t d = 0; d < ix->rank; d++) gather_py_made_push(indices, ix->shape[d], strides[d]);
  gather_py_made_push(indices, ix->column_count, ix->len * (int64_t)sizeof *ix->tuples);
  return GATHER_OK;
}

void gather_py_tuples_read_again(const gather_py_indexing *ix, const gather_py_column *column, gather_error *error) {
  int64_t offset = 0;
  if (!ix->tuples || column->type != GATHER_TYPE_UINT64) return;
  for (int32_t d = 0; d < ix->rank; d++) offset += error->position[d] * column->strides[d];
  const char *at = column->numbers + offset;
  char bytes[sizeof(uint64_t)];
  for (size_t b = 0; b < sizeof bytes; b++) bytes[b] = at[column->swapped ? sizeof bytes - 1 - b : b];
  memcpy(&error->value, bytes, sizeof bytes);
  error->value_is_unsigned = true;
}
