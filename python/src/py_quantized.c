/* SPDX-License-Identifier: MIT
 *
 * py_quantized.c: rows of quantised arrays in memory. libgather/quantised.py has the public class; its description of an array is a tuple.
 */
#include <string.h>

#include "gather/codec.h"
#include "py_quantized.h"

#define BIT(keyword) (1u << GATHER_PY_##keyword)

static const gather_op ROWS = {.dialect = "python",
                               .name = "take",
                               .family = GATHER_FAMILY_GATHER,
                               .negative = true,
                               .on_bad = GATHER_ON_BAD_ERROR,
                               .off_axis = GATHER_OFF_AXIS_NONE,
                               .axis_source = GATHER_AXIS_SOURCE_ATTRIBUTE,
                               .types = UINT64_MAX,
                               .index_types = UINT64_MAX,
                               .document = "libgather's take",
                               .tuples = GATHER_TUPLES_NONE};
static const gather_py_function TAKE = {"take", NULL, &ROWS,
                                        false,  0,    BIT(AXIS) | BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE) | BIT(THREADS)};

/* ---- the description ---- */

/* The tensors, in the order of the tuple. */
enum { DATA, SCALE, ZERO_POINT, BIAS, TABLE, SCALE2, SCALE_TABLE, SCALE_SCALE, TENSORS };

typedef struct quantized {
  gather_quantized about;
  gather_py_view view[TENSORS];
  int64_t shape[GATHER_MAX_RANK], groups[GATHER_MAX_RANK]; /* given */
  int32_t rank;                                            /* of the values */
  int64_t values[GATHER_MAX_RANK];
} quantized;

static void clear(quantized *q) {
  for (int i = 0; i < TENSORS; i++) gather_py_view_clear(&q->view[i]);
}

/* None or a tuple of int: *count lengths. */
static int read_lengths(PyObject *tuple, int64_t *lengths, int32_t *count) {
  *count = 0;
  if (tuple == Py_None) return 0;
  const Py_ssize_t len = PyTuple_Size(tuple);
  if (len < 0) return -1;
  if (len > GATHER_MAX_RANK) {
    gather_py_fail(GATHER_RANK_MISMATCH, NULL, "a shape has %zd dimensions; the maximum is %d", len, GATHER_MAX_RANK);
    return -1;
  }
  for (Py_ssize_t d = 0; d < len; d++) lengths[d] = PyLong_AsLongLong(PyTuple_GetItem(tuple, d));
  *count = (int32_t)len;
  return PyErr_Occurred() ? -1 : 0;
}

static int read_tensor(PyObject *object, gather_py_view *view, const gather_tensor **tensor) {
  *tensor = NULL;
  if (object == Py_None) return 0;
  const int result = gather_py_read_data(object, view);
  if (result == 1) gather_py_fail(GATHER_TYPE_UNSUPPORTED, "data", "quantised arrays consist of numbers, not of %s objects", "Python");
  if (result != 0) return -1;
  *tensor = &view->tensor;
  return 0;
}

static int read_tensors(PyObject *const *objects, quantized *q) {
  const gather_tensor **fields[TENSORS] = {&q->about.data,  &q->about.scale,  &q->about.zero_point,  &q->about.bias,
                                           &q->about.table, &q->about.scale2, &q->about.scale_table, &q->about.scale_scale};
  for (int i = 0; i < TENSORS; i++)
    if (read_tensor(objects[i], &q->view[i], fields[i]) < 0) return -1;
  return 0;
}

static int read_codec(const char *name, gather_quantized *about) {
  about->codec = gather_codec_parse(name);
  if (about->codec != GATHER_CODEC_NONE) return 0;
  gather_py_fail(GATHER_USAGE, "data", "no such codec: '%.60s'; libgather.codecs() lists them", name);
  return -1;
}

/* codec, code_type, code_bits, high_first, shape, groups, group_axis, group_len, flat_groups, scale2_divides, scale_type,
 * zero_point_type, code_offset, scale_group_len, scale_offset, then the tensors. */
