/* SPDX-License-Identifier: MIT
 *
 * buffer.c: Buffer(bytes, huge=True): memory that Python's arrays, and through them all peers, stand in. The same buffers serve
 * everybody, so that nobody has better pages.
 */
#include "module.h"
#include "native.h"

typedef struct {
  PyObject_HEAD char *memory;
  Py_ssize_t bytes;
} buffer;

static PyObject *buffer_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char bytes_name[] = "bytes", huge_name[] = "huge", *names[] = {bytes_name, huge_name, NULL};
  Py_ssize_t bytes;
  int huge = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "n|p", names, &bytes, &huge)) return NULL;
  if (bytes <= 0) return PyErr_Format(PyExc_ValueError, "a buffer has bytes");
  buffer *self = (buffer *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->bytes = bytes;
  self->memory = bench_map((size_t)bytes, huge != 0);
  if (self->memory) return (PyObject *)self;
  Py_DECREF(self);
  return PyErr_NoMemory();
}

static void buffer_free(PyObject *object) {
  buffer *self = (buffer *)object;
  if (self->memory) bench_unmap(self->memory, (size_t)self->bytes);
  Py_TYPE(object)->tp_free(object);
}

static int buffer_get(PyObject *object, Py_buffer *view, int flags) {
  buffer *self = (buffer *)object;
  return PyBuffer_FillInfo(view, object, self->memory, self->bytes, 0, flags);
}

static PyObject *buffer_address(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromVoidPtr(((buffer *)object)->memory);
}

static PyGetSetDef buffer_fields[] = {{"address", buffer_address, NULL, "where it begins", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyBufferProcs buffer_procs = {buffer_get, NULL};

PyTypeObject bench_buffer_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Buffer",
    .tp_basicsize = sizeof(buffer),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Buffer(bytes, huge=True): zeroed memory, on huge pages where the system has them",
    .tp_new = buffer_new,
    .tp_dealloc = buffer_free,
    .tp_as_buffer = &buffer_procs,
    .tp_getset = buffer_fields,
};
