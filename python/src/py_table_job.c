/* SPDX-License-Identifier: MIT
 *
 * py_table_job.c: the type TableJob: a take that runs while Python does something else. It copies the indices and keeps
 * the output alive; nothing is freed while the library works on it.
 */
#include <string.h>

#include "py_signals.h"

typedef struct job_object {
  PyObject ob_base;
  gather_py_job job;
  gather_py_rows rows;
  gather_py_table *table; /* NULL if it was never submitted */
  PyObject *out;          /* the caller's */
  void *indices;          /* a copy, so that the caller's may change */
  bool interrupted;       /* a wait was interrupted: cancel the job when it is dropped */
} job_object;

static gather_py_job_state finish(job_object *self) {
  PyThreadState *state = PyEval_SaveThread();
  gather_py_job_state ended = gather_py_job_finish(&self->job);
  PyEval_RestoreThread(state);
  return ended;
}

/* Nothing can be raised here: KeyboardInterrupt is raised again when Python continues. */
static void pass_on_later(void) {
  bool interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  if (interrupt)
    PyErr_Clear();
  else
    PyErr_WriteUnraisable(NULL);
  if (interrupt) PyErr_SetInterrupt();
}

/* Whether code is left by KeyboardInterrupt or the like, not by an error. */
static bool is_leaving(PyObject *type) {
  if (type == Py_None || PyObject_IsSubclass(type, PyExc_Exception) != 0) return false;
  return true;
}

/* A dropped job must still fill `out`: wait for it, unless a signal interrupts. */
static void drop(job_object *self) {
  if (self->interrupted) gather_py_job_cancel(&self->job);
  if (gather_py_await_job(&self->job) < 0) {
    gather_py_job_cancel(&self->job);
    pass_on_later();
  }
  (void)finish(self);
}

static void job_free(PyObject *object) {
  job_object *self = (job_object *)object;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);                     /* other threads run during the wait */
  if (type && is_leaving(type)) self->interrupted = true; /* a signal came before anybody could wait for the rows */
  if (self->job.state != GATHER_PY_JOB_NONE) drop(self);
  gather_py_rows_clear(&self->rows);
  Py_XDECREF((PyObject *)self->table);
  Py_XDECREF(self->out);
  PyMem_Free(self->indices);
  PyErr_Restore(type, value, trace);
  gather_py_release(object);
}

static int fail(gather_py_job_state state, const job_object *self) {
  if (state == GATHER_PY_JOB_LOST)
    gather_py_fail(GATHER_USAGE, NULL, "the job runs in the process that this one was forked from");
  else if (self->job.status != GATHER_OK)
    gather_py_raise(&self->job.error);
  else
    return 0;
  return -1;
}

static PyObject *job_wait(PyObject *object, PyObject *none) {
  job_object *self = (job_object *)object;
  (void)none;
  if (gather_py_table_may_wait(self->table) < 0) return NULL;
  self->interrupted = gather_py_await_job(&self->job) < 0;
  if (self->interrupted) return NULL;
  return fail(finish(self), self) < 0 ? NULL : gather_py_rows_result(self->table, &self->rows);
}

static PyObject *job_cancel(PyObject *object, PyObject *none) {
  (void)none;
  gather_py_job_cancel(&((job_object *)object)->job);
  Py_RETURN_NONE;
}

static PyObject *get_done(PyObject *object, void *closure) {
  job_object *self = (job_object *)object;
  (void)closure;
  PyThreadState *state = PyEval_SaveThread();
  bool done = gather_py_job_is_done(&self->job);
  PyEval_RestoreThread(state);
  return PyBool_FromLong(done);
}

static PyObject *job_enter(PyObject *self, PyObject *none) {
  (void)none;
  Py_INCREF(self);
  return self;
}

/* The job ends with the block, early after a signal; an exception of the block takes precedence over the job's. */
static PyObject *job_exit(PyObject *object, PyObject *args) {
  job_object *self = (job_object *)object;
  PyObject *type = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : Py_None;
  PyObject *raised[3] = {NULL};
  if (gather_py_table_may_wait(self->table) < 0) return NULL;
  if (is_leaving(type)) gather_py_job_cancel(&self->job);
  bool interrupted = gather_py_await_job(&self->job) < 0;
  PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
  if (interrupted) gather_py_job_cancel(&self->job);
  gather_py_job_state state = finish(self);
  PyErr_Restore(raised[0], raised[1], raised[2]);
  if (PyErr_Occurred() || (type == Py_None && fail(state, self) < 0)) return NULL;
  Py_RETURN_NONE;
}

static PyObject *job_repr(PyObject *object) {
  PyObject *done = get_done(object, NULL);
  PyObject *repr = done ? PyUnicode_FromFormat("<libgather.TableJob: %s>", done == Py_True ? "done" : "running") : NULL;
  Py_XDECREF(done);
  return repr;
}

