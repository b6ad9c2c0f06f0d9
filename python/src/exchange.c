/* SPDX-License-Identifier: MIT
 *
 * exchange.c: tensors of other libraries through DLPack: by its C interface where the library has one (PyTorch from 2.10), else by
 * __dlpack__.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

static const char CAPSULE[] = "dltensor", CAPSULE_USED[] = "used_dltensor";
static const char VERSIONED[] = "dltensor_versioned", VERSIONED_USED[] = "used_dltensor_versioned";

static const gather_py_exchange *supported(const gather_py_exchange_header *header) {
  while (header && header->major != 1) header = header->older;
  return (const gather_py_exchange *)header;
}

/* The first type that has the interface is remembered: most programs have one. It is held, so that no other type can come to lie at
 * its address; the rest stands before `type` does, and stays. */
static struct {
  _Atomic(PyTypeObject *) type;
  const gather_py_exchange *exchange;
  PyObject *is_conj, *is_neg; /* its methods, unbound; NULL */
} known;

static PyTypeObject *known_type(void) { return atomic_load_explicit(&known.type, memory_order_acquire); }

/* An attribute that may be missing. */
static PyObject *find(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object, name);
  if (!value) PyErr_Clear();
  return value;
}

static void remember(PyTypeObject *type, const gather_py_exchange *exchange) {
  static atomic_flag claimed = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&claimed)) return;
  known.exchange = exchange;
  known.is_conj = find((PyObject *)type, gather_py.is_conj);
  known.is_neg = find((PyObject *)type, gather_py.is_neg);
  Py_INCREF((PyObject *)type);
  atomic_store_explicit(&known.type, type, memory_order_release);
}

