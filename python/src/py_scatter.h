/* SPDX-License-Identifier: MIT
 *
 * py_scatter.h: the functions that write by index: their module functions, and the arguments that they share.
 */
#ifndef GATHER_PY_SCATTER_H
#define GATHER_PY_SCATTER_H

#include "gather/scatter.h"
#include "py_core.h"

/* The names that such a call is made with; borrowed, and None if they were not given. */
typedef struct gather_py_writing {
  PyObject *reduction, *mode, *negative, *accumulate, *threads;
} gather_py_writing;

/* Reads them into options, which it initialises, and *threads. */
int gather_py_read_writing(const gather_py_writing *given, gather_scatter_options *options, int32_t *threads);

/* One of the functions scatter, scatter_elements, scatter_nd and put_along_axis. */
typedef struct gather_py_scattering {
  const char *name, *own; /* own: the name of its operator of no document */
  const char *documents[4];
  bool along; /* indices and updates broadcast */
} gather_py_scattering;

/* NULL with an exception if there is no such function. */
const gather_py_scattering *gather_py_find_scattering(PyObject *name);
/* Its operator by rules=, or that of no document. */
const gather_op *gather_py_scattering_op(const gather_py_scattering *function, PyObject *rules);

/* The tensors of a scatter. */
typedef struct gather_py_scattered {
  gather_py_view data, indices, updates, out;
} gather_py_scattered;

void gather_py_scattered_init(gather_py_scattered *tensors);
void gather_py_scattered_clear(gather_py_scattered *tensors);
/* Reads data, indices (unless the caller has described them) and updates. Returns 0, -1, or 1 (see gather_py_read_data). */
int gather_py_scattered_read(gather_py_scattered *tensors, PyObject *data, PyObject *indices, PyObject *updates);
/* Repeats a tensor to a shape by strides of 0, aligned at the last dimension. Returns -1, without an exception, if that is impossible. */
int gather_py_repeat(gather_py_view *view, int32_t rank, const int64_t *shape);
/* Repeats updates of rank 0, and what put_along_axis broadcasts. */
int gather_py_scattered_fit(gather_py_scattered *tensors, const gather_py_scattering *function, const gather_op *op,
                            const gather_scatter_options *options);
/* What a scatter moves, roughly. */
int64_t gather_py_scattered_bytes(const gather_py_scattered *tensors);

/* ---- gradients (py_backward.c) ---- */

typedef struct gather_py_gradient {
  PyObject *op, *grad, *indices, *shape, *axis, *batch_dims; /* borrowed, as Python passes them */
  gather_py_writing writing;
  const gather_py_function *function; /* the gather */
  gather_scatter_options options;
  int32_t threads, rank;
  int64_t lengths[GATHER_MAX_RANK]; /* the shape of the gather's data */
  gather_py_view from, ids;         /* grad, indices */
} gather_py_gradient;

void gather_py_gradient_init(gather_py_gradient *gradient);
void gather_py_gradient_clear(gather_py_gradient *gradient);
/* Reads what the caller has set. */
int gather_py_gradient_read(gather_py_gradient *gradient);

/* ---- the module's functions ---- */

/* py_scatter.c: _scatter(name, data, indices, updates, axis, reduction, rules, mode, negative, out, threads, accumulate, unique,
 * use_init_val). NotImplemented: data are more than their bytes. */
PyObject *gather_py_scatter(PyObject *self, PyObject *args);
/* py_backward.c: _backward(op, grad, indices, data_shape, axis, batch_dims, mode, negative, out, add, threads, accumulate) */
PyObject *gather_py_backward(PyObject *self, PyObject *args);
/* py_sparse.c: _sparse_backward(op, grad, indices, data_shape, axis, batch_dims, mode, negative, threads, accumulate) */
PyObject *gather_py_sparse_backward(PyObject *self, PyObject *args);
/* _unique_rows(ids, rows, threads, accumulate) */
PyObject *gather_py_unique_rows(PyObject *self, PyObject *args);
/* py_bag.c: _bag(table, indices, offsets, segment_ids, segments, weights, default_index, last_offset, reduction, rules, mode, negative,
 * out, threads, accumulate) */
PyObject *gather_py_bag(PyObject *self, PyObject *args);

extern PyType_Spec gather_py_scatter_plan_spec;

#endif
