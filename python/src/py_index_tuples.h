/* SPDX-License-Identifier: MIT
 *
 * py_index_tuples.h: tensors that libgather.index makes for the engine, and the tuples of a key's columns among them.
 */
#ifndef GATHER_PY_INDEX_TUPLES_H
#define GATHER_PY_INDEX_TUPLES_H

#include "py_index.h"

/* A tensor whose dimensions are appended. */
typedef struct gather_py_made {
  gather_tensor tensor;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
} gather_py_made;

static inline void gather_py_made_start(gather_py_made *made, const gather_tensor *like, void *data) {
  made->tensor = *like;
  made->tensor.data = data;
  made->tensor.rank = 0;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
}

static inline void gather_py_made_push(gather_py_made *made, int64_t len, int64_t step) {
  made->shape[made->tensor.rank] = len;
  made->strides[made->tensor.rank++] = step;
}

/* The numbers of the only column. */
static inline void gather_py_made_indices(gather_py_made *made, const gather_py_column *column) {
  static const gather_tensor none;
  gather_py_made_start(made, &none, (void *)(uintptr_t)column->numbers);
  made->tensor.type = column->type;
  made->tensor.flags = column->swapped ? GATHER_TENSOR_BYTE_SWAPPED : 0;
}

/* The tuples of the columns: in memory as they are, unless the output lies between them; or copied, column after column. */
gather_status gather_py_tuples_make(gather_py_indexing *indexing, const gather_py_view *out, gather_py_made *indices, gather_error *error);
/* The number at the error's position: tuples were widened to int64. */
void gather_py_tuples_read_again(const gather_py_indexing *indexing, const gather_py_column *column, gather_error *error);

#endif
