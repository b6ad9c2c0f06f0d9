/* SPDX-License-Identifier: MIT
 *
 * py_sparse.c: _sparse_backward and _unique_rows: rows by their numbers, ascending, each once.
 */
#include "py_scatter.h"

/* What both functions do: sort, and write the sums. */
typedef struct sums {
  gather_sparse *sparse;
  PyObject *x;                /* of its library the results are */
  const gather_py_view *rows; /* the view of x, which is summed */
  int32_t threads;
  gather_py_view like, ids, to; /* like: ids of this library */
} sums;

static void sums_init(sums *s) {
  gather_py_view_init(&s->like);
  gather_py_view_init(&s->ids);
  gather_py_view_init(&s->to);
}

static void sums_clear(sums *s) {
  gather_sparse_destroy(s->sparse);
  gather_py_view_clear(&s->like);
  gather_py_view_clear(&s->ids);
  gather_py_view_clear(&s->to);
}

/* A tensor of integers of 64 bits, of the library of x, for gather_py_output. */
static int make_like(sums *s) {
  if (s->rows->array) {
    PyObject *number = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(NPY_INT64), 0, NULL, NULL, NULL, 0, NULL);
    const int result = number ? gather_py_view_array((PyArrayObject *)number, &s->like) : -1;
    Py_XDECREF(number);
    return result;
  }
  s->like.exchange = s->rows->exchange;
  s->like.dl_type = (gather_dl_type){0, 64, 1};
  s->like.tensor = (gather_tensor){.type = GATHER_TYPE_INT64, .shape = s->like.shape};
  return 0;
}

static int make_outputs(sums *s) {
  int64_t shape[2] = {0, 0};
  shape[0] = gather_sparse_rows(s->sparse, &shape[1]);
  if (make_like(s) < 0 || gather_py_output(&s->like, 1, shape, &s->ids) < 0) return -1;
  return gather_py_output(s->rows, 2, shape, &s->to);
}

static PyObject *write_sums(sums *s) {
  gather_error error;
  if (make_outputs(s) < 0) return NULL;
  const int64_t bytes = gather_tensor_bytes(&s->rows->tensor);
  PyThreadState *state = PyEval_SaveThread();
  const gather_status status = gather_sparse_write(s->sparse, s->rows->tensor.data, (int64_t *)s->ids.tensor.data, s->to.tensor.data,
                                                   gather_py_executor(s->threads, bytes), &error);
  PyEval_RestoreThread(state);
  if (status != GATHER_OK) return gather_py_raise(&error);
  PyObject *ids = gather_py_finish(s->x, &s->like, &s->ids, false);
  PyObject *rows = ids ? gather_py_finish(s->x, s->rows, &s->to, false) : NULL;
  PyObject *both = rows ? PyTuple_Pack(2, ids, rows) : NULL;
  Py_XDECREF(ids);
  Py_XDECREF(rows);
  return both;
}

static PyObject *sparse_gradient(gather_py_gradient *g, sums *s) {
  gather_error error;
  gather_tensor data = {.type = g->from.tensor.type, .rank = g->rank, .shape = g->lengths, .item_bytes = g->from.tensor.item_bytes};
  PyThreadState *state = PyEval_SaveThread();
  g->options.executor = gather_py_executor(g->threads, gather_tensor_bytes(&g->from.tensor));
  const gather_status status =
      gather_sparse_create(g->function->own, &data, &g->ids.tensor, &g->from.tensor, &g->options, &s->sparse, &error);
  PyEval_RestoreThread(state);
  return status == GATHER_OK ? write_sums(s) : gather_py_raise(&error);
}

PyObject *gather_py_sparse_backward(PyObject *self, PyObject *args) {
  gather_py_gradient g = {.writing = {.reduction = Py_None}};
  gather_py_writing *w = &g.writing;
  PyObject *result = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOO!OOOOOO", &g.op, &g.grad, &g.indices, &PyTuple_Type, &g.shape, &g.axis, &g.batch_dims, &w->mode,
                        &w->negative, &w->threads, &w->accumulate))
    return NULL;
  gather_py_gradient_init(&g);
  if (gather_py_gradient_read(&g) == 0) {
    sums s = {.x = g.grad, .rows = &g.from, .threads = g.threads};
    sums_init(&s);
    result = sparse_gradient(&g, &s);
    sums_clear(&s);
  }
  gather_py_gradient_clear(&g);
  return result;
}

static PyObject *sum_rows(sums *s, const gather_py_view *ids, gather_scatter_options *options) {
  gather_error error;
  PyThreadState *state = PyEval_SaveThread();
  options->executor = gather_py_executor(s->threads, gather_tensor_bytes(&s->rows->tensor));
  const gather_status status = gather_unique_rows(&ids->tensor, &s->rows->tensor, options, &s->sparse, &error);
  PyEval_RestoreThread(state);
  return status == GATHER_OK ? write_sums(s) : gather_py_raise(&error);
}

PyObject *gather_py_unique_rows(PyObject *self, PyObject *args) {
  gather_py_writing writing = {Py_None, Py_None, Py_None, Py_None, Py_None};
  gather_scatter_options options;
  gather_py_view ids, rows;
  PyObject *given_ids, *given, *result = NULL;
  sums s = {.rows = &rows};
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOO", &given_ids, &given, &writing.threads, &writing.accumulate)) return NULL;
  gather_py_view_init(&ids);
  gather_py_view_init(&rows);
  sums_init(&s);
  s.x = given;
  if (gather_py_read_writing(&writing, &options, &s.threads) == 0) {
    const int read = gather_py_read_input(given, "rows", &rows);
    if (read == 1) gather_py_fail(GATHER_TYPE_UNSUPPORTED, "rows", "rows must be an array of numbers, without a mask");
    if (read == 0 && gather_py_read_indices(given_ids, &ids) == 0) result = sum_rows(&s, &ids, &options);
  }
  sums_clear(&s);
  gather_py_view_clear(&ids);
  gather_py_view_clear(&rows);
  return result;
}
