/* SPDX-License-Identifier: MIT
 *
 * py_model_text.c: names, texts and threads as the methods of Model take and return them.
 */
#include <string.h>

#include "py_model.h"

PyObject *gather_py_text(const char *text) {
  if (text) return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  Py_RETURN_NONE;
}

const char *gather_py_name(PyObject *object) {
  Py_ssize_t bytes = 0;
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &bytes) : NULL;
  if (text && strlen(text) == (size_t)bytes) return text;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a name must be a str without a null character");
  return NULL;
}

int gather_py_model_threads(PyObject *object, int32_t *threads) {
  if (object != Py_None) return gather_py_read_threads(object, threads);
  *threads = GATHER_PY_DEFAULT_THREADS;
  return 0;
}
