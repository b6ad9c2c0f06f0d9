/* SPDX-License-Identifier: MIT
 *
 * py_call.h: the functions that gather, for the module's table.
 */
#ifndef GATHER_PY_CALL_H
#define GATHER_PY_CALL_H

#include "py_core.h"

PyObject *gather_py_call_take(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_along(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_elements(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_nd(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_call_index(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* _tree(step_ids, parent_ids, max_seq_len, end_token, out, mode, fill_value, negative, threads) */
PyObject *gather_py_tree(PyObject *self, PyObject *args);
/* _stablehlo(operand, start_indices, offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims,
 * start_index_map, slice_sizes, index_vector_dim, out, mode, fill_value, negative, threads) */
PyObject *gather_py_stablehlo(PyObject *self, PyObject *args);

#endif
