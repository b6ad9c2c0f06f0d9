/* SPDX-License-Identifier: MIT
 *
 * py_view.c: views of tensors: initialising, clearing, row-major strides, the shape as a tuple.
 */
#include <string.h>

#include "py_core.h"

void gather_py_view_init(gather_py_view *view) {
  memset(&view->tensor, 0, sizeof view->tensor);
  view->array = NULL;
  view->exchange = NULL;
  view->managed = NULL;
  view->managed_old = NULL;
}

/* A deleter may run Python code, which must not see the pending exception. */
static void give_back(gather_dl_versioned *managed, gather_dl_managed *managed_old) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (managed && managed->deleter) managed->deleter(managed);
  if (managed_old && managed_old->deleter) managed_old->deleter(managed_old);
  PyErr_Restore(type, value, trace);
}

void gather_py_view_clear(gather_py_view *view) {
  gather_dl_versioned *managed = view->managed;
  gather_dl_managed *managed_old = view->managed_old;
  view->managed = NULL;
  view->managed_old = NULL;
  if (managed || managed_old) give_back(managed, managed_old);
  Py_CLEAR(view->array);
}

/* The step from one element to the next, in the unit of strides: packed types count elements, others bytes. */
static int64_t unit(const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_get(tensor->type);
  if (type->packing != GATHER_PACKING_BYTES) return 1;
  return type->kind == GATHER_KIND_OPAQUE ? tensor->item_bytes : type->bits / 8;
}

static int64_t length_or_1(int64_t length) { return length > 0 ? length : 1; }

int gather_py_is_row_major(const gather_py_view *view) {
  int64_t step = unit(&view->tensor);
  for (int32_t d = 0; d < view->tensor.rank; d++)
    if (view->shape[d] == 0) return view->tensor.packed_offset == 0; /* NumPy's empty arrays may have strides of 0 */
  for (int32_t d = view->tensor.rank - 1; d >= 0; d--) {
    if (view->shape[d] > 1 && view->strides[d] != step) return 0;
    step *= length_or_1(view->shape[d]);
  }
  return view->tensor.packed_offset == 0;
}

void gather_py_row_major(int32_t rank, const int64_t *shape, int64_t step, int64_t *strides) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    strides[d] = step;
    step *= length_or_1(shape[d]);
  }
}

void gather_py_view_settle(gather_py_view *view) {
  view->tensor.shape = view->shape;
  if (!view->tensor.strides) gather_py_row_major(view->tensor.rank, view->shape, unit(&view->tensor), view->strides);
  view->tensor.strides = gather_py_is_row_major(view) ? NULL : view->strides;
}

PyObject *gather_py_tuple(int32_t count, const int64_t *numbers) {
  PyObject *tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; i++) {
    PyObject *number = PyLong_FromLongLong(numbers[i]);
    if (!number || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
  }
  return tuple;
}
