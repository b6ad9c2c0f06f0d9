/* SPDX-License-Identifier: MIT
 *
 * py_array.c: the caller's objects as tensors. NumPy arrays and DLPack's C interface are read in place; everything else
 * goes through NumPy, which makes an array of it, without a copy if possible.
 */
#include <string.h>

#include "py_table.h"

enum { VARIABLE_STRING = 2056 }; /* NPY_VSTRING, NumPy 2.0 */

static gather_type sized(npy_intp bytes, gather_type first, gather_type second, gather_type third, gather_type fourth, npy_intp smallest) {
  const gather_type types[] = {first, second, third, fourth};
  for (int i = 0; i < 4; i++)
    if (bytes == smallest << i) return types[i];
  return GATHER_TYPE_OPAQUE;
}

/* The type of a dtype that another package registered, by its name (bfloat16, float8_e5m2): whole bytes only, since such a package
 * stores an int4 in a byte. GATHER_TYPE_NONE with an exception if it has no name. */
static gather_type registered(PyArray_Descr *descr) {
  PyObject *name = PyObject_GetAttrString((PyObject *)descr, "name");
  const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  gather_type type = text ? GATHER_TYPE_OPAQUE : GATHER_TYPE_NONE;
  gather_type found = text ? gather_type_parse(text) : GATHER_TYPE_NONE;
  if (found != GATHER_TYPE_NONE && gather_type_get(found)->bits == 8 * PyDataType_ELSIZE(descr)) type = found;
  Py_XDECREF(name);
  return type;
}

/* GATHER_TYPE_NONE: with an exception set. */
static gather_type type_of(PyArray_Descr *descr) {
  npy_intp bytes = PyDataType_ELSIZE(descr);
  switch (descr->kind) {
    case 'b':
      return GATHER_TYPE_BOOL;
    case 'i':
      return sized(bytes, GATHER_TYPE_INT8, GATHER_TYPE_INT16, GATHER_TYPE_INT32, GATHER_TYPE_INT64, 1);
    case 'u':
      return sized(bytes, GATHER_TYPE_UINT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64, 1);
    case 'f':
      if (descr->type_num < NPY_USERDEF)
        return sized(bytes, GATHER_TYPE_FLOAT16, GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT64, GATHER_TYPE_OPAQUE, 2);
      break;
    case 'c':
      return sized(bytes, GATHER_TYPE_COMPLEX64, GATHER_TYPE_COMPLEX128, GATHER_TYPE_OPAQUE, GATHER_TYPE_OPAQUE, 8);
    default:
      break;
  }
  return descr->type_num >= NPY_USERDEF && descr->type_num != VARIABLE_STRING ? registered(descr) : GATHER_TYPE_OPAQUE;
}

int gather_py_view_array(PyArrayObject *array, gather_py_view *view) {
  PyArray_Descr *descr = PyArray_DESCR(array);
  gather_tensor *tensor = &view->tensor;
  int rank = PyArray_NDIM(array);
  if (rank > GATHER_MAX_RANK) {
    gather_py_fail(GATHER_RANK_MISMATCH, NULL, "the array has rank %d; the maximum is %d", rank, GATHER_MAX_RANK);
    return -1;
  }
  tensor->data = PyArray_DATA(array);
  tensor->type = type_of(descr);
  if (tensor->type == GATHER_TYPE_NONE) return -1;
  view->dl_type = (gather_dl_type){0, 0, 0};
  tensor->rank = rank;
  tensor->item_bytes = PyDataType_ELSIZE(descr);
  tensor->shape = view->shape;
  tensor->strides = PyArray_IS_C_CONTIGUOUS(array) ? NULL : view->strides;
  tensor->flags =
      (PyArray_ISWRITEABLE(array) ? 0 : GATHER_TENSOR_READ_ONLY) | (PyArray_ISNBO(descr->byteorder) ? 0 : GATHER_TENSOR_BYTE_SWAPPED);
  for (int d = 0; d < rank; d++) {
    view->shape[d] = PyArray_DIM(array, d);
    view->strides[d] = PyArray_STRIDE(array, d);
  }
  Py_INCREF((PyObject *)array);
  view->array = (PyObject *)array;
  return 0;
}

