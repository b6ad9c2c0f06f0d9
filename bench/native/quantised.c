/* SPDX-License-Identifier: MIT
 *
 * quantised.c: Quantised(codec, data, scale, group_len, high_first, code_offset, indices, out, threads): gather_take_quantized as a
 * program calls it, again and again. A tensor is (address, type, shape); scale may be None. The codes of `affine` have four bits.
 */
#include "gather/codec.h"
#include "module.h"
#include "native.h"

enum { DATA, SCALE, INDICES, OUT, TENSORS };

typedef struct {
  PyObject_HEAD gather_quantized description;
  gather_options options;
  gather_tensor tensors[TENSORS];
  int64_t shapes[TENSORS][BENCH_MAX_RANK];
} quantised;

static PyObject *quantised_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *codec;
  PyObject *tuples[TENSORS];
  long long group_len;
  int high_first, offset, threads;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "sO!OLpiO!O!i", &codec, &PyTuple_Type, &tuples[DATA], &tuples[SCALE], &group_len, &high_first, &offset,
                        &PyTuple_Type, &tuples[INDICES], &PyTuple_Type, &tuples[OUT], &threads))
    return NULL;
  quantised *self = (quantised *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  for (int i = 0; i < TENSORS; i++) {
    if (tuples[i] == Py_None) continue;
    if (!PyTuple_Check(tuples[i]) || !bench_read_tensor(tuples[i], &self->tensors[i], self->shapes[i])) {
      Py_DECREF(self);
      return NULL;
    }
  }
  gather_quantized *q = &self->description;
  *q = (gather_quantized)GATHER_QUANTIZED_INIT;
  q->codec = gather_codec_parse(codec);
  q->data = &self->tensors[DATA];
  q->group_len = group_len;
  q->order = high_first ? GATHER_CODE_ORDER_HIGH_FIRST : GATHER_CODE_ORDER_LOW_FIRST;
  q->code_offset = offset;
  if (q->codec == GATHER_CODEC_AFFINE) q->code_type = GATHER_TYPE_UINT4;
  if (tuples[SCALE] != Py_None) q->scale = &self->tensors[SCALE];
  self->options = (gather_options)GATHER_OPTIONS_INIT;
  self->options.executor = bench_executor(threads);
  return (PyObject *)self;
}

static gather_status once(const quantised *q, gather_error *error) {
  return gather_take_quantized(NULL, &q->description, &q->tensors[INDICES], &q->tensors[OUT], &q->options, error);
}

static PyObject *quantised_run(PyObject *self, PyObject *none) {
  gather_error error;
  (void)none;
  if (once((quantised *)self, &error) != GATHER_OK) return bench_complain(&error);
  Py_RETURN_NONE;
}

static void quantised_free(PyObject *object) { Py_TYPE(object)->tp_free(object); }

static PyMethodDef quantised_methods[] = {{"run", quantised_run, METH_NOARGS, "run(): gathers and decodes"}, {NULL, NULL, 0, NULL}};

PyTypeObject bench_quantised_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Quantised",
    .tp_basicsize = sizeof(quantised),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Quantised(codec, data, scale, group_len, high_first, code_offset, indices, out, threads)",
    .tp_new = quantised_new,
    .tp_dealloc = quantised_free,
    .tp_methods = quantised_methods,
};
