/* SPDX-License-Identifier: MIT
 *
 * py_output.c: new outputs, made by the library that the data came from.
 */
#include <stdlib.h>
#include <string.h>

#include "py_core.h"

static int numpy_output(PyObject *descr, int32_t rank, const int64_t *shape, gather_py_view *view) {
  npy_intp lengths[GATHER_MAX_RANK];
  for (int32_t d = 0; d < rank; d++) lengths[d] = (npy_intp)shape[d];
  Py_INCREF(descr); /* the call takes the reference */
  PyObject *made = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)descr, rank, lengths, NULL, NULL, 0, NULL);
  if (!made) return -1;
  int result = gather_py_view_array((PyArrayObject *)made, view);
  Py_DECREF(made);
  return result;
}

/* A tensor, its shape and strides, and then its elements in one block, which the library that takes it frees with free. Asking
 * the library for one would cost PyTorch's callers as much as the gather of a small call. Such a block is as small as its rank allows,
 * and aligned by hand: malloc keeps small blocks at hand, aligned_alloc does not. */
typedef struct owned {
  gather_dl_versioned managed;
  int64_t dims[]; /* the shape, then the strides */
} owned;

enum { ALIGNMENT = 64, HUGE_BYTES = 4 << 20 };

static void free_owned(gather_dl_versioned *managed) { free(managed->manager); }

/* elements: receives where they begin. */
static owned *allocate(int32_t rank, int64_t bytes, void **elements) {
  const size_t head = sizeof(owned) + 2 * (size_t)rank * sizeof(int64_t) + ALIGNMENT;
  if ((uint64_t)bytes > (uint64_t)(PTRDIFF_MAX - (ptrdiff_t)head)) return NULL;
  owned *made = malloc(head + (size_t)bytes);
  if (!made) return NULL;
  *elements = (char *)made + head - ((uintptr_t)made + head) % ALIGNMENT;
  if (bytes >= HUGE_BYTES) (void)gather_advise_huge_pages(made, head + (size_t)bytes);
  return made;
}

static int exchange_output(const gather_py_view *data, int32_t rank, const int64_t *shape, gather_py_view *view) {
  view->tensor = (gather_tensor){.type = data->tensor.type, .rank = rank, .item_bytes = data->tensor.item_bytes};
  view->tensor.shape = view->shape;
  for (int32_t d = 0; d < rank; d++) view->shape[d] = shape[d];
  owned *made = allocate(rank, gather_tensor_bytes(&view->tensor), &view->tensor.data);
  if (!made) {
    PyErr_NoMemory();
    return -1;
  }
  int64_t *lengths = made->dims, *strides = made->dims + rank;
  memcpy(lengths, view->shape, (size_t)rank * sizeof *shape);
  gather_py_row_major(rank, shape, 1, strides);
  view->managed = &made->managed;
  made->managed = (gather_dl_versioned){.version = {1, 1}, .manager = made, .deleter = free_owned};
  made->managed.tensor = (gather_dl_tensor){view->tensor.data, {1, 0}, rank, data->dl_type, lengths, strides, 0};
  return 0;
}

/* NumPy's bytes, viewed with the data's type: gather_py_finish passes them to the library. */
static int bytes_output(const gather_py_view *data, int32_t rank, const int64_t *shape, gather_py_view *view) {
  gather_error error;
  gather_py_view bytes;
  int64_t count = 0;
  gather_tensor tensor = {.rank = rank};
  gather_dl_tensor source = {.device = {1, 0}, .ndim = rank, .dtype = data->dl_type};
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
  view->dl_type = data->dl_type;
  return 0;
}

int gather_py_output(const gather_py_view *data, int32_t rank, const int64_t *shape, gather_py_view *view) {
  if (data->exchange) return exchange_output(data, rank, shape, view);
  if (!data->array) return bytes_output(data, rank, shape, view);
  return numpy_output((PyObject *)PyArray_DESCR((PyArrayObject *)data->array), rank, shape, view);
}

static PyObject *hand_over(PyObject *x, const gather_py_view *data, gather_py_view *view) {
  PyObject *shape = gather_py_tuple(view->tensor.rank, view->tensor.shape), *result = NULL;
  PyObject *function = shape ? gather_py_fallback("hand_over") : NULL;
  if (function)
    result = PyObject_CallFunction(function, "OOOiii", x, view->array, shape, data->dl_type.code, data->dl_type.bits, data->dl_type.lanes);
  Py_XDECREF(function);
  Py_XDECREF(shape);
  return result;
}

/* DLPack has one code for types that PyTorch distinguishes (int4 in a byte is int8): then the result is viewed as x's dtype. */
static PyObject *as_x(PyObject *made, PyObject *x, gather_dl_type type) {
  PyObject *have = NULL, *want = NULL, *result = made;
  if (!made || type.bits != 8 || type.code > 1) return made;
  int found = gather_py_find(made, gather_py.dtype, &have);
  if (found > 0) found = gather_py_find(x, gather_py.dtype, &want);
  if (found < 0 || (found > 0 && have != want)) {
    result = found < 0 ? NULL : PyObject_CallMethod(made, "view", "O", want);
    Py_DECREF(made);
  }
  Py_XDECREF(have);
  Py_XDECREF(want);
  return result;
}

/* The same memory as an object of x's class, whose __array_finalize__ gets x, as from NumPy. It is made after the gather,
 * since a class may change its shape when it is created. */
static PyObject *as_subclass(PyObject *plain, PyObject *x) {
  PyArrayObject *array = (PyArrayObject *)plain;
  PyArray_Descr *descr = PyArray_DESCR(array);
  Py_INCREF((PyObject *)descr); /* the call takes the reference */
  PyObject *made =
      PyArray_NewFromDescr(Py_TYPE(x), descr, PyArray_NDIM(array), PyArray_DIMS(array), NULL, PyArray_DATA(array), NPY_ARRAY_CARRAY, x);
  if (made && PyArray_SetBaseObject((PyArrayObject *)made, plain) == 0) return made; /* which takes ownership of `plain` */
  if (!made) Py_DECREF(plain);
  Py_XDECREF(made);
  return NULL;
}

PyObject *gather_py_finish(PyObject *x, const gather_py_view *data, gather_py_view *view, bool scalar) {
  if (data->exchange) {
    void *object = NULL;
    gather_dl_versioned *managed = view->managed;
    view->managed = NULL; /* the other library owns it now */
    if (data->exchange->to_object(managed, &object) != 0) return NULL;
    return as_x((PyObject *)object, x, data->dl_type);
  }
  if (!data->array) return hand_over(x, data, view);
  PyObject *array = view->array;
  view->array = NULL;
  if (!PyArray_CheckExact(data->array)) array = as_subclass(array, data->array);
  return array && scalar ? PyArray_Return((PyArrayObject *)array) : array;
}