/* Elements that are more than their bytes: references, strings stored elsewhere, types that are not known to be plain. */
static int is_plain(PyArray_Descr *descr) {
  return !PyDataType_REFCHK(descr) && descr->type_num != VARIABLE_STRING && descr->type_num >= 0;
}

/* Refuses an argument with a mask; -1 also if that cannot be determined. */
static int refuse_masked(const gather_py_view *view, const char *what, const char *message) {
  int masked = view->array ? gather_py_is_masked(view->array) : 0;
  if (masked > 0) gather_py_fail(GATHER_TYPE_UNSUPPORTED, what, "%s", message);
  return masked ? -1 : 0;
}

static int is_number_or_list(PyObject *object) { return PyLong_Check(object) || PyList_Check(object) || PyTuple_Check(object); }

/* The libraries in the order in which they are cheapest to read. Returns 1 if the object is left to NumPy. */
static int read_tensor(PyObject *object, const char *what, gather_py_view *view) {
  const gather_py_exchange *exchange;
  if (PyArray_Check(object)) return gather_py_view_array((PyArrayObject *)object, view);
  if (is_number_or_list(object) || PyArray_CheckScalar(object)) return 1;
  if (gather_py_exchange_of(object, &exchange) < 0) return -1;
  if (exchange) return gather_py_read_exchange(object, exchange, what, view);
  int dlpack = gather_py_has((PyObject *)Py_TYPE(object), gather_py.dlpack);
  return dlpack > 0 ? gather_py_read_dlpack(object, what, view) : dlpack < 0 ? -1 : 1;
}

static int read_by_numpy(PyObject *object, gather_py_view *view) {
  PyObject *array = gather_py_as_array(object);
  if (!array) return -1;
  int result = gather_py_view_array((PyArrayObject *)array, view);
  Py_DECREF(array);
  return result;
}

int gather_py_read_data(PyObject *object, gather_py_view *view) { return gather_py_read_input(object, "data", view); }

int gather_py_read_input(PyObject *object, const char *what, gather_py_view *view) {
  if (gather_py_table_type && PyObject_TypeCheck(object, gather_py_table_type)) return 1; /* it is not read whole */
  int result = read_tensor(object, what, view);
  if (result == 1) result = read_by_numpy(object, view);
  if (result < 0 || !view->array) return result;
  if (!is_plain(PyArray_DESCR((PyArrayObject *)view->array))) return 1;
  return gather_py_is_masked(view->array);
}

int gather_py_flatten(PyObject *object, gather_py_view *view, PyObject **owner) {
  PyObject *array = view->array, *flat;
  if (array) {
    flat = PyArray_Ravel((PyArrayObject *)array, NPY_CORDER);
  } else {
    flat = *owner = PyObject_CallMethod(object, "reshape", "i", -1);
  }
  if (!flat) return -1;
  gather_py_view_clear(view);
  gather_py_view_init(view);
  int result = array ? gather_py_view_array((PyArrayObject *)flat, view) : gather_py_read_data(flat, view);
  if (array) Py_DECREF(flat);
  return result;
}

/* np.asarray([]) is float64: an empty list has no type of its own. */
static int is_empty_list(PyObject *object, PyObject *array) {
  return (PyList_Check(object) || PyTuple_Check(object)) && PyArray_SIZE((PyArrayObject *)array) == 0 &&
         PyArray_TYPE((PyArrayObject *)array) == NPY_DOUBLE;
}

