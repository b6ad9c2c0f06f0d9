/* SPDX-License-Identifier: MIT
 *
 * module.c: the extension libgather._core: its functions, its names, its start. Nothing of it changes after the start but the number
 * of threads, so it needs no GIL.
 */
#define GATHER_PY_MODULE
#include "call.h"
#include "docs.h"
#include "model.h"
#include "table.h"

gather_py_names gather_py;

static int intern(PyObject **name, const char *text) {
  *name = PyUnicode_InternFromString(text);
  return *name ? 0 : -1;
}

/* In the order of the enums. */
static const char *const KEYWORDS[GATHER_PY_KEYWORDS] = {"axis",     "batch_dims", "out",     "mode", "fill_value",
                                                         "negative", "rules",      "threads", "op"};
static const char *const MODES[GATHER_PY_MODES] = {"raise", "clip", "wrap", "zero", "fill", "promise"};

static int init_names(void) {
  const struct {
    PyObject **name;
    const char *text;
  } others[] = {{&gather_py.exchange, "__dlpack_c_exchange_api__"},
                {&gather_py.dlpack, "__dlpack__"},
                {&gather_py.array, "__array__"},
                {&gather_py.dtype, "dtype"},
                {&gather_py.numpy_ma, "numpy.ma"},
                {&gather_py.masked_array, "MaskedArray"},
                {&gather_py.array_interface, "__array_interface__"},
                {&gather_py.array_struct, "__array_struct__"},
                {&gather_py.max_version, "max_version"},
                {&gather_py.requires_grad, "requires_grad"},
                {&gather_py.is_conj, "is_conj"},
                {&gather_py.is_neg, "is_neg"}};
  for (int i = 0; i < GATHER_PY_KEYWORDS; i++)
    if (intern(&gather_py.keyword[i], KEYWORDS[i]) < 0) return -1;
  for (int i = 0; i < GATHER_PY_MODES; i++)
    if (intern(&gather_py.mode[i], MODES[i]) < 0) return -1;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (intern(others[i].name, others[i].text) < 0) return -1;
  gather_py.errors = PyImport_ImportModule("libgather.errors");
  return gather_py.errors ? 0 : -1;
}

PyObject *gather_py_fallback(const char *name) {
  PyObject *module = PyImport_ImportModule("libgather._fallback");
  PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
  Py_XDECREF(module);
  return function;
}

int gather_py_find(PyObject *object, PyObject *name, PyObject **value) {
  *value = PyObject_GetAttr(object, name);
  if (*value) return 1;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
  PyErr_Clear();
  return 0;
}

int gather_py_has(PyObject *object, PyObject *name) {
  PyObject *value;
  int found = gather_py_find(object, name, &value);
  Py_XDECREF(value);
  return found;
}

PyObject *gather_py_allocate(PyTypeObject *type) {
  allocfunc allocate = GATHER_PY_FROM_SLOT(allocfunc, PyType_GetSlot(type, Py_tp_alloc));
  return allocate(type, 0);
}

void gather_py_release(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = GATHER_PY_FROM_SLOT(freefunc, PyType_GetSlot(type, Py_tp_free));
  release(object);
  Py_DECREF((PyObject *)type);
}

#define FAST (METH_FASTCALL | METH_KEYWORDS)
#define FUNCTION(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef functions[] = {
    {"take", FUNCTION(gather_py_call_take), FAST, gather_py_doc_take},
    {"take_along_axis", FUNCTION(gather_py_call_along), FAST, gather_py_doc_along},
    {"gather_elements", FUNCTION(gather_py_call_elements), FAST, gather_py_doc_elements},
    {"infer_shape", FUNCTION(gather_py_infer_shape), FAST, gather_py_doc_infer},
    {"set_threads", gather_py_set_threads, METH_O, gather_py_doc_set_threads},
    {"get_threads", gather_py_get_threads, METH_NOARGS, gather_py_doc_get_threads},
    {"ops", gather_py_ops, METH_NOARGS, gather_py_doc_ops},
    {"types", gather_py_types, METH_NOARGS, gather_py_doc_types},
    {"info", gather_py_info, METH_NOARGS, gather_py_doc_info},
    {"_read_ids", gather_py_read_ids, METH_VARARGS, "_read_ids(path, name, head, /)\n--\n\nIntegers of a file."},
    {"_capsule", gather_py_capsule, METH_VARARGS,
     "_capsule(array, shape, code, bits, lanes, /)\n--\n\nA DLPack capsule."},
    {"_probe", gather_py_probe_object, METH_O, "_probe(object, /)\n--\n\nRaises what its buffer or length raises."},
    {"_visible", gather_py_visible, METH_O, "_visible(text, /)\n--\n\nThe text as a terminal may be sent it."},
    {"_write", gather_py_write, METH_VARARGS,
     "_write(path, content, replace, sync, /)\n--\n\nWrites a file atomically."},
    {"_explain", gather_py_explain, METH_VARARGS,
     "_explain(items, op, rules, axis, batch_dims, mode, negative, data_type, fill_text, width, /)\n--\n\nDraws a "
     "gather."},
    {"_fail", gather_py_fail_by_name, METH_VARARGS, "_fail(status, input, message, /)\n--\n\nRaises an error."},
    {NULL, NULL, 0, NULL}};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  int result = type ? PyModule_AddObjectRef(module, name, type) : -1;
  Py_XDECREF(type);
  return result;
}

/* Names and NumPy's functions are the process's: a second interpreter would use another's objects. */
static int claim_process(void) {
  static int64_t owner = -1;
  int64_t interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());
  if (owner == -1) owner = interpreter;
  if (owner == interpreter) return 0;
  PyErr_SetString(PyExc_ImportError, "libgather cannot be loaded by two interpreters of one process");
  return -1;
}

static int execute(PyObject *module) {
  if (claim_process() < 0) return -1;
  if (PyArray_ImportNumPyAPI() < 0) return -1;
  if (init_names() < 0 || gather_py_threads_init() < 0) return -1;
  if (add_type(module, "Plan", &gather_py_plan_spec) < 0 || gather_py_model_init(module) < 0) return -1;
  if (gather_py_table_init(module) < 0) return -1;
  return PyModule_AddStringConstant(module, "__version__", gather_version());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, GATHER_PY_SLOT(execute)},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "libgather._core", "The engine behind libgather.", 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
