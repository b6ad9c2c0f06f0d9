/* SPDX-License-Identifier: MIT
 *
 * py_model_check.c: a check of a model, and its results as dictionaries: the fields of `gather check --json` under the same names.
 */
#include <stdatomic.h>

#include "py_model.h"

/* Takes ownership of the value. */
static int put(PyObject *dict, const char *key, PyObject *value) {
  int result = value ? PyDict_SetItemString(dict, key, value) : -1;
  Py_XDECREF(value);
  return result;
}

static int put_int(PyObject *dict, const char *key, int64_t value, bool is_unsigned) {
  return put(dict, key, is_unsigned ? PyLong_FromUnsignedLongLong((uint64_t)value) : PyLong_FromLongLong((long long)value));
}

static PyObject *none(void) { Py_RETURN_NONE; }

static PyObject *dim_of(const gather_dim *dim) {
  if (dim->min == dim->max) return PyLong_FromLongLong((long long)dim->min);
  return gather_py_text(dim->symbol);
}

static PyObject *shape_of(const gather_operand *operand) {
  if (operand->rank < 0) return none();
  PyObject *shape = PyTuple_New(operand->rank);
  for (int32_t d = 0; shape && d < operand->rank; d++) {
    PyObject *dim = dim_of(&operand->dims[d]);
    if (!dim || PyTuple_SetItem(shape, d, dim) < 0) Py_CLEAR(shape);
  }
  return shape;
}

static PyObject *operand_of(const gather_operand *operand) {
  PyObject *dict = PyDict_New();
  const gather_type_info *type = gather_type_get(operand->type);
  if (!dict || put(dict, "name", gather_py_text(operand->name)) < 0 || put(dict, "type", gather_py_text(type ? type->name : NULL)) < 0 ||
      put(dict, "shape", shape_of(operand)) < 0)
    Py_CLEAR(dict);
  gather_error why;
  if (dict && operand->unreadable && gather_file_tensor_check(operand->unreadable, &why) != GATHER_OK &&
      put(dict, "unreadable", gather_py_text(why.message)) < 0)
    Py_CLEAR(dict);
  return dict;
}

static PyObject *sourced(const gather_operand *operand) {
  PyObject *dict = operand_of(operand);
  if (dict && put(dict, "source", gather_py_text(gather_source_name(operand->source))) < 0) Py_CLEAR(dict);
  return dict;
}

/* One number of a tuple. */
static PyObject *component_of(const gather_model_node *node, const gather_model_component *component) {
  PyObject *dict = PyDict_New();
  int result = dict ? put_int(dict, "axis", component->axis, false) : -1;
  PyObject *len = component->len < 0 ? none() : PyLong_FromLongLong((long long)component->len);
  if (result == 0)
    result = put(dict, "length", len);
  else
    Py_XDECREF(len);
  if (result == 0 && node->indices_known && node->index_count > 0) {
    result = put_int(dict, "min", component->min, node->value_is_unsigned);
    if (result == 0) result = put_int(dict, "max", component->max, node->value_is_unsigned);
  }
  if (result < 0) Py_CLEAR(dict);
  return dict;
}

