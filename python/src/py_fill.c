/* SPDX-License-Identifier: MIT
 *
 * py_fill.c: fill_value as one element of the data's type. A value that the type cannot represent is an error; only floats are
 * rounded.
 */
#include "py_core.h"

static PyObject *call_fallback(const char *name, PyObject *first, PyObject *second) {
  PyObject *function = gather_py_fallback(name);
  PyObject *result = function ? PyObject_CallFunctionObjArgs(function, first, second, NULL) : NULL;
  Py_XDECREF(function);
  return result;
}

int gather_py_fill(PyObject *x, const gather_py_view *data, gather_py_call *call, PyObject **owner, gather_py_view *fill) {
  if (call->options.on_bad != GATHER_ON_BAD_FILL) return 0;
  if (data->array)
    *owner = call_fallback("fill_array", (PyObject *)PyArray_DESCR((PyArrayObject *)data->array), call->fill);
  else
    *owner = call_fallback("fill_tensor", x, call->fill);
  if (!*owner) return -1;
  int result = PyArray_Check(*owner) ? gather_py_view_array((PyArrayObject *)*owner, fill) : gather_py_read_data(*owner, fill);
  if (result != 0) return -1;
  call->options.fill = fill->tensor.data;
  return 0;
}
