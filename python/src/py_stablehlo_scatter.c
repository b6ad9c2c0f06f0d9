/* SPDX-License-Identifier: MIT
 *
 * py_stablehlo_scatter.c: _stablehlo_scatter: libgather.stablehlo_scatter, whose arguments stablehlo.py has sorted.
 */
#include "py_call.h"
#include "py_scatter.h"

enum { LISTS = 5 };
static const char *const NAMES[LISTS] = {"update_window_dims", "inserted_window_dims", "input_batching_dims",
                                         "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

typedef struct hlo_scatter {
  PyObject *data, *indices, *updates, *list[LISTS], *index_vector_dim, *out; /* borrowed */
  gather_py_writing writing;
  int unique, whole_windows;
  gather_dimension_numbers numbers;
  int64_t dims[LISTS][GATHER_MAX_RANK];
  gather_scatter_options options;
  int32_t threads;
  gather_py_scattered tensors;
} hlo_scatter;

static int read_numbers(hlo_scatter *w) {
  gather_dimension_numbers *n = &w->numbers;
  const int64_t **at[LISTS] = {&n->offset_dims, &n->collapsed_slice_dims, &n->operand_batching_dims, &n->start_indices_batching_dims,
                               &n->start_index_map};
  int64_t *counts[LISTS] = {&n->offset_dims_count, &n->collapsed_slice_dims_count, &n->operand_batching_dims_count,
                            &n->start_indices_batching_dims_count, &n->start_index_map_count};
  *n = (gather_dimension_numbers)GATHER_DIMENSION_NUMBERS_INIT;
  for (int i = 0; i < LISTS; i++)
    if (gather_py_read_tuple(w->list[i], NAMES[i], w->dims[i], at[i], counts[i]) < 0) return -1;
  return gather_py_read_int(w->index_vector_dim, "index_vector_dim", &n->index_vector_dim);
}

static int read_arguments(hlo_scatter *w) {
  gather_py_scattered *t = &w->tensors;
  if (read_numbers(w) < 0 || gather_py_read_writing(&w->writing, &w->options, &w->threads) < 0) return -1;
  w->options.numbers = &w->numbers;
  w->options.unique = w->unique != 0;
  w->options.whole_windows = w->whole_windows != 0;
  const int read = gather_py_scattered_read(t, w->data, w->indices, w->updates);
  if (read > 0) gather_py_fail(GATHER_TYPE_UNSUPPORTED, "data", "inputs must be an array of plain elements, without a mask");
  if (read != 0) return -1;
  return w->out != Py_None ? gather_py_read_out(w->out, &t->data, &t->out)
                           : gather_py_output(&t->data, t->data.tensor.rank, t->data.shape, &t->out);
}

static gather_status apply(hlo_scatter *w, gather_error *error) {
  const gather_py_scattered *t = &w->tensors;
  return gather_scatter_apply(gather_op_find("scatter", "stablehlo-1"), &t->data.tensor, &t->indices.tensor, &t->updates.tensor,
                              &t->out.tensor, &w->options, error);
}

static PyObject *run(hlo_scatter *w) {
  gather_error error;
  gather_status status;
  const int64_t bytes = gather_py_scattered_bytes(&w->tensors);
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = apply(w, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    w->options.executor = gather_py_executor(w->threads, bytes);
    status = apply(w, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (w->out == Py_None) return gather_py_finish(w->data, &w->tensors.data, &w->tensors.out, false);
  Py_INCREF(w->out);
  return w->out;
}

PyObject *gather_py_stablehlo_scatter(PyObject *self, PyObject *args) {
  hlo_scatter w = {.unique = 0};
  gather_py_writing *writing = &w.writing;
  PyObject *result = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOO!O!O!O!O!OOOOOOOpp", &w.data, &w.indices, &w.updates, &PyTuple_Type, &w.list[0], &PyTuple_Type,
                        &w.list[1], &PyTuple_Type, &w.list[2], &PyTuple_Type, &w.list[3], &PyTuple_Type, &w.list[4], &w.index_vector_dim,
                        &writing->reduction, &writing->mode, &writing->negative, &w.out, &writing->threads, &writing->accumulate, &w.unique,
                        &w.whole_windows))
    return NULL;
  gather_py_scattered_init(&w.tensors);
  if (read_arguments(&w) == 0) result = run(&w);
  gather_py_scattered_clear(&w.tensors);
  return result;
}
