/* SPDX-License-Identifier: MIT
 *
 * module.c: the Python module gather_bench_native, and Buffer(bytes, huge=True): memory that Python's arrays, and through them all peers,
 * stand in: the same for everybody, so that nobody has better pages. It is a module of its own and not ctypes, whose 150 ns per call would
 * be what short calls measure.
 */
#include "module.h"
#include "native.h"

/* ---- Buffer */

typedef struct {
  PyObject_HEAD char *memory;
  Py_ssize_t bytes;
} buffer;

static PyObject *buffer_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char bytes_name[] = "bytes", huge_name[] = "huge", *names[] = {bytes_name, huge_name, NULL};
  Py_ssize_t bytes;
  int huge = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "n|p", names, &bytes, &huge)) return NULL;
  if (bytes <= 0) return PyErr_Format(PyExc_ValueError, "a buffer has bytes");
  buffer *self = (buffer *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->bytes = bytes;
  self->memory = bench_map((size_t)bytes, huge != 0);
  if (self->memory) return (PyObject *)self;
  Py_DECREF(self);
  return PyErr_NoMemory();
}

static void buffer_free(PyObject *object) {
  buffer *self = (buffer *)object;
  if (self->memory) bench_unmap(self->memory, (size_t)self->bytes);
  Py_TYPE(object)->tp_free(object);
}

static int buffer_get(PyObject *object, Py_buffer *view, int flags) {
  buffer *self = (buffer *)object;
  return PyBuffer_FillInfo(view, object, self->memory, self->bytes, 0, flags);
}

static PyObject *buffer_address(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromVoidPtr(((buffer *)object)->memory);
}

static PyGetSetDef buffer_fields[] = {{"address", buffer_address, NULL, "where it begins", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyBufferProcs buffer_procs = {buffer_get, NULL};

static PyTypeObject buffer_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Buffer",
    .tp_basicsize = sizeof(buffer),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Buffer(bytes, huge=True): zeroed memory, on huge pages where the system has them",
    .tp_new = buffer_new,
    .tp_dealloc = buffer_free,
    .tp_as_buffer = &buffer_procs,
    .tp_getset = buffer_fields,
};

/* ---- the module */

static char *pointer(unsigned long long address) { return (char *)(uintptr_t)address; }

static PyObject *flush(PyObject *self, PyObject *args) {
  unsigned long long address;
  Py_ssize_t bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "Kn", &address, &bytes)) return NULL;
  return PyBool_FromLong(bench_flush(pointer(address), (size_t)bytes));
}

static PyObject *fill(PyObject *self, PyObject *args) {
  unsigned long long address, seed;
  Py_ssize_t bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "KnK", &address, &bytes, &seed)) return NULL;
  bench_fill(pointer(address), (size_t)bytes, seed);
  Py_RETURN_NONE;
}

static PyObject *shift(PyObject *self, PyObject *args) {
  unsigned long long address, by, rows;
  long long count;
  int index_bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "KLiKK", &address, &count, &index_bytes, &by, &rows)) return NULL;
  bench_shift(pointer(address), count, index_bytes, by, rows);
  Py_RETURN_NONE;
}

static const struct {
  const char *name;
  work_fn work;
} works[] = {{"naive", bench_naive}, {"naive_int4", bench_naive_int4},           {"copy", bench_copy},           {"stream", bench_stream},
             {"touch", bench_touch}, {"touch_by_vector", bench_touch_by_vector}, {"copy_rows", bench_copy_rows}, {"read", bench_read}};

/* timed(name, threads, rounds, job): a job is a tuple of its fields in the order of native.h. Returns nanoseconds. */
static PyObject *timed(PyObject *self, PyObject *args) {
  const char *name;
  int threads;
  long long rounds;
  unsigned long long table, indices, out;
  long long outer, count, inner, outer_step, axis_step, inner_step, index_outer, row, in_bytes, out_bytes, table_bytes;
  int index_bytes, ahead, lines, past;
  (void)self;
  if (!PyArg_ParseTuple(args, "siL(KKKLLLLLLLLiiiiLLL)", &name, &threads, &rounds, &table, &indices, &out, &outer, &count, &inner,
                        &outer_step, &axis_step, &inner_step, &index_outer, &row, &index_bytes, &ahead, &lines, &past, &in_bytes,
                        &out_bytes, &table_bytes))
    return NULL;
  job j = {pointer(table), pointer(indices), pointer(out), outer,      count,       inner, outer_step,
           axis_step,      inner_step,       index_outer,  row,        index_bytes, ahead, lines,
           past,           in_bytes,         out_bytes,    table_bytes};
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    if (strcmp(works[i].name, name) != 0) continue;
    int64_t ns = bench_timed(works[i].work, &j, threads, rounds);
    if (ns < 0) return PyErr_SetFromErrno(PyExc_OSError);
    return PyLong_FromLongLong(ns);
  }
  return PyErr_Format(PyExc_ValueError, "no such work: %s", name);
}

static PyObject *touched(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  return PyLong_FromUnsignedLongLong(bench_touched());
}

static PyObject *library(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  return Py_BuildValue("{s:s,s:s,s:s,s:s,s:i}", "version", gather_version(), "isa", machine.isa, "features", machine.cpu_features, "pool",
                       machine.pool, "cpus", (int)machine.cpus);
}

static PyObject *tune(PyObject *self, PyObject *args) {
  const char *name;
  long long value;
  gather_error error;
  (void)self;
  if (!PyArg_ParseTuple(args, "sL", &name, &value)) return NULL;
  if (gather_tuning_set(name, value, &error) != GATHER_OK) return PyErr_Format(PyExc_ValueError, "%s", error.message);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"flush", flush, METH_VARARGS, "flush(address, bytes): out of all caches; False where the CPU cannot"},
    {"fill", fill, METH_VARARGS, "fill(address, bytes, seed)"},
    {"shift", shift, METH_VARARGS, "shift(address, count, index_bytes, by, rows): other indices in the same order"},
    {"timed", timed, METH_VARARGS, "timed(work, threads, rounds, job): nanoseconds"},
    {"touched", touched, METH_NOARGS, "touched(): the sum of the bytes that the last touch on one thread read"},
    {"library", library, METH_NOARGS, "library(): what libgather says of itself and of the CPU"},
    {"tune", tune, METH_VARARGS, "tune(name, value): sets a tuning number of libgather"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gather_bench_native", "What script/bench cannot do in Python", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_gather_bench_native(void);
PyMODINIT_FUNC PyInit_gather_bench_native(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  const struct {
    const char *name;
    PyTypeObject *type;
  } types[] = {{"Buffer", &buffer_type},           {"Plan", &bench_plan_type},
               {"Tree", &bench_tree_type},         {"Quantised", &bench_quantised_type},
               {"Table", &bench_table_type},       {"Scatter", &bench_scatter_type},
               {"Backward", &bench_backward_type}, {"Bag", &bench_bag_type}};
  int failed = PyModule_AddFunctions(module, bench_disk_functions) < 0 || PyModule_AddFunctions(module, bench_write_functions) < 0;
  for (size_t i = 0; i < sizeof types / sizeof *types && !failed; i++)
    failed = PyType_Ready(types[i].type) < 0 || PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type) < 0;
  if (failed) Py_CLEAR(module);
  return module;
}