static int read_fields(PyObject *spec, quantized *q) {
  gather_quantized *about = &q->about;
  PyObject *shape, *groups, *tensors[TENSORS];
  const char *codec, *code_type, *scale_type, *zero_point_type;
  int code_bits, high_first, flat, divides, offset, rank, group_rank;
  long long axis, group_len, scale_group_len;
  if (!PyArg_ParseTuple(spec, "szipOOLLppzziLfOOOOOOOO", &codec, &code_type, &code_bits, &high_first, &shape, &groups, &axis, &group_len,
                        &flat, &divides, &scale_type, &zero_point_type, &offset, &scale_group_len, &about->scale_offset, &tensors[DATA],
                        &tensors[SCALE], &tensors[ZERO_POINT], &tensors[BIAS], &tensors[TABLE], &tensors[SCALE2], &tensors[SCALE_TABLE],
                        &tensors[SCALE_SCALE]))
    return -1;
  if (read_codec(codec, about) < 0 || read_lengths(shape, q->shape, &rank) < 0 || read_lengths(groups, q->groups, &group_rank) < 0 ||
      read_tensors(tensors, q) < 0)
    return -1;
  about->code_type = gather_type_parse(code_type), about->code_bits = code_bits;
  about->order = high_first ? GATHER_CODE_ORDER_HIGH_FIRST : GATHER_CODE_ORDER_LOW_FIRST;
  about->rank = rank, about->shape = rank ? q->shape : NULL;
  about->groups = group_rank ? q->groups : NULL;
  about->group_axis = axis, about->group_len = group_len, about->flat_groups = flat;
  about->scale2_divides = divides;
  about->scale_type = gather_type_parse(scale_type), about->zero_point_type = gather_type_parse(zero_point_type);
  about->code_offset = offset, about->scale_group_len = scale_group_len;
  return group_rank;
}

/* Reads and checks it. Clear it in every case. */
static int read_spec(PyObject *spec, quantized *q) {
  static const gather_quantized INIT = GATHER_QUANTIZED_INIT;
  gather_error error;
  q->about = INIT;
  for (int i = 0; i < TENSORS; i++) gather_py_view_init(&q->view[i]);
  const int group_rank = read_fields(spec, q);
  if (group_rank < 0) return -1;
  if (gather_quantized_shape(&q->about, q->values, &q->rank, &error) != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  if (group_rank == 0 || group_rank == q->rank) return 0;
  gather_py_fail(GATHER_RANK_MISMATCH, "scale", "groups has %d lengths, but the values have %d dimensions", group_rank, (int)q->rank);
  return -1;
}

PyObject *gather_py_quantized_shape(PyObject *self, PyObject *spec) {
  quantized q;
  (void)self;
  PyObject *shape = read_spec(spec, &q) < 0 ? NULL : gather_py_tuple(q.rank, q.values);
  clear(&q);
  return shape;
}

/* ---- outputs ---- */

/* The output as the data of an ordinary gather: a tensor of the type of `like` and the shape of the values. */
static int view_like(PyObject *like, const quantized *q, gather_py_view *view) {
  gather_py_view_init(view);
  if (gather_py_read_data(like, view) != 0) return -1;
  view->tensor.rank = q->rank;
  view->tensor.data = NULL;
  memcpy(view->shape, q->values, (size_t)q->rank * sizeof *view->shape);
  view->tensor.shape = view->shape;
  view->tensor.strides = NULL;
  return 0;
}

static PyObject *result_of(PyObject *given, const gather_py_view *out) {
  PyObject *result = given ? given : out->array;
  Py_INCREF(result);
  return given ? result : PyArray_Return((PyArrayObject *)result);
}

/* ---- taking ---- */

typedef struct taking {
  quantized q;
  gather_py_call call;
  gather_py_view like, indices, out, fill;
  PyObject *fill_owner;
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK];
} taking;

