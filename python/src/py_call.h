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
/* _stablehlo_scatter(inputs, scatter_indices, updates, update_window_dims, inserted_window_dims, input_batching_dims,
 * scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim, reduction, mode, negative, out, threads, accumulate,
 * unique, whole_windows) */
PyObject *gather_py_stablehlo_scatter(PyObject *self, PyObject *args);
/* A tuple of int as dimensions, at most GATHER_MAX_RANK. One that is too long keeps its length, which the library refuses. */
int gather_py_read_tuple(PyObject *list, const char *name, int64_t *dims, const int64_t **at, int64_t *count);

#endif
