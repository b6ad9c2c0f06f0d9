/* SPDX-License-Identifier: MIT
 *
 * py_table.c: the type Table: an open table and its properties.
 */
#include "py_table.h"

#include <stddef.h>

#include "py_signals.h"
#include "py_table_docs.h"

static void close_handle(gather_py_table *self) {
  PyThreadState *state = PyEval_SaveThread();
  gather_py_handle_close(&self->handle);
  PyEval_RestoreThread(state);
}

static void table_free(PyObject *object) {
  gather_py_table *self = (gather_py_table *)object;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace); /* other threads run during the wait */
  close_handle(self);
  PyErr_Restore(type, value, trace);
  Py_XDECREF(self->like);
  Py_XDECREF(self->bytes_like);
  Py_XDECREF(self->format);
  Py_XDECREF(self->name);
  Py_XDECREF(self->type);
  Py_XDECREF(self->codec);
  gather_py_release(object);
}

/* If a handler raises meanwhile, the jobs are cancelled, so that the table is closed soon. */
static PyObject *table_close(PyObject *object, PyObject *none) {
  gather_py_table *self = (gather_py_table *)object;
  PyObject *type, *value, *trace;
  (void)none;
  if (gather_py_table_may_wait(self) < 0) return NULL;
  if (gather_py_await_jobs(&self->handle) < 0) gather_py_handle_cancel(&self->handle);
  PyErr_Fetch(&type, &value, &trace);
  close_handle(self);
  PyErr_Restore(type, value, trace);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

static PyObject *table_cancel(PyObject *object, PyObject *none) {
  (void)none;
  gather_py_handle_cancel(&((gather_py_table *)object)->handle);
  Py_RETURN_NONE;
}

/* ---- properties ---- */

static PyObject *get_closed(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(gather_py_handle_is_closed(&((gather_py_table *)self)->handle));
}

static PyObject *get_shape(PyObject *self, void *closure) {
  const gather_py_table *table = (gather_py_table *)self;
  (void)closure;
  return gather_py_tuple(table->tensor.rank, table->shape);
}

static PyObject *get_dtype(PyObject *self, void *closure) {
  PyObject *descr = (PyObject *)PyArray_DESCR((PyArrayObject *)((gather_py_table *)self)->like);
  (void)closure;
  Py_INCREF(descr);
  return descr;
}

static PyObject *get_ndim(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLong(((gather_py_table *)self)->tensor.rank);
}

static PyObject *get_rows(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(((gather_py_table *)self)->rows);
}

static PyObject *get_row_bytes(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(((gather_py_table *)self)->row_bytes);
}

static PyObject *get_size(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(gather_tensor_len(&((gather_py_table *)self)->tensor));
}

static PyObject *get_itemsize(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromSsize_t(PyDataType_ELSIZE(PyArray_DESCR((PyArrayObject *)((gather_py_table *)self)->like)));
}

static PyObject *get_nbytes(PyObject *self, void *closure) {
  const gather_py_table *table = (gather_py_table *)self;
  (void)closure;
  return PyLong_FromLongLong(table->rows * table->row_bytes);
}

static PyObject *get_text(PyObject *self, void *closure) {
  PyObject *text = *(PyObject **)(void *)((char *)self + (size_t)(uintptr_t)closure);
  Py_INCREF(text);
  return text;
}

static Py_ssize_t length(PyObject *self) { return (Py_ssize_t)((gather_py_table *)self)->rows; }

static PyObject *part_of(const gather_table *table, int32_t i) {
  gather_table_part part;
  if (!gather_table_part_at(table, i, &part)) return NULL;
  return Py_BuildValue("(NLLL)", PyUnicode_DecodeFSDefault(part.path), (long long)part.offset, (long long)part.first, (long long)part.rows);
}

static PyObject *table_parts(PyObject *object, PyObject *none) {
  gather_py_table *self = (gather_py_table *)object;
  gather_table *table = gather_py_handle_enter(&self->handle);
  (void)none;
  if (!table) return gather_py_table_closed();
  int32_t count = gather_table_describe(table)->parts;
  PyObject *parts = PyTuple_New(count);
  for (int32_t i = 0; parts && i < count; i++) {
    PyObject *part = part_of(table, i);
    if (!part || PyTuple_SetItem(parts, i, part) < 0) Py_CLEAR(parts);
  }
  gather_py_handle_leave(&self->handle);
  return parts;
}

/* ---- statistics ---- */

static PyObject *table_stats(PyObject *object, PyObject *none) {
  gather_py_table *self = (gather_py_table *)object;
  gather_table_statistics s;
  (void)none;
  PyThreadState *state = PyEval_SaveThread();
  gather_table *table = gather_py_handle_enter(&self->handle);
  if (table) {
    gather_table_statistics_get(table, &s);
    gather_py_handle_leave(&self->handle);
  }
  PyEval_RestoreThread(state);
  if (!table) return gather_py_table_closed();
  return Py_BuildValue("{s:s,s:N,s:i,s:N,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:d,s:d,s:L,s:L,s:L,s:d}", "engine",
                       gather_engine_name(s.engine), "direct", PyBool_FromLong(s.direct), "depth", (int)s.depth, "why",
                       gather_py_table_text(s.why), "takes", (long long)s.takes, "rows", (long long)s.rows, "rows_resident",
                       (long long)s.rows_resident, "rows_cached", (long long)s.rows_cached, "rows_read", (long long)s.rows_read, "reads",
                       (long long)s.reads, "bytes_useful", (long long)s.bytes_useful, "bytes_read", (long long)s.bytes_read, "memory_bytes",
                       (long long)s.memory_bytes, "memory_peak", (long long)s.memory_peak, "memory_ceiling", (long long)s.memory_ceiling,
                       "seconds", s.seconds, "seconds_waiting", s.seconds_waiting, "chunks_read", (long long)s.chunks_read, "chunks_cached",
                       (long long)s.chunks_cached, "bytes_decoded", (long long)s.bytes_decoded, "seconds_decoding", s.seconds_decoding);
}

static PyObject *device_of(const gather_table_device *d) {
  return Py_BuildValue("(NNiNiiLLd)", PyLong_FromUnsignedLongLong((unsigned long long)d->number), PyUnicode_DecodeFSDefault(d->path),
                       (int)d->files, PyBool_FromLong(d->direct), (int)d->depth, (int)d->most_in_flight, (long long)d->reads,
                       (long long)d->bytes_read, d->seconds_reading);
}

static PyObject *table_devices(PyObject *object, PyObject *none) {
  gather_py_table *self = (gather_py_table *)object;
  gather_table *table = gather_py_handle_enter(&self->handle);
  gather_table_device device;
  (void)none;
  if (!table) return gather_py_table_closed();
  PyObject *devices = PyList_New(0);
  for (int32_t i = 0; devices && gather_table_device_at(table, i, &device); i++) {
    PyObject *one = device_of(&device);
    if (!one || PyList_Append(devices, one) < 0) Py_CLEAR(devices);
    Py_XDECREF(one);
  }
  gather_py_handle_leave(&self->handle);
  return devices;
}

/* None for a table of local files. */
static PyObject *table_remote_stats(PyObject *object, PyObject *none) {
  gather_py_table *self = (gather_py_table *)object;
  gather_remote_statistics s;
  bool remote = false;
  (void)none;
  PyThreadState *state = PyEval_SaveThread();
  gather_table *table = gather_py_handle_enter(&self->handle);
  if (table) {
    remote = gather_table_remote_statistics(table, &s);
    gather_py_handle_leave(&self->handle);
  }
  PyEval_RestoreThread(state);
  if (!table) return gather_py_table_closed();
  if (!remote) Py_RETURN_NONE;
  return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:s,s:L,s:i,s:i,s:L,s:d,s:d,s:d,s:d}", "requests", (long long)s.requests,
                       "retries", (long long)s.retries, "hedges", (long long)s.hedges, "bytes_useful", (long long)s.bytes_useful,
                       "bytes_read", (long long)s.bytes_read, "cache_hits", (long long)s.cache_hits, "cache_stored",
                       (long long)s.cache_stored, "cache_failures", (long long)s.cache_failures, "cache_why", s.cache_why, "connections",
                       (long long)s.connections, "in_flight_peak", (int)s.in_flight_peak, "depth", (int)s.depth, "gap_bytes",
                       (long long)s.gap_bytes, "latency", s.latency, "bandwidth", s.bandwidth, "p50", s.p50, "p99", s.p99);
}