static int read_taking(PyObject *spec, PyObject *like, taking *t) {
  gather_error error;
  gather_py_call *call = &t->call;
  if (read_spec(spec, &t->q) < 0 || view_like(like, &t->q, &t->like) < 0) return -1;
  if (gather_py_read_indices(call->indices, &t->indices) < 0) return -1;
  if (call->axis_none && t->q.rank > 1) {
    gather_py_fail(GATHER_USAGE, "axis", "axis=None would flatten the array: give an axis");
    return -1;
  }
  if (call->fill && gather_py_fill(NULL, &t->like, call, &t->fill_owner, &t->fill) < 0) return -1;
  if (gather_output_shape(call->op, &t->like.tensor, &t->indices.tensor, &call->options, t->shape, &t->rank, &error) != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  return call->out ? gather_py_read_out(call->out, &t->like, &t->out) : gather_py_output(&t->like, t->rank, t->shape, &t->out);
}

static PyObject *take(taking *t) {
  gather_error error;
  gather_options *options = &t->call.options;
  const int64_t bytes = gather_tensor_bytes(&t->out.tensor);
  options->fresh_output = !t->call.out;
  PyThreadState *state = PyEval_SaveThread();
  options->executor = gather_py_executor(t->call.threads, bytes);
  const gather_status status = gather_take_quantized(t->call.op, &t->q.about, &t->indices.tensor, &t->out.tensor, options, &error);
  PyEval_RestoreThread(state);
  return status == GATHER_OK ? result_of(t->call.out, &t->out) : gather_py_raise(&error);
}

/* _take_quantized(spec, like, indices, *, axis, out, mode, fill_value, negative, threads) */
PyObject *gather_py_take_quantized(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  taking t;
  PyObject *all[2 + GATHER_PY_KEYWORDS], *result = NULL;
  const Py_ssize_t keywords = names ? PyTuple_Size(names) : 0;
  (void)self;
  if (count != 3 || keywords > GATHER_PY_KEYWORDS) {
    PyErr_SetString(PyExc_TypeError, "take() takes 1 positional argument (indices) and keywords");
    return NULL;
  }
  all[0] = args[0];
  memcpy(all + 1, args + 2, (size_t)(1 + keywords) * sizeof *all);
  memset(&t.call, 0, sizeof t.call);
  if (gather_py_read_call(&TAKE, all, 2, names, &t.call) < 0) return NULL;
  for (int i = 0; i < TENSORS; i++) gather_py_view_init(&t.q.view[i]);
  gather_py_view_init(&t.like);
  gather_py_view_init(&t.indices);
  gather_py_view_init(&t.out);
  gather_py_view_init(&t.fill);
  t.fill_owner = NULL;
  if (read_taking(args[0], args[1], &t) == 0) result = take(&t);
  clear(&t.q);
  gather_py_view_clear(&t.like);
  gather_py_view_clear(&t.indices);
  gather_py_view_clear(&t.out);
  gather_py_view_clear(&t.fill);
  Py_XDECREF(t.fill_owner);
  return result;
}

static PyObject *dequantize(const quantized *q, const gather_py_view *out, PyObject *given, int32_t threads) {
  gather_error error;
  PyThreadState *state = PyEval_SaveThread();
  const gather_executor *executor = gather_py_executor(threads, gather_tensor_bytes(&out->tensor));
  const gather_status status = gather_dequantize(&q->about, &out->tensor, executor, &error);
  PyEval_RestoreThread(state);
  return status == GATHER_OK ? result_of(given, out) : gather_py_raise(&error);
}

/* _dequantize(spec, like, out, threads, /) */
PyObject *gather_py_dequantize(PyObject *self, PyObject *args) {
  quantized q;
  PyObject *spec, *like, *given, *threads_given, *result = NULL;
  int32_t threads = GATHER_PY_DEFAULT_THREADS;
  gather_py_view view, out;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOO", &spec, &like, &given, &threads_given)) return NULL;
  if (threads_given != Py_None && gather_py_read_threads(threads_given, &threads) < 0) return NULL;
  gather_py_view_init(&view);
  gather_py_view_init(&out);
  if (given == Py_None) given = NULL;
  if (read_spec(spec, &q) == 0 && view_like(like, &q, &view) == 0 &&
      (given ? gather_py_read_out(given, &view, &out) : gather_py_output(&view, q.rank, q.values, &out)) == 0)
    result = dequantize(&q, &out, given, threads);
  clear(&q);
  gather_py_view_clear(&view);
  gather_py_view_clear(&out);
  return result;
}

/* ---- the codecs ---- */

static const char *kind_name(gather_codec_kind kind) {
  static const char *const NAMES[] = {"blocks", "packed", "codes", "refused"};
  return NAMES[kind - GATHER_CODEC_BLOCKS];
}

PyObject *gather_py_codecs(PyObject *self, PyObject *none) {
  const gather_codec_info *info;
  PyObject *rows = PyList_New(0);
  (void)self, (void)none;
  for (int i = 1; rows && (info = gather_codec_get((gather_codec)i)) != NULL; i++) {
    PyObject *row =
        Py_BuildValue("{s:s,s:s,s:i,s:i,s:i,s:s,s:s}", "name", info->name, "kind", kind_name(info->kind), "block_len", (int)info->block_len,
                      "block_bytes", (int)info->block_bytes, "bits", (int)info->bits, "value", info->value, "source", info->source);
    if (!row || PyList_Append(rows, row) < 0) Py_CLEAR(rows);
    Py_XDECREF(row);
  }
  return rows;
}
