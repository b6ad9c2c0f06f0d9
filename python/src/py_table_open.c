/* SPDX-License-Identifier: MIT
 *
 * py_table_open.c: Table(): opening, and the properties of the table, which remain after closing.
 */
#include <stdlib.h>
#include <string.h>

#include "py_table.h"
#include "py_waiting.h"

/* The arguments of Table(): libgather/table.py has converted them to plain values. */
typedef struct opening {
  gather_py_waiting waiting;       /* first */
  PyObject *paths, *shape, *dtype; /* borrowed */
  const char *engine, *type;       /* type: of raw bytes, or NULL */
  const char *decode_as;           /* the type of decoded rows, or NULL */
  gather_table_options options;
  gather_py_raw raw;
  gather_remote_options remote;
  gather_table *table; /* that was opened */
  Py_ssize_t count;
  const char *path[]; /* they belong to `paths` */
} opening;

int gather_py_read_raw(const char *type, PyObject *shape, int64_t offset, bool as_is, gather_py_raw *raw) {
  Py_ssize_t rank = PyTuple_Size(shape);
  if (rank > GATHER_MAX_RANK) {
    gather_py_fail(GATHER_RANK_MISMATCH, NULL, "shape has %zd dimensions; the maximum is %d", rank, GATHER_MAX_RANK);
    return -1;
  }
  for (Py_ssize_t d = 0; d < rank; d++) raw->shape[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
  raw->raw = (gather_raw){type, (int32_t)rank, raw->shape, offset, as_is};
  return PyErr_Occurred() ? -1 : 0;
}

int gather_py_read_remote(PyObject *values, gather_remote_options *to) {
  long long gap, cache;
  long long whole;
  int virtual_host, any_address;
  PyObject *folder;
  char *name = NULL;
  *to = (gather_remote_options)GATHER_REMOTE_OPTIONS_INIT;
  if (!PyTuple_Check(values)) {
    PyErr_SetString(PyExc_TypeError, "the options of URLs must be a tuple");
    return -1;
  }
  if (!PyArg_ParseTuple(values, "iddiLOLpzzzzzzzzzLp", &to->connections, &to->try_seconds, &to->take_seconds, &to->retries, &gap, &folder,
                        &cache, &virtual_host, &to->schemes, &to->bearer, &to->endpoint, &to->region, &to->key_id, &to->secret,
                        &to->session_token, &to->hub, &to->authorities, &whole, &any_address))
    return -1;
  if (folder != Py_None && PyBytes_AsStringAndSize(folder, &name, NULL) < 0) return -1; /* it has no null character */
  to->cache_folder = name;
  to->gap_bytes = gap;
  to->cache_bytes = cache;
  to->virtual_host = virtual_host;
  to->whole_bytes = whole;
  to->any_address = any_address;
  return 0;
}

static int read_opening(PyObject *args, opening *given) {
  gather_error error;
  long long memory, cache, offset;
  int depth, buffered, keep_signals, as_is, links;
  const char *codec, *tensor;
  PyObject *remote;
  if (!PyArg_ParseTuple(args, "O!sLLippzO!LOppzzOz", &PyTuple_Type, &given->paths, &given->engine, &memory, &cache, &depth, &buffered,
                        &keep_signals, &given->type, &PyTuple_Type, &given->shape, &offset, &given->dtype, &as_is, &links,
                        &given->decode_as, &codec, &remote, &tensor))
    return -1;
  given->options = (gather_table_options)GATHER_TABLE_OPTIONS_INIT;
  given->options.decode_as = gather_type_parse(given->decode_as);
  given->options.codec = codec;
  given->options.tensor = tensor;
  if (gather_engine_parse(given->engine, &given->options.engine, &error) != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  given->options.memory_bytes = memory;
  given->options.cache_bytes = cache;
  given->options.depth = depth;
  given->options.buffered = buffered;
  given->options.keep_signals = keep_signals;
  given->options.no_links = !links;
  if (remote != Py_None && gather_py_read_remote(remote, &given->remote) < 0) return -1;
  if (remote != Py_None) given->options.remote = &given->remote;
  if (!given->type) return 0;
  given->options.raw = &given->raw.raw;
  return gather_py_read_raw(given->type, given->shape, offset, as_is, &given->raw);
}

const char **gather_py_read_paths(PyObject *paths) {
  const Py_ssize_t count = PyTuple_Size(paths);
  const char **texts = (const char **)PyMem_Malloc((size_t)(count ? count : 1) * sizeof *texts);
  if (!texts) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    char *text;
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(paths, i), &text, NULL) < 0) { /* it must not contain a null character */
      PyMem_Free((void *)texts);
      return NULL;
    }
    texts[i] = text;
  }
  return texts;
}

static void open_now(gather_py_waiting *waiting) {
  opening *given = (opening *)waiting;
  waiting->status = given->count == 1
                        ? gather_table_open(given->path[0], &given->options, &given->table, &waiting->error)
                        : gather_table_open_parts(given->path, (int32_t)given->count, &given->options, &given->table, &waiting->error);
}