static PyMethodDef methods[] = {
    {"wait", job_wait, METH_NOARGS,
     "wait()\n--\n\nWaits for the end, and returns the rows: out, or a new array. Raises what take() would. May be "
     "called\nagain, and by several threads. A signal handler that raises (Ctrl-C) ends the wait, not the job."},
    {"cancel", job_cancel, METH_NOARGS,
     "cancel()\n--\n\nAsks the job to end early, and returns. wait() then raises GatherCancelledError, unless the job "
     "had\nended before. Until then rows of out may be written."},
    {"__enter__", job_enter, METH_NOARGS, NULL},
    {"__exit__", job_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"done", get_done, NULL, "Whether it has ended, successfully or not.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static char doc[] =
    "A take that Table.submit() started. Nothing else may read or write out until wait() has returned.\n\n"
    "Garbage collection waits for the job, and so does the end of its `with` block. If KeyboardInterrupt ended a wait or\n"
    "the block, the job is cancelled first.";

static PyType_Slot slots[] = {{Py_tp_dealloc, GATHER_PY_SLOT(job_free)},
                              {Py_tp_repr, GATHER_PY_SLOT(job_repr)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, doc},
                              {0, NULL}};

PyType_Spec gather_py_job_spec = {"libgather.TableJob", sizeof(job_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

/* ---- submitting ---- */

static gather_status submit(gather_py_table *self, job_object *job, gather_table **table, gather_error *error) {
  gather_table_job *submitted;
  *table = gather_py_handle_enter(&self->handle);
  if (!*table) return GATHER_USAGE;
  gather_status status = gather_table_submit(*table, &job->rows.indices.tensor, &job->rows.target, &job->rows.options, &submitted, error);
  if (status == GATHER_OK) gather_py_job_begin(&self->handle, &job->job, submitted);
  gather_py_handle_leave(&self->handle);
  return status;
}

static PyObject *begin(gather_py_table *self, job_object *job) {
  gather_table *table;
  gather_error error;
  if (gather_py_table_may_wait(self) < 0) return NULL;
  PyThreadState *state = PyEval_SaveThread();
  gather_status status = submit(self, job, &table, &error);
  PyEval_RestoreThread(state);
  if (!table) return gather_py_table_closed();
  if (status != GATHER_OK) return gather_py_raise(&error);
  Py_INCREF((PyObject *)job);
  return (PyObject *)job;
}

/* Copies elements of `bytes` bytes with any strides into contiguous memory. */
static void copy_strided(const gather_py_view *from, int64_t len, int64_t bytes, char *to) {
  const gather_tensor *tensor = &from->tensor;
  int64_t at[GATHER_MAX_RANK] = {0};
  const char *source = tensor->data;
  for (int64_t i = 0; i < len; i++, to += bytes) {
    memcpy(to, source, (size_t)bytes);
    for (int32_t d = tensor->rank - 1; d >= 0; d--) {
      source += from->strides[d];
      if (++at[d] < from->shape[d]) break;
      source -= from->strides[d] * from->shape[d];
      at[d] = 0;
    }
  }
}

/* The library validates the indices before it returns, and uses them again as rows are read: they must not change. */
static int copy_indices(job_object *job) {
  gather_py_view *view = &job->rows.indices;
  const gather_type_info *type = gather_type_get(view->tensor.type);
  int64_t len = gather_tensor_len(&view->tensor), bytes = type->bits / 8;
  if (view->tensor.data == &view->number || len == 0 || type->packing != GATHER_PACKING_BYTES || bytes == 0) return 0;
  job->indices = PyMem_Malloc((size_t)(len * bytes));
  if (!job->indices) {
    PyErr_NoMemory();
    return -1;
  }
  if (view->tensor.strides)
    copy_strided(view, len, bytes, job->indices);
  else
    memcpy(job->indices, view->tensor.data, (size_t)(len * bytes));
  view->tensor.data = job->indices;
  view->tensor.strides = NULL;
  return 0;
}

/* Releases what the call only borrowed. */
static void keep(gather_py_table *self, job_object *job) {
  Py_INCREF((PyObject *)self);
  job->table = self;
  Py_XINCREF(job->rows.call.out);
  job->out = job->rows.call.out;
}

PyObject *gather_py_table_submit(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  gather_py_table *self = (gather_py_table *)object;
  PyObject *result = NULL;
  job_object *job = (job_object *)gather_py_allocate(gather_py_job_type);
  if (!job) return NULL;
  if (gather_py_rows_read(&gather_py_table_submits, self, args, count, names, &job->rows) == 0 && copy_indices(job) == 0) {
    keep(self, job);
    result = begin(self, job);
  }
  Py_DECREF((PyObject *)job);
  return result;
}
