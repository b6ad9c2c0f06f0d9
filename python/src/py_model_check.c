/* SPDX-License-Identifier: MIT
 *
 * py_model_check.c: what a check of a model finds, as dictionaries: the fields of `gather check --json` under the same names.
 */
#include "py_model.h"

/* Takes the value over. */
static int put(PyObject *dict, const char *key, PyObject *value) {
  int result = value ? PyDict_SetItemString(dict, key, value) : -1;
  Py_XDECREF(value);
  return result;
}

static int put_int(PyObject *dict, const char *key, int64_t value, bool is_unsigned) {
  return put(dict, key,
             is_unsigned ? PyLong_FromUnsignedLongLong((uint64_t)value) : PyLong_FromLongLong((long long)value));
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
  if (!dict || put(dict, "name", gather_py_text(operand->name)) < 0 ||
      put(dict, "type", gather_py_text(type ? type->name : NULL)) < 0 || put(dict, "shape", shape_of(operand)) < 0)
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

static PyObject *indices_of(const gather_model_node *node) {
  PyObject *dict = sourced(&node->indices);
  int result = dict ? 0 : -1;
  if (result == 0 && node->indices_known && node->index_count > 0) {
    result = put_int(dict, "min", node->min, node->value_is_unsigned);
    if (result == 0) result = put_int(dict, "max", node->max, node->value_is_unsigned);
  }
  if (result == 0 && node->indices_known) result = put_int(dict, "count", node->index_count, false);
  if (result == 0 && node->bad_known) result = put_int(dict, "bad", node->bad, false);
  if (result < 0) Py_CLEAR(dict);
  return dict;
}

static PyObject *runtimes_of(const gather_model_node *node) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < gather_runtime_count(); i++)
    if (put(dict, gather_runtime_name(i), gather_py_text(gather_runtime_behaviour(i, node))) < 0) Py_CLEAR(dict);
  return dict;
}

/* The node's error as an exception that nobody raised. */
static PyObject *error_of(const gather_error *error) {
  PyObject *type, *value, *traceback;
  gather_py_raise(error);
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
}

static int put_all(PyObject *dict, const gather_model_node *node) {
  PyObject *axis = node->axis_known ? PyLong_FromLongLong((long long)node->axis) : none();
  if (put(dict, "name", gather_py_text(node->name)) < 0 || put(dict, "op", gather_py_text(node->op)) < 0 ||
      put(dict, "domain", gather_py_text(node->domain)) < 0 ||
      put(dict, "rules", gather_py_text(node->rules ? node->rules->rules : NULL)) < 0 ||
      put(dict, "graph", gather_py_text(node->graph)) < 0 || put_int(dict, "number", node->number, false) < 0 ||
      put(dict, "axis", axis) < 0 || put_int(dict, "batch_dims", node->batch_dims, false) < 0 ||
      put(dict, "data", sourced(&node->data)) < 0 || put(dict, "indices", indices_of(node)) < 0 ||
      put(dict, "output", operand_of(&node->output)) < 0 ||
      put(dict, "type_listed", PyBool_FromLong(node->type_listed)) < 0 ||
      put(dict, "verdict", gather_py_text(gather_verdict_name(node->verdict))) < 0 ||
      put(dict, "reason", gather_py_text(node->reason)) < 0 || put(dict, "cause", gather_py_text(node->cause)) < 0)
    return -1;
  if (put(dict, "executed", PyBool_FromLong(!node->not_executed)) < 0) return -1;
  if (node->error && put(dict, "error", error_of(node->error)) < 0) return -1;
  return node->error || node->bad > 0 ? put(dict, "runtimes", runtimes_of(node)) : 0;
}

static PyObject *nodes_of(const gather_check *check) {
  int64_t count = gather_check_count(check);
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

/* dims: a list of (name, length). The names live as long as the list. */
static int read_dims(PyObject *list, gather_check_options *options, gather_model_dim **dims) {
  Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
  if (count < 0) {
    PyErr_SetString(PyExc_TypeError, "dims come as a list");
    return -1;
  }
  *dims = PyMem_Calloc((size_t)count + 1, sizeof **dims);
  if (!*dims) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *name;
    long long len;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OL", &name, &len)) return -1;
    (*dims)[i] = (gather_model_dim){gather_py_name(name), len};
    if (!(*dims)[i].name) return -1;
  }
  options->dims = *dims;
  options->dim_count = count;
  return 0;
}

static PyObject *checked(const gather_py_model *self, gather_check_options *options, int32_t threads) {
  gather_check *check = NULL;
  gather_error error;
  PyThreadState *state = PyEval_SaveThread();
  options->executor = gather_py_executor(threads, INT64_MAX);
  gather_status status = gather_model_check(self->model, options, &check, &error);
  PyEval_RestoreThread(state);
  if (status != GATHER_OK) return gather_py_raise(&error);
  PyObject *nodes = nodes_of(check);
  gather_check_destroy(check);
  return nodes;
}

PyObject *gather_py_model_check(PyObject *self, PyObject *args) {
  PyObject *inputs, *dims, *threads, *nodes = NULL;
  gather_py_given given = {0};
  gather_model_dim *lengths = NULL;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  int32_t count = 1;
  if (!PyArg_ParseTuple(args, "OOO", &inputs, &dims, &threads)) return NULL;
  if (gather_py_model_threads(threads, &count) == 0 && gather_py_given_read(inputs, &given) == 0 &&
      read_dims(dims, &options, &lengths) == 0) {
    options.inputs = given.inputs;
    options.input_count = given.count;
    nodes = checked((const gather_py_model *)self, &options, count);
  }
  gather_py_given_clear(&given);
  PyMem_Free(lengths);
  return nodes;
}

static PyObject *missing_names(const gather_model_operands *operands) {
  PyObject *names = PyList_New(0);
  const char *text;
  for (int64_t i = 0; names && (text = gather_model_operands_missing(operands, i)) != NULL; i++) {
    PyObject *name = gather_py_text(text);
    if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

/* missing(node) -> names of values that, given, would make the node's indices known */
PyObject *gather_py_model_missing(PyObject *self, PyObject *args) {
  PyObject *node;
  gather_model_operands *operands = NULL;
  gather_error error;
  if (!PyArg_ParseTuple(args, "O", &node)) return NULL;
  const char *name = gather_py_name(node);
  if (!name) return NULL;
  PyThreadState *state = PyEval_SaveThread();
  gather_status status =
      gather_model_operands_find(((const gather_py_model *)self)->model, name, NULL, &operands, &error);
  PyEval_RestoreThread(state);
  if (status != GATHER_OK) return gather_py_raise(&error);
  PyObject *names = missing_names(operands);
  gather_model_operands_destroy(operands);
  return names;
}
