/* SPDX-License-Identifier: MIT
 *
 * output.c: new outputs, made by the library that the data came from.
 */
#include "core.h"

static int numpy_output(PyObject *descr, int32_t rank, const int64_t *shape, gather_py_view *view) {
  npy_intp lengths[GATHER_MAX_RANK];
  for (int32_t d = 0; d < rank; d++) lengths[d] = (npy_intp)shape[d];
  Py_INCREF(descr); /* the call takes it over */
  PyObject *made = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)descr, rank, lengths, NULL, NULL, 0, NULL);
  if (!made) return -1;
  int result = gather_py_view_array((PyArrayObject *)made, view);
  Py_DECREF(made);
  return result;
}

static void set_error(void *context, const char *kind, const char *message) {
  PyGILState_STATE state = PyGILState_Ensure();
  (void)context;
  PyErr_Format(PyExc_RuntimeError, "%s: %s", kind ? kind : "DLPack", message ? message : "no tensor could be made");
  PyGILState_Release(state);
}

static int exchange_output(const gather_py_like *like, int32_t rank, const int64_t *shape, gather_py_view *view) {
  gather_dl_tensor prototype = {.device = {1, 0}, .ndim = rank, .dtype = like->dl_type};
  for (int32_t d = 0; d < rank; d++) view->shape[d] = shape[d];
  prototype.shape = view->shape;
  if (like->exchange->allocate(&prototype, &view->managed, NULL, set_error) != 0) {
    view->managed = NULL;
    if (!PyErr_Occurred()) PyErr_NoMemory();
    return -1;
  }
  gather_error error;
  gather_status status = gather_tensor_from_dlpack_versioned(view->managed, view->strides, &view->tensor, &error);
  if (status == GATHER_OK) return 0;
  gather_py_raise(&error);
  return -1;
}

/* Bytes of NumPy's, seen with the data's type: gather_py_finish hands them to the library. */
static int bytes_output(const gather_py_like *like, int32_t rank, const int64_t *shape, gather_py_view *view) {
  gather_error error;
  gather_py_view bytes;
  int64_t count = 0;
  gather_tensor tensor = {.rank = rank};
  gather_dl_tensor source = {.device = {1, 0}, .ndim = rank, .dtype = like->dl_type};
  for (int32_t d = 0; d < rank; d++) view->shape[d] = shape[d];
  source.shape = view->shape;
  gather_status status = gather_tensor_from_dlpack(&source, view->strides, &tensor, &error);
  if (status != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  count = gather_tensor_bytes(&tensor);
  gather_py_view_init(&bytes);
  PyArray_Descr *descr = PyArray_DescrFromType(NPY_UINT8);
  int result = numpy_output((PyObject *)descr, 1, &count, &bytes);
  Py_DECREF((PyObject *)descr);
  if (result < 0) return -1;
  tensor.data = bytes.tensor.data;
  tensor.shape = view->shape;
  view->tensor = tensor; /* row-major: strides NULL */
  view->array = bytes.array;
  view->dl_type = like->dl_type;
  return 0;
}

int gather_py_output(const gather_py_like *like, int32_t rank, const int64_t *shape, gather_py_view *view) {
  if (like->exchange) return exchange_output(like, rank, shape, view);
  if (!like->descr) return bytes_output(like, rank, shape, view);
  return numpy_output(like->descr, rank, shape, view);
}

static PyObject *fallback_import(const gather_py_like *like, gather_py_view *view) {
  PyObject *shape = PyTuple_New(view->tensor.rank);
  for (int32_t d = 0; shape && d < view->tensor.rank; d++) {
    PyObject *length = PyLong_FromLongLong(view->tensor.shape[d]);
    if (!length || PyTuple_SetItem(shape, d, length) < 0) Py_CLEAR(shape);
  }
  PyObject *module = shape ? PyImport_ImportModule("libgather._fallback") : NULL;
  PyObject *result = NULL;
  if (module)
    result = PyObject_CallMethod(module, "hand_over", "OOOiii", like->object, view->array, shape, like->dl_type.code,
                                 like->dl_type.bits, like->dl_type.lanes);
  Py_XDECREF(module);
  Py_XDECREF(shape);
  return result;
}

/* DLPack has one code for types that PyTorch keeps apart (int4 in a byte is int8): then the result is seen as x is. */
static PyObject *same_dtype(PyObject *made, PyObject *x, gather_dl_type type) {
  if (!made || !x || type.bits != 8 || type.code > 1) return made;
  PyObject *have = PyObject_GetAttrString(made, "dtype"), *want = PyObject_GetAttrString(x, "dtype");
  PyObject *result = made;
  if (have && want && have != want) {
    result = PyObject_CallMethod(made, "view", "O", want);
    Py_DECREF(made);
  } else {
    PyErr_Clear();
  }
  Py_XDECREF(have);
  Py_XDECREF(want);
  return result;
}

PyObject *gather_py_finish(const gather_py_like *like, gather_py_view *view) {
  if (like->exchange) {
    void *object = NULL;
    gather_dl_versioned *managed = view->managed;
    view->managed = NULL; /* the other library owns it from here on */
    if (like->exchange->to_object(managed, &object) != 0) return NULL;
    return same_dtype((PyObject *)object, like->object, like->dl_type);
  }
  if (!like->descr) return fallback_import(like, view);
  PyObject *array = view->array;
  view->array = NULL;
  if (like->subtype != &PyArray_Type) { /* made plain first: a subclass may change its shape as it comes to life */
    PyObject *plain = array;
    array = PyArray_View((PyArrayObject *)plain, NULL, like->subtype);
    Py_DECREF(plain);
  }
  return array ? PyArray_Return((PyArrayObject *)array) : NULL;
}
