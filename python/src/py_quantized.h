/* SPDX-License-Identifier: MIT
 *
 * py_quantized.h: the functions for quantised arrays, for the module's table.
 */
#ifndef GATHER_PY_QUANTIZED_H
#define GATHER_PY_QUANTIZED_H

#include "py_core.h"

PyObject *gather_py_quantized_shape(PyObject *self, PyObject *spec);
PyObject *gather_py_take_quantized(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_dequantize(PyObject *self, PyObject *args);
PyObject *gather_py_codecs(PyObject *self, PyObject *none);

#endif
