/* SPDX-License-Identifier: MIT
 *
 * py_convert.c: objects that are left to NumPy, which makes arrays of them; and which arrays have a mask.
 */
#include <stdatomic.h>

#include "py_core.h"

/* The class of masked arrays, which is imported only if one was made: 1, 0, or -1. Never freed. */
static int find_masked(PyObject **type) {
  static _Atomic(PyObject *) known;
  *type = atomic_load(&known);
  if (*type) return 1;
  PyObject *modules = PyImport_GetModuleDict(), *found = NULL; /* borrowed */
  PyObject *module = modules ? PyDict_GetItemWithError(modules, gather_py.numpy_ma) : NULL;
  int result = module ? gather_py_find(module, gather_py.masked_array, &found) : PyErr_Occurred() ? -1 : 0;
  if (result > 0) atomic_store(&known, found);
  *type = found;
  return result;
}

int gather_py_is_masked(PyObject *object) {
  PyObject *type;
  if (PyArray_CheckExact(object)) return 0;
  int found = find_masked(&type);
  return found > 0 ? PyObject_IsInstance(object, type) : found;
}

/* Exceptions that only mean that there is no such memory, or no length. */
static int is_absence(void) { return PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_TypeError); }

static int probe_buffer(PyObject *object) {
  PyObject *memory = PyMemoryView_FromObject(object);
  if (!memory && !is_absence()) return -1;
  PyErr_Clear();
  Py_XDECREF(memory);
  return 0;
}

/* 1 if NumPy would treat the object as a sequence: nothing else describes its elements. */
static int is_sequence(PyObject *object) {
  PyObject *const names[] = {gather_py.array, gather_py.array_interface, gather_py.array_struct};
  if (!PySequence_Check(object)) return 0;
  for (int i = 0; i < 3; i++) {
    int found = gather_py_has((PyObject *)Py_TYPE(object), names[i]);
    if (found) return found < 0 ? -1 : 0;
  }
  return 1;
}

int gather_py_probe(PyObject *object) {
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyArray_IsAnyScalar(object)) return 0;
  if (PyArray_Check(object)) return 0; /* dates have no buffer */
  if (PyObject_CheckBuffer(object)) return probe_buffer(object);
  int sequence = is_sequence(object);
  if (sequence <= 0 || PySequence_Size(object) >= 0) return sequence < 0 ? -1 : 0;
  if (!is_absence()) return -1;
  PyErr_Clear();
  return 0;
}

PyObject *gather_py_as_array(PyObject *object) {
  PyObject *source = object, *memory = NULL, *array;
  if (gather_py_probe(object) < 0) return NULL;
  if (PyBytes_Check(object) || PyByteArray_Check(object)) source = memory = PyMemoryView_FromObject(object);
  array = source ? PyArray_FromAny(source, NULL, 0, 0, 0, NULL) : NULL;
  Py_XDECREF(memory);
  return array;
}

/* _probe(object): before NumPy makes an array of it elsewhere. */
PyObject *gather_py_probe_object(PyObject *self, PyObject *object) {
  (void)self;
  if (gather_py_probe(object) < 0) return NULL;
  Py_RETURN_NONE;
}
