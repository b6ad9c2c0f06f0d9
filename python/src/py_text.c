/* SPDX-License-Identifier: MIT
 *
 * py_text.c: printable names, for errors and for the package's own Python.
 */
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

/* _visible(text): surrogates, which represent bytes that are not UTF-8, become those bytes again. */
PyObject *gather_py_visible(PyObject *self, PyObject *text) {
  (void)self;
  if (!PyUnicode_Check(text)) return PyErr_Format(PyExc_TypeError, "text must be a str");
  PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
  if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  }
  PyObject *made = bytes ? gather_py_visible_text(PyBytes_AsString(bytes)) : NULL;
  Py_XDECREF(bytes);
  return made;
}
