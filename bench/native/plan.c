/* SPDX-License-Identifier: MIT
 *
 * plan.c: Plan(op, rules, data, indices, out, axis, batch_dims, threads, fresh): libgather as a runtime uses it, decided once and run
 * often, and as one call. A tensor is (address, type, shape).
 */
#include "module.h"
#include "native.h"

enum { MAX_POOLS = 65 };

typedef struct {
  PyObject_HEAD gather_plan *plan;
  gather_run run;
  const gather_op *op;
  gather_tensor tensors[3];
  int64_t shapes[3][BENCH_MAX_RANK];
  gather_options options;
} plan;

/* One pool per number of threads, for as long as the process lives: as a program would have it. */
const gather_executor *bench_executor(int threads) {
  static gather_pool *pools[MAX_POOLS];
  gather_error error;
  if (threads <= 1) return NULL;
  if (threads >= MAX_POOLS) threads = MAX_POOLS - 1;
  if (!pools[threads] && gather_pool_create(threads, &pools[threads], &error) != GATHER_OK) return NULL;
  return gather_pool_executor(pools[threads]);
}

int bench_read_tensor(PyObject *tuple, gather_tensor *tensor, int64_t *shape) {
  unsigned long long address;
  const char *type;
  PyObject *lengths;
  if (!PyArg_ParseTuple(tuple, "KsO!", &address, &type, &PyTuple_Type, &lengths)) return 0;
  Py_ssize_t rank = PyTuple_GET_SIZE(lengths);
  tensor->type = gather_type_parse(type);
  tensor->data = (void *)(uintptr_t)address;
  tensor->rank = (int32_t)rank;
  tensor->shape = shape;
  if (rank > BENCH_MAX_RANK || tensor->type == GATHER_TYPE_NONE) {
    PyErr_SetString(PyExc_ValueError, "no such tensor");
    return 0;
  }
  for (Py_ssize_t i = 0; i < rank; i++) shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(lengths, i));
  return !PyErr_Occurred();
}

PyObject *bench_complain(const gather_error *error) {
  return PyErr_Format(error->status == GATHER_INDEX_OUT_OF_RANGE ? PyExc_IndexError : PyExc_ValueError, "%s", error->message);
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *op, *rules;
  PyObject *tuples[3];
  long long axis, batch_dims;
  int threads, fresh;
  gather_error error;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "ssO!O!O!LLip", &op, &rules, &PyTuple_Type, &tuples[0], &PyTuple_Type, &tuples[1], &PyTuple_Type, &tuples[2],
                        &axis, &batch_dims, &threads, &fresh))
    return NULL;
  plan *self = (plan *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  for (int i = 0; i < 3; i++) {
    if (!bench_read_tensor(tuples[i], &self->tensors[i], self->shapes[i])) goto failed;
  }
  self->op = gather_op_find(op, rules);
  self->options = (gather_options)GATHER_OPTIONS_INIT;
  self->options.axis = axis;
  self->options.batch_dims = batch_dims;
  self->options.executor = bench_executor(threads);
  self->options.fresh_output = fresh;
  self->run = (gather_run)GATHER_RUN_INIT;
  self->run.data = self->tensors[0].data;
  self->run.indices = self->tensors[1].data;
  self->run.out = self->tensors[2].data;
  self->run.executor = self->options.executor;
  self->run.fresh_output = fresh;
  if (gather_plan_create(self->op, &self->tensors[0], &self->tensors[1], &self->tensors[2], &self->options, &self->plan, &error) ==
      GATHER_OK)
    return (PyObject *)self;
  bench_complain(&error);
failed:
  Py_DECREF(self);
  return NULL;
}

static void plan_free(PyObject *object) {
  gather_plan_destroy(((plan *)object)->plan);
  Py_TYPE(object)->tp_free(object);
}

static gather_status run_once(const plan *p, gather_error *error) { return gather_plan_run(p->plan, &p->run, error); }

static gather_status apply_once(const plan *p, gather_error *error) {
  return gather_apply(p->op, &p->tensors[0], &p->tensors[1], &p->tensors[2], &p->options, error);
}

static PyObject *plan_run(PyObject *self, PyObject *none) {
  gather_error error;
  (void)none;
  if (run_once((plan *)self, &error) != GATHER_OK) return bench_complain(&error);
  Py_RETURN_NONE;
}

static PyObject *plan_apply(PyObject *self, PyObject *none) {
  gather_error error;
  (void)none;
  if (apply_once((plan *)self, &error) != GATHER_OK) return bench_complain(&error);
  Py_RETURN_NONE;
}

/* What `rounds` calls from C take: the price of a call, without Python's. */
static PyObject *loop(const plan *p, PyObject *args, gather_status (*once)(const plan *, gather_error *)) {
  long long rounds;
  gather_error error;
  if (!PyArg_ParseTuple(args, "L", &rounds)) return NULL;
  int64_t start = bench_now();
  for (long long i = 0; i < rounds; i++) {
    if (once(p, &error) != GATHER_OK) return bench_complain(&error);
  }
  return PyLong_FromLongLong(bench_now() - start);
}

static PyObject *plan_run_loop(PyObject *self, PyObject *args) { return loop((plan *)self, args, run_once); }
static PyObject *plan_apply_loop(PyObject *self, PyObject *args) { return loop((plan *)self, args, apply_once); }

static PyObject *plan_text(PyObject *self) {
  char text[512];
  gather_plan_print(((plan *)self)->plan, text, sizeof text);
  return PyUnicode_FromString(text);
}

static PyMethodDef plan_methods[] = {
    {"run", plan_run, METH_NOARGS, "run(): gathers"},
    {"apply", plan_apply, METH_NOARGS, "apply(): gathers without the plan, in one call"},
    {"run_loop", plan_run_loop, METH_VARARGS, "run_loop(rounds): nanoseconds of so many runs"},
    {"apply_loop", plan_apply_loop, METH_VARARGS, "apply_loop(rounds): nanoseconds of so many one-call gathers"},
    {NULL, NULL, 0, NULL}};

PyTypeObject bench_plan_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Plan",
    .tp_basicsize = sizeof(plan),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Plan(op, rules, data, indices, out, axis, batch_dims, threads, fresh); a tensor is (address, type, shape)",
    .tp_new = plan_new,
    .tp_dealloc = plan_free,
    .tp_str = plan_text,
    .tp_methods = plan_methods,
};
