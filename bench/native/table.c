/* SPDX-License-Identifier: MIT
 *
 * table.c: Table(path, engine, memory, depth, cache): rows out of a file by libgather, called from C.
 */
#include <string.h>

#include "module.h"
#include "native.h"

#include "gather/table.h"

typedef struct {
  PyObject_HEAD gather_table *table;
} table;

static PyObject *complain(const gather_error *error) { return PyErr_Format(PyExc_OSError, "%s", error->message); }

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *path, *engine;
  long long memory, cache;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_error error;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "ssLiL", &path, &engine, &memory, &options.depth, &cache)) return NULL;
  options.memory_bytes = memory;
  options.cache_bytes = cache;
  if (gather_engine_parse(engine, &options.engine, &error) != GATHER_OK) return complain(&error);
  table *self = (table *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  if (gather_table_open(path, &options, &self->table, &error) == GATHER_OK) return (PyObject *)self;
  self->table = NULL;
  Py_DECREF(self);
  return complain(&error);
}

static void table_free(PyObject *object) {
  gather_table_close(((table *)object)->table);
  Py_TYPE(object)->tp_free(object);
}

/* take(ids, count, out): nanoseconds. ids are int64. */
static PyObject *table_take(PyObject *object, PyObject *args) {
  gather_table *from = ((table *)object)->table;
  unsigned long long ids, out;
  long long count;
  gather_error error;
  if (!PyArg_ParseTuple(args, "KLK", &ids, &count, &out)) return NULL;
  const gather_table_info *info = gather_table_describe(from);
  int64_t length = count, shape[GATHER_MAX_RANK];
  if (info->tensor.rank > GATHER_MAX_RANK) return PyErr_Format(PyExc_ValueError, "the rank is too high");
  memcpy(shape, info->tensor.shape, (size_t)info->tensor.rank * sizeof *shape);
  shape[0] = count;
  gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = &length, .data = (void *)(uintptr_t)ids};
  gather_tensor rows = info->tensor;
  rows.shape = shape;
  rows.flags &= ~(uint32_t)GATHER_TENSOR_READ_ONLY;
  rows.data = (void *)(uintptr_t)out;
  gather_status status;
  int64_t start, end;
  Py_BEGIN_ALLOW_THREADS start = bench_now();
  status = gather_table_take(from, &indices, &rows, NULL, &error);
  end = bench_now();
  Py_END_ALLOW_THREADS return status == GATHER_OK ? PyLong_FromLongLong(end - start) : complain(&error);
}

static PyObject *table_statistics(PyObject *object, PyObject *args) {
  gather_table_statistics s;
  (void)args;
  gather_table_statistics_get(((table *)object)->table, &s);
  return Py_BuildValue("{s:s,s:N,s:i,s:s,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:d,s:d}", "engine", gather_engine_name(s.engine),
                       "direct", PyBool_FromLong(s.direct), "depth", (int)s.depth, "why", s.why, "rows", (long long)s.rows, "rows_resident",
                       (long long)s.rows_resident, "rows_cached", (long long)s.rows_cached, "rows_read", (long long)s.rows_read, "reads",
                       (long long)s.reads, "bytes_useful", (long long)s.bytes_useful, "bytes_read", (long long)s.bytes_read, "memory_bytes",
                       (long long)s.memory_bytes, "memory_peak", (long long)s.memory_peak, "memory_ceiling", (long long)s.memory_ceiling,
                       "seconds", s.seconds, "seconds_waiting", s.seconds_waiting);
}

static PyMethodDef table_methods[] = {{"take", table_take, METH_VARARGS, "take(ids, count, out): nanoseconds"},
                                      {"statistics", table_statistics, METH_NOARGS, "statistics(): what has been done since it was opened"},
                                      {NULL, NULL, 0, NULL}};

PyTypeObject bench_table_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Table",
    .tp_basicsize = sizeof(table),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Table(path, engine, memory, depth, cache): a table in a file, opened by libgather",
    .tp_new = table_new,
    .tp_dealloc = table_free,
    .tp_methods = table_methods,
};
