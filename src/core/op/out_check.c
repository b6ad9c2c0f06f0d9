/* SPDX-License-Identifier: MIT
 *
 * out_check.c: whether a tensor can be the output of a gather.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/op/op.h"

bool gather_order_matters(const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_row(tensor->type);
  return type->bits > 8 && type->kind != GATHER_KIND_STRING;
}

gather_status gather_output_check_type(const gather_tensor *data, const char *name, const gather_tensor *out,
                                       gather_error *error) {
  if (out->type != data->type)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "output", "the output is %s, %s is %s",
                             gather_type_get(out->type)->name, name, gather_type_get(data->type)->name);
  if (data->type == GATHER_TYPE_OPAQUE && out->item_bytes != data->item_bytes)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "output",
                             "the output has elements of %" PRId64 " bytes, %s of %" PRId64, out->item_bytes, name,
                             data->item_bytes);
  if (gather_order_matters(data) && ((out->flags ^ data->flags) & GATHER_TENSOR_BYTE_SWAPPED))
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "output", "the output and %s have different byte orders",
                             name);
  if (out->flags & GATHER_TENSOR_READ_ONLY)
    return gather_fail_input(error, GATHER_USAGE, "output", "the output is read-only");
  return GATHER_OK;
}

static int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

typedef struct {
  int64_t step, len;
} stride_of;

/* Keeps dims[0 .. count] sorted by step. Not qsort, which may use the heap. */
static void insert(stride_of *dims, int32_t count, int64_t step, int64_t len) {
  int32_t i = count;
  for (; i > 0 && dims[i - 1].step > step; i--) dims[i] = dims[i - 1];
  dims[i].step = step, dims[i].len = len;
}

/* Elements do not overlap if each step is at least the span of the finer dimensions. */
static bool overlaps_itself(const gather_tensor *out) {
  stride_of dims[GATHER_MAX_RANK];
  int32_t count = 0;
  if (!out->strides || gather_tensor_bytes(out) == 0) return false;
  for (int32_t d = 0; d < out->rank; d++)
    if (out->shape[d] > 1) insert(dims, count++, magnitude(out->strides[d]), out->shape[d]);
  int64_t span = gather_type_is_packed(gather_type_row(out->type)) ? 1 : gather_tensor_item_bytes(out);
  for (int32_t i = 0; i < count; i++) {
    if (dims[i].step < span) return true;
    span += dims[i].step * (dims[i].len - 1);
  }
  return false;
}

gather_status gather_output_check_strides(const gather_tensor *out, gather_error *error) {
  if (overlaps_itself(out))
    return gather_fail_input(error, GATHER_USAGE, "output", "the output's strides make its elements overlap");
  return GATHER_OK;
}
