/* SPDX-License-Identifier: MIT
 *
 * py_model.c: the type Model: an open model and its properties.
 */
#include "py_model.h"

#include <stdlib.h>

#include "py_waiting.h"

/* The arguments and results of Model(). */
typedef struct model_opening {
  gather_py_waiting waiting; /* first */
  char *memory;              /* the path, or the model's bytes */
  Py_ssize_t bytes;
  bool is_path, links, is_remote;
  gather_remote_options remote;
  gather_file *file;
  gather_model *model;
} model_opening;

static void open_now(gather_py_waiting *waiting) {
  model_opening *given = (model_opening *)waiting;
  gather_error *error = &waiting->error;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.no_links = !given->links;
  if (given->is_remote) source.remote = &given->remote;
  if (given->is_path)
    source.path = given->memory;
  else {
    source.memory = given->memory;
    source.bytes = (size_t)given->bytes;
    source.name = "<bytes>";
  }
  waiting->status = gather_file_open(&source, &given->file, error);
  if (waiting->status == GATHER_OK) waiting->status = gather_model_from_file(given->file, &given->model, error);
}

static void discard(gather_py_waiting *waiting) {
  model_opening *given = (model_opening *)waiting;
  gather_model_close(given->model);
  gather_file_close(given->file);
}

/* Opens it, and frees `given`. */
static int open_given(gather_py_model *self, model_opening *given, PyObject *keeps) {
  given->waiting.work = open_now;
  given->waiting.discard = discard;
  if (gather_py_wait(&given->waiting, keeps, given->is_remote) < 0) return -1;
  self->file = given->file;
  self->model = given->model;
  const bool opened = given->waiting.status == GATHER_OK;
  if (!opened) gather_py_raise(&given->waiting.error);
  gather_py_waiting_free(&given->waiting);
  return opened ? 0 : -1;
}

/* values: the options of a URL, or None. */
static int open_source(gather_py_model *self, PyObject *source, bool links, PyObject *values) {
  PyObject *path = NULL;
  model_opening *given = calloc(1, sizeof *given);
  if (!given) {
    PyErr_NoMemory();
    return -1;
  }
  given->links = links;
  given->is_path = !PyBytes_Check(source);
  given->is_remote = values != Py_None;
  if (!given->is_path) {
    Py_INCREF(source);
    self->bytes = source;
  }
  PyObject *keeps = NULL;
  if ((!given->is_path || PyUnicode_FSConverter(source, &path)) &&
      PyBytes_AsStringAndSize(path ? path : source, &given->memory, &given->bytes) == 0 &&
      (!given->is_remote || gather_py_read_remote(values, &given->remote) == 0))
    keeps = PyTuple_Pack(2, path ? path : source, values);
  Py_XDECREF(path);
  if (!keeps) {
    free(given);
    return -1;
  }
  const int result = open_given(self, given, keeps);
  Py_DECREF(keeps);
  return result;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *source, *values;
  int links;
  if (!PyArg_ParseTuple(args, "OpO", &source, &links, &values)) return NULL;
  if (keywords && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "Model takes no keyword arguments");
    return NULL;
  }
  gather_py_model *self = (gather_py_model *)gather_py_allocate(type);
  if (self && open_source(self, source, links, values) < 0) Py_CLEAR(self);
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
  return gather_py_text(gather_model_describe(model_of(self))->dialect);
}

static PyObject *get_format(PyObject *self, void *closure) {
  (void)closure;
  return gather_py_text(gather_file_format(gather_model_describe(model_of(self))->file));
}

static PyObject *get_node_count(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(gather_model_describe(model_of(self))->node_count);
}

static PyObject *names_of(const char *const *texts, int64_t count) {
  PyObject *names = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; names && i < count; i++) {
    PyObject *name = gather_py_text(texts[i]);
    if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0) Py_CLEAR(names);
  }
  return names;
}

static PyObject *get_inputs(PyObject *self, void *closure) {
  const gather_model_info *info = gather_model_describe(model_of(self));
  (void)closure;
  return names_of(info->inputs, info->input_count);
}

static PyObject *get_outputs(PyObject *self, void *closure) {
  const gather_model_info *info = gather_model_describe(model_of(self));
  (void)closure;
  return names_of(info->outputs, info->output_count);
}

static PyObject *get_not_checked(PyObject *self, void *closure) {
  const gather_model_info *info = gather_model_describe(model_of(self));
  const int64_t count = info->not_checked_count;
  PyObject *pairs = PyTuple_New((Py_ssize_t)count);
  (void)closure;
  for (int64_t i = 0; pairs && i < count; i++) {
    PyObject *pair = Py_BuildValue("(NL)", gather_py_text(info->not_checked[i].op), (long long)info->not_checked[i].nodes);
    if (!pair || PyTuple_SetItem(pairs, (Py_ssize_t)i, pair) < 0) Py_CLEAR(pairs);
  }
  return pairs;
}

/* (name, why) of each tensor that cannot be read */
static PyObject *get_unreadable(PyObject *self, void *closure) {
  const gather_file *file = gather_model_describe(model_of(self))->file;
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

/* reads(path) -> whether the file at path is the model's or one of its data */
static PyObject *reads(PyObject *self, PyObject *args) {
  PyObject *path = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  const bool found = gather_file_reads(gather_model_describe(model_of(self))->file, PyBytes_AsString(path));
  Py_DECREF(path);
  return PyBool_FromLong(found);
}

static PyMethodDef methods[] = {{"value_type", value_type, METH_VARARGS, NULL},
                                {"check", gather_py_model_check, METH_VARARGS, NULL},
                                {"explain", gather_py_model_explain, METH_VARARGS, NULL},
                                {"run", gather_py_model_run, METH_VARARGS, NULL},
                                {"reads", reads, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"dialect", get_dialect, NULL, NULL, NULL},       {"format", get_format, NULL, NULL, NULL},
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

static PyType_Spec spec = {"libgather._core.Model", sizeof(gather_py_model), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

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
