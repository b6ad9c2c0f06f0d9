/* SPDX-License-Identifier: MIT
 *
 * calls_write.c: the types of the module that call libgather's operators that write. A tensor is (address, type, shape).
 */
#include "gather/scatter.h"
#include "module.h"

/* ---- Scatter(op, rules, out, indices, updates, axis, reduction, threads): in place, decided once and run often. rules: "" = of no
 * document. */

enum { OUT, INDICES, UPDATES, TENSORS };

typedef struct {
  PyObject_HEAD gather_scatter_plan *plan;
  gather_scatter_run run;
} scatter;

static PyObject *scatter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *op, *rules, *reduction;
  PyObject *tuples[TENSORS];
  gather_tensor tensors[TENSORS] = {{0}};
  int64_t shapes[TENSORS][BENCH_MAX_RANK];
  long long axis;
  int threads;
  gather_error error;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "ssO!O!O!Lsi", &op, &rules, &PyTuple_Type, &tuples[OUT], &PyTuple_Type, &tuples[INDICES], &PyTuple_Type,
                        &tuples[UPDATES], &axis, &reduction, &threads))
    return NULL;
  for (int i = 0; i < TENSORS; i++) {
    if (!bench_read_tensor(tuples[i], &tensors[i], shapes[i])) return NULL;
  }
  if (!gather_reduction_parse(reduction, &options.reduction)) return PyErr_Format(PyExc_ValueError, "no such reduction: %s", reduction);
  options.axis = axis;
  options.executor = bench_executor(threads);
  scatter *self = (scatter *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->run = (gather_scatter_run)GATHER_SCATTER_RUN_INIT;
  self->run.data = self->run.out = tensors[OUT].data;
  self->run.indices = tensors[INDICES].data;
  self->run.updates = tensors[UPDATES].data;
  self->run.executor = options.executor;
  if (gather_scatter_plan_create(*rules ? gather_op_find(op, rules) : gather_scatter_op(op), &tensors[OUT], &tensors[INDICES],
                                 &tensors[UPDATES], &tensors[OUT], &options, &self->plan, &error) == GATHER_OK)
    return (PyObject *)self;
  bench_complain(&error);
  Py_DECREF(self);
  return NULL;
}

static void scatter_free(PyObject *object) {
  gather_scatter_plan_destroy(((scatter *)object)->plan);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *scatter_run(PyObject *object, PyObject *none) {
  const scatter *self = (scatter *)object;
  gather_error error;
  (void)none;
  if (gather_scatter_plan_run(self->plan, &self->run, &error) != GATHER_OK) return bench_complain(&error);
  Py_RETURN_NONE;
}

static PyObject *scatter_keep(PyObject *object, PyObject *none) {
  scatter *self = (scatter *)object;
  gather_error error;
  (void)none;
  if (gather_scatter_plan_keep(self->plan, self->run.indices, self->run.executor, &error) != GATHER_OK) return bench_complain(&error);
  Py_RETURN_NONE;
}

static PyObject *scatter_text(PyObject *self) {
  char text[512];
  gather_scatter_plan_print(((scatter *)self)->plan, text, sizeof text);
  return PyUnicode_FromString(text);
}

static PyMethodDef scatter_methods[] = {
    {"run", scatter_run, METH_NOARGS, "run(): scatters"},
    {"keep", scatter_keep, METH_NOARGS, "keep(): sorts the indices as they are now, for all runs from now on"},
    {NULL, NULL, 0, NULL}};

PyTypeObject bench_scatter_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Scatter",
    .tp_basicsize = sizeof(scatter),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Scatter(op, rules, out, indices, updates, axis, reduction, threads); a tensor is (address, type, shape)",
    .tp_new = scatter_new,
    .tp_dealloc = scatter_free,
    .tp_str = scatter_text,
    .tp_methods = scatter_methods,
};

/* ---- Backward(op, rules, out, indices, grad, axis, threads): gather_backward into zeros, again and again */

typedef struct {
  PyObject_HEAD const gather_op *op;
  gather_tensor tensors[TENSORS];
  int64_t shapes[TENSORS][BENCH_MAX_RANK];
  gather_scatter_options options;
} backward;

