/* SPDX-License-Identifier: MIT
 *
 * py_backward.c: _backward: the gradient of take, gather_elements, take_along_axis or gather_nd. Its arguments are those of the sparse form
 * too.
 */
#include "py_scatter.h"

static const struct {
  const char *name;
  const gather_py_function *function;
} GATHERS[] = {{"take", &gather_py_take},
               {"elements", &gather_py_elements},
               {"gather_elements", &gather_py_elements},
               {"take_along_axis", &gather_py_along},
               {"nd", &gather_py_nd},
               {"gather_nd", &gather_py_nd}};

static const gather_py_function *find_gather(PyObject *name) {
  for (size_t i = 0; i < sizeof GATHERS / sizeof *GATHERS; i++)
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, GATHERS[i].name) == 0) return GATHERS[i].function;
  PyErr_Format(PyExc_ValueError, "op must be 'take', 'elements', 'take_along_axis' or 'nd', not %R", name);
  return NULL;
}

static int read_shape(gather_py_gradient *g) {
  const Py_ssize_t rank = PyTuple_Size(g->shape);
  if (rank < 0) return -1;
  if (rank > GATHER_MAX_RANK) {
    gather_py_fail(GATHER_RANK_MISMATCH, "data", "data_shape has %zd lengths; the maximum is %d", rank, GATHER_MAX_RANK);
    return -1;
  }
  for (Py_ssize_t d = 0; d < rank; d++) {
    if (gather_py_read_int(PyTuple_GetItem(g->shape, d), "data_shape", &g->lengths[d]) < 0) return -1;
    if (g->lengths[d] >= 0) continue;
    gather_py_fail(GATHER_SHAPE_MISMATCH, "data", "data_shape has a length below 0: %lld", (long long)g->lengths[d]);
    return -1;
  }
  g->rank = (int32_t)rank;
  return 0;
}

void gather_py_gradient_init(gather_py_gradient *gradient) {
  gather_py_view_init(&gradient->from);
  gather_py_view_init(&gradient->ids);
}

void gather_py_gradient_clear(gather_py_gradient *gradient) {
  gather_py_view_clear(&gradient->from);
  gather_py_view_clear(&gradient->ids);
}

static int read_options(gather_py_gradient *g) {
  g->function = find_gather(g->op);
  if (!g->function || gather_py_read_writing(&g->writing, &g->options, &g->threads) < 0 || read_shape(g) < 0) return -1;
  g->options.reduction = GATHER_REDUCTION_ADD;
  if (gather_py_read_int(g->axis, "axis", &g->options.axis) < 0) return -1;
  return gather_py_read_int(g->batch_dims, "batch_dims", &g->options.batch_dims);
}

int gather_py_gradient_read(gather_py_gradient *g) {
  if (read_options(g) < 0) return -1;
  const int read = gather_py_read_input(g->grad, "grad", &g->from);
  if (read == 1) gather_py_fail(GATHER_TYPE_UNSUPPORTED, "grad", "grad must be an array of numbers, without a mask");
  if (read != 0 || gather_py_read_indices(g->indices, &g->ids) < 0) return -1;
  if (g->function->along && g->ids.tensor.rank == g->from.tensor.rank)
    (void)gather_py_repeat(&g->ids, g->from.tensor.rank, g->from.shape); /* what does not fit is the engine's to report */
  return 0;
}

static gather_status apply(gather_py_gradient *g, const gather_py_view *out, bool add, gather_error *error) {
  return gather_backward(g->function->own, &g->from.tensor, &g->ids.tensor, &out->tensor, add, &g->options, error);
}

/* out: the caller's, NULL = a new one. */
static PyObject *run(gather_py_gradient *g, PyObject *out, bool add, gather_py_view *to) {
  gather_error error;
  gather_status status;
  if ((out ? gather_py_read_out(out, &g->from, to) : gather_py_output(&g->from, g->rank, g->lengths, to)) < 0) return NULL;
  if (out && gather_py_check_out_shape(to, g->rank, g->lengths) < 0) return NULL;
  const int64_t bytes = gather_tensor_bytes(&to->tensor) + gather_tensor_bytes(&g->from.tensor) + gather_tensor_bytes(&g->ids.tensor);
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = apply(g, to, add, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    g->options.executor = gather_py_executor(g->threads, bytes);
    status = apply(g, to, add, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (!out) return gather_py_finish(g->grad, &g->from, to, false);
  Py_INCREF(out);
  return out;
}

PyObject *gather_py_backward(PyObject *self, PyObject *args) {
  gather_py_gradient g = {.writing = {.reduction = Py_None}};
  gather_py_writing *w = &g.writing;
  PyObject *out, *result = NULL;
  gather_py_view to;
  int add;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOO!OOOOOpOO", &g.op, &g.grad, &g.indices, &PyTuple_Type, &g.shape, &g.axis, &g.batch_dims, &w->mode,
                        &w->negative, &out, &add, &w->threads, &w->accumulate))
    return NULL;
  gather_py_gradient_init(&g);
  gather_py_view_init(&to);
  if (gather_py_gradient_read(&g) == 0) result = run(&g, out == Py_None ? NULL : out, add != 0, &to);
  gather_py_view_clear(&to);
  gather_py_gradient_clear(&g);
  return result;
}
