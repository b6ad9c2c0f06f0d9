/* SPDX-License-Identifier: MIT
 *
 * py_info.c: operators, types, and the machine, as the library reports them.
 */
#include "gather/file.h"
#include "gather/table.h"
#include "py_core.h"
/* Python.h must be first. */
#include <string.h>

static const char *off_axis_name(gather_off_axis rule) {
  return rule == GATHER_OFF_AXIS_EQUAL ? "equal" : rule == GATHER_OFF_AXIS_AT_MOST ? "at_most" : "none";
}

static const char *on_bad_name(gather_on_bad on_bad) {
  return on_bad == GATHER_ON_BAD_ZERO ? "zero" : on_bad == GATHER_ON_BAD_CLAMP ? "clip" : "raise";
}

static int append(PyObject *list, PyObject *item) {
  int result = item ? PyList_Append(list, item) : -1;
  Py_XDECREF(item);
  return result;
}

static PyObject *types_of(uint64_t bits) {
  PyObject *names = PyList_New(0);
  for (int t = 1; names && gather_type_get((gather_type)t); t++)
    if ((bits >> t & 1) && append(names, PyUnicode_FromString(gather_type_get((gather_type)t)->name)) < 0) Py_CLEAR(names);
  return names;
}

static PyObject *row(const gather_op *op) {
  return Py_BuildValue("{s:s,s:s,s:s,s:i,s:N,s:s,s:N,s:s,s:N,s:N,s:N,s:s}", "rules", op->rules, "name", op->name, "dialect", op->dialect,
                       "version", (int)op->version, "negative", PyBool_FromLong(op->negative), "mode", on_bad_name(op->on_bad),
                       "batch_dims", PyBool_FromLong(op->batch_dims), "off_axis", off_axis_name(op->off_axis), "axis_is_input",
                       PyBool_FromLong(op->axis_source == GATHER_AXIS_SOURCE_INPUT), "types", types_of(op->types), "index_types",
                       types_of(op->index_types), "document", op->document);
}

PyObject *gather_py_ops(PyObject *self, PyObject *none) {
  PyObject *rows = PyList_New(0);
  (void)self, (void)none;
  for (size_t i = 0; rows && gather_op_at(i); i++)
    if (append(rows, row(gather_op_at(i))) < 0) Py_CLEAR(rows);
  return rows;
}

PyObject *gather_py_is_url(PyObject *self, PyObject *name) {
  char *text;
  (void)self;
  if (PyBytes_AsStringAndSize(name, &text, NULL) < 0) return NULL;
  return PyBool_FromLong(gather_remote_is_url(text));
}

PyObject *gather_py_types(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  return types_of(UINT64_MAX);
}

static PyObject *formats(void) {
  PyObject *names = PyList_New(0);
  for (size_t i = 0; names && gather_format_at(i); i++)
    if (append(names, PyUnicode_FromString(gather_format_at(i)->name)) < 0) Py_CLEAR(names);
  return names;
}

/* Engines of tables: None for one that works here, else the reason. */
static PyObject *engines(void) {
  PyObject *reasons = PyDict_New();
  for (int i = 0; reasons && gather_engine_name((gather_engine)i); i++) {
    gather_error error;
    bool usable = gather_engine_check((gather_engine)i, &error) == GATHER_OK;
    PyObject *reason = Py_BuildValue("z", usable ? NULL : error.message);
    if (!reason || PyDict_SetItemString(reasons, gather_engine_name((gather_engine)i), reason) < 0) Py_CLEAR(reasons);
    Py_XDECREF(reason);
  }
  return reasons;
}

PyObject *gather_py_info(PyObject *self, PyObject *none) {
  (void)self, (void)none;
#ifdef Py_LIMITED_API
  int limited = 1;
#else
  int limited = 0;
#endif
#ifdef Py_GIL_DISABLED
  int free_threaded = 1;
#else
  int free_threaded = 0;
#endif
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  return Py_BuildValue("{s:s,s:s,s:s,s:s,s:i,s:N,s:N,s:N,s:N}", "version", gather_version(), "isa", machine.isa, "features",
                       machine.cpu_features, "pool", machine.pool, "cpus", (int)machine.cpus, "formats", formats(), "engines", engines(),
                       "limited_api", PyBool_FromLong(limited), "free_threaded", PyBool_FromLong(free_threaded));
}

PyObject *gather_py_split_path(PyObject *self, PyObject *path) {
  char *text;
  const char *name;
  gather_error error;
  (void)self;
  if (PyBytes_AsStringAndSize(path, &text, NULL) < 0) return NULL; /* it contains no null character */
  char *file = (char *)PyMem_Malloc(strlen(text) + 1);
  if (!file) return PyErr_NoMemory();
  const gather_status status = gather_file_split(text, true, file, &name, &error);
  PyObject *made = status == GATHER_OK ? Py_BuildValue("(yy)", file, name ? name : "") : gather_py_raise(&error);
  PyMem_Free(file);
  return made;
}