const gather_py_exchange *gather_py_exchange_of(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (type == known_type()) return known.exchange;
  PyObject *capsule = find((PyObject *)type, gather_py.exchange);
  if (!capsule) return NULL;
  const gather_py_exchange *found = NULL;
  if (PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
    found = supported((const gather_py_exchange_header *)PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  if (found) remember(type, found);
  return found;
}

/* Whether an answer is True; it is taken over. NULL is -1. */
static int is_true(PyObject *answer) {
  int result = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return result;
}

static int requires_grad(PyObject *object) {
  PyObject *value = find(object, gather_py.requires_grad);
  return value ? is_true(value) : 0;
}

/* A method without arguments; one that is missing says False. */
static int says(PyObject *object, PyObject *name, PyObject *unbound) {
  if (unbound && Py_TYPE(object) == known_type()) return is_true(PyObject_CallFunctionObjArgs(unbound, object, NULL));
  PyObject *method = find(object, name);
  PyObject *answer = method ? PyObject_CallNoArgs(method) : NULL;
  Py_XDECREF(method);
  return method ? is_true(answer) : 0;
}

/* What a tensor's memory alone does not show, and would make a wrong or silently different result. Integers have none of it. */
static int check_lazy(PyObject *object, const char *what, const gather_py_view *view) {
  gather_kind kind = gather_type_get(view->tensor.type)->kind;
  if (kind == GATHER_KIND_INT || kind == GATHER_KIND_UINT || kind == GATHER_KIND_BOOL) return 0;
  int grad = requires_grad(object);
  int conjugate = grad < 0 || kind == GATHER_KIND_FLOAT ? 0 : says(object, gather_py.is_conj, known.is_conj);
  int negative = grad < 0 || conjugate < 0 ? -1 : says(object, gather_py.is_neg, known.is_neg);
  if (negative < 0) return -1;
  if (grad)
    gather_py_fail(GATHER_UNSUPPORTED, what,
                   "%s requires a gradient, which a gather here has none of: pass its detach()", what);
  else if (conjugate || negative)
    gather_py_fail(GATHER_UNSUPPORTED, what, "%s is a lazy %s: pass its resolve_%s()", what,
                   conjugate ? "conjugate" : "negative", conjugate ? "conj" : "neg");
  return grad || conjugate || negative ? -1 : 0;
}

/* The other library's complaint becomes the cause of ours, which has its first line: PyTorch's go on with addresses. */
static int refuse(const char *what) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  PyErr_Clear();
  gather_py_fail(GATHER_UNSUPPORTED, what, "%s cannot be read through DLPack: %.*s", what,
                 said ? (int)strcspn(said, "\n") : 1, said ? said : "?");
  PyObject *our_type, *ours, *our_trace;
  PyErr_Fetch(&our_type, &ours, &our_trace);
  PyErr_NormalizeException(&our_type, &ours, &our_trace);
  if (ours && value) {
    PyException_SetCause(ours, value); /* takes the reference */
    value = NULL;
  }
  PyErr_Restore(our_type, ours, our_trace);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  Py_XDECREF(text);
  return -1;
}

static int describe(const gather_dl_tensor *tensor, uint64_t flags, gather_py_view *view) {
  gather_error error;
  gather_dl_versioned versioned = {.version = {1, 1}, .flags = flags, .tensor = *tensor};
  gather_status status = gather_tensor_from_dlpack_versioned(&versioned, view->strides, &view->tensor, &error);
  if (status != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  view->dl_type = tensor->dtype;
  for (int32_t d = 0; d < tensor->ndim; d++) view->shape[d] = tensor->shape[d];
  gather_py_view_settle(view); /* before DLPack 1.2 strides may be NULL */
  return 0;
}

int gather_py_read_exchange(PyObject *object, const char *what, gather_py_view *view) {
  const gather_py_exchange *exchange = gather_py_exchange_of(object);
  gather_dl_tensor tensor;
  int result;
  view->exchange = exchange;
  if (exchange->borrow) {
    if (exchange->borrow(object, &tensor) != 0) return refuse(what);
    result = describe(&tensor, 0, view);
  } else {
    if (exchange->from_object(object, &view->managed) != 0) {
      view->managed = NULL;
      return refuse(what);
    }
    result = describe(&view->managed->tensor, view->managed->flags, view);
  }
  return result < 0 ? -1 : check_lazy(object, what, view);
}

/* Without the argument; where that fails too, the first complaint stays. */
static PyObject *ask_again(PyObject *method) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *capsule = PyObject_CallNoArgs(method);
  if (!capsule) {
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return NULL;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return capsule;
}

/* object.__dlpack__(max_version=(1, 1)), without the argument where the library is older. */
static PyObject *ask_capsule(PyObject *object) {
  PyObject *method = PyObject_GetAttr(object, gather_py.dlpack), *capsule = NULL;
  PyObject *none = PyTuple_New(0), *keywords = PyDict_New(), *version = Py_BuildValue("(ii)", 1, 1);
  if (method && none && keywords && version && PyDict_SetItem(keywords, gather_py.max_version, version) == 0) {
    capsule = PyObject_Call(method, none, keywords);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) capsule = ask_again(method);
  }
  Py_XDECREF(method);
  Py_XDECREF(none);
  Py_XDECREF(keywords);
  Py_XDECREF(version);
  return capsule;
}

/* The capsule's memory becomes the view's: it is renamed, so that its own end gives nothing back. */
static int take_over(PyObject *capsule, const char *what, gather_py_view *view) {
  if (PyCapsule_IsValid(capsule, VERSIONED)) {
    gather_dl_versioned *managed = (gather_dl_versioned *)PyCapsule_GetPointer(capsule, VERSIONED);
    if (PyCapsule_SetName(capsule, VERSIONED_USED) != 0) return -1;
    view->managed = managed;
    if (managed->version.major == 1) return describe(&managed->tensor, managed->flags, view);
    gather_py_fail(GATHER_UNSUPPORTED, what, "%s comes as DLPack %u.%u, and only 1.x is known", what,
                   (unsigned)managed->version.major, (unsigned)managed->version.minor);
    return -1;
  }
  if (PyCapsule_IsValid(capsule, CAPSULE)) {
    gather_dl_managed *managed = (gather_dl_managed *)PyCapsule_GetPointer(capsule, CAPSULE);
    if (PyCapsule_SetName(capsule, CAPSULE_USED) != 0) return -1;
    view->managed_old = managed;
    return describe(&managed->tensor, 0, view);
  }
  gather_py_fail(GATHER_TYPE_UNSUPPORTED, what, "__dlpack__ of %s gave no DLPack capsule", what);
  return -1;
}

int gather_py_read_dlpack(PyObject *object, const char *what, gather_py_view *view) {
  PyObject *capsule = ask_capsule(object);
  if (!capsule) return refuse(what);
  int result = take_over(capsule, what, view);
  Py_DECREF(capsule);
  return result < 0 ? -1 : check_lazy(object, what, view);
}

/* ---- memory of ours as a capsule, for libraries that have no C interface ---- */

typedef struct exported {
  gather_dl_managed managed;
  PyObject *array;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
} exported;

static void free_exported(gather_dl_managed *managed) {
  exported *made = (exported *)managed->manager;
  PyGILState_STATE state = PyGILState_Ensure(); /* the other library may give it back on any thread */
  Py_DECREF(made->array);
  PyGILState_Release(state);
  free(made);
}

static void free_capsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, CAPSULE)) return; /* taken over */
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
  if (!PyArg_ParseTuple(args, "O!O!iii", &PyArray_Type, &array, &PyTuple_Type, &shape, &code, &bits, &lanes))
    return NULL;
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
