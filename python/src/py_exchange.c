/* SPDX-License-Identifier: MIT
 *
 * py_exchange.c: tensors of other libraries through DLPack: by its C interface if the library has one (PyTorch from 2.10), else by
 * __dlpack__.
 */
#include <stdatomic.h>
#include <string.h>

#include "py_core.h"

static const char CAPSULE[] = "dltensor", CAPSULE_USED[] = "used_dltensor";
static const char VERSIONED[] = "dltensor_versioned", VERSIONED_USED[] = "used_dltensor_versioned";

static const gather_py_exchange *supported(const gather_py_exchange_header *header) {
  while (header && header->major != 1) header = header->older;
  return (const gather_py_exchange *)header;
}

/* The first type that has the interface is cached: most programs have one. A reference is kept, so that no other type can get
 * its address; the other fields are set before `type`, and never change. */
static struct {
  _Atomic(PyTypeObject *) type;
  const gather_py_exchange *exchange;
  PyObject *is_conj, *is_neg; /* its methods, unbound; NULL */
} known;

static PyTypeObject *known_type(void) { return atomic_load_explicit(&known.type, memory_order_acquire); }

static int remember(PyTypeObject *type, const gather_py_exchange *exchange) {
  static atomic_flag claimed = ATOMIC_FLAG_INIT;
  PyObject *is_conj = NULL, *is_neg = NULL;
  if (gather_py_find((PyObject *)type, gather_py.is_conj, &is_conj) < 0 ||
      gather_py_find((PyObject *)type, gather_py.is_neg, &is_neg) < 0 || atomic_flag_test_and_set(&claimed)) {
    Py_XDECREF(is_conj);
    Py_XDECREF(is_neg);
    return PyErr_Occurred() ? -1 : 0;
  }
  known.exchange = exchange;
  known.is_conj = is_conj;
  known.is_neg = is_neg;
  Py_INCREF((PyObject *)type);
  atomic_store_explicit(&known.type, type, memory_order_release);
  return 0;
}

