/* SPDX-License-Identifier: MIT
 *
 * py_model.c: the type Model: an open model and its properties.
 */
#include "py_model.h"

static gather_status open_bytes(gather_py_model *self, const char *memory, Py_ssize_t bytes, gather_error *error) {
  gather_status status = gather_file_from_memory(memory, (size_t)bytes, "<bytes>", &self->file, error);
  return status == GATHER_OK ? gather_model_from_file(self->file, &self->model, error) : status;
}

static gather_status open_path(gather_py_model *self, const char *path, bool links, gather_error *error) {
  gather_file_options options = GATHER_FILE_OPTIONS_INIT;
  options.no_links = !links;
  gather_status status = gather_file_open_with(path, &options, &self->file, error);
  return status == GATHER_OK ? gather_model_from_file(self->file, &self->model, error) : status;
}

static int open_source(gather_py_model *self, PyObject *source, bool links) {
  gather_error error;
  gather_status status;
  PyObject *path = NULL;
  PyThreadState *state;
  char *memory = NULL;
  Py_ssize_t bytes = 0;
  if (PyBytes_Check(source)) {
    Py_INCREF(source);
    self->bytes = source;
  } else if (!PyUnicode_FSConverter(source, &path)) {
    return -1;
  }
  if (PyBytes_AsStringAndSize(path ? path : source, &memory, &bytes) < 0) return -1;
  state = PyEval_SaveThread();
  status = path ? open_path(self, memory, links, &error) : open_bytes(self, memory, bytes, &error);
  PyEval_RestoreThread(state);
  Py_XDECREF(path);
  if (status == GATHER_OK) return 0;
  gather_py_raise(&error);
  return -1;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *source;
  int links;
  if (!PyArg_ParseTuple(args, "Op", &source, &links)) return NULL;
  if (keywords && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "Model takes no keyword arguments");
    return NULL;
  }
  gather_py_model *self = (gather_py_model *)gather_py_allocate(type);
  if (self && open_source(self, source, links) < 0) Py_CLEAR(self);
  return (PyObject *)self;
}

static void model_free(PyObject *object) {
  gather_py_model *self = (gather_py_model *)object;
  gather_model_close(self->model);
  gather_file_close(self->file);
  Py_XDECREF(self->bytes);
  gather_py_release(object);
}

static const gather_model *model_of(PyObject *object) { return ((gather_py_model *)object)->model; }

static PyObject *get_dialect(PyObject *self, void *closure) {
  (void)closure;
  return gather_py_text(gather_model_dialect(model_of(self)));
}

static PyObject *get_format(PyObject *self, void *closure) {
  (void)closure;
  return gather_py_text(gather_file_format(gather_model_file(model_of(self))));
}

static PyObject *get_node_count(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(gather_model_node_count(model_of(self)));
}

static PyObject *names_of(const gather_model *model, int64_t count, const char *(*at)(const gather_model *, int64_t)) {
  PyObject *names = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; names && i < count; i++) {
    PyObject *name = gather_py_text(at(model, i));
    if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0) Py_CLEAR(names);
  }
  return names;
}

static PyObject *get_inputs(PyObject *self, void *closure) {
  const gather_model *model = model_of(self);
  (void)closure;
  return names_of(model, gather_model_input_count(model), gather_model_input_name);
}

static PyObject *get_outputs(PyObject *self, void *closure) {
  const gather_model *model = model_of(self);
  (void)closure;
  return names_of(model, gather_model_output_count(model), gather_model_output_name);
}

static PyObject *get_not_checked(PyObject *self, void *closure) {
  const gather_model *model = model_of(self);
  int64_t count = gather_model_not_checked_count(model);
  PyObject *pairs = PyTuple_New((Py_ssize_t)count);
  (void)closure;
  for (int64_t i = 0; pairs && i < count; i++) {
    PyObject *pair = Py_BuildValue("(NL)", gather_py_text(gather_model_not_checked_op(model, i)),
                                   (long long)gather_model_not_checked_nodes(model, i));
    if (!pair || PyTuple_SetItem(pairs, (Py_ssize_t)i, pair) < 0) Py_CLEAR(pairs);
  }
  return pairs;
}

/* (name, why) of each tensor that cannot be read */
static PyObject *get_unreadable(PyObject *self, void *closure) {
  const gather_file *file = gather_model_file(model_of(self));
  PyObject *pairs = PyList_New(0);
  (void)closure;
  for (int64_t i = 0; pairs && i < gather_file_len(file); i++) {
    gather_error why;
    const gather_file_tensor *tensor = gather_file_at(file, i);
    if (gather_file_is_remote(tensor) || gather_file_tensor_check(tensor, &why) == GATHER_OK) continue;
    PyObject *pair = Py_BuildValue("(NN)", gather_py_text(tensor->name), gather_py_text(why.message));
    if (!pair || PyList_Append(pairs, pair) < 0) Py_CLEAR(pairs);
    Py_XDECREF(pair);
  }
  return pairs;
}

/* value_type(name, node) -> the type's name; None if the model declares none */
static PyObject *value_type(PyObject *self, PyObject *args) {
  PyObject *name, *node;
  if (!PyArg_ParseTuple(args, "OO", &name, &node)) return NULL;
  const char *text = gather_py_name(name), *of = NULL;
  if (text && node != Py_None) of = gather_py_name(node);
  if (PyErr_Occurred()) return NULL;
  const gather_type_info *type = gather_type_get(gather_model_value_type(model_of(self), of, text));
  return gather_py_text(type ? type->name : NULL);
}

static PyMethodDef methods[] = {{"value_type", value_type, METH_VARARGS, NULL},
                                {"check", gather_py_model_check, METH_VARARGS, NULL},
                                {"explain", gather_py_model_explain, METH_VARARGS, NULL},
                                {"run", gather_py_model_run, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {
    {"dialect", get_dialect, NULL, NULL, NULL},       {"format", get_format, NULL, NULL, NULL},
    {"node_count", get_node_count, NULL, NULL, NULL}, {"inputs", get_inputs, NULL, NULL, NULL},
    {"outputs", get_outputs, NULL, NULL, NULL},       {"not_checked", get_not_checked, NULL, NULL, NULL},
    {"unreadable", get_unreadable, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static char doc[] = "An open model; the base of libgather.Model.";

static PyType_Slot slots[] = {{Py_tp_new, GATHER_PY_SLOT(model_new)},
                              {Py_tp_dealloc, GATHER_PY_SLOT(model_free)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, doc},
                              {0, NULL}};

static PyType_Spec spec = {"libgather._core.Model", sizeof(gather_py_model), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

/* A type whose objects the extension makes itself. The module may be imported again. name: in the module; NULL = not in it. */
static int make_type(PyObject *module, PyType_Spec *of, const char *name, PyTypeObject **type) {
  PyObject *made = PyType_FromModuleAndSpec(module, of, NULL);
  if (made && name && PyModule_AddObjectRef(module, name, made) < 0) Py_CLEAR(made);
  if (!made) return -1;
  Py_XDECREF((PyObject *)*type);
  *type = (PyTypeObject *)made;
  return 0;
}

int gather_py_model_init(PyObject *module) {
  PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
  int result = type ? PyModule_AddObjectRef(module, "Model", type) : -1;
  Py_XDECREF(type);
  if (result == 0) result = make_type(module, &gather_py_result_spec, NULL, &gather_py_result_type);
  return result == 0 ? make_type(module, &gather_py_check_spec, "Check", &gather_py_check_type) : result;
}
