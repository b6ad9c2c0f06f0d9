/* SPDX-License-Identifier: MIT
 *
 * py_numpy.h: NumPy's C interface, under the limited API. One file (py_names.c) has its function table.
 */
#ifndef GATHER_PY_NUMPY_H
#define GATHER_PY_NUMPY_H

#include <Python.h>
#include <stdio.h> /* NumPy's header needs it, and the limited API omits it */

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL gather_py_numpy
#ifndef GATHER_PY_HOLDS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#endif
