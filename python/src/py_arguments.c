/* SPDX-License-Identifier: MIT
 *
 * py_arguments.c: the arguments of a call. Keywords are compared by address first: Python interns the names in a call.
 */
#include <string.h>

#include "py_core.h"

static int find_keyword(PyObject *name, unsigned allowed) {
  for (int i = 0; i < GATHER_PY_KEYWORDS; i++)
    if ((allowed >> i & 1) && name == gather_py.keyword[i]) return i;
  for (int i = 0; i < GATHER_PY_KEYWORDS; i++)
    if ((allowed >> i & 1) && PyUnicode_Compare(name, gather_py.keyword[i]) == 0) return i;
  return -1;
}

int gather_py_arguments(const gather_py_function *function, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **positional,
                        PyObject **keyword) {
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "%s() takes 2 positional arguments (x, indices), not %zd", function->name, count);
    return -1;
  }
  positional[0] = args[0];
  positional[1] = args[1];
  memset(keyword, 0, GATHER_PY_KEYWORDS * sizeof *keyword);
  Py_ssize_t given = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < given; i++) {
    PyObject *name = PyTuple_GetItem(names, i);
    int found = find_keyword(name, function->keywords);
    if (found < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function->name, name);
      return -1;
    }
    keyword[found] = args[count + i];
  }
  return 0;
}

/* The number of a mode, by NumPy's name or the command's; -1 = no such mode. */
static int find_mode(PyObject *mode) {
  for (int i = 0; i < GATHER_PY_MODES; i++)
    if (mode == gather_py.mode[i]) return i;
  for (int i = 0; i < GATHER_PY_MODES && PyUnicode_Check(mode); i++)
    if (PyUnicode_Compare(mode, gather_py.mode[i]) == 0) return i;
  if (!PyUnicode_Check(mode)) return -1;
  if (PyUnicode_CompareWithASCIIString(mode, "error") == 0) return GATHER_ON_BAD_ERROR - GATHER_ON_BAD_ERROR;
  if (PyUnicode_CompareWithASCIIString(mode, "clamp") == 0) return GATHER_ON_BAD_CLAMP - GATHER_ON_BAD_ERROR;
  return -1;
}

int gather_py_read_mode(PyObject *mode, gather_options *options) {
  int found = find_mode(mode);
  if (found < 0) {
    PyObject *refuse = gather_py_fallback("refuse_mode");
    PyObject *none = refuse ? PyObject_CallFunctionObjArgs(refuse, mode, NULL) : NULL;
    Py_XDECREF(refuse);
    Py_XDECREF(none);
    return -1;
  }
  options->on_bad = (gather_on_bad)(GATHER_ON_BAD_ERROR + found);
  return 0;
}

const gather_op *gather_py_find_rules(const char *op, PyObject *rules) {
  const char *text = PyUnicode_Check(rules) ? PyUnicode_AsUTF8AndSize(rules, NULL) : NULL;
  const gather_op *found = text ? gather_op_find(op, text) : NULL;
  char known[200] = "";
  if (found) return found;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return NULL;
  PyErr_Clear();
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *row = gather_op_at(i);
    if (strcmp(row->name, op) != 0) continue;
    if (*known) strncat(known, ", ", sizeof known - strlen(known) - 1);
    strncat(known, row->rules, sizeof known - strlen(known) - 1);
  }
  PyErr_Format(PyExc_ValueError, "rules for %s are one of %s, not %R", op, known, rules);
  return NULL;
}

static int is_given(PyObject *value) { return value && value != Py_None; }

static int read_axis(PyObject *axis, gather_py_call *call) {
  call->axis_given = axis != NULL;
  call->axis_none = axis == Py_None;
  call->options.axis = call->function->axis;
  return is_given(axis) ? gather_py_read_int(axis, "axis", &call->options.axis) : 0;
}

static int read_policy(PyObject *const *keyword, gather_py_call *call) {
  if (is_given(keyword[GATHER_PY_MODE]) && gather_py_read_mode(keyword[GATHER_PY_MODE], &call->options) < 0) return -1;
  if (is_given(keyword[GATHER_PY_NEGATIVE])) {
    int on = PyObject_IsTrue(keyword[GATHER_PY_NEGATIVE]);
    if (on < 0) return -1;
    call->options.negative = on ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  }
  call->fill = is_given(keyword[GATHER_PY_FILL_VALUE]) ? keyword[GATHER_PY_FILL_VALUE] : NULL;
  int fills = call->options.on_bad == GATHER_ON_BAD_FILL;
  if (fills == (call->fill != NULL)) return 0;
  PyErr_SetString(PyExc_ValueError, fills ? "mode='fill' needs fill_value" : "fill_value needs mode='fill'");
  return -1;
}

int gather_py_read_call(const gather_py_function *function, PyObject *const *args, Py_ssize_t count, PyObject *names,
                        gather_py_call *call) {
  PyObject *positional[2], *keyword[GATHER_PY_KEYWORDS];
  if (gather_py_arguments(function, args, count, names, positional, keyword) < 0) return -1;
  call->function = function;
  call->x = positional[0];
  call->indices = positional[1];
  call->out = is_given(keyword[GATHER_PY_OUT]) ? keyword[GATHER_PY_OUT] : NULL;
  call->op = function->own;
  call->options = (gather_options)GATHER_OPTIONS_INIT;
  if (is_given(keyword[GATHER_PY_RULES])) {
    call->op = gather_py_find_rules(function->op, keyword[GATHER_PY_RULES]);
    if (!call->op) return -1;
  }
  if (read_axis(keyword[GATHER_PY_AXIS], call) < 0) return -1;
  if (is_given(keyword[GATHER_PY_BATCH_DIMS]) &&
      gather_py_read_int(keyword[GATHER_PY_BATCH_DIMS], "batch_dims", &call->options.batch_dims) < 0)
    return -1;
  if (read_policy(keyword, call) < 0) return -1;
  call->threads = GATHER_PY_DEFAULT_THREADS;
  return is_given(keyword[GATHER_PY_THREADS]) ? gather_py_read_threads(keyword[GATHER_PY_THREADS], &call->threads) : 0;
}
