/* SPDX-License-Identifier: MIT
 *
 * py_names.c: what the module makes once: names, NumPy's function table, its types; and small helpers for objects.
 */
#define GATHER_PY_HOLDS_NUMPY
#include "py_core.h"

gather_py_names gather_py;
PyTypeObject *gather_py_table_type, *gather_py_job_type, *gather_py_result_type, *gather_py_check_type;

static int intern(PyObject **name, const char *text) {
  *name = PyUnicode_InternFromString(text);
  return *name ? 0 : -1;
}

/* In the order of the enums. */
static const char *const KEYWORDS[GATHER_PY_KEYWORDS] = {"axis",     "batch_dims", "out",     "mode", "fill_value",
                                                         "negative", "rules",      "threads", "op",   "updates"};
static const char *const MODES[GATHER_PY_MODES] = {"raise", "clip", "wrap", "zero", "fill", "promise"};

int gather_py_names_init(void) {
  if (PyArray_ImportNumPyAPI() < 0) return -1;
  const struct {
    PyObject **name;
    const char *text;
  } others[] = {{&gather_py.exchange, "__dlpack_c_exchange_api__"},
                {&gather_py.dlpack, "__dlpack__"},
                {&gather_py.array, "__array__"},
                {&gather_py.dtype, "dtype"},
                {&gather_py.numpy_ma, "numpy.ma"},
                {&gather_py.masked_array, "MaskedArray"},
                {&gather_py.array_interface, "__array_interface__"},
                {&gather_py.array_struct, "__array_struct__"},
                {&gather_py.max_version, "max_version"},
                {&gather_py.requires_grad, "requires_grad"},
                {&gather_py.is_conj, "is_conj"},
                {&gather_py.is_neg, "is_neg"}};
  for (int i = 0; i < GATHER_PY_KEYWORDS; i++)
    if (intern(&gather_py.keyword[i], KEYWORDS[i]) < 0) return -1;
  for (int i = 0; i < GATHER_PY_MODES; i++)
    if (intern(&gather_py.mode[i], MODES[i]) < 0) return -1;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (intern(others[i].name, others[i].text) < 0) return -1;
  gather_py.errors = PyImport_ImportModule("libgather.errors");
  return gather_py.errors ? 0 : -1;
}

PyObject *gather_py_fallback(const char *name) {
  PyObject *module = PyImport_ImportModule("libgather._fallback");
  PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
  Py_XDECREF(module);
  return function;
}

PyObject *gather_py_fall_back(const char *name, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *function = gather_py_fallback(name);
  PyObject *positional = PyTuple_New(count), *keywords = PyDict_New(), *result = NULL;
  int ready = function && positional && keywords;
  for (Py_ssize_t i = 0; ready && i < count; i++) {
    Py_INCREF(args[i]);
    ready = PyTuple_SetItem(positional, i, args[i]) == 0;
  }
  for (Py_ssize_t i = 0; ready && names && i < PyTuple_Size(names); i++)
    ready = PyDict_SetItem(keywords, PyTuple_GetItem(names, i), args[count + i]) == 0;
  if (ready) result = PyObject_Call(function, positional, keywords);
  Py_XDECREF(function);
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return result;
}

int gather_py_find(PyObject *object, PyObject *name, PyObject **value) {
  *value = PyObject_GetAttr(object, name);
  if (*value) return 1;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
  PyErr_Clear();
  return 0;
}

int gather_py_has(PyObject *object, PyObject *name) {
  PyObject *value;
  int found = gather_py_find(object, name, &value);
  Py_XDECREF(value);
  return found;
}

PyObject *gather_py_allocate(PyTypeObject *type) {
  allocfunc allocate = GATHER_PY_FROM_SLOT(allocfunc, PyType_GetSlot(type, Py_tp_alloc));
  return allocate(type, 0);
}

void gather_py_release(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = GATHER_PY_FROM_SLOT(freefunc, PyType_GetSlot(type, Py_tp_free));
  release(object);
  Py_DECREF((PyObject *)type);
}

int gather_py_read_int(PyObject *object, const char *what, int64_t *value) {
  PyObject *integer = PyLong_Check(object) ? object : PyNumber_Index(object);
  if (!integer) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, object);
    return -1;
  }
  *value = PyLong_AsLongLong(integer);
  if (integer != object) Py_DECREF(integer);
  return *value == -1 && PyErr_Occurred() ? -1 : 0;
}