static PyObject *backward_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *op, *rules;
  PyObject *tuples[TENSORS];
  long long axis;
  int threads;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "ssO!O!O!Li", &op, &rules, &PyTuple_Type, &tuples[OUT], &PyTuple_Type, &tuples[INDICES], &PyTuple_Type,
                        &tuples[UPDATES], &axis, &threads))
    return NULL;
  backward *self = (backward *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  for (int i = 0; i < TENSORS; i++) {
    if (bench_read_tensor(tuples[i], &self->tensors[i], self->shapes[i])) continue;
    Py_DECREF(self);
    return NULL;
  }
  self->op = gather_op_find(op, rules);
  self->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  self->options.axis = axis;
  self->options.executor = bench_executor(threads);
  return (PyObject *)self;
}

static PyObject *backward_run(PyObject *object, PyObject *none) {
  const backward *b = (backward *)object;
  gather_error error;
  (void)none;
  if (gather_backward(b->op, &b->tensors[UPDATES], &b->tensors[INDICES], &b->tensors[OUT], false, &b->options, &error) != GATHER_OK)
    return bench_complain(&error);
  Py_RETURN_NONE;
}

static PyMethodDef backward_methods[] = {{"run", backward_run, METH_NOARGS, "run(): the gradient"}, {NULL, NULL, 0, NULL}};

PyTypeObject bench_backward_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Backward",
    .tp_basicsize = sizeof(backward),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Backward(op, rules, out, indices, grad, axis, threads)",
    .tp_new = backward_new,
    .tp_methods = backward_methods,
};

/* ---- Bag(out, indices, offsets, weights, table, reduction, threads): gather_embedding_bag, again and again. weights may be None. */

enum { BAG_OUT, BAG_INDICES, BAG_OFFSETS, BAG_WEIGHTS, BAG_TABLE, BAG_TENSORS };

typedef struct {
  PyObject_HEAD gather_tensor tensors[BAG_TENSORS];
  int64_t shapes[BAG_TENSORS][BENCH_MAX_RANK];
  gather_bags bags;
  gather_scatter_options options;
} bag;

static PyObject *bag_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *reduction;
  PyObject *tuples[BAG_TENSORS];
  int threads;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "OOOOOsi", &tuples[BAG_OUT], &tuples[BAG_INDICES], &tuples[BAG_OFFSETS], &tuples[BAG_WEIGHTS],
                        &tuples[BAG_TABLE], &reduction, &threads))
    return NULL;
  bag *self = (bag *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  for (int i = 0; i < BAG_TENSORS; i++) {
    if (tuples[i] == Py_None || (PyTuple_Check(tuples[i]) && bench_read_tensor(tuples[i], &self->tensors[i], self->shapes[i]))) continue;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a tensor is (address, type, shape)");
    Py_DECREF(self);
    return NULL;
  }
  self->bags = (gather_bags)GATHER_BAGS_INIT;
  self->bags.indices = &self->tensors[BAG_INDICES];
  self->bags.offsets = &self->tensors[BAG_OFFSETS];
  if (tuples[BAG_WEIGHTS] != Py_None) self->bags.weights = &self->tensors[BAG_WEIGHTS];
  self->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  self->options.executor = bench_executor(threads);
  if (gather_reduction_parse(reduction, &self->options.reduction)) return (PyObject *)self;
  Py_DECREF(self);
  return PyErr_Format(PyExc_ValueError, "no such reduction: %s", reduction);
}

static PyObject *bag_run(PyObject *object, PyObject *none) {
  const bag *b = (bag *)object;
  gather_error error;
  (void)none;
  if (gather_embedding_bag(NULL, &b->tensors[BAG_TABLE], &b->bags, &b->tensors[BAG_OUT], &b->options, &error) != GATHER_OK)
    return bench_complain(&error);
  Py_RETURN_NONE;
}

static PyMethodDef bag_methods[] = {{"run", bag_run, METH_NOARGS, "run(): the rows of all bags"}, {NULL, NULL, 0, NULL}};

PyTypeObject bench_bag_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Bag",
    .tp_basicsize = sizeof(bag),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Bag(out, indices, offsets, weights, table, reduction, threads)",
    .tp_new = bag_new,
    .tp_methods = bag_methods,
};