static PyObject *components_of(const gather_model_node *node) {
  PyObject *list = PyList_New(node->component_count);
  for (int32_t c = 0; list && c < node->component_count; c++) {
    PyObject *dict = component_of(node, &node->components[c]);
    if (!dict || PyList_SetItem(list, c, dict) < 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *indices_of(const gather_model_node *node) {
  PyObject *dict = sourced(&node->indices);
  int result = dict ? 0 : -1;
  if (result == 0 && node->indices_known && node->index_count > 0) {
    result = put_int(dict, "min", node->min, node->value_is_unsigned);
    if (result == 0) result = put_int(dict, "max", node->max, node->value_is_unsigned);
  }
  if (result == 0 && node->indices_known) result = put_int(dict, "count", node->index_count, false);
  if (result == 0 && node->bad_known) result = put_int(dict, "bad", node->bad, false);
  if (result == 0 && node->rules && node->rules->tuples != GATHER_TUPLES_NONE && node->component_count >= 0)
    result = put(dict, "components", components_of(node));
  if (result < 0) Py_CLEAR(dict);
  return dict;
}

static PyObject *runtimes_of(const gather_model_node *node) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && gather_runtime_name(i); i++)
    if (put(dict, gather_runtime_name(i), gather_py_text(gather_runtime_behaviour(i, node))) < 0) Py_CLEAR(dict);
  return dict;
}

static int put_all(PyObject *dict, const gather_model_node *node) {
  PyObject *axis = node->axis_known ? PyLong_FromLongLong((long long)node->axis) : none();
  if (put(dict, "name", gather_py_text(node->name)) < 0 || put(dict, "op", gather_py_text(node->op)) < 0 ||
      put(dict, "domain", gather_py_text(node->domain)) < 0 ||
      put(dict, "rules", gather_py_text(node->rules ? node->rules->rules : NULL)) < 0 ||
      put(dict, "graph", gather_py_text(node->graph)) < 0 || put_int(dict, "number", node->number, false) < 0 ||
      put(dict, "axis", axis) < 0 || put_int(dict, "batch_dims", node->batch_dims, false) < 0 ||
      put(dict, "data", sourced(&node->data)) < 0 || put(dict, "indices", indices_of(node)) < 0 ||
      put(dict, "output", operand_of(&node->output)) < 0 || put(dict, "type_listed", PyBool_FromLong(node->type_listed)) < 0 ||
      put(dict, "verdict", gather_py_text(gather_verdict_name(node->verdict))) < 0 ||
      put(dict, "reason", gather_py_text(node->reason)) < 0 || put(dict, "cause", gather_py_text(node->cause)) < 0)
    return -1;
  if (put(dict, "executed", PyBool_FromLong(!node->not_executed)) < 0) return -1;
  if (node->error && put(dict, "error", gather_py_exception(node->error)) < 0) return -1;
  if (*node->reduction && put(dict, "reduction", gather_py_text(node->reduction)) < 0) return -1;
  if (*node->updates.name && put(dict, "updates", sourced(&node->updates)) < 0) return -1;
  if (node->repeated && put(dict, "repeated", gather_py_exception(node->repeated)) < 0) return -1;
  return node->error || node->bad > 0 || node->repeated ? put(dict, "runtimes", runtimes_of(node)) : 0;
}

static PyObject *nodes_of(const gather_check *check) {
  int64_t count = gather_check_describe(check)->count;
  PyObject *nodes = PyList_New((Py_ssize_t)count);
  for (int64_t i = 0; nodes && i < count; i++) {
    PyObject *dict = PyDict_New();
    if (!dict || put_all(dict, gather_check_at(check, i)) < 0 || PyErr_Occurred()) {
      Py_XDECREF(dict);
      Py_CLEAR(nodes);
    } else {
      PyList_SetItem(nodes, (Py_ssize_t)i, dict);
    }
  }
  return nodes;
}

/* ---- a check that is kept ---- */

/* A check keeps alive what it was made of. Only the advice changes: it is computed on first use. */
typedef struct handle {
  PyObject ob_base;
  PyObject *model, *dims;
  gather_py_given given;
  gather_model_dim *lengths;
  gather_check *check;
  _Atomic(gather_check_advice *) advice;
} handle;

static void handle_free(PyObject *object) {
  handle *self = (handle *)object;
  gather_check_advice_destroy(atomic_load(&self->advice));
  gather_check_destroy(self->check);
  gather_py_given_clear(&self->given);
  PyMem_Free(self->lengths);
  Py_XDECREF(self->model);
  Py_XDECREF(self->dims);
  gather_py_release(object);
}

/* If two threads compute it at once, the first result is kept. */
static gather_check_advice *advice_of(handle *self, gather_error *error) {
  gather_check_advice *made = atomic_load(&self->advice), *expected = NULL;
  if (made || gather_check_advise(self->check, &made, error) != GATHER_OK) return made;
  if (atomic_compare_exchange_strong(&self->advice, &expected, made)) return made;
  gather_check_advice_destroy(made);
  return expected;
}

static PyObject *names_of(const gather_advice *advice) {
  PyObject *names = PyList_New((Py_ssize_t)advice->count);
  for (int64_t i = 0; names && i < advice->count; i++) {
    PyObject *name = gather_py_text(advice->names[i]);
    if (!name || PyList_SetItem(names, (Py_ssize_t)i, name) < 0) Py_CLEAR(names);
  }
  return names;
}

/* contradictions() -> a sentence for each value that contradicts its declaration */
static PyObject *get_contradictions(PyObject *object, PyObject *no_arguments) {
  const gather_check *check = ((handle *)object)->check;
  const gather_check_info *info = gather_check_describe(check);
  const int64_t count = info->contradiction_count;
  (void)no_arguments;
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (int64_t i = 0; list && i < count; i++) {
    PyObject *text = gather_py_text(info->contradictions[i]);
    if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) < 0) Py_CLEAR(list);
  }
  return list;
}

