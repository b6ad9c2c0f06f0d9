/* SPDX-License-Identifier: MIT
 *
 * py_scatter_plan.c: the type ScatterPlan: a scatter with every decision made, for tensors of the same layouts; it can keep its indices,
 * sorted by where they write. While it does so no call may use it: calls and keep() exclude each other.
 */
#include <string.h>

#include "py_layout.h"
#include "py_scatter.h"
#include "py_system.h"

typedef struct scatter_plan_object {
  PyObject ob_base;
  gather_scatter_plan *plan;
  const gather_py_scattering *function;
  const gather_op *op;
  gather_scatter_options options;
  gather_py_layout data, indices, updates; /* updates and indices as they are after broadcasting */
  gather_py_dtype dtype;
  PyObject *descr; /* of dtype */
  int32_t threads;
  int64_t bytes;
  gather_py_lock lock;
  int64_t running; /* calls; -1: keep() */
  bool kept;       /* keep() has succeeded */
} scatter_plan_object;

/* Enters a call, or keep(). */
static int enter(scatter_plan_object *self, bool keep) {
  gather_py_lock_take(&self->lock);
  const bool free = keep ? self->running == 0 : self->running >= 0;
  if (free) self->running = keep ? -1 : self->running + 1;
  gather_py_lock_leave(&self->lock);
  if (free) return 0;
  gather_py_fail(GATHER_USAGE, NULL, "the plan is in use by another thread: keep() and calls cannot run at the same time");
  return -1;
}

static void leave(scatter_plan_object *self) {
  gather_py_lock_take(&self->lock);
  self->running = self->running < 0 ? 0 : self->running - 1;
  gather_py_lock_leave(&self->lock);
}

static int check_layout(const gather_py_layout *layout, const gather_py_view *view, const char *what) {
  if (gather_py_is_like(layout, view)) return 0;
  gather_py_fail(GATHER_SHAPE_MISMATCH, what, "the plan was made for %s of a different dtype, shape or strides", what);
  return -1;
}

static int fail_objects(void) {
  gather_py_fail(GATHER_TYPE_UNSUPPORTED, "data",
                 "plans do not support objects, strings of variable size, masked arrays or tables in files");
  return -1;
}

