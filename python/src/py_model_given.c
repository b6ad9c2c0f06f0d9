/* SPDX-License-Identifier: MIT
 *
 * py_model_given.c: tensors by name, from Python to the library.
 */
#include <string.h>

#include "py_model.h"

enum { MEMBERS = 4 };

static int read_shape(PyObject *tuple, gather_py_view *view) {
  Py_ssize_t rank = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (rank < 0 || rank > GATHER_MAX_RANK) {
    gather_py_fail(GATHER_RANK_MISMATCH, NULL, "a tensor has at most %d dimensions", GATHER_MAX_RANK);
    return -1;
  }
  view->tensor.rank = (int32_t)rank;
  view->tensor.shape = view->shape;
  for (Py_ssize_t d = 0; d < rank; d++) {
    view->shape[d] = PyLong_AsLongLong(PyTuple_GetItem(tuple, d));
    if (view->shape[d] < 0) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a length is negative");
      return -1;
    }
  }
  return 0;
}

/* The shape and the value must have the same number of elements. */
static int check_size(const gather_py_view *view, int64_t have, int64_t need) {
  gather_error error;
  if (gather_tensor_check(&view->tensor, &error) != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  if (have >= need) return 0;
  PyErr_SetString(PyExc_ValueError, "the value has fewer elements than the shape");
  return -1;
}

static int read_strings(PyObject *list, gather_py_view *view, gather_string **strings) {
  Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
  if (count < 0) {
    PyErr_SetString(PyExc_TypeError, "strings must be a list of bytes");
    return -1;
  }
  *strings = PyMem_Calloc((size_t)count + 1, sizeof **strings);
  if (!*strings) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    char *text;
    Py_ssize_t bytes;
    if (PyBytes_AsStringAndSize(PyList_GetItem(list, i), &text, &bytes) < 0) return -1;
    (*strings)[i] = (gather_string){text, (size_t)bytes};
  }
  view->tensor.data = *strings;
  return check_size(view, count, gather_tensor_len(&view->tensor));
}

/* An array of bytes with the elements as the library stores them. */
static int read_packed(PyObject *value, gather_py_view *view) {
  gather_py_view bytes;
  gather_py_view_init(&bytes);
  int result = gather_py_read_data(value, &bytes);
  if (result == 0 && (!bytes.array || bytes.tensor.type != GATHER_TYPE_UINT8 || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)bytes.array))) {
    PyErr_SetString(PyExc_TypeError, "elements must be a contiguous array of uint8");
    result = -1;
  }
  if (result == 0) {
    view->tensor.data = bytes.tensor.data;
    view->array = bytes.array;
    bytes.array = NULL;
    result = check_size(view, gather_tensor_len(&bytes.tensor), gather_tensor_bytes(&view->tensor));
  }
  gather_py_view_clear(&bytes);
  return result;
}

/* Any tensor whose elements a model can have. */
static int read_any(const gather_py_given *given, const char *input, PyObject *value, gather_py_view *view) {
  int result = gather_py_read_data(value, view);
  if (result == 1 && given->drawn) {
    gather_py_fail(GATHER_TYPE_UNSUPPORTED, NULL, "'%.200s' has elements that cannot be drawn", input);
    return -1;
  }
  if (result == 1 || (result == 0 && view->tensor.type == GATHER_TYPE_OPAQUE && !given->drawn)) {
    gather_py_fail(GATHER_TYPE_UNSUPPORTED, NULL, "input '%.200s': models have no values of this object or dtype", input);
    return -1;
  }
  return result;
}

static int read_value(const gather_py_given *given, PyObject *item, const char *input, gather_py_view *view, gather_string **strings) {
  PyObject *value = PyTuple_GetItem(item, 1), *type = PyTuple_GetItem(item, 2);
  if (type == Py_None) return read_any(given, input, value, view);
  const char *name = gather_py_name(type);
  view->tensor.type = name ? gather_type_parse(name) : GATHER_TYPE_NONE;
  if (view->tensor.type == GATHER_TYPE_NONE) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "no such type");
    return -1;
  }
  if (read_shape(PyTuple_GetItem(item, 3), view) < 0) return -1;
  if (given->drawn && value == Py_None) return 0;
  if (view->tensor.type == GATHER_TYPE_STRING) return read_strings(value, view, strings);
  return read_packed(value, view);
}

int gather_py_given_read(PyObject *list, gather_py_given *given) {
  Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
  if (count < 0) {
    PyErr_SetString(PyExc_TypeError, "inputs must be a list");
    return -1;
  }
  given->inputs = PyMem_Calloc((size_t)count + 1, sizeof *given->inputs);
  given->views = PyMem_Calloc((size_t)count + 1, sizeof *given->views);
  given->strings = PyMem_Calloc((size_t)count + 1, sizeof *given->strings);
  if (!given->inputs || !given->views || !given->strings) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(list);
  given->list = list;
  given->count = count;
  for (Py_ssize_t i = 0; i < count; i++) gather_py_view_init(&given->views[i]);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PyList_GetItem(list, i);
    if (!PyTuple_Check(item) || PyTuple_Size(item) != MEMBERS) {
      PyErr_SetString(PyExc_TypeError, "an input must be (name, value, type, shape)");
      return -1;
    }
    given->inputs[i].name = gather_py_name(PyTuple_GetItem(item, 0));
    if (!given->inputs[i].name || read_value(given, item, given->inputs[i].name, &given->views[i], &given->strings[i]) < 0) return -1;
    given->inputs[i].tensor = given->views[i].tensor;
  }
  return 0;
}

void gather_py_given_clear(gather_py_given *given) {
  for (Py_ssize_t i = 0; i < given->count; i++) {
    gather_py_view_clear(&given->views[i]);
    PyMem_Free(given->strings[i]);
  }
  PyMem_Free(given->inputs);
  PyMem_Free(given->views);
  PyMem_Free(given->strings);
  Py_CLEAR(given->list);
  memset(given, 0, sizeof *given);
}

int gather_py_read_dims(PyObject *list, gather_check_options *options, gather_model_dim **dims) {
  Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
  if (count < 0) {
    PyErr_SetString(PyExc_TypeError, "dims must be a list");
    return -1;
  }
  *dims = PyMem_Calloc((size_t)count + 1, sizeof **dims);
  if (!*dims) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *name;
    long long len;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OL", &name, &len)) return -1;
    (*dims)[i] = (gather_model_dim){gather_py_name(name), len};
    if (!(*dims)[i].name) return -1;
  }
  options->dims = *dims;
  options->dim_count = count;
  return 0;
}