static PyObject *table_reset_stats(PyObject *object, PyObject *none) {
  gather_py_table *self = (gather_py_table *)object;
  (void)none;
  PyThreadState *state = PyEval_SaveThread();
  gather_table *table = gather_py_handle_enter(&self->handle);
  if (table) {
    gather_table_statistics_reset(table);
    gather_py_handle_leave(&self->handle);
  }
  PyEval_RestoreThread(state);
  if (!table) return gather_py_table_closed();
  Py_RETURN_NONE;
}

/* ---- the types ---- */

#define FAST (METH_FASTCALL | METH_KEYWORDS)
static PyMethodDef methods[] = {
    {"_take_part", (PyCFunction)(void (*)(void))gather_py_table_take_part, METH_FASTCALL,
     "_take_part(indices, first, count, /)\n--\n\ntake(indices), with only `count` bytes of each row valid, from `first` on."},
    {"take", (PyCFunction)(void (*)(void))gather_py_table_take, FAST, gather_py_doc_table_take},
    {"gather_nd", (PyCFunction)(void (*)(void))gather_py_table_gather_nd, FAST, gather_py_doc_table_nd},
    {"submit", (PyCFunction)(void (*)(void))gather_py_table_submit, FAST, gather_py_doc_table_submit},
    {"close", table_close, METH_NOARGS,
     "close()\n--\n\nWaits for calls and jobs in progress, and closes the files. Properties can still be "
     "read.\nMay be called again."},
    {"cancel_jobs", table_cancel, METH_NOARGS,
     "cancel_jobs()\n--\n\nCancels all unfinished jobs of the table, as their cancel() does, and "
     "returns at once."},
    {"reset_stats", table_reset_stats, METH_NOARGS,
     "reset_stats()\n--\n\nSets all counts of stats() to 0, and memory_peak to memory_bytes."},
    {"_stats", table_stats, METH_NOARGS, "_stats()\n--\n\nThe fields of TableStatistics: a dict."},
    {"_devices", table_devices, METH_NOARGS, "_devices()\n--\n\nThe fields of each TableDevice: a list of tuples."},
    {"_remote_stats", table_remote_stats, METH_NOARGS,
     "_remote_stats()\n--\n\nThe fields of RemoteStatistics: a dict; None for local files."},
    {"_parts", table_parts, METH_NOARGS, "_parts()\n--\n\nThe fields of each TablePart: a tuple of tuples."},
    {NULL, NULL, 0, NULL}};

