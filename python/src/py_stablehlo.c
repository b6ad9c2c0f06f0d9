/* SPDX-License-Identifier: MIT
 *
 * py_stablehlo.c: _stablehlo: libgather.stablehlo_gather, whose arguments stablehlo.py has sorted.
 */
#include "py_call.h"

enum { LISTS = 6 };
static const char *const NAMES[LISTS] = {"offset_dims",     "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
                                         "start_index_map", "slice_sizes"};

static const gather_py_function FUNCTION = {"stablehlo_gather", NULL, NULL, false, 0, 0};

typedef struct hlo {
  PyObject *list[LISTS], *index_vector_dim, *out, *mode, *fill, *negative, *threads; /* borrowed */
  gather_dimension_numbers numbers;
  int64_t dims[LISTS][GATHER_MAX_RANK];
  gather_py_call call;
  gather_py_tensors tensors;
} hlo;

static int is_given(const PyObject *value) { return value != Py_None; }

int gather_py_read_tuple(PyObject *list, const char *name, int64_t *dims, const int64_t **at, int64_t *count) {
  *at = dims;
  *count = PyTuple_Size(list);
  if (*count < 0) return -1;
  for (Py_ssize_t i = 0; i < *count && i < GATHER_MAX_RANK; i++)
    if (gather_py_read_int(PyTuple_GetItem(list, i), name, &dims[i]) < 0) return -1;
  return 0;
}

static int read_numbers(hlo *h) {
  gather_dimension_numbers *n = &h->numbers;
  const int64_t **at[LISTS] = {&n->offset_dims,     &n->collapsed_slice_dims, &n->operand_batching_dims, &n->start_indices_batching_dims,
                               &n->start_index_map, &n->slice_sizes};
  int64_t *counts[LISTS] = {&n->offset_dims_count,           &n->collapsed_slice_dims_count,
                            &n->operand_batching_dims_count, &n->start_indices_batching_dims_count,
                            &n->start_index_map_count,       &n->slice_sizes_count};
  *n = (gather_dimension_numbers)GATHER_DIMENSION_NUMBERS_INIT;
  for (int i = 0; i < LISTS; i++)
    if (gather_py_read_tuple(h->list[i], NAMES[i], h->dims[i], at[i], counts[i]) < 0) return -1;
  return gather_py_read_int(h->index_vector_dim, "index_vector_dim", &n->index_vector_dim);
}

static int read_options(hlo *h) {
  gather_py_call *call = &h->call;
  call->function = &FUNCTION;
  call->op = gather_op_find("gather", "stablehlo-1");
  call->options = (gather_options)GATHER_OPTIONS_INIT;
  call->options.numbers = &h->numbers;
  call->threads = GATHER_PY_DEFAULT_THREADS;
  call->out = is_given(h->out) ? h->out : NULL;
  if (is_given(h->mode) && gather_py_read_mode(h->mode, &call->options) < 0) return -1;
  if (is_given(h->negative)) {
    int on = PyObject_IsTrue(h->negative);
    if (on < 0) return -1;
    call->options.negative = on ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  }
  call->fill = is_given(h->fill) ? h->fill : NULL;
  int fills = call->options.on_bad == GATHER_ON_BAD_FILL;
  if (fills != (call->fill != NULL)) {
    PyErr_SetString(PyExc_ValueError, fills ? "mode='fill' needs fill_value" : "fill_value needs mode='fill'");
    return -1;
  }
  return is_given(h->threads) ? gather_py_read_threads(h->threads, &call->threads) : 0;
}

static int read_tensors(hlo *h) {
  gather_py_tensors *t = &h->tensors;
  int result = gather_py_read_data(h->call.x, &t->data);
  if (result > 0) gather_py_fail(GATHER_TYPE_UNSUPPORTED, "data", "operand must be an array of plain elements, without a mask");
  if (result != 0 || gather_py_read_indices(h->call.indices, &t->indices) < 0) return -1;
  return gather_py_fill(h->call.x, &t->data, &h->call, &t->fill_owner, &t->fill);
}

static int make_output(hlo *h) {
  gather_py_tensors *t = &h->tensors;
  gather_error error;
  if (h->call.out) return gather_py_read_out(h->call.out, &t->data, &t->out);
  gather_status status = gather_output_shape(h->call.op, &t->data.tensor, &t->indices.tensor, &h->call.options, t->shape, &t->rank, &error);
  if (status == GATHER_OK) return gather_py_output(&t->data, t->rank, t->shape, &t->out);
  gather_py_raise(&error);
  return -1;
}

PyObject *gather_py_stablehlo(PyObject *self, PyObject *args) {
  hlo h = {.call = {.axis_given = false}};
  PyObject *result = NULL;
  (void)self;
  gather_py_tensors_init(&h.tensors);
  if (PyArg_ParseTuple(args, "OOO!O!O!O!O!O!OOOOOO", &h.call.x, &h.call.indices, &PyTuple_Type, &h.list[0], &PyTuple_Type, &h.list[1],
                       &PyTuple_Type, &h.list[2], &PyTuple_Type, &h.list[3], &PyTuple_Type, &h.list[4], &PyTuple_Type, &h.list[5],
                       &h.index_vector_dim, &h.out, &h.mode, &h.fill, &h.negative, &h.threads) &&
      read_numbers(&h) == 0 && read_options(&h) == 0 && read_tensors(&h) == 0 && make_output(&h) == 0)
    result = gather_py_gather(NULL, &h.call, &h.tensors,
                              gather_tensor_bytes(&h.tensors.out.tensor) + gather_tensor_bytes(&h.tensors.indices.tensor));
  gather_py_tensors_clear(&h.tensors);
  return result;
}
