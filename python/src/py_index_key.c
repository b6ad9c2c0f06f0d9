/* SPDX-License-Identifier: MIT
 *
 * py_index_key.c: the key of libgather.index: its items as NumPy understands them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "py_index.h"

/* More items than dimensions and new axes together are an error in any case. */
enum { MOST_ITEMS = 2 * GATHER_MAX_RANK + 2 };

int gather_py_key_fail(gather_status status, const char *format, ...) {
  gather_error error;
  char message[sizeof error.message];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  PyObject *made = PyObject_CallMethod(gather_py.errors, "make_key", "sis", gather_status_name(status), (int)status, message);
  if (made) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
  return -1;
}

/* An object that is not an index at all. why: "" = that says it all. */
static int fail_kind(int32_t number, const char *why) {
  return gather_py_key_fail(GATHER_TYPE_UNSUPPORTED,
                            "item %d of the key is none of: an integer, a slice, ..., None, an array of integers or bools%s%.200s",
                            (int)number, *why ? ": " : "", why);
}

static int read_integer(PyObject *object, int32_t number, gather_py_item *item) {
  int overflow = 0;
  item->kind = GATHER_PY_ITEM_INTEGER;
  item->value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) return gather_py_key_fail(GATHER_OVERFLOW, "item %d of the key does not fit in 64 bits", (int)number);
  return item->value == -1 && PyErr_Occurred() ? -1 : 0;
}

/* A TypeError about the elements becomes NumPy's IndexError; others stay. */
static int fail_array(int32_t number) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace); /* nothing may be pending while the class is looked up */
  PyObject *kind = PyObject_GetAttrString(gather_py.errors, "GatherTypeError");
  const bool converts = kind && PyErr_GivenExceptionMatches(type, kind);
  PyErr_Clear();
  Py_XDECREF(kind);
  if (!converts) {
    PyErr_Restore(type, value, trace);
    return -1;
  }
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *why = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  PyErr_Clear();
  const int failed = fail_kind(number, why ? why : "");
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return failed;
}

static int read_array(PyObject *object, int32_t number, gather_py_item *item) {
  gather_py_view *view = &item->view;
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return fail_kind(number, "");
  if (gather_py_read_indices(object, view) < 0) return fail_array(number);
  const gather_type_info *type = gather_type_get(view->tensor.type);
  const bool truths = type->kind == GATHER_KIND_BOOL;
  if (type->packing != GATHER_PACKING_BYTES || (!truths && type->kind != GATHER_KIND_INT && type->kind != GATHER_KIND_UINT)) {
    char why[80];
    (void)snprintf(why, sizeof why, "indices must be integers, not %s", type->name);
    return fail_kind(number, why);
  }
  if (view->tensor.rank > 0) {
    item->kind = truths ? GATHER_PY_ITEM_MASK : GATHER_PY_ITEM_ARRAY;
    return 0;
  }
  const bool swapped = (view->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  item->kind = truths ? GATHER_PY_ITEM_BOOL : GATHER_PY_ITEM_INTEGER;
  item->value = truths ? *(const char *)view->tensor.data != 0 : gather_py_number_at(view->tensor.data, view->tensor.type, swapped);
  return 0;
}

/* Whether only __index__ says what the object is: it has no elements. */
static int is_only_index(PyObject *object) {
  PyObject *kind = (PyObject *)Py_TYPE(object);
  PyObject *const arrays[] = {gather_py.exchange, gather_py.dlpack, gather_py.array, gather_py.array_interface, gather_py.array_struct};
  if (!PyIndex_Check(object) || PyObject_CheckBuffer(object)) return 0;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    int has = gather_py_has(kind, arrays[i]);
    if (has) return has < 0 ? -1 : 0;
  }
  return 1;
}

static int read_item(PyObject *object, int32_t number, gather_py_item *item) {
  gather_py_view_init(&item->view);
  item->slice = object;
  item->kind = GATHER_PY_ITEM_SLICE;
  if (PySlice_Check(object)) return 0;
  item->kind = object == Py_None ? GATHER_PY_ITEM_NEW_AXIS : GATHER_PY_ITEM_ELLIPSIS;
  if (object == Py_None || object == Py_Ellipsis) return 0;
  if (PyBool_Check(object)) {
    item->kind = GATHER_PY_ITEM_BOOL;
    item->value = object == Py_True;
    return 0;
  }
  if (PyLong_Check(object)) return read_integer(object, number, item);
  int only = is_only_index(object);
  if (only < 0) return -1;
  if (!only) return read_array(object, number, item);
  PyObject *integer = PyNumber_Index(object);
  int result = integer ? read_integer(integer, number, item) : -1;
  Py_XDECREF(integer);
  return result;
}

/* How many dimensions of x an item is for. */
static int32_t dimensions_of(const gather_py_item *item) {
  switch (item->kind) {
    case GATHER_PY_ITEM_INTEGER:
    case GATHER_PY_ITEM_SLICE:
    case GATHER_PY_ITEM_ARRAY:
      return 1;
    case GATHER_PY_ITEM_MASK:
      return item->view.tensor.rank;
    default:
      return 0;
  }
}

/* Counts dimensions, and fails if there are too many; the caller's ellipsis, or one at the end, stands for the rest. */
static int check_items(gather_py_key *key, int32_t rank) {
  int64_t used = 0;
  int32_t ellipses = 0;
  for (int32_t i = 0; i < key->count; i++) {
    const gather_py_item *item = &key->items[i];
    used += dimensions_of(item);
    ellipses += item->kind == GATHER_PY_ITEM_ELLIPSIS;
    key->advanced = key->advanced || item->kind >= GATHER_PY_ITEM_ARRAY;
  }
  if (ellipses > 1) return gather_py_key_fail(GATHER_USAGE, "the key has more than one ellipsis (...)");
  if (used > rank)
    return gather_py_key_fail(GATHER_RANK_MISMATCH, "too many indices for array: array is %d-dimensional, but %lld were indexed", (int)rank,
                              (long long)used);
  key->ellipsis = ellipses > 0;
  return 0;
}

int gather_py_key_read(PyObject *object, int32_t rank, gather_py_key *key) {
  const bool many = PyTuple_Check(object);
  const Py_ssize_t count = many ? PyTuple_Size(object) : 1;
  if (count > MOST_ITEMS)
    return gather_py_key_fail(GATHER_RANK_MISMATCH, "too many indices for array: array is %d-dimensional, but the key has %lld items",
                              (int)rank, (long long)count);
  key->items = malloc((size_t)(count + 1) * sizeof *key->items);
  if (!key->items) {
    PyErr_NoMemory();
    return -1;
  }
  for (key->count = 0; key->count < count;) {
    gather_py_item *item = &key->items[key->count];
    int32_t number = key->count++; /* counted first, so that it is cleared */
    if (read_item(many ? PyTuple_GetItem(object, number) : object, number, item) < 0) return -1;
  }
  return check_items(key, rank);
}

void gather_py_key_clear(gather_py_key *key) {
  for (int32_t i = 0; i < key->count; i++) gather_py_view_clear(&key->items[i].view);
  free(key->items);
  key->items = NULL;
  key->count = 0;
}