int gather_py_exchange_of(PyObject *object, const gather_py_exchange **exchange) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject *capsule;
  *exchange = type == known_type() ? known.exchange : NULL;
  if (*exchange) return 0;
  int found = gather_py_find((PyObject *)type, gather_py.exchange, &capsule);
  if (found <= 0) return found;
  if (PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
    *exchange = supported((const gather_py_exchange_header *)PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  return *exchange ? remember(type, *exchange) : 0;
}

/* Whether an answer is True; releases it. NULL is -1. */
static int is_true(PyObject *answer) {
  int result = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return result;
}

/* Whether a result should have a gradient: not under PyTorch's no_grad() or inference_mode(). */
static int requires_grad(PyObject *object) {
  PyObject *value;
  int found = gather_py_find(object, gather_py.requires_grad, &value);
  int wanted = found > 0 ? is_true(value) : found;
  if (wanted <= 0) return wanted;
  PyObject *function = gather_py_fallback("records_gradients");
  PyObject *answer = function ? PyObject_CallFunctionObjArgs(function, object, NULL) : NULL;
  Py_XDECREF(function);
  return is_true(answer);
}

/* A method without arguments; a missing one counts as False. */
static int says(PyObject *object, PyObject *name, PyObject *unbound) {
  if (unbound && Py_TYPE(object) == known_type()) return is_true(PyObject_CallFunctionObjArgs(unbound, object, NULL));
  PyObject *method;
  int found = gather_py_find(object, name, &method);
  if (found <= 0) return found;
  PyObject *answer = PyObject_CallNoArgs(method);
  Py_DECREF(method);
  return is_true(answer);
}

/* Properties that a tensor's memory does not show, and that would silently change the result. Integers have none. */
static int check_lazy(PyObject *object, const char *what, const gather_py_view *view) {
  gather_kind kind = gather_type_get(view->tensor.type)->kind;
  if (kind == GATHER_KIND_INT || kind == GATHER_KIND_UINT || kind == GATHER_KIND_BOOL) return 0;
  int grad = requires_grad(object);
  int conjugate = grad < 0 || kind == GATHER_KIND_FLOAT ? 0 : says(object, gather_py.is_conj, known.is_conj);
  int negative = grad < 0 || conjugate < 0 ? -1 : says(object, gather_py.is_neg, known.is_neg);
  if (negative < 0) return -1;
  if (grad)
    gather_py_fail(GATHER_UNSUPPORTED, what,
                   "%s requires a gradient, which is not supported here: pass its detach(), or call within no_grad()", what);
  else if (conjugate || negative)
    gather_py_fail(GATHER_UNSUPPORTED, what, "%s is a lazy %s: pass its resolve_%s()", what, conjugate ? "conjugate" : "negative",
                   conjugate ? "conj" : "neg");
  return grad || conjugate || negative ? -1 : 0;
}

/* What libraries raise if a tensor cannot be exported. Everything else (KeyboardInterrupt, MemoryError, an error in a library's own
 * code) is passed on. */
static int is_refusal(void) {
  return !PyErr_Occurred() || (!PyErr_ExceptionMatches(PyExc_RecursionError) &&
                               (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_TypeError) ||
                                PyErr_ExceptionMatches(PyExc_RuntimeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
                                PyErr_ExceptionMatches(PyExc_AttributeError)));
}

/* The other library's error becomes the cause of ours, which quotes its first line: PyTorch's next lines are addresses. */
static int refuse(const char *what) {
  PyObject *type, *value, *trace;
  if (!is_refusal()) return -1;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  PyErr_Clear();
  gather_py_fail(GATHER_UNSUPPORTED, what, "%s cannot be read through DLPack: %.*s", what, said ? (int)strcspn(said, "\n") : 1,
                 said ? said : "?");
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

int gather_py_read_exchange(PyObject *object, const gather_py_exchange *exchange, const char *what, gather_py_view *view) {
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

/* Without the argument; if the method refuses that too, the first error is kept. */
static PyObject *ask_again(PyObject *method) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *capsule = PyObject_CallNoArgs(method);
  if (!capsule && is_refusal()) {
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return NULL;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return capsule;
}

/* object.__dlpack__(max_version=(1, 1)), without the argument if the library is older. */
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

/* The view takes the capsule's memory: the capsule is renamed, so that its destructor frees nothing. */
static int take_over(PyObject *capsule, const char *what, gather_py_view *view) {
  if (PyCapsule_IsValid(capsule, VERSIONED)) {
    gather_dl_versioned *managed = (gather_dl_versioned *)PyCapsule_GetPointer(capsule, VERSIONED);
    if (PyCapsule_SetName(capsule, VERSIONED_USED) != 0) return -1;
    view->managed = managed;
    if (managed->version.major == 1) return describe(&managed->tensor, managed->flags, view);
    gather_py_fail(GATHER_UNSUPPORTED, what, "%s is DLPack %u.%u; only 1.x is supported", what, (unsigned)managed->version.major,
                   (unsigned)managed->version.minor);
    return -1;
  }
  if (PyCapsule_IsValid(capsule, CAPSULE)) {
    gather_dl_managed *managed = (gather_dl_managed *)PyCapsule_GetPointer(capsule, CAPSULE);
    if (PyCapsule_SetName(capsule, CAPSULE_USED) != 0) return -1;
    view->managed_old = managed;
    return describe(&managed->tensor, 0, view);
  }
  gather_py_fail(GATHER_TYPE_UNSUPPORTED, what, "__dlpack__ of %s returned no DLPack capsule", what);
  return -1;
}

/* __dlpack__ refuses a tensor that requires a gradient, even if none is recorded; its detach() has the same memory. */
static PyObject *ask_detached(PyObject *object) {
  PyObject *type, *value, *trace, *detached = NULL, *capsule = NULL;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *function = gather_py_fallback("detached");
  if (function) detached = PyObject_CallFunctionObjArgs(function, object, NULL);
  if (detached && detached != Py_None) capsule = ask_capsule(detached);
  bool refused = detached == Py_None || (!capsule && is_refusal());
  Py_XDECREF(function);
  Py_XDECREF(detached);
  if (refused) {
    PyErr_Restore(type, value, trace); /* the first error is kept */
    return NULL;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return capsule;
}

int gather_py_read_dlpack(PyObject *object, const char *what, gather_py_view *view) {
  PyObject *capsule = ask_capsule(object);
  if (!capsule && is_refusal()) capsule = ask_detached(object);
  if (!capsule) return refuse(what);
  int result = take_over(capsule, what, view);
  Py_DECREF(capsule);
  return result < 0 ? -1 : check_lazy(object, what, view);
}
