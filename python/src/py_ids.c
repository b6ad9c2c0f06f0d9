/* SPDX-License-Identifier: MIT
 *
 * py_ids.c: _read_ids(): integers from a file, for libgather.ids.
 */
#include <string.h>

#include "gather/file.h"
#include "py_core.h"

/* A copy of a tensor of integers: its type, whether its bytes are swapped, shape, strides or None, bytes. */
static PyObject *copy_of(const gather_file_tensor *found) {
  const gather_tensor *tensor = &found->tensor;
  const gather_type_info *type = gather_type_get(tensor->type);
  bool integer = type->kind == GATHER_KIND_INT || type->kind == GATHER_KIND_UINT;
  if (!integer || type->packing != GATHER_PACKING_BYTES)
    return gather_py_fail(GATHER_TYPE_UNSUPPORTED, "indices", "ids must be integers, not %.100s", found->type_name);
  PyObject *strides = Py_None, *bytes = PyByteArray_FromStringAndSize(tensor->data, (Py_ssize_t)found->bytes);
  if (tensor->strides)
    strides = gather_py_tuple(tensor->rank, tensor->strides);
  else
    Py_INCREF(strides);
  PyObject *shape = gather_py_tuple(tensor->rank, tensor->shape);
  if (!bytes || !strides || !shape) {
    Py_XDECREF(bytes);
    Py_XDECREF(strides);
    Py_XDECREF(shape);
    return NULL;
  }
  return Py_BuildValue("(sNNNN)", type->name, PyBool_FromLong((tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0), shape,
                       strides, bytes);
}

/* A URL: one request also tells whether it is text. */
static gather_status find_remote(const char *url, const char *name, const gather_remote_options *remote,
                                 gather_file **file, const gather_file_tensor **tensor, gather_error *error) {
  gather_file_options options = GATHER_FILE_OPTIONS_INIT;
  options.remote = remote;
  options.text_column = name;
  gather_status status = gather_file_open_with(url, &options, file, error);
  if (status != GATHER_OK) return status;
  const char *format = gather_file_format(*file);
  const bool text = strcmp(format, "text") == 0 || strcmp(format, "csv") == 0;
  status = gather_file_find_whole(*file, text ? NULL : name, tensor, error);
  return status == GATHER_OK ? gather_file_tensor_check(*tensor, error) : status;
}

/* Opens text or any other file, and finds the tensor, in one piece or several. */
static gather_status find(const char *path, const char *name, bool text, gather_file **file,
                          const gather_file_tensor **tensor, gather_error *error) {
  gather_status status = text ? gather_file_open_text(path, name, file, error) : gather_file_open(path, file, error);
  if (status == GATHER_OK) status = gather_file_find_whole(*file, text ? NULL : name, tensor, error);
  return status == GATHER_OK ? gather_file_tensor_check(*tensor, error) : status;
}

/* _read_ids(path, name, head, remote): head are the first bytes of a local file; remote is None for these. */
PyObject *gather_py_read_ids(PyObject *self, PyObject *args) {
  PyObject *path, *head, *values;
  gather_remote_options remote;
  const char *name;
  char *text;
  gather_error error;
  gather_file *file = NULL;
  const gather_file_tensor *tensor = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "SsSO", &path, &name, &head, &values)) return NULL;
  if (values != Py_None && gather_py_read_remote(values, &remote) < 0) return NULL;
  if (PyBytes_AsStringAndSize(path, &text, NULL) < 0) return NULL; /* it contains a null character */
  const bool is_text = gather_file_is_text(PyBytes_AsString(head), (size_t)PyBytes_Size(head));
  PyThreadState *state = PyEval_SaveThread();
  gather_status status = values != Py_None ? find_remote(text, name, &remote, &file, &tensor, &error)
                                           : find(text, name, is_text, &file, &tensor, &error);
  PyEval_RestoreThread(state);
  if (status != GATHER_OK) error.input = "indices";
  PyObject *made = status == GATHER_OK ? copy_of(tensor) : gather_py_raise(&error);
  gather_file_close(file);
  return made;
}
