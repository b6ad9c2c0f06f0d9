/* SPDX-License-Identifier: MIT
 *
 * py_model_run.c: a run of a model. Its outputs are arrays over the library's own memory, which they keep alive; what is in the
 * caller's memory is copied.
 */
#include "py_model.h"

/* The result of a run, with all memory that it may point to: the base of the arrays. */
typedef struct result_object {
  PyObject ob_base;
  gather_model_result *result;
  gather_py_given given;
  PyObject *model;
} result_object;

static void result_free(PyObject *object) {
  result_object *self = (result_object *)object;
  gather_model_result_destroy(self->result);
  gather_py_given_clear(&self->given);
  Py_XDECREF(self->model);
  gather_py_release(object);
}

static PyType_Slot slots[] = {{Py_tp_dealloc, GATHER_PY_SLOT(result_free)}, {0, NULL}};

PyType_Spec gather_py_result_spec = {"libgather._core._Result", sizeof(result_object), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

/* The address range of the elements of an input. */
static void extent(const gather_tensor *tensor, uintptr_t *begin, uintptr_t *end) {
  const gather_type_info *type = gather_type_get(tensor->type);
  int64_t step = type->packing == GATHER_PACKING_BYTES ? 8 : type->bits; /* bits per unit of the strides */
  int64_t low = 0, high = type->bits;
  for (int32_t d = 0; tensor->strides && d < tensor->rank; d++) {
    int64_t reach = tensor->shape[d] > 0 ? (tensor->shape[d] - 1) * tensor->strides[d] * step : 0;
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  if (!tensor->strides) high = gather_tensor_bytes(tensor) * 8;
  *begin = (uintptr_t)tensor->data + (uintptr_t)(low / 8);
  *end = (uintptr_t)tensor->data + (uintptr_t)((high + tensor->packed_offset * step) / 8 + 1);
}

/* Whether the caller can change it. */
static bool is_callers(const gather_py_given *given, const void *memory) {
  for (Py_ssize_t i = 0; i < given->count; i++) {
    uintptr_t begin, end;
    extent(&given->inputs[i].tensor, &begin, &end);
    if ((uintptr_t)memory >= begin && (uintptr_t)memory < end) return true;
  }
  return false;
}

/* An element that is not valid UTF-8 stays bytes. */
static PyObject *string_of(const gather_string *string) {
  const char *text = string->text ? string->text : "";
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)string->bytes, NULL);
  if (made || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return made;
  PyErr_Clear();
  return PyBytes_FromStringAndSize(text, (Py_ssize_t)string->bytes);
}

static PyObject *strings_of(const gather_tensor *tensor) {
  int64_t len = gather_tensor_len(tensor);
  const gather_string *strings = tensor->data;
  PyObject *list = PyList_New((Py_ssize_t)len);
  for (int64_t i = 0; list && i < len; i++) {
    PyObject *made = string_of(&strings[i]);
    if (made)
      PyList_SetItem(list, (Py_ssize_t)i, made);
    else
      Py_CLEAR(list);
  }
  return list;
}

/* The elements' bytes: a read-only array of uint8. */
static PyObject *bytes_of(result_object *self, const gather_tensor *tensor) {
  npy_intp bytes = (npy_intp)gather_tensor_bytes(tensor);
  if (bytes == 0) return PyArray_New(&PyArray_Type, 1, &bytes, NPY_UINT8, NULL, NULL, 0, 0, NULL);
  PyObject *array = PyArray_New(&PyArray_Type, 1, &bytes, NPY_UINT8, NULL, tensor->data, 0, NPY_ARRAY_C_CONTIGUOUS, NULL);
  if (!array) return NULL;
  if (is_callers(&self->given, tensor->data)) {
    PyObject *copy = PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER);
    Py_DECREF(array);
    return copy;
  }
  Py_INCREF((PyObject *)self);
  if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)self) < 0) Py_CLEAR(array); /* it owns the base now */
  return array;
}

static PyObject *output_of(result_object *self, const gather_model_input *output) {
  const gather_tensor *tensor = &output->tensor;
  PyObject *elements = tensor->type == GATHER_TYPE_STRING ? strings_of(tensor) : bytes_of(self, tensor);
  PyObject *shape = elements ? gather_py_tuple(tensor->rank, tensor->shape) : NULL;
  PyObject *name = shape ? gather_py_text(output->name) : NULL;
  if (!name) {
    Py_XDECREF(elements);
    Py_XDECREF(shape);
    return NULL;
  }
  return Py_BuildValue("(NsNNN)", name, gather_type_get(tensor->type)->name, PyBool_FromLong(tensor->flags & GATHER_TENSOR_BYTE_SWAPPED),
                       shape, elements);
}

static PyObject *outputs_of(result_object *self) {
  int64_t count = 0;
  while (gather_model_result_at(self->result, count)) count++;
  PyObject *outputs = PyList_New((Py_ssize_t)count);
  for (int64_t i = 0; outputs && i < count; i++) {
    PyObject *output = output_of(self, gather_model_result_at(self->result, i));
    if (output)
      PyList_SetItem(outputs, (Py_ssize_t)i, output);
    else
      Py_CLEAR(outputs);
  }
  return outputs;
}

/* Adds the node that failed to the exception. */
static PyObject *raise_at(const gather_error *error, const char *node) {
  PyObject *type, *value, *traceback;
  gather_py_raise(error);
  if (!node || !*node) return NULL;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject *name = gather_py_text(node);
  if (!value || !name || PyObject_SetAttrString(value, "node", name) < 0) PyErr_Clear();
  Py_XDECREF(name);
  PyErr_Restore(type, value, traceback);
  return NULL;
}

static PyObject *run_model(result_object *self, const char *node, int32_t threads, int64_t memory) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  const gather_model *model = ((const gather_py_model *)self->model)->model;
  const char *failed = "";
  gather_error error;
  options.node = node;
  options.failed_node = &failed;
  options.memory_bytes = memory;
  PyThreadState *state = PyEval_SaveThread();
  options.executor = gather_py_executor(threads, INT64_MAX);
  gather_status status = gather_model_run(model, self->given.inputs, self->given.count, &options, &self->result, &error);
  PyEval_RestoreThread(state);
  return status == GATHER_OK ? outputs_of(self) : raise_at(&error, failed);
}

PyObject *gather_py_model_run(PyObject *model, PyObject *args) {
  PyObject *inputs, *node, *threads, *outputs = NULL;
  int32_t count = 1;
  const char *name = NULL;
  long long memory;
  if (!PyArg_ParseTuple(args, "OOOL", &inputs, &node, &threads, &memory)) return NULL;
  if (gather_py_model_threads(threads, &count) < 0) return NULL;
  if (node != Py_None && !(name = gather_py_name(node))) return NULL;
  result_object *self = (result_object *)gather_py_allocate(gather_py_result_type);
  if (!self) return NULL;
  Py_INCREF(model);
  self->model = model;
  if (gather_py_given_read(inputs, &self->given) == 0) outputs = run_model(self, name, count, memory);
  Py_DECREF((PyObject *)self);
  return outputs;
}
