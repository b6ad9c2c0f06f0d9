/* SPDX-License-Identifier: MIT
 *
 * py_text.c: names as they can be shown, and files that are written atomically, for the package's own Python.
 */
#include <string.h>

#include "gather/file.h"
#include "py_core.h"

PyObject *gather_py_visible_text(const char *text) {
  char none[1];
  size_t bytes = gather_text_visible(text, none, sizeof none) + 1;
  char *shown = PyMem_Malloc(bytes);
  if (!shown) return PyErr_NoMemory();
  (void)gather_text_visible(text, shown, bytes);
  PyObject *made = PyUnicode_DecodeUTF8(shown, (Py_ssize_t)(bytes - 1), "strict");
  PyMem_Free(shown);
  return made;
}

/* _visible(text): surrogates, which stand for bytes that are not UTF-8, become those bytes again. */
PyObject *gather_py_visible(PyObject *self, PyObject *text) {
  (void)self;
  if (!PyUnicode_Check(text)) return PyErr_Format(PyExc_TypeError, "a text must be a str");
  PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
  if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  }
  PyObject *made = bytes ? gather_py_visible_text(PyBytes_AsString(bytes)) : NULL;
  Py_XDECREF(bytes);
  return made;
}

static gather_status write_file(const char *path, PyObject *content, bool replace, bool sync, gather_error *error) {
  const char *bytes = PyBytes_AsString(content);
  const Py_ssize_t size = PyBytes_Size(content);
  gather_writer *writer = NULL;
  gather_status status = gather_writer_create_bytes(path, replace, size, &writer, error);
  if (status != GATHER_OK) return status;
  if (size > 0) memcpy(gather_writer_data(writer), bytes, (size_t)size);
  gather_writer_set_sync(writer, sync);
  return gather_writer_commit(writer, error);
}

/* _write(path, content, replace, sync) */
PyObject *gather_py_write(PyObject *self, PyObject *args) {
  PyObject *given, *content, *path = NULL;
  int replace, sync;
  gather_error error;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO!pp", &given, &PyBytes_Type, &content, &replace, &sync)) return NULL;
  if (!PyUnicode_FSConverter(given, &path)) return NULL;
  PyThreadState *state = PyEval_SaveThread();
  gather_status status = write_file(PyBytes_AsString(path), content, replace, sync, &error);
  PyEval_RestoreThread(state);
  Py_DECREF(path);
  if (status != GATHER_OK) return gather_py_raise(&error);
  Py_RETURN_NONE;
}
