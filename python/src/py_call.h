/* SPDX-License-Identifier: MIT
 *
 * py_call.h: the functions, for the module's table.
 */
#ifndef GATHER_PY_CALL_H
#define GATHER_PY_CALL_H

#include "py_core.h"

PyObject *gather_py_call_take(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_along(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_elements(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_nd(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_index(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