/* advice() -> (kind, names) of each node: "inputs", "dims", "explain" or "" */
static PyObject *get_advice(PyObject *object, PyObject *no_arguments) {
  static const char *const KINDS[] = {"", "inputs", "dims", "explain"};
  handle *self = (handle *)object;
  gather_error error;
  (void)no_arguments;
  PyThreadState *state = PyEval_SaveThread();
  const gather_check_advice *all = advice_of(self, &error);
  PyEval_RestoreThread(state);
  if (!all) return gather_py_raise(&error);
  int64_t count = gather_check_describe(self->check)->count;
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (int64_t i = 0; list && i < count; i++) {
    const gather_advice *advice = gather_check_advice_at(all, i);
    PyObject *pair = Py_BuildValue("(sN)", KINDS[advice->kind], names_of(advice));
    if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0) Py_CLEAR(list);
  }
  return list;
}

static gather_status write_text(handle *self, gather_check_text_options *options, char **text, gather_error *error) {
  options->advice = advice_of(self, error);
  if (!options->advice) return GATHER_OUT_OF_MEMORY;
  return gather_check_text(self->check, options, text, NULL, error);
}

/* text(name, node): as `gather check` prints it, without its empty line */
static PyObject *get_text(PyObject *object, PyObject *args) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  long long node;
  gather_error error;
  char *text = NULL;
  PyObject *name;
  if (!PyArg_ParseTuple(args, "O!L", &PyBytes_Type, &name, &node)) return NULL;
  options.name = PyBytes_AsString(name);
  options.node = node;
  options.writer = gather_py_advice;
  options.unreadable_all = "unreadable lists all";
  options.compact = true;
  PyThreadState *state = PyEval_SaveThread();
  gather_status status = write_text((handle *)object, &options, &text, &error);
  PyEval_RestoreThread(state);
  PyObject *made = status == GATHER_OK ? gather_py_text(text) : gather_py_raise(&error);
  gather_text_free(text);
  return made;
}

/* nodes() -> a dict for each node */
static PyObject *get_nodes(PyObject *object, PyObject *no_arguments) {
  (void)no_arguments;
  return nodes_of(((const handle *)object)->check);
}

static PyMethodDef methods[] = {
    {"nodes", get_nodes, METH_NOARGS, "nodes()\n--\n\nThe fields of each node: a list of dicts."},
    {"advice", get_advice, METH_NOARGS, "advice()\n--\n\nWhat to give for each node: a list of (kind, names)."},
    {"contradictions", get_contradictions, METH_NOARGS,
     "contradictions()\n--\n\nA sentence for each value that contradicts its declaration."},
    {"text", get_text, METH_VARARGS, "text(name, node, /)\n--\n\nThe text of all, of the head (-2) or of a node."},
    {NULL, NULL, 0, NULL}};

static char doc[] = "A check of a model; the base of libgather.Check.";

static PyType_Slot slots[] = {{Py_tp_dealloc, GATHER_PY_SLOT(handle_free)}, {Py_tp_methods, methods}, {Py_tp_doc, doc}, {0, NULL}};

PyType_Spec gather_py_check_spec = {"libgather._core.Check", sizeof(handle), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

static int run_check(handle *self, gather_check_options *options, int32_t threads) {
  gather_error error;
  PyThreadState *state = PyEval_SaveThread();
  options->executor = gather_py_executor(threads, INT64_MAX);
  gather_status status = gather_model_check(((const gather_py_model *)self->model)->model, options, &self->check, &error);
  PyEval_RestoreThread(state);
  if (status == GATHER_OK) return 0;
  gather_py_raise(&error);
  return -1;
}

PyObject *gather_py_model_check(PyObject *model, PyObject *args) {
  PyObject *inputs, *dims, *threads;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  int32_t count = 1;
  if (!PyArg_ParseTuple(args, "OOO", &inputs, &dims, &threads)) return NULL;
  if (gather_py_model_threads(threads, &count) < 0) return NULL;
  handle *self = (handle *)gather_py_allocate(gather_py_check_type);
  if (!self) return NULL;
  Py_INCREF(model);
  Py_INCREF(dims);
  self->model = model;
  self->dims = dims;
  if (gather_py_given_read(inputs, &self->given) == 0 && gather_py_read_dims(dims, &options, &self->lengths) == 0) {
    options.inputs = self->given.inputs;
    options.input_count = self->given.count;
    if (run_check(self, &options, count) == 0) return (PyObject *)self;
  }
  Py_DECREF((PyObject *)self);
  return NULL;
}
