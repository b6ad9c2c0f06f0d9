/* SPDX-License-Identifier: MIT
 *
 * py_infer.c: infer_shape: lengths that are ints, None (unknown), names, or intervals (low, high).
 */
#include "py_core.h"

static int read_interval(PyObject *pair, gather_dim *dim) {
  if (PyTuple_Size(pair) != 2) {
    PyErr_Format(PyExc_TypeError, "an interval must be (low, high), not %R", pair);
    return -1;
  }
  PyObject *high = PyTuple_GetItem(pair, 1);
  if (gather_py_read_int(PyTuple_GetItem(pair, 0), "a length", &dim->min) < 0) return -1;
  return high == Py_None ? 0 : gather_py_read_int(high, "a length", &dim->max);
}

static int read_dim(PyObject *object, gather_dim *dim) {
  int result = 0;
  *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
  if (object == Py_None) return 0;
  if (PyUnicode_Check(object)) {
    dim->symbol = PyUnicode_AsUTF8AndSize(object, NULL); /* lives as long as the caller's tuple */
    return dim->symbol ? 0 : -1;
  }
  if (PyTuple_Check(object)) {
    result = read_interval(object, dim);
  } else {
    result = gather_py_read_int(object, "a length", &dim->min);
    dim->max = dim->min;
  }
  if (result == 0 && (dim->min < 0 || dim->max < dim->min)) {
    gather_py_fail(GATHER_USAGE, NULL, "invalid interval [%lld, %lld]: it contains no length", (long long)dim->min, (long long)dim->max);
    return -1;
  }
  return result;
}

static int read_shape(PyObject *object, gather_shape *shape, PyObject **owner) {
  shape->rank = -1;
  *owner = NULL;
  if (object == Py_None) return 0;
  *owner = PySequence_Tuple(object);
  if (!*owner) return -1;
  Py_ssize_t rank = PyTuple_Size(*owner);
  if (rank > GATHER_MAX_RANK) {
    gather_py_fail(GATHER_RANK_MISMATCH, NULL, "the shape has rank %d; the maximum is %d", (int)rank, GATHER_MAX_RANK);
    return -1;
  }
  shape->rank = (int32_t)rank;
  for (Py_ssize_t d = 0; d < rank; d++)
    if (read_dim(PyTuple_GetItem(*owner, d), &shape->dims[d]) < 0) return -1;
  return 0;
}

static PyObject *write_dim(const gather_dim *dim) {
  if (dim->min == dim->max) return PyLong_FromLongLong(dim->min);
  if (dim->symbol) return PyUnicode_FromString(dim->symbol);
  if (dim->max != GATHER_DIM_UNBOUNDED) return Py_BuildValue("(LL)", (long long)dim->min, (long long)dim->max);
  if (dim->min > 0) return Py_BuildValue("(LO)", (long long)dim->min, Py_None);
  Py_RETURN_NONE;
}

static PyObject *write_shape(const gather_shape *shape) {
  if (shape->rank < 0) Py_RETURN_NONE;
  PyObject *made = PyTuple_New(shape->rank);
  for (int32_t d = 0; made && d < shape->rank; d++) {
    PyObject *dim = write_dim(&shape->dims[d]);
    if (!dim || PyTuple_SetItem(made, d, dim) < 0) Py_CLEAR(made);
  }
  return made;
}

#define BIT(keyword) (1u << GATHER_PY_##keyword)
static const gather_py_function INFER = {"infer_shape", NULL, NULL, false, 0, BIT(AXIS) | BIT(BATCH_DIMS) | BIT(RULES) | BIT(OP)};

static const gather_py_function *find_function(PyObject *op) {
  if (!op || op == Py_None || PyUnicode_CompareWithASCIIString(op, gather_py_take.name) == 0) return &gather_py_take;
  if (PyUnicode_CompareWithASCIIString(op, gather_py_elements.name) == 0) return &gather_py_elements;
  if (PyUnicode_CompareWithASCIIString(op, gather_py_nd.name) == 0) return &gather_py_nd;
  PyErr_Format(PyExc_ValueError, "op must be 'take', 'gather_elements' or 'gather_nd', not %R", op);
  return NULL;
}

/* gather_nd has no axis. */
static int read_options(const gather_py_function *function, PyObject *const *keyword, gather_options *options) {
  PyObject *axis = keyword[GATHER_PY_AXIS], *batch_dims = keyword[GATHER_PY_BATCH_DIMS];
  options->axis = GATHER_AXIS_UNKNOWN;
  if (function == &gather_py_nd && axis && axis != Py_None) {
    PyErr_SetString(PyExc_TypeError, "infer_shape() takes no axis= for op='gather_nd'");
    return -1;
  }
  if (!axis && function != &gather_py_nd) {
    PyErr_SetString(PyExc_TypeError, "infer_shape() needs axis=; None means unknown");
    return -1;
  }
  if (axis && axis != Py_None && gather_py_read_int(axis, "axis", &options->axis) < 0) return -1;
  return batch_dims && batch_dims != Py_None ? gather_py_read_int(batch_dims, "batch_dims", &options->batch_dims) : 0;
}

static PyObject *infer(PyObject *const *positional, PyObject *const *keyword, PyObject **owners) {
  gather_shape data, indices, out;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error;
  PyObject *op = keyword[GATHER_PY_OP], *rules = keyword[GATHER_PY_RULES];
  if (op && op != Py_None && !PyUnicode_Check(op)) {
    PyErr_Format(PyExc_TypeError, "op must be a string, not %R", op);
    return NULL;
  }
  const gather_py_function *function = find_function(op);
  if (!function || read_options(function, keyword, &options) < 0) return NULL;
  const gather_op *row = rules && rules != Py_None ? gather_py_find_rules(function->op, rules) : function->own;
  if (!row || read_shape(positional[0], &data, &owners[0]) < 0 || read_shape(positional[1], &indices, &owners[1]) < 0) return NULL;
  gather_status status = gather_infer_shape(row, &data, &indices, &options, &out, &error);
  return status == GATHER_OK ? write_shape(&out) : gather_py_raise(&error);
}

PyObject *gather_py_infer_shape(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *positional[2], *keyword[GATHER_PY_KEYWORDS], *owners[2] = {NULL, NULL};
  (void)self;
  if (gather_py_arguments(&INFER, args, count, names, positional, keyword) < 0) return NULL;
  PyObject *result = infer(positional, keyword, owners);
  Py_XDECREF(owners[0]);
  Py_XDECREF(owners[1]);
  return result;
}
