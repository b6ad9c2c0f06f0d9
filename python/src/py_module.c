/* SPDX-License-Identifier: MIT
 *
 * py_module.c: the extension libgather._core: its functions, names and initialisation. After that only the number
 * of threads changes, so it needs no GIL.
 */
#include "py_call.h"
#include "py_docs.h"
#include "py_model.h"
#include "py_quantized.h"
#include "py_scatter.h"
#include "py_table.h"

#define FAST (METH_FASTCALL | METH_KEYWORDS)
#define FUNCTION(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef functions[] = {
    {"take", FUNCTION(gather_py_call_take), FAST, gather_py_doc_take},
    {"take_along_axis", FUNCTION(gather_py_call_along), FAST, gather_py_doc_along},
    {"gather_elements", FUNCTION(gather_py_call_elements), FAST, gather_py_doc_elements},
    {"gather_nd", FUNCTION(gather_py_call_nd), FAST, gather_py_doc_nd},
    {"index", FUNCTION(gather_py_call_index), FAST, gather_py_doc_index},
    {"infer_shape", FUNCTION(gather_py_infer_shape), FAST, gather_py_doc_infer},
    {"set_threads", gather_py_set_threads, METH_O, gather_py_doc_set_threads},
    {"get_threads", gather_py_get_threads, METH_NOARGS, gather_py_doc_get_threads},
    {"ops", gather_py_ops, METH_NOARGS, gather_py_doc_ops},
    {"_split_path", gather_py_split_path, METH_O,
     "_split_path(path, /)\n--\n\nThe file and the tensor of FILE:TENSOR or URL:TENSOR, as bytes."},
    {"_is_url", gather_py_is_url, METH_O, "_is_url(name, /)\n--\n\nWhether a name (bytes) begins like a URL."},
    {"types", gather_py_types, METH_NOARGS, gather_py_doc_types},
    {"codecs", gather_py_codecs, METH_NOARGS, gather_py_doc_codecs},
    {"info", gather_py_info, METH_NOARGS, gather_py_doc_info},
    {"_quantized_shape", gather_py_quantized_shape, METH_O,
     "_quantized_shape(spec, /)\n--\n\nThe shape of the values of a quantised array."},
    {"_take_quantized", FUNCTION(gather_py_take_quantized), FAST,
     "_take_quantized(spec, like, indices, /, *, axis=0, out=None, mode=None, fill_value=None, negative=None, "
     "threads=None)\n--\n\nDecoded rows."},
    {"_dequantize", gather_py_dequantize, METH_VARARGS, "_dequantize(spec, like, out, threads, /)\n--\n\nAll decoded values."},
    {"_read_ids", gather_py_read_ids, METH_VARARGS, "_read_ids(path, name, head, remote, /)\n--\n\nIntegers of a file."},
    {"_shuffle", gather_py_shuffle, METH_VARARGS,
     "_shuffle(paths, output, name, order, seed, memory, passes, engine, depth, replace, resume, threads, dry_run, "
     "raw_type, raw_shape, raw_offset, raw_as_is, links, progress, align, in_place, tensor, /)\n--\n\nShuffles a table "
     "in "
     "files."},
    {"_capsule", gather_py_capsule, METH_VARARGS, "_capsule(array, shape, code, bits, lanes, /)\n--\n\nA DLPack capsule."},
    {"_probe", gather_py_probe_object, METH_O, "_probe(object, /)\n--\n\nRaises what its buffer or length raises."},
    {"_visible", gather_py_visible, METH_O, "_visible(text, /)\n--\n\nThe text without control characters."},
    {"_write", gather_py_write, METH_VARARGS, "_write(path, content, replace, sync, /)\n--\n\nWrites a file atomically."},
    {"_explain", gather_py_explain, METH_VARARGS,
     "_explain(items, op, rules, axis, batch_dims, mode, negative, data_type, fill_text, width, /)\n--\n\nDraws a "
     "gather."},
    {"_stablehlo", gather_py_stablehlo, METH_VARARGS,
     "_stablehlo(operand, start_indices, offset_dims, collapsed_slice_dims, operand_batching_dims, "
     "start_indices_batching_dims, start_index_map, slice_sizes, index_vector_dim, out, mode, fill_value, negative, "
     "threads, /)\n--\n\nStableHLO's gather."},
    {"_stablehlo_scatter", gather_py_stablehlo_scatter, METH_VARARGS,
     "_stablehlo_scatter(inputs, scatter_indices, updates, update_window_dims, inserted_window_dims, input_batching_dims, "
     "scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim, reduction, mode, negative, out, threads, "
     "accumulate, unique, whole_windows, /)\n--\n\nStableHLO's scatter."},
    {"_tree", gather_py_tree, METH_VARARGS,
     "_tree(step_ids, parent_ids, max_seq_len, end_token, out, mode, fill_value, negative, threads, /)\n--\n\nThe "
     "sequences of a beam search."},
    {"_scatter", gather_py_scatter, METH_VARARGS,
     "_scatter(name, data, indices, updates, axis, reduction, rules, mode, negative, out, threads, accumulate, unique, "
     "use_init_val, /)\n--\n\nScatters; NotImplemented: data has objects."},
    {"_backward", gather_py_backward, METH_VARARGS,
     "_backward(op, grad, indices, data_shape, axis, batch_dims, mode, negative, out, add, threads, accumulate, "
     "/)\n--\n\nThe gradient of a gather."},
    {"_sparse_backward", gather_py_sparse_backward, METH_VARARGS,
     "_sparse_backward(op, grad, indices, data_shape, axis, batch_dims, mode, negative, threads, accumulate, "
     "/)\n--\n\nThe same as numbers of rows and rows."},
    {"_unique_rows", gather_py_unique_rows, METH_VARARGS, "_unique_rows(ids, rows, threads, accumulate, /)\n--\n\nSums rows of equal ids."},
    {"_bag", gather_py_bag, METH_VARARGS,
     "_bag(table, indices, offsets, segment_ids, segments, weights, default_index, last_offset, reduction, rules, mode, "
     "negative, out, threads, accumulate, /)\n--\n\nReduces bags of rows."},
    {"_fail", gather_py_fail_by_name, METH_VARARGS, "_fail(status, input, message, /)\n--\n\nRaises an error."},
    {NULL, NULL, 0, NULL}};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  int result = type ? PyModule_AddObjectRef(module, name, type) : -1;
  Py_XDECREF(type);
  return result;
}

/* Names and NumPy's functions exist once per process: a second interpreter would use another's objects. */
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
  if (gather_py_names_init() < 0 || gather_py_threads_init() < 0) return -1;
  if (add_type(module, "Plan", &gather_py_plan_spec) < 0 || add_type(module, "ScatterPlan", &gather_py_scatter_plan_spec) < 0 ||
      gather_py_model_init(module) < 0)
    return -1;
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
