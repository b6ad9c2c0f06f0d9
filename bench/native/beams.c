/* SPDX-License-Identifier: MIT
 *
 * beams.c: Tree(step_ids, parent_ids, max_seq_len, end_token, out, threads): gather_tree, again and again. A tensor is (address, type,
 * shape).
 */
#include "gather/tree.h"
#include "module.h"
#include "native.h"

enum { STEPS, PARENTS, LENGTHS, END, OUT, TENSORS };

typedef struct {
  PyObject_HEAD gather_options options;
  gather_tensor tensors[TENSORS];
  int64_t shapes[TENSORS][BENCH_MAX_RANK];
} tree;

static PyObject *tree_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *tuples[TENSORS];
  int threads;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "O!O!O!O!O!i", &PyTuple_Type, &tuples[STEPS], &PyTuple_Type, &tuples[PARENTS], &PyTuple_Type,
                        &tuples[LENGTHS], &PyTuple_Type, &tuples[END], &PyTuple_Type, &tuples[OUT], &threads))
    return NULL;
  tree *self = (tree *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  for (int i = 0; i < TENSORS; i++) {
    if (bench_read_tensor(tuples[i], &self->tensors[i], self->shapes[i])) continue;
    Py_DECREF(self);
    return NULL;
  }
  self->options = (gather_options)GATHER_OPTIONS_INIT;
  self->options.executor = bench_executor(threads);
  return (PyObject *)self;
}

static PyObject *tree_run(PyObject *self, PyObject *none) {
  const tree *t = (tree *)self;
  gather_error error;
  (void)none;
  if (gather_tree(&t->tensors[STEPS], &t->tensors[PARENTS], &t->tensors[LENGTHS], &t->tensors[END], &t->tensors[OUT], &t->options,
                  &error) != GATHER_OK)
    return bench_complain(&error);
  Py_RETURN_NONE;
}

static void tree_free(PyObject *object) { Py_TYPE(object)->tp_free(object); }

static PyMethodDef tree_methods[] = {{"run", tree_run, METH_NOARGS, "run(): the sequences of all beams"}, {NULL, NULL, 0, NULL}};

PyTypeObject bench_tree_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Tree",
    .tp_basicsize = sizeof(tree),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Tree(step_ids, parent_ids, max_seq_len, end_token, out, threads)",
    .tp_new = tree_new,
    .tp_dealloc = tree_free,
    .tp_methods = tree_methods,
};
