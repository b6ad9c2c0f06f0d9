/* SPDX-License-Identifier: MIT
 *
 * py_ids.c: _read_ids(): integers from a file, for libgather.ids.
 */
#include <stdlib.h>
#include <string.h>

#include "gather/file.h"
#include "py_waiting.h"

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
  return Py_BuildValue("(sNNNN)", type->name, PyBool_FromLong((tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0), shape, strides, bytes);
}

enum { DOWNLOADED = 1 << 30 }; /* the library's own limit for elements */

/* A URL: one request also tells whether it is text. */
static gather_status find_remote(const char *url, const char *name, const gather_remote_options *remote, gather_file **file,
                                 const gather_file_tensor **tensor, gather_error *error) {
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  gather_remote_options whole = *remote;
  if (whole.whole_bytes < DOWNLOADED) whole.whole_bytes = DOWNLOADED; /* all of it is needed, whether there are ranges or not */
  source.path = url;
  source.remote = &whole;
  source.text_column = name;
  gather_status status = gather_file_open(&source, file, error);
  if (status != GATHER_OK) return status;
  const char *format = gather_file_format(*file);
  const bool text = strcmp(format, "text") == 0 || strcmp(format, "csv") == 0;
  status = gather_file_find_whole(*file, text ? NULL : name, tensor, error);
  return status == GATHER_OK ? gather_file_tensor_check(*tensor, error) : status;
}

/* Opens text or any other file, and finds the tensor, in one piece or several. */
static gather_status find(const char *path, const char *name, bool text, gather_file **file, const gather_file_tensor **tensor,
                          gather_error *error) {
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  source.text = text;
  if (text) source.text_column = name;
  gather_status status = gather_file_open(&source, file, error);
  if (status == GATHER_OK) status = gather_file_find_whole(*file, text ? NULL : name, tensor, error);
  return status == GATHER_OK ? gather_file_tensor_check(*tensor, error) : status;
}

/* The arguments and results of _read_ids(). */
typedef struct ids_reading {
  gather_py_waiting waiting; /* first */
  char *path;
  const char *name;
  bool is_text, is_remote;
  gather_remote_options remote;
  gather_file *file;
  const gather_file_tensor *tensor;
} ids_reading;

static void read_now(gather_py_waiting *waiting) {
  ids_reading *ids = (ids_reading *)waiting;
  gather_error *error = &waiting->error;
  waiting->status = ids->is_remote ? find_remote(ids->path, ids->name, &ids->remote, &ids->file, &ids->tensor, error)
                                   : find(ids->path, ids->name, ids->is_text, &ids->file, &ids->tensor, error);
}

static void discard(gather_py_waiting *waiting) { gather_file_close(((ids_reading *)waiting)->file); }

/* Reads them, and frees `ids`. */
static PyObject *read_given(ids_reading *ids, PyObject *args) {
  ids->waiting.work = read_now;
  ids->waiting.discard = discard;
  if (gather_py_wait(&ids->waiting, args, ids->is_remote) < 0) return NULL;
  if (ids->waiting.status != GATHER_OK) ids->waiting.error.input = "indices";
  PyObject *made = ids->waiting.status == GATHER_OK ? copy_of(ids->tensor) : gather_py_raise(&ids->waiting.error);
  gather_file_close(ids->file);
  gather_py_waiting_free(&ids->waiting);
  return made;
}

/* _read_ids(path, name, head, remote): head are the first bytes of a local file; remote is None for these. */
PyObject *gather_py_read_ids(PyObject *self, PyObject *args) {
  PyObject *path, *head, *values;
  const char *name;
  (void)self;
  if (!PyArg_ParseTuple(args, "SsSO", &path, &name, &head, &values)) return NULL;
  ids_reading *ids = calloc(1, sizeof *ids);
  if (!ids) return PyErr_NoMemory();
  ids->name = name;
  ids->is_remote = values != Py_None;
  ids->is_text = gather_file_is_text(PyBytes_AsString(head), (size_t)PyBytes_Size(head));
  if (PyBytes_AsStringAndSize(path, &ids->path, NULL) == 0 && /* it contains no null character */
      (!ids->is_remote || gather_py_read_remote(values, &ids->remote) == 0))
    return read_given(ids, args);
  free(ids);
  return NULL;
}
