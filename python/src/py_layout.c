/* SPDX-License-Identifier: MIT
 *
 * py_layout.c: compares the memory layouts of tensors.
 */
#include "py_layout.h"

#include <string.h>

void gather_py_layout_read(gather_py_layout *layout, const gather_py_view *view) {
  layout->type = view->tensor.type;
  layout->rank = view->tensor.rank;
  layout->item_bytes = view->tensor.item_bytes;
  layout->swapped = view->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED;
  memcpy(layout->shape, view->shape, (size_t)layout->rank * sizeof *layout->shape);
  memcpy(layout->strides, view->strides, (size_t)layout->rank * sizeof *layout->strides);
}

/* The stride of a dimension of length 0 or 1 is never used. */
int gather_py_is_like(const gather_py_layout *layout, const gather_py_view *view) {
  const gather_tensor *tensor = &view->tensor;
  if (layout->type != tensor->type || layout->rank != tensor->rank ||
      (layout->type == GATHER_TYPE_OPAQUE && layout->item_bytes != tensor->item_bytes) ||
      layout->swapped != (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED))
    return 0;
  for (int32_t d = 0; d < layout->rank; d++) {
    if (layout->shape[d] != view->shape[d]) return 0;
    if (layout->shape[d] > 1 && layout->strides[d] != view->strides[d]) return 0;
  }
  return 1;
}

int gather_py_is_planned(int32_t rank, const int64_t *shape, const gather_py_view *out) {
  return out->tensor.rank == rank && memcmp(out->shape, shape, (size_t)rank * sizeof *shape) == 0 && gather_py_is_row_major(out);
}
