/* SPDX-License-Identifier: MIT
 *
 * py_scatter.c: _scatter: one call of scatter, scatter_elements, scatter_nd or put_along_axis, whose arguments scatters.py has sorted.
 */
#include "py_scatter.h"

typedef struct scatter_call {
  PyObject *name, *data, *indices, *updates, *axis, *rules, *out; /* borrowed */
  gather_py_writing writing;
  int unique, use_init_val;
  const gather_py_scattering *function;
  const gather_op *op;
  gather_scatter_options options;
  int32_t threads;
  gather_py_scattered tensors;
} scatter_call;

static int read_options(scatter_call *call) {
  call->function = gather_py_find_scattering(call->name);
  if (!call->function || gather_py_read_writing(&call->writing, &call->options, &call->threads) < 0) return -1;
  call->op = gather_py_scattering_op(call->function, call->rules);
  call->options.unique = call->unique != 0;
  call->options.neutral = call->use_init_val == 0;
  return call->op ? gather_py_read_int(call->axis, "axis", &call->options.axis) : -1;
}

static int make_output(scatter_call *call) {
  gather_py_scattered *t = &call->tensors;
  if (call->out != Py_None) return gather_py_read_out(call->out, &t->data, &t->out);
  return gather_py_output(&t->data, t->data.tensor.rank, t->data.shape, &t->out);
}

static gather_status apply(scatter_call *call, gather_error *error) {
  const gather_py_scattered *t = &call->tensors;
  return gather_scatter_apply(call->op, &t->data.tensor, &t->indices.tensor, &t->updates.tensor, &t->out.tensor, &call->options, error);
}

static PyObject *run(scatter_call *call) {
  gather_py_scattered *t = &call->tensors;
  gather_error error;
  gather_status status;
  const int64_t bytes = gather_py_scattered_bytes(t);
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = apply(call, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    call->options.executor = gather_py_executor(call->threads, bytes);
    status = apply(call, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (call->out == Py_None) return gather_py_finish(call->data, &t->data, &t->out, false);
  Py_INCREF(call->out);
  return call->out;
}

static PyObject *read_and_run(scatter_call *call) {
  gather_py_scattered *t = &call->tensors;
  if (read_options(call) < 0) return NULL;
  const int read = gather_py_scattered_read(t, call->data, call->indices, call->updates);
  if (read == 1) Py_RETURN_NOTIMPLEMENTED;
  if (read < 0 || gather_py_scattered_fit(t, call->function, call->op, &call->options) < 0 || make_output(call) < 0) return NULL;
  return run(call);
}

PyObject *gather_py_scatter(PyObject *self, PyObject *args) {
  scatter_call call = {.unique = 0};
  gather_py_writing *w = &call.writing;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOOOOOOOOOOpp", &call.name, &call.data, &call.indices, &call.updates, &call.axis, &w->reduction,
                        &call.rules, &w->mode, &w->negative, &call.out, &w->threads, &w->accumulate, &call.unique, &call.use_init_val))
    return NULL;
  gather_py_scattered_init(&call.tensors);
  PyObject *result = read_and_run(&call);
  gather_py_scattered_clear(&call.tensors);
  return result;
}
