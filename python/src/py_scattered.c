/* SPDX-License-Identifier: MIT
 *
 * py_scattered.c: the tensors of a scatter: read, and broadcast where the function does so.
 */
#include <string.h>

#include "py_scatter.h"

static const gather_py_scattering FUNCTIONS[] = {
    {"scatter", "scatter", {"ScatterUpdate"}, false},
    {"scatter_elements", "scatter_elements", {"ScatterElements", "Scatter", "ScatterElementsUpdate"}, false},
    {"scatter_nd", "scatter_nd", {"ScatterND", "ScatterNDUpdate"}, false},
    {"put_along_axis", "scatter_elements", {NULL}, true}};

const gather_py_scattering *gather_py_find_scattering(PyObject *name) {
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, FUNCTIONS[i].name) == 0) return &FUNCTIONS[i];
  PyErr_Format(PyExc_ValueError, "no such function: %R", name);
  return NULL;
}

/* Appends ", NAME". */
static void list_rules(const char *const *documents, char *known, size_t bytes) {
  for (int i = 0; documents[i]; i++)
    for (size_t n = 0; gather_op_at(n); n++) {
      const gather_op *row = gather_op_at(n);
      if (strcmp(row->name, documents[i]) != 0) continue;
      if (*known) strncat(known, ", ", bytes - strlen(known) - 1);
      strncat(known, row->rules, bytes - strlen(known) - 1);
    }
}

const gather_op *gather_py_scattering_op(const gather_py_scattering *function, PyObject *rules) {
  char known[200] = "";
  if (rules == Py_None) return gather_scatter_op(function->own);
  const char *text = PyUnicode_Check(rules) ? PyUnicode_AsUTF8AndSize(rules, NULL) : NULL;
  PyErr_Clear();
  for (int i = 0; text && function->documents[i]; i++) {
    const gather_op *found = gather_op_find(function->documents[i], text);
    if (found) return found;
  }
  list_rules(function->documents, known, sizeof known);
  PyErr_Format(PyExc_ValueError, "rules for %s are one of %s, not %R", function->name, known, rules);
  return NULL;
}

void gather_py_scattered_init(gather_py_scattered *tensors) {
  gather_py_view_init(&tensors->data);
  gather_py_view_init(&tensors->indices);
  gather_py_view_init(&tensors->updates);
  gather_py_view_init(&tensors->out);
}

void gather_py_scattered_clear(gather_py_scattered *tensors) {
  gather_py_view_clear(&tensors->data);
  gather_py_view_clear(&tensors->indices);
  gather_py_view_clear(&tensors->updates);
  gather_py_view_clear(&tensors->out);
}

static int read_updates(PyObject *updates, const gather_py_view *data, gather_py_view *view) {
  const int result = gather_py_read_input(updates, "updates", view);
  if (result < 0) return -1;
  gather_py_dtype have = gather_py_dtype_of(view), want = gather_py_dtype_of(data);
  if (result == 0 && gather_py_same_dtype(&have, &want)) return 0;
  gather_py_fail(GATHER_TYPE_MISMATCH, "updates", "updates have a different dtype than the data, or a mask: elements are never converted");
  return -1;
}

int gather_py_scattered_read(gather_py_scattered *tensors, PyObject *data, PyObject *indices, PyObject *updates) {
  const int result = gather_py_read_data(data, &tensors->data);
  if (result != 0) return result;
  if (!tensors->indices.tensor.shape && gather_py_read_indices(indices, &tensors->indices) < 0) return -1;
  return read_updates(updates, &tensors->data, &tensors->updates);
}

int gather_py_repeat(gather_py_view *view, int32_t rank, const int64_t *shape) {
  const int32_t more = rank - view->tensor.rank;
  int64_t strides[GATHER_MAX_RANK];
  if (more < 0) return -1;
  for (int32_t d = 0; d < rank; d++) {
    const bool one = d < more || view->shape[d - more] == 1;
    if (!one && view->shape[d - more] != shape[d]) return -1;
    strides[d] = one ? 0 : view->strides[d - more];
  }
  memcpy(view->shape, shape, (size_t)rank * sizeof *shape);
  memcpy(view->strides, strides, (size_t)rank * sizeof *strides);
  view->tensor.rank = rank;
  view->tensor.shape = view->shape;
  view->tensor.strides = view->strides;
  return 0;
}

/* The shape that indices broadcast to: that of data, but along the axis. -1 if ranks or the axis are wrong, which the engine reports. */
static int along_shape(const gather_py_scattered *t, int64_t axis, int64_t *shape) {
  const int64_t rank = t->data.tensor.rank;
  const int64_t on = axis < 0 ? axis + rank : axis;
  if (t->indices.tensor.rank != rank || on < 0 || on >= rank) return -1;
  for (int64_t d = 0; d < rank; d++) shape[d] = d == on ? t->indices.shape[d] : t->data.shape[d];
  return 0;
}

static int fail_broadcast(const char *what) {
  gather_py_fail(GATHER_SHAPE_MISMATCH, what, "%s do not broadcast to the shape of the data off the axis and of the indices along it",
                 what);
  return -1;
}

static int fit_along(gather_py_scattered *t, const gather_scatter_options *options) {
  int64_t shape[GATHER_MAX_RANK];
  if (along_shape(t, options->axis, shape) < 0) return 0;
  if (gather_py_repeat(&t->indices, t->data.tensor.rank, shape) < 0) return fail_broadcast("indices");
  return gather_py_repeat(&t->updates, t->data.tensor.rank, shape) < 0 ? fail_broadcast("updates") : 0;
}

int gather_py_scattered_fit(gather_py_scattered *t, const gather_py_scattering *function, const gather_op *op,
                            const gather_scatter_options *options) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error;
  if (function->along) return fit_along(t, options);
  if (t->updates.tensor.rank != 0) return 0;
  if (gather_scatter_updates_shape(op, &t->data.tensor, &t->indices.tensor, options, shape, &rank, &error) == GATHER_OK)
    return gather_py_repeat(&t->updates, rank, shape);
  gather_py_raise(&error);
  return -1;
}

int64_t gather_py_scattered_bytes(const gather_py_scattered *t) {
  return gather_tensor_bytes(&t->data.tensor) + gather_tensor_bytes(&t->indices.tensor) + gather_tensor_bytes(&t->updates.tensor);
}
