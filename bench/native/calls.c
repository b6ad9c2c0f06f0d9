/* SPDX-License-Identifier: MIT
 *
 * calls.c: the types of the module that call libgather as a program does. A tensor is (address, type, shape).
 */
#include <string.h>

#include "gather/codec.h"
#include "gather/table.h"
#include "gather/tree.h"
#include "module.h"
#include "native.h"

enum { MAX_POOLS = 65, MAX_RANK = BENCH_MAX_RANK };

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
  if (rank > MAX_RANK || tensor->type == GATHER_TYPE_NONE) {
    PyErr_SetString(PyExc_ValueError, "no such tensor");
    return 0;
  }
  for (Py_ssize_t i = 0; i < rank; i++) shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(lengths, i));
  return !PyErr_Occurred();
}

PyObject *bench_complain(const gather_error *error) {
  return PyErr_Format(error->status == GATHER_INDEX_OUT_OF_RANGE ? PyExc_IndexError : PyExc_ValueError, "%s", error->message);
}

/* ---- Plan(op, rules, data, indices, out, axis, batch_dims, threads, fresh): as a runtime uses it, decided once and run
 * often, and as one call */

typedef struct {
  PyObject_HEAD gather_plan *plan;
  gather_run run;
  const gather_op *op;
  gather_tensor tensors[3];
  int64_t shapes[3][MAX_RANK];
  gather_options options;
} plan;

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

/* ---- Tree(step_ids, parent_ids, max_seq_len, end_token, out, threads): gather_tree, again and again */

enum { STEPS, PARENTS, LENGTHS, END, SEQUENCES, TREE_TENSORS };

typedef struct {
  PyObject_HEAD gather_options options;
  gather_tensor tensors[TREE_TENSORS];
  int64_t shapes[TREE_TENSORS][MAX_RANK];
} tree;

static PyObject *tree_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *tuples[TREE_TENSORS];
  int threads;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "O!O!O!O!O!i", &PyTuple_Type, &tuples[STEPS], &PyTuple_Type, &tuples[PARENTS], &PyTuple_Type,
                        &tuples[LENGTHS], &PyTuple_Type, &tuples[END], &PyTuple_Type, &tuples[SEQUENCES], &threads))
    return NULL;
  tree *self = (tree *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  for (int i = 0; i < TREE_TENSORS; i++) {
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
  if (gather_tree(&t->tensors[STEPS], &t->tensors[PARENTS], &t->tensors[LENGTHS], &t->tensors[END], &t->tensors[SEQUENCES], &t->options,
                  &error) != GATHER_OK)
    return bench_complain(&error);
  Py_RETURN_NONE;
}

static PyMethodDef tree_methods[] = {{"run", tree_run, METH_NOARGS, "run(): the sequences of all beams"}, {NULL, NULL, 0, NULL}};

PyTypeObject bench_tree_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Tree",
    .tp_basicsize = sizeof(tree),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Tree(step_ids, parent_ids, max_seq_len, end_token, out, threads)",
    .tp_new = tree_new,
    .tp_methods = tree_methods,
};

/* ---- Quantised(codec, data, scale, group_len, high_first, code_offset, indices, out, threads): gather_take_quantized, again
 * and again. scale may be None. The codes of `affine` have four bits. */

enum { DATA, SCALE, INDICES, OUT, TENSORS };

typedef struct {
  PyObject_HEAD gather_quantized description;
  gather_options options;
  gather_tensor tensors[TENSORS];
  int64_t shapes[TENSORS][MAX_RANK];
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

static PyMethodDef quantised_methods[] = {{"run", quantised_run, METH_NOARGS, "run(): gathers and decodes"}, {NULL, NULL, 0, NULL}};

PyTypeObject bench_quantised_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Quantised",
    .tp_basicsize = sizeof(quantised),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Quantised(codec, data, scale, group_len, high_first, code_offset, indices, out, threads)",
    .tp_new = quantised_new,
    .tp_methods = quantised_methods,
};