static int read_list(PyObject *object, gather_py_view *view) {
  PyObject *array = gather_py_as_array(object);
  if (array && is_empty_list(object, array)) {
    PyObject *integers = PyArray_FromAny(array, PyArray_DescrFromType(NPY_INT64), 0, 0, NPY_ARRAY_FORCECAST, NULL);
    Py_DECREF(array);
    array = integers;
  }
  int result = array ? gather_py_view_array((PyArrayObject *)array, view) : -1;
  Py_XDECREF(array);
  return result;
}

/* An array of the integers that Python finds in an object, which NumPy has made no integers of; or an error that says what it is.
 * failed: reading it has raised, and that error stays if there is no better one. */
static int read_objects(PyObject *object, bool failed, gather_py_view *view) {
  PyObject *type = NULL, *value = NULL, *trace = NULL;
  if (failed) PyErr_Fetch(&type, &value, &trace);
  PyObject *function = gather_py_fallback("read_integers");
  PyObject *array = function ? PyObject_CallFunction(function, "Oi", object, (int)failed) : NULL;
  Py_XDECREF(function);
  gather_py_view_clear(view);
  gather_py_view_init(view);
  int result = -1;
  if (array && PyArray_Check(array)) {
    result = gather_py_view_array((PyArrayObject *)array, view);
  } else if (array) {
    PyErr_Restore(type, value, trace);
    type = value = trace = NULL;
  }
  Py_XDECREF(array);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return result;
}

/* Errors that say that an object cannot be read as a tensor; others are not about its elements. */
static int may_be_objects(void) {
  PyObject *kind;
  if (PyErr_ExceptionMatches(PyExc_ValueError)) return 1;
  if (!PyErr_ExceptionMatches(PyExc_NotImplementedError)) return 0;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace); /* nothing may be pending while the class is looked up */
  kind = PyObject_GetAttrString(gather_py.errors, "GatherNotSupportedError");
  const int matches = kind && PyErr_GivenExceptionMatches(type, kind);
  PyErr_Clear();
  Py_XDECREF(kind);
  PyErr_Restore(type, value, trace);
  return matches;
}

/* Integers of another package (int4, one to a byte) are widened to int64. */
static int widen(PyObject *object, gather_py_view *view) {
  PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)view->array);
  PyObject *name = PyObject_GetAttrString((PyObject *)descr, "name");
  const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  gather_type type = text ? gather_type_parse(text) : GATHER_TYPE_NONE;
  const gather_type_info *info = type == GATHER_TYPE_NONE ? NULL : gather_type_get(type);
  int result = 0;
  if (!text) {
    result = -1;
  } else if (descr->type_num >= NPY_USERDEF && info && (info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT)) {
    PyObject *wide = PyArray_FromAny(view->array, PyArray_DescrFromType(NPY_INT64), 0, 0, NPY_ARRAY_FORCECAST, NULL);
    gather_py_view_clear(view);
    result = wide ? gather_py_view_array((PyArrayObject *)wide, view) : -1;
    Py_XDECREF(wide);
  } else {
    result = read_objects(object, false, view);
  }
  Py_XDECREF(name);
  return result;
}

/* An int needs no array. One beyond 64 bits is left to NumPy, which supports uint64 and raises for the rest. */
static int read_number(PyObject *object, gather_py_view *view) {
  int overflow = 0;
  view->number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) return 1;
  if (view->number == -1 && PyErr_Occurred()) return -1;
  view->tensor = (gather_tensor){.data = &view->number, .type = GATHER_TYPE_INT64, .shape = view->shape};
  return 0;
}

int gather_py_read_indices(PyObject *object, gather_py_view *view) {
  int result = PyLong_CheckExact(object) ? read_number(object, view) : read_tensor(object, "indices", view);
  const bool by_numpy = result == 1;
  if (by_numpy) result = read_list(object, view);
  if (result < 0) return may_be_objects() ? read_objects(object, true, view) : -1;
  if (refuse_masked(view, "indices", "indices have a mask: fill or compress them first") < 0) return -1;
  if (view->array && view->tensor.type == GATHER_TYPE_OPAQUE) return widen(object, view);
  const gather_kind kind = gather_type_get(view->tensor.type)->kind;
  const bool numbers = kind == GATHER_KIND_FLOAT || kind == GATHER_KIND_COMPLEX;
  return by_numpy && numbers ? read_objects(object, false, view) : 0;
}

