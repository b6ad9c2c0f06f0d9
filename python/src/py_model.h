/* SPDX-License-Identifier: MIT
 *
 * py_model.h: the type Model, over the library's models: open, check, run. libgather/model.py makes the public class of it: it converts
 * their values into tensors and back.
 */
#ifndef GATHER_PY_MODEL_H
#define GATHER_PY_MODEL_H

#include "gather/model.h"
#include "py_core.h"

/* Adds the types to the module. */
int gather_py_model_init(PyObject *module);

typedef struct gather_py_model {
  PyObject ob_base;
  gather_model *model;
  gather_file *file; /* if the model came from memory */
  PyObject *bytes;   /* that memory */
} gather_py_model;

/* Tensors by name, as Python passes them: a list of (name, value, type, shape). type None: value is any tensor. "string": value is a
 * list of bytes. Another type: value is an array of uint8 with the elements as the library stores them. */
typedef struct gather_py_given {
  PyObject *list; /* owned: it owns the names' text */
  Py_ssize_t count;
  gather_model_input *inputs;
  gather_py_view *views;
  gather_string **strings;
  bool drawn; /* set before reading: for a drawing, so elements may be opaque, and value None gives only type and shape */
} gather_py_given;

/* Starts as all zero but for `drawn`; clear it in every case. */
int gather_py_given_read(PyObject *list, gather_py_given *given);
void gather_py_given_clear(gather_py_given *given);
/* The text of a name; NULL with an exception. Valid as long as the object. */
const char *gather_py_name(PyObject *object);
/* A text of the library as a str; invalid UTF-8 is replaced. NULL is None. */
PyObject *gather_py_text(const char *text);
/* threads=None is the default of the process. */
int gather_py_model_threads(PyObject *object, int32_t *threads);

/* dims: a list of (name, length) as options and memory that PyMem_Free frees. The names are valid as long as the list. */
int gather_py_read_dims(PyObject *list, gather_check_options *options, gather_model_dim **dims);
/* check(inputs, dims, threads) -> _core.Check */
PyObject *gather_py_model_check(PyObject *self, PyObject *args);
extern PyType_Spec gather_py_check_spec;
/* The type that spec makes; set at the module's start. */
/* ---- py_picture.c */
/* A gather_advice_writer: "inputs={'a': TENSOR}". It needs no GIL. */
void gather_py_advice(void *context, const gather_advice *advice, char *text, size_t bytes);
PyObject *gather_py_explain(PyObject *self, PyObject *args);
PyObject *gather_py_model_explain(PyObject *self, PyObject *args);
/* run(inputs, node, threads) -> list of (name, type, byte order is swapped, shape, elements) */
PyObject *gather_py_model_run(PyObject *self, PyObject *args);
extern PyType_Spec gather_py_result_spec;

#endif