static int decide(scatter_plan_object *self, gather_py_scattered *t) {
  gather_error error;
  const gather_status status = gather_scatter_plan_create(self->op, &t->data.tensor, &t->indices.tensor, &t->updates.tensor, NULL,
                                                          &self->options, &self->plan, &error);
  if (status != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  gather_py_layout_read(&self->data, &t->data);
  gather_py_layout_read(&self->indices, &t->indices);
  gather_py_layout_read(&self->updates, &t->updates);
  self->dtype = gather_py_dtype_of(&t->data);
  self->descr = self->dtype.descr;
  Py_XINCREF(self->descr);
  self->bytes = gather_py_scattered_bytes(t);
  return 0;
}

typedef struct plan_request {
  PyObject *name, *data, *indices, *updates, *axis, *rules; /* borrowed */
  gather_py_writing writing;
  int unique, use_init_val;
} plan_request;

static int read_request(scatter_plan_object *self, const plan_request *r) {
  self->function = gather_py_find_scattering(r->name);
  if (!self->function || gather_py_read_writing(&r->writing, &self->options, &self->threads) < 0) return -1;
  self->op = gather_py_scattering_op(self->function, r->rules);
  self->options.unique = r->unique != 0;
  self->options.neutral = r->use_init_val == 0;
  return self->op ? gather_py_read_int(r->axis, "axis", &self->options.axis) : -1;
}

static int make(scatter_plan_object *self, const plan_request *r) {
  gather_py_scattered t;
  if (read_request(self, r) < 0) return -1;
  gather_py_scattered_init(&t);
  int made = gather_py_scattered_read(&t, r->data, r->indices, r->updates);
  if (made == 1) made = fail_objects();
  if (made == 0) made = gather_py_scattered_fit(&t, self->function, self->op, &self->options);
  if (made == 0) made = decide(self, &t);
  gather_py_scattered_clear(&t);
  return made;
}

static PyObject *plan_create(PyObject *type, PyObject *args) {
  plan_request r;
  gather_py_writing *w = &r.writing;
  if (!PyArg_ParseTuple(args, "OOOOOOOOOOOpp", &r.name, &r.data, &r.indices, &r.updates, &r.axis, &w->reduction, &r.rules, &w->mode,
                        &w->negative, &w->threads, &w->accumulate, &r.unique, &r.use_init_val))
    return NULL;
  scatter_plan_object *self = (scatter_plan_object *)gather_py_allocate((PyTypeObject *)type);
  if (!self) return NULL;
  gather_py_lock_init(&self->lock);
  if (make(self, &r) == 0) return (PyObject *)self;
  Py_DECREF((PyObject *)self);
  return NULL;
}

static void plan_free(PyObject *object) {
  scatter_plan_object *self = (scatter_plan_object *)object;
  gather_scatter_plan_destroy(self->plan);
  gather_py_lock_free(&self->lock);
  Py_XDECREF(self->descr);
  gather_py_release(object);
}

/* None for indices: those that the plan has kept, of which the shape is enough. */
static int use_kept(scatter_plan_object *self, gather_py_view *indices) {
  gather_py_lock_take(&self->lock);
  const bool kept = self->kept;
  gather_py_lock_leave(&self->lock);
  if (!kept) {
    PyErr_SetString(PyExc_TypeError, "indices are None, but keep() was not called");
    return -1;
  }
  indices->tensor = (gather_tensor){.type = self->indices.type, .rank = self->indices.rank};
  memcpy(indices->shape, self->indices.shape, sizeof indices->shape);
  memcpy(indices->strides, self->indices.strides, sizeof indices->strides);
  indices->tensor.strides = indices->strides;
  indices->tensor.shape = indices->shape;
  return 0;
}

/* Data, indices and updates of the plan's layouts. */
static int read_tensors(scatter_plan_object *self, gather_py_scattered *t, PyObject *data, PyObject *indices, PyObject *updates) {
  if (indices == Py_None && use_kept(self, &t->indices) < 0) return -1;
  int read = gather_py_scattered_read(t, data, indices, updates);
  if (read == 1) read = fail_objects();
  if (read < 0) return -1;
  gather_py_dtype dtype = gather_py_dtype_of(&t->data);
  if (!gather_py_same_dtype(&self->dtype, &dtype)) {
    gather_py_fail(GATHER_TYPE_MISMATCH, "data", "the plan was made for data of a different dtype");
    return -1;
  }
  if (gather_py_scattered_fit(t, self->function, self->op, &self->options) < 0) return -1;
  if (check_layout(&self->data, &t->data, "data") < 0 || check_layout(&self->updates, &t->updates, "updates") < 0) return -1;
  return check_layout(&self->indices, &t->indices, "indices");
}

static gather_status move(scatter_plan_object *self, const gather_py_scattered *t, const gather_executor *executor, gather_error *error) {
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  run.data = t->data.tensor.data;
  run.indices = t->indices.tensor.data;
  run.updates = t->updates.tensor.data;
  run.out = t->out.tensor.data;
  run.executor = executor;
  return gather_scatter_plan_run(self->plan, &run, error);
}

/* The plan writes row-major. Another output is refused: a plan with kept indices could not write there. */
static int make_output(scatter_plan_object *self, gather_py_scattered *t, PyObject *out) {
  if (out == Py_None) return gather_py_output(&t->data, t->data.tensor.rank, t->data.shape, &t->out);
  if (gather_py_read_out(out, &t->data, &t->out) < 0) return -1;
  if (gather_py_is_planned(self->data.rank, self->data.shape, &t->out)) return 0;
  if (gather_py_check_out_shape(&t->out, self->data.rank, self->data.shape) == 0)
    gather_py_fail(GATHER_SHAPE_MISMATCH, "output", "a plan writes to outputs in row-major order");
  return -1;
}

static PyObject *run(scatter_plan_object *self, gather_py_scattered *t, PyObject *data, PyObject *out) {
  gather_error error;
  gather_status status;
  if (self->bytes < GATHER_PY_RELEASE_BYTES) {
    status = move(self, t, NULL, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    status = move(self, t, gather_py_executor(self->threads, self->bytes), &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (out == Py_None) return gather_py_finish(data, &t->data, &t->out, false);
  Py_INCREF(out);
  return out;
}

static PyObject *plan_call(PyObject *object, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"data", "indices", "updates", "out", NULL};
  scatter_plan_object *self = (scatter_plan_object *)object;
  PyObject *data, *indices, *updates, *out = Py_None, *result = NULL;
  gather_py_scattered t;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO|$O", (char **)(uintptr_t)names, &data, &indices, &updates, &out)) return NULL;
  gather_py_scattered_init(&t);
  if (read_tensors(self, &t, data, indices, updates) == 0 && make_output(self, &t, out) == 0 && enter(self, false) == 0) {
    result = run(self, &t, data, out);
    leave(self);
  }
  gather_py_scattered_clear(&t);
  return result;
}

/* Reads indices for keep() and check(). */
static int read_indices(scatter_plan_object *self, PyObject *indices, gather_py_view *view) {
  if (gather_py_read_indices(indices, view) < 0) return -1;
  if (self->function->along) (void)gather_py_repeat(view, self->indices.rank, self->indices.shape);
  return check_layout(&self->indices, view, "indices");
}

static PyObject *use_indices(PyObject *object, PyObject *indices, bool keep) {
  scatter_plan_object *self = (scatter_plan_object *)object;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  gather_py_view view;
  gather_error error = {.status = GATHER_USAGE};
  gather_py_view_init(&view);
  const int entered = read_indices(self, indices, &view) == 0 && enter(self, keep) == 0;
  if (entered) {
    PyThreadState *state = PyEval_SaveThread();
    run.indices = view.tensor.data;
    run.executor = gather_py_executor(self->threads, self->bytes);
    const gather_status status = keep ? gather_scatter_plan_keep(self->plan, run.indices, run.executor, &error)
                                      : gather_scatter_plan_check(self->plan, &run, &error);
    PyEval_RestoreThread(state);
    if (keep && status == GATHER_OK) self->kept = true; /* nobody else is in */
    leave(self);
    error.status = status;
    if (status != GATHER_OK) gather_py_raise(&error);
  }
  gather_py_view_clear(&view);
  if (!entered || error.status != GATHER_OK) return NULL;
  Py_RETURN_NONE;
}

static PyObject *plan_keep(PyObject *object, PyObject *indices) { return use_indices(object, indices, true); }
static PyObject *plan_check(PyObject *object, PyObject *indices) { return use_indices(object, indices, false); }

static PyObject *plan_text(PyObject *object, void *closure) {
  char text[1024];
  (void)closure;
  gather_scatter_plan_print(((scatter_plan_object *)object)->plan, text, sizeof text);
  return PyUnicode_FromString(text);
}

static PyMethodDef methods[] = {
    {"_create", plan_create, METH_VARARGS | METH_CLASS,
     "_create(name, data, indices, updates, axis, reduction, rules, mode, negative, threads, accumulate, unique, use_init_val, "
     "/)\n--\n\nMakes a plan."},
    {"keep", plan_keep, METH_O,
     "keep(indices, /)\n--\n\nValidates these indices and sorts them by where they write. Later calls use them and\n"
     "ignore their indices argument. After an error the plan is unchanged."},
    {"check", plan_check, METH_O,
     "check(indices, /)\n--\n\nValidates indices as a call would, without writing.\n\n"
     "Raises\n------\nGatherIndexError\n    The first index out of range, or, with unique=True, repeated."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"text", plan_text, NULL, "The plan in one line for people. The wording may change.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static char doc[] = "The engine behind libgather.ScatterPlan.";

static PyType_Slot slots[] = {{Py_tp_dealloc, GATHER_PY_SLOT(plan_free)},
                              {Py_tp_call, GATHER_PY_SLOT(plan_call)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, doc},
                              {0, NULL}};

PyType_Spec gather_py_scatter_plan_spec = {"libgather.ScatterPlan", sizeof(scatter_plan_object), 0,
                                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};
