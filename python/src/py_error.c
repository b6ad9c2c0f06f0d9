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

static PyObject *index_fields(const gather_error *error) {
  PyObject *position = gather_py_tuple(error->position_rank, error->position);
  PyObject *value =
      error->value_is_unsigned ? PyLong_FromUnsignedLongLong((unsigned long long)error->value) : PyLong_FromLongLong(error->value);
  if (!position || !value) {
    Py_XDECREF(position);
    Py_XDECREF(value);
    return NULL;
  }
  return Py_BuildValue("(NNLLiL)", position, value, (long long)error->low, (long long)error->high, (int)error->axis,
                       (long long)error->bad_count);
}

/* libgather.errors.make(status, code, message, op, rules, input, index fields or None, file, offset, row, errno) */
PyObject *gather_py_exception(const gather_error *error) {
  PyObject *index = NULL;
  if (error->status == GATHER_INDEX_OUT_OF_RANGE) {
    index = index_fields(error);
    if (!index) return NULL;
  } else {
    Py_INCREF(Py_None);
    index = Py_None;
  }
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
