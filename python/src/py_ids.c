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

/* Opens text or any other file, and finds the tensor, in one piece or several. */
static gather_status find(const char *path, const char *name, bool text, gather_file **file,
                          const gather_file_tensor **tensor, gather_error *error) {
  gather_status status = text ? gather_file_open_text(path, name, file, error) : gather_file_open(path, file, error);
  if (status == GATHER_OK) status = gather_file_find_whole(*file, text ? NULL : name, tensor, error);
  return status == GATHER_OK ? gather_file_tensor_check(*tensor, error) : status;
}

/* _read_ids(path, name, head): head are the file's first bytes. */
PyObject *gather_py_read_ids(PyObject *self, PyObject *args) {
  PyObject *path, *head;
  const char *name;
  char *text;
  gather_error error;
  gather_file *file = NULL;
  const gather_file_tensor *tensor = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "SsS", &path, &name, &head)) return NULL;
  if (PyBytes_AsStringAndSize(path, &text, NULL) < 0) return NULL; /* it contains a null character */
  const bool is_text = gather_file_is_text(PyBytes_AsString(head), (size_t)PyBytes_Size(head));
  PyThreadState *state = PyEval_SaveThread();
  gather_status status = find(text, name, is_text, &file, &tensor, &error);
  PyEval_RestoreThread(state);
  if (status != GATHER_OK) error.input = "indices";
  PyObject *made = status == GATHER_OK ? copy_of(tensor) : gather_py_raise(&error);
  gather_file_close(file);
  return made;
}
