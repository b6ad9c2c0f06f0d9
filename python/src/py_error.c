/* SPDX-License-Identifier: MIT
 *
 * py_error.c: the library's errors as exceptions of libgather.errors, with every field.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "py_core.h"

static PyObject *text_or_none(const char *text) {
  if (text && *text) return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  Py_INCREF(Py_None);
  return Py_None;
}

/* A number that only an index out of range has; else None. */
static PyObject *number_of(const gather_error *error, int64_t number) {
  if (error->status == GATHER_INDEX_OUT_OF_RANGE) return PyLong_FromLongLong((long long)number);
  Py_INCREF(Py_None);
  return Py_None;
}

static PyObject *first_of(const gather_error *error) {
  if (error->status == GATHER_INDEX_REPEATED) return gather_py_tuple(error->position_rank, error->first_position);
  Py_INCREF(Py_None);
  return Py_None;
}

/* (position, value, low, high, axis, bad_count, first_position) of an index out of range, or repeated; None of other errors. */
static PyObject *index_fields(const gather_error *error) {
  if (error->status != GATHER_INDEX_OUT_OF_RANGE && error->status != GATHER_INDEX_REPEATED) {
    Py_INCREF(Py_None);
    return Py_None;
  }
  PyObject *value =
      error->value_is_unsigned ? PyLong_FromUnsignedLongLong((unsigned long long)error->value) : PyLong_FromLongLong(error->value);
  return Py_BuildValue("(NNNNiNN)", gather_py_tuple(error->position_rank, error->position), value, number_of(error, error->low),
                       number_of(error, error->high), (int)error->axis, number_of(error, error->bad_count), first_of(error));
}

/* libgather.errors.make(status, code, message, op, rules, input, index fields or None, file, offset, row, errno) */
PyObject *gather_py_exception(const gather_error *error) {
  PyObject *index = index_fields(error);
  if (!index) return NULL;
  return PyObject_CallMethod(gather_py.errors, "make", "siNNNNNNLLi", gather_status_name(error->status), (int)error->status,
                             gather_py_visible_text(error->message), text_or_none(error->op), text_or_none(error->rules),
                             text_or_none(error->input), index, text_or_none(error->file), (long long)error->file_offset,
                             (long long)error->row, (int)error->system_error);
}

PyObject *gather_py_raise(const gather_error *error) {
  PyObject *made = gather_py_exception(error);
  if (!made) return NULL;
  PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_DECREF(made);
  return NULL;
}

PyObject *gather_py_fail(gather_status status, const char *input, const char *format, ...) {
  gather_error error;
  char message[sizeof error.message];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  (void)gather_error_set_input(&error, status, input, "%s", message);
  return gather_py_raise(&error);
}

/* _fail(status, input, message): for the package's own Python. */
PyObject *gather_py_fail_by_name(PyObject *self, PyObject *args) {
  const char *name, *input, *message;
  (void)self;
  if (!PyArg_ParseTuple(args, "szs", &name, &input, &message)) return NULL;
  for (int status = 0; strcmp(gather_status_name((gather_status)status), "unknown") != 0; status++)
    if (strcmp(gather_status_name((gather_status)status), name) == 0) return gather_py_fail((gather_status)status, input, "%s", message);
  return PyErr_Format(PyExc_ValueError, "no such status: %s", name);
}