static void discard(gather_py_waiting *waiting) { gather_table_close(((opening *)waiting)->table); }

/* Room for the arguments of Table(); NULL with an exception. */
static opening *create_opening(PyObject *args) {
  PyObject *paths = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
  const Py_ssize_t count = paths && PyTuple_Check(paths) ? PyTuple_Size(paths) : 0;
  opening *given = calloc(1, sizeof *given + (size_t)count * sizeof *given->path);
  if (!given) {
    PyErr_NoMemory();
    return NULL;
  }
  if (read_opening(args, given) < 0) {
    free(given);
    return NULL;
  }
  given->count = count;
  const char **texts = gather_py_read_paths(given->paths);
  if (texts && count) memcpy((void *)given->path, (const void *)texts, (size_t)count * sizeof *texts);
  PyMem_Free((void *)texts);
  if (texts) return given;
  free(given);
  return NULL;
}

/* Opens it, and frees `given`. NULL with an exception. */
static gather_table *open_table(opening *given, PyObject *args) {
  given->waiting.work = open_now;
  given->waiting.discard = discard;
  if (gather_py_wait(&given->waiting, args, given->options.remote != NULL) < 0) return NULL;
  gather_table *table = given->waiting.status == GATHER_OK ? given->table : NULL;
  if (!table) gather_py_raise(&given->waiting.error);
  gather_py_waiting_free(&given->waiting);
  return table;
}

PyObject *gather_py_table_text(const char *text) {
  return PyUnicode_DecodeUTF8(text ? text : "", (Py_ssize_t)strlen(text ? text : ""), "replace");
}

static PyObject *array_like(PyArray_Descr *descr) {
  npy_intp none = 0;
  return descr ? PyArray_NewFromDescr(&PyArray_Type, descr, 1, &none, NULL, NULL, 0, NULL) : NULL;
}

/* The table's dtype: the caller's, or libgather._fallback's for its type. */
static PyObject *make_like(const gather_table_info *info, PyObject *given) {
  const gather_type_info *type = gather_type_get(info->tensor.type);
  int64_t item_bytes = type->kind == GATHER_KIND_OPAQUE ? info->tensor.item_bytes : type->bits / 8;
  PyObject *dtype = given, *function = NULL;
  Py_INCREF(given);
  if (given == Py_None) {
    Py_DECREF(given);
    function = gather_py_fallback("table_dtype");
    if (!function) return NULL;
    dtype = PyObject_CallFunction(function, "szLO", info->type_name, info->descr, (long long)item_bytes,
                                  info->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED ? Py_True : Py_False);
    Py_DECREF(function);
  }
  PyArray_Descr *descr = NULL;
  if (dtype && !PyArray_DescrConverter(dtype, &descr)) descr = NULL;
  Py_XDECREF(dtype);
  if (descr && type->packing == GATHER_PACKING_BYTES && PyDataType_ELSIZE(descr) != item_bytes) {
    PyErr_Format(PyExc_TypeError, "dtype %R does not have the %lld bytes of the table's elements", (PyObject *)descr,
                 (long long)item_bytes);
    Py_CLEAR(descr);
  }
  return array_like(descr); /* takes the reference */
}

/* The properties, kept for after closing. */
static int describe(gather_py_table *self, const gather_table_info *info, PyObject *dtype) {
  const gather_type_info *type = gather_type_get(info->tensor.type);
  self->tensor = info->tensor;
  self->tensor.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  self->tensor.shape = self->shape;
  self->tensor.strides = NULL;
  self->tensor.data = NULL;
  self->rows = info->rows;
  self->row_bytes = info->row_bytes;
  self->packed = type->packing != GATHER_PACKING_BYTES;
  memcpy(self->shape, info->tensor.shape, (size_t)info->tensor.rank * sizeof *self->shape);
  self->format = gather_py_table_text(info->format);
  self->name = gather_py_table_text(info->name);
  self->type = gather_py_table_text(info->type_name);
  self->codec = info->codec ? gather_py_table_text(info->codec) : Py_NewRef(Py_None);
  self->like = make_like(info, dtype);
  self->bytes_like = self->packed ? array_like(PyArray_DescrFromType(NPY_UINT8)) : NULL;
  return self->format && self->name && self->type && self->codec && self->like && (self->bytes_like || !self->packed) ? 0 : -1;
}

PyObject *gather_py_table_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  if (keywords && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "Table takes no keyword arguments");
    return NULL;
  }
  opening *given = create_opening(args);
  if (!given) return NULL;
  PyObject *dtype = given->dtype; /* it belongs to args */
  gather_table *table = open_table(given, args);
  if (!table) return NULL;
  gather_py_table *self = (gather_py_table *)gather_py_allocate(type);
  if (!self) {
    gather_table_close(table);
    return NULL;
  }
  gather_py_handle_open(&self->handle, table);
  if (describe(self, gather_table_describe(table), dtype) < 0) {
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  return (PyObject *)self;
}
