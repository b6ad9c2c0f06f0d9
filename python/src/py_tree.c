/* SPDX-License-Identifier: MIT
 *
 * py_tree.c: _tree: libgather.gather_tree, whose arguments beam_search.py has sorted.
 */
#include "gather/tree.h"
#include "py_call.h"

enum { INPUTS = 4 };
static const char *const NAMES[INPUTS] = {"step_ids", "parent_ids", "max_seq_len", "end_token"};

typedef struct tree_call {
  PyObject *input[INPUTS], *out, *mode, *fill, *negative, *threads; /* borrowed */
  gather_py_call call;                                              /* policy and threads */
  gather_py_view view[INPUTS], to, filler;
  PyObject *fill_owner;
} tree_call;

static int is_given(const PyObject *value) { return value != Py_None; }

static int read_options(tree_call *t) {
  gather_py_call *call = &t->call;
  call->options = (gather_options)GATHER_OPTIONS_INIT;
  call->threads = GATHER_PY_DEFAULT_THREADS;
  if (is_given(t->mode) && gather_py_read_mode(t->mode, &call->options) < 0) return -1;
  if (is_given(t->negative)) {
    int on = PyObject_IsTrue(t->negative);
    if (on < 0) return -1;
    call->options.negative = on ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  }
  call->fill = is_given(t->fill) ? t->fill : NULL;
  int fills = call->options.on_bad == GATHER_ON_BAD_FILL;
  if (fills != (call->fill != NULL)) {
    PyErr_SetString(PyExc_ValueError, fills ? "mode='fill' needs fill_value" : "fill_value needs mode='fill'");
    return -1;
  }
  return is_given(t->threads) ? gather_py_read_threads(t->threads, &call->threads) : 0;
}

static int read_inputs(tree_call *t) {
  for (int i = 0; i < INPUTS; i++) {
    int result = gather_py_read_data(t->input[i], &t->view[i]);
    if (result < 0) return -1;
    if (result > 0) {
      gather_py_fail(GATHER_TYPE_UNSUPPORTED, NAMES[i], "%s must be an array of numbers without a mask", NAMES[i]);
      return -1;
    }
  }
  return gather_py_fill(t->input[0], &t->view[0], &t->call, &t->fill_owner, &t->filler);
}

/* A new output has the shape of step_ids, whose rank is checked first. */
static int make_output(tree_call *t) {
  const gather_tensor *steps = &t->view[0].tensor;
  if (is_given(t->out)) return gather_py_read_out(t->out, &t->view[0], &t->to);
  t->call.options.fresh_output = true;
  return gather_py_output(&t->view[0], steps->rank, steps->shape, &t->to);
}

static gather_status apply(tree_call *t, gather_error *error) {
  return gather_tree(&t->view[0].tensor, &t->view[1].tensor, &t->view[2].tensor, &t->view[3].tensor, &t->to.tensor, &t->call.options,
                     error);
}

static PyObject *run(tree_call *t) {
  gather_error error;
  gather_status status;
  if (read_options(t) < 0 || read_inputs(t) < 0 || make_output(t) < 0) return NULL;
  const int64_t bytes = 2 * gather_tensor_bytes(&t->to.tensor);
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = apply(t, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    t->call.options.executor = gather_py_executor(t->call.threads, bytes);
    status = apply(t, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (!is_given(t->out)) return gather_py_finish(t->input[0], &t->view[0], &t->to, false);
  Py_INCREF(t->out);
  return t->out;
}

PyObject *gather_py_tree(PyObject *self, PyObject *args) {
  tree_call t = {.fill_owner = NULL};
  (void)self;
  for (int i = 0; i < INPUTS; i++) gather_py_view_init(&t.view[i]);
  gather_py_view_init(&t.to);
  gather_py_view_init(&t.filler);
  PyObject *result = NULL;
  if (PyArg_ParseTuple(args, "OOOOOOOOO", &t.input[0], &t.input[1], &t.input[2], &t.input[3], &t.out, &t.mode, &t.fill, &t.negative,
                       &t.threads))
    result = run(&t);
  for (int i = 0; i < INPUTS; i++) gather_py_view_clear(&t.view[i]);
  gather_py_view_clear(&t.to);
  gather_py_view_clear(&t.filler);
  Py_XDECREF(t.fill_owner);
  return result;
}
