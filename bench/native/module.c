/* SPDX-License-Identifier: MIT
 *
 * module.c: the Python module gather_bench_native. It is a module of its own and not ctypes, whose 150 ns per call would be
 * what short calls measure.
 */
#include "module.h"

#include "native.h"

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
} works[] = {{"naive", bench_naive}, {"naive_int4", bench_naive_int4},           {"copy", bench_copy},          {"stream", bench_stream},
             {"touch", bench_touch}, {"touch_by_vector", bench_touch_by_vector}, {"copy_rows", bench_copy_rows}};

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
  if (PyType_Ready(&bench_buffer_type) < 0 || PyType_Ready(&bench_plan_type) < 0 ||
      PyModule_AddObjectRef(module, "Buffer", (PyObject *)&bench_buffer_type) < 0 ||
      PyModule_AddObjectRef(module, "Plan", (PyObject *)&bench_plan_type) < 0 || PyType_Ready(&bench_quantised_type) < 0 ||
      PyType_Ready(&bench_tree_type) < 0 || PyModule_AddObjectRef(module, "Tree", (PyObject *)&bench_tree_type) < 0 ||
      PyModule_AddObjectRef(module, "Quantised", (PyObject *)&bench_quantised_type) < 0 || PyType_Ready(&bench_table_type) < 0 ||
      PyModule_AddObjectRef(module, "Table", (PyObject *)&bench_table_type) < 0 ||
      PyModule_AddFunctions(module, bench_disk_functions) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
