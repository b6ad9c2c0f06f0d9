/* SPDX-License-Identifier: MIT
 *
 * py_infer.c: infer_shape: lengths that are ints, None (unknown), names, or intervals (low, high).
 */
#include "py_scatter.h"

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
static const gather_py_function INFER = {"infer_shape", NULL, NULL,
                                         false,         0,    BIT(AXIS) | BIT(BATCH_DIMS) | BIT(RULES) | BIT(OP) | BIT(UPDATES)};

/* The function whose result is asked for: one that reads, or one that writes. */
typedef struct infer_target {
  const char *name;
  const gather_op *op;
  bool writes, tuples; /* tuples: it has no axis */
} infer_target;

static bool is_given(PyObject *value) { return value && value != Py_None; }

static int find_reading(PyObject *op, PyObject *rules, infer_target *found) {
  static const gather_py_function *const FUNCTIONS[] = {&gather_py_take, &gather_py_elements, &gather_py_nd};
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
    const gather_py_function *function = FUNCTIONS[i];
    if (op ? PyUnicode_CompareWithASCIIString(op, function->name) != 0 : function != &gather_py_take) continue;
    *found =
        (infer_target){function->name, rules ? gather_py_find_rules(function->op, rules) : function->own, false, function == &gather_py_nd};
    return found->op ? 0 : -1;
  }
  return 1;
}

static int find_writing(PyObject *op, PyObject *rules, infer_target *found) {
  static const char *const NAMES[] = {"scatter", "scatter_elements", "scatter_nd"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (PyUnicode_CompareWithASCIIString(op, NAMES[i]) != 0) continue;
    const gather_py_scattering *function = gather_py_find_scattering(op);
    *found = (infer_target){NAMES[i], function ? gather_py_scattering_op(function, rules ? rules : Py_None) : NULL, true, i == 2};
    return found->op ? 0 : -1;
  }
  return 1;
}

static int find_function(PyObject *const *keyword, infer_target *found) {
  PyObject *op = is_given(keyword[GATHER_PY_OP]) ? keyword[GATHER_PY_OP] : NULL;
  PyObject *rules = is_given(keyword[GATHER_PY_RULES]) ? keyword[GATHER_PY_RULES] : NULL;
  if (op && !PyUnicode_Check(op)) {
    PyErr_Format(PyExc_TypeError, "op must be a string, not %R", op);
    return -1;
  }
  int result = find_reading(op, rules, found);
  if (result == 1) result = find_writing(op, rules, found);
  if (result == 1)
    PyErr_Format(PyExc_ValueError,
                 "op must be 'take', 'gather_elements', 'gather_nd', 'scatter', 'scatter_elements' or 'scatter_nd', not %R", op);
  return result ? -1 : 0;
}

static int read_options(const infer_target *function, PyObject *const *keyword, int64_t *axis, int64_t *batch_dims) {
  *axis = GATHER_AXIS_UNKNOWN, *batch_dims = 0;
  if (function->tuples && is_given(keyword[GATHER_PY_AXIS])) {
    PyErr_Format(PyExc_TypeError, "infer_shape() takes no axis= for op='%s'", function->name);
    return -1;
  }
  if (!keyword[GATHER_PY_AXIS] && !function->tuples) {
    PyErr_SetString(PyExc_TypeError, "infer_shape() needs axis=; None means unknown");
    return -1;
  }
  if (!function->writes && is_given(keyword[GATHER_PY_UPDATES])) {
    PyErr_Format(PyExc_TypeError, "infer_shape() takes no updates= for op='%s'", function->name);
    return -1;
  }
  if (is_given(keyword[GATHER_PY_AXIS]) && gather_py_read_int(keyword[GATHER_PY_AXIS], "axis", axis) < 0) return -1;
  return is_given(keyword[GATHER_PY_BATCH_DIMS]) ? gather_py_read_int(keyword[GATHER_PY_BATCH_DIMS], "batch_dims", batch_dims) : 0;
}

enum { SHAPES = 3 /* of data, indices and updates */ };

static gather_status infer_from(const infer_target *function, const gather_shape *shapes, int64_t axis, int64_t batch_dims,
                                gather_shape *out, gather_error *error) {
  gather_options reading = GATHER_OPTIONS_INIT;
  gather_scatter_options writing = GATHER_SCATTER_OPTIONS_INIT;
  reading.axis = writing.axis = axis, reading.batch_dims = writing.batch_dims = batch_dims;
  if (!function->writes) return gather_infer_shape(function->op, &shapes[0], &shapes[1], &reading, out, error);
  return gather_scatter_infer_shape(function->op, &shapes[0], &shapes[1], &shapes[2], &writing, out, error);
}

static PyObject *infer(PyObject *const *positional, PyObject *const *keyword, PyObject **owners) {
  gather_shape shapes[SHAPES], out;
  gather_error error;
  infer_target function;
  int64_t axis, batch_dims;
  PyObject *given[SHAPES] = {positional[0], positional[1], is_given(keyword[GATHER_PY_UPDATES]) ? keyword[GATHER_PY_UPDATES] : Py_None};
  if (find_function(keyword, &function) < 0 || read_options(&function, keyword, &axis, &batch_dims) < 0) return NULL;
  for (int i = 0; i < SHAPES; i++)
    if (read_shape(given[i], &shapes[i], &owners[i]) < 0) return NULL;
  const gather_status status = infer_from(&function, shapes, axis, batch_dims, &out, &error);
  return status == GATHER_OK ? write_shape(&out) : gather_py_raise(&error);
}

PyObject *gather_py_infer_shape(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *positional[2], *keyword[GATHER_PY_KEYWORDS], *owners[SHAPES] = {NULL};
  (void)self;
  if (gather_py_arguments(&INFER, args, count, names, positional, keyword) < 0) return NULL;
  PyObject *result = infer(positional, keyword, owners);
  for (int i = 0; i < SHAPES; i++) Py_XDECREF(owners[i]);
  return result;
}
