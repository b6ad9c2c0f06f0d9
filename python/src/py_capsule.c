/* SPDX-License-Identifier: MIT
 *
 * py_capsule.c: memory of ours as a DLPack capsule, for libraries that have no C interface.
 */
#include <stdlib.h>

#include "py_core.h"

static const char CAPSULE[] = "dltensor";

typedef struct exported {
  gather_dl_managed managed;
  PyObject *array;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
} exported;

static void free_exported(gather_dl_managed *managed) {
  exported *made = (exported *)managed->manager;
  PyGILState_STATE state = PyGILState_Ensure(); /* the other library may free it on any thread */
  Py_DECREF(made->array);
  PyGILState_Release(state);
  free(made);
}

static void free_capsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, CAPSULE)) return; /* ownership was taken */
  gather_dl_managed *managed = (gather_dl_managed *)PyCapsule_GetPointer(capsule, CAPSULE);
  if (managed) managed->deleter(managed);
}

static int read_shape(PyObject *shape, exported *made) {
  Py_ssize_t rank = PyTuple_Size(shape);
  if (rank > GATHER_MAX_RANK) {
    PyErr_SetString(PyExc_ValueError, "too many dimensions");
    return -1;
  }
  for (Py_ssize_t d = 0; d < rank; d++) made->shape[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
  gather_py_row_major((int32_t)rank, made->shape, 1, made->strides);
  made->managed.tensor.ndim = (int32_t)rank;
  return PyErr_Occurred() ? -1 : 0;
}

PyObject *gather_py_capsule(PyObject *self, PyObject *args) {
  PyObject *array, *shape;
  int code, bits, lanes;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!O!iii", &PyArray_Type, &array, &PyTuple_Type, &shape, &code, &bits, &lanes)) return NULL;
  exported *made = (exported *)calloc(1, sizeof *made);
  if (!made) return PyErr_NoMemory();
  if (read_shape(shape, made) < 0) {
    free(made);
    return NULL;
  }
  gather_dl_tensor *tensor = &made->managed.tensor;
  tensor->data = PyArray_DATA((PyArrayObject *)array);
  tensor->device.type = 1;
  tensor->dtype = (gather_dl_type){(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  tensor->shape = made->shape;
  tensor->strides = made->strides;
  made->managed.manager = made;
  made->managed.deleter = free_exported;
  PyObject *capsule = PyCapsule_New(&made->managed, CAPSULE, free_capsule);
  if (!capsule) {
    free(made);
    return NULL;
  }
  Py_INCREF(array);
  made->array = array;
  return capsule;
}