#define OFFSET(member) (void *)(uintptr_t)offsetof(gather_py_table, member)
static PyGetSetDef getters[] = {
    {"closed", get_closed, NULL, "Whether the table is closed.", NULL},
    {"shape", get_shape, NULL, "The shape: a tuple of int.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions, at least 1.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "The bytes of one element of the rows that a take returns.", NULL},
    {"dtype", get_dtype, NULL, "The dtype of the rows that a take returns, in the file's byte order.", NULL},
    {"type", get_text, NULL, "The name of the element type, also if NumPy has no dtype for it.", OFFSET(type)},
    {"rows", get_rows, NULL, "The number of rows: len(table).", NULL},
    {"row_bytes", get_row_bytes, NULL, "The bytes of one row.", NULL},
    {"nbytes", get_nbytes, NULL, "The bytes of all rows in the file.", NULL},
    {"format", get_text, NULL, "The format of the (first) file.", OFFSET(format)},
    {"codec", get_text, NULL, "The codec of decoded rows (see codecs()); None for rows as they are in the file.", OFFSET(codec)},
    {"name", get_text, NULL, "The name of the tensor in its file; '' if it has none.", OFFSET(name)},
    {NULL, NULL, NULL, NULL, NULL}};

static char doc[] = "An open table; the base of libgather.Table.";

static PyType_Slot slots[] = {{Py_tp_new, GATHER_PY_SLOT(gather_py_table_new)},
                              {Py_tp_dealloc, GATHER_PY_SLOT(table_free)},
                              {Py_mp_subscript, GATHER_PY_SLOT(gather_py_table_subscript)},
                              {Py_mp_length, GATHER_PY_SLOT(length)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, doc},
                              {0, NULL}};

static PyType_Spec spec = {"libgather._core.Table", sizeof(gather_py_table), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE, slots};

static int add_type(PyObject *module, const char *name, PyType_Spec *made_of, PyTypeObject **type) {
  PyObject *made = PyType_FromModuleAndSpec(module, made_of, NULL);
  if (!made || PyModule_AddObjectRef(module, name, made) < 0) {
    Py_XDECREF(made);
    return -1;
  }
  Py_XDECREF((PyObject *)*type); /* the module may be imported again */
  *type = (PyTypeObject *)made;
  return 0;
}

int gather_py_table_init(PyObject *module) {
  if (gather_py_handle_init() < 0) return -1;
  if (add_type(module, "Table", &spec, &gather_py_table_type) < 0) return -1;
  return add_type(module, "TableJob", &gather_py_job_spec, &gather_py_job_type);
}