gather_py_dtype gather_py_dtype_of(const gather_py_view *view) {
  PyObject *descr = view->array ? (PyObject *)PyArray_DESCR((PyArrayObject *)view->array) : NULL;
  return (gather_py_dtype){descr, view->dl_type, view->tensor.type};
}

int gather_py_same_dtype(const gather_py_dtype *a, const gather_py_dtype *b) {
  if (a->descr && b->descr) return PyArray_EquivTypes((PyArray_Descr *)a->descr, (PyArray_Descr *)b->descr);
  if (!a->descr && !b->descr)
    return a->dl_type.code == b->dl_type.code && a->dl_type.bits == b->dl_type.bits && a->dl_type.lanes == b->dl_type.lanes;
  return a->type == b->type && a->type != GATHER_TYPE_OPAQUE;
}

/* Other possible outputs: memory that others see, never a copy. */
static int read_memory(PyObject *object, gather_py_view *view) {
  int shared = PyObject_CheckBuffer(object);
  if (!shared) shared = gather_py_has(object, gather_py.array_interface);
  if (!shared) shared = gather_py_has(object, gather_py.array_struct);
  if (shared < 0) return -1;
  if (shared && !PyArray_CheckScalar(object)) return read_by_numpy(object, view); /* of a scalar NumPy makes a copy */
  PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
  const char *name = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
  if (name) gather_py_fail(GATHER_TYPE_UNSUPPORTED, "output", "out must be an array, not %s", name);
  Py_XDECREF(type);
  return -1;
}

int gather_py_read_out(PyObject *object, const gather_py_view *data, gather_py_view *view) {
  int result = read_tensor(object, "output", view);
  if (result == 1) result = read_memory(object, view);
  if (result < 0) return -1;
  if (view->managed_old) { /* libraries with immutable arrays export these */
    gather_py_fail(GATHER_USAGE, "output", "out may be read-only: an unversioned DLPack tensor does not say");
    return -1;
  }
  if (view->tensor.flags & GATHER_TENSOR_READ_ONLY) {
    gather_py_fail(GATHER_USAGE, "output", "out is read-only");
    return -1;
  }
  if (view->managed && (view->managed->flags & GATHER_DL_COPIED)) {
    gather_py_fail(GATHER_USAGE, "output", "out is exported through DLPack as a copy, so the result would be lost");
    return -1;
  }
  if (refuse_masked(view, "output", "out has a mask, but data has none") < 0) return -1;
  gather_py_dtype have = gather_py_dtype_of(view), want = gather_py_dtype_of(data);
  if (gather_py_same_dtype(&have, &want)) return 0;
  gather_py_fail(GATHER_TYPE_MISMATCH, "output", "out has a different dtype than the data: elements are never converted");
  return -1;
}

int gather_py_check_out_shape(const gather_py_view *out, int32_t rank, const int64_t *shape) {
  if (out->tensor.rank == rank && memcmp(out->shape, shape, (size_t)rank * sizeof *shape) == 0) return 0;
  PyObject *have = gather_py_tuple(out->tensor.rank, out->shape), *want = gather_py_tuple(rank, shape);
  PyObject *text = have && want ? PyUnicode_FromFormat("out has the shape %R, not %R", have, want) : NULL;
  const char *message = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  if (message) gather_py_fail(GATHER_SHAPE_MISMATCH, "output", "%s", message);
  Py_XDECREF(have);
  Py_XDECREF(want);
  Py_XDECREF(text);
  return -1;
}