/* ---- Table(path, engine, memory, depth, cache): rows out of a file */

typedef struct {
  PyObject_HEAD gather_table *table;
} table;

static PyObject *complain_of_file(const gather_error *error) { return PyErr_Format(PyExc_OSError, "%s", error->message); }

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *path, *engine;
  long long memory, cache;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_error error;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "ssLiL", &path, &engine, &memory, &options.depth, &cache)) return NULL;
  options.memory_bytes = memory;
  options.cache_bytes = cache;
  if (gather_engine_parse(engine, &options.engine, &error) != GATHER_OK) return complain_of_file(&error);
  table *self = (table *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  if (gather_table_open(path, &options, &self->table, &error) == GATHER_OK) return (PyObject *)self;
  self->table = NULL;
  Py_DECREF(self);
  return complain_of_file(&error);
}

static void table_free(PyObject *object) {
  gather_table_close(((table *)object)->table);
  Py_TYPE(object)->tp_free(object);
}

/* take(ids, count, out): nanoseconds. ids are int64. */
static PyObject *table_take(PyObject *object, PyObject *args) {
  gather_table *from = ((table *)object)->table;
  unsigned long long ids, out;
  long long count;
  gather_error error;
  if (!PyArg_ParseTuple(args, "KLK", &ids, &count, &out)) return NULL;
  const gather_table_info *info = gather_table_describe(from);
  int64_t length = count, shape[GATHER_MAX_RANK];
  if (info->tensor.rank > GATHER_MAX_RANK) return PyErr_Format(PyExc_ValueError, "the rank is too high");
  memcpy(shape, info->tensor.shape, (size_t)info->tensor.rank * sizeof *shape);
  shape[0] = count;
  gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = &length, .data = (void *)(uintptr_t)ids};
  gather_tensor rows = info->tensor;
  rows.shape = shape;
  rows.flags &= ~(uint32_t)GATHER_TENSOR_READ_ONLY;
  rows.data = (void *)(uintptr_t)out;
  gather_status status;
  int64_t start, end;
  Py_BEGIN_ALLOW_THREADS start = bench_now();
  status = gather_table_take(from, &indices, &rows, NULL, &error);
  end = bench_now();
  Py_END_ALLOW_THREADS return status == GATHER_OK ? PyLong_FromLongLong(end - start) : complain_of_file(&error);
}

static PyObject *table_statistics(PyObject *object, PyObject *args) {
  gather_table_statistics s;
  (void)args;
  gather_table_statistics_get(((table *)object)->table, &s);
  return Py_BuildValue("{s:s,s:N,s:i,s:s,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:d,s:d}", "engine", gather_engine_name(s.engine),
                       "direct", PyBool_FromLong(s.direct), "depth", (int)s.depth, "why", s.why, "rows", (long long)s.rows, "rows_resident",
                       (long long)s.rows_resident, "rows_cached", (long long)s.rows_cached, "rows_read", (long long)s.rows_read, "reads",
                       (long long)s.reads, "bytes_useful", (long long)s.bytes_useful, "bytes_read", (long long)s.bytes_read, "memory_bytes",
                       (long long)s.memory_bytes, "memory_peak", (long long)s.memory_peak, "memory_ceiling", (long long)s.memory_ceiling,
                       "seconds", s.seconds, "seconds_waiting", s.seconds_waiting);
}

static PyMethodDef table_methods[] = {{"take", table_take, METH_VARARGS, "take(ids, count, out): nanoseconds"},
                                      {"statistics", table_statistics, METH_NOARGS, "statistics(): what has been done since it was opened"},
                                      {NULL, NULL, 0, NULL}};

PyTypeObject bench_table_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gather_bench_native.Table",
    .tp_basicsize = sizeof(table),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Table(path, engine, memory, depth, cache): a table in a file, opened by libgather",
    .tp_new = table_new,
    .tp_dealloc = table_free,
    .tp_methods = table_methods,
};
