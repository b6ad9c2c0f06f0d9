/* SPDX-License-Identifier: MIT
 *
 * py_write.c: files that are written atomically, for the package's own Python.
 */
#include <string.h>

#include "gather/file.h"
#include "py_core.h"

static gather_status write_file(const char *path, PyObject *content, bool replace, bool sync, gather_error *error) {
  const char *bytes = PyBytes_AsString(content);
  const Py_ssize_t size = PyBytes_Size(content);
  gather_writer *writer = NULL;
  gather_file_target target = GATHER_FILE_TARGET_INIT;
  target.path = path;
  target.replace = replace;
  target.no_sync = !sync;
  target.bytes = size;
  gather_status status = gather_writer_create(&target, &writer, error);
  if (status != GATHER_OK) return status;
  if (size > 0) memcpy(gather_writer_data_at(writer, 0), bytes, (size_t)size);
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
