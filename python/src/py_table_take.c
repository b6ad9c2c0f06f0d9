/* SPDX-License-Identifier: MIT
 *
 * py_table_take.c: takes rows of a table: the arguments, and the take itself.
 */
#include <string.h>

#include "py_signals.h"

#define BIT(keyword) (1u << GATHER_PY_##keyword)

static const gather_op ROWS = {NULL,
                               "python",
                               "take",
                               0,
                               GATHER_FAMILY_GATHER,
                               true,
                               GATHER_ON_BAD_ERROR,
                               false,
                               GATHER_OFF_AXIS_NONE,
                               GATHER_AXIS_SOURCE_ATTRIBUTE,
                               UINT64_MAX,
                               UINT64_MAX,
                               "libgather's take",
                               GATHER_TUPLES_NONE,
                               false};

/* Rows by tuples of numbers. */
#define BY_TUPLES(name)                                                                                                         \
  {                                                                                                                             \
    NULL, "python", name, 0, GATHER_FAMILY_ND, true, GATHER_ON_BAD_ERROR, false, GATHER_OFF_AXIS_NONE, GATHER_AXIS_SOURCE_NONE, \
        UINT64_MAX, UINT64_MAX, "libgather's " name, GATHER_TUPLES_NONEMPTY, false                                              \
  }
static const gather_op TAKE_BY_TUPLES = BY_TUPLES("take"), ND = BY_TUPLES("gather_nd");

static const gather_py_function TAKE = {"take", NULL, &ROWS,
                                        false,  0,    BIT(AXIS) | BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE) | BIT(THREADS)};
const gather_py_function gather_py_table_submits = {"submit", NULL, &ROWS,
                                                    false,    0,    BIT(AXIS) | BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE)};
static const gather_py_function SUBSCRIPT = {"take", NULL, &ROWS, false, 0, 0};

static const gather_py_function GATHER_ND = {"gather_nd", NULL, &ND,
                                             false,       0,    BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE) | BIT(THREADS)};

/* ---- arguments ---- */

/* One positional argument, after the table. */
static int read_arguments(const gather_py_function *function, PyObject *table, PyObject *const *args, Py_ssize_t count, PyObject *names,
                          gather_py_call *call) {
  PyObject *all[2 + GATHER_PY_KEYWORDS] = {table};
  Py_ssize_t keywords = names ? PyTuple_Size(names) : 0;
  if (count != 1) {
    PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument (indices), not %zd", function->name, count);
    return -1;
  }
  if (keywords > GATHER_PY_KEYWORDS) {
    PyErr_Format(PyExc_TypeError, "%s() got %zd keyword arguments", function->name, keywords);
    return -1;
  }
  memcpy(all + 1, args, (size_t)(1 + keywords) * sizeof *all);
  return gather_py_read_call(function, all, 2, names, call);
}

static int check_axis(const gather_py_call *call, const gather_py_table *table) {
  int32_t rank = table->tensor.rank;
  int64_t axis = call->options.axis;
  if (call->axis_none && rank > 1) {
    gather_py_fail(GATHER_USAGE, "axis", "axis=None would flatten the table: rows are along axis 0");
  } else if (axis < -rank || axis >= rank) {
    gather_py_fail(GATHER_AXIS_OUT_OF_RANGE, "axis", "axis %lld is outside [%d, %d]", (long long)axis, -(int)rank, (int)rank - 1);
  } else if (axis != 0 && axis != -rank) {
    gather_py_fail(GATHER_UNSUPPORTED, "axis", "axis %lld of a table in a file: rows are along axis 0 only", (long long)axis);
  } else {
    return 0;
  }
  return -1;
}

/* ---- indices ---- */

/* Whether it is a tuple with an array in it: one array of ids for each of the first dimensions. A tuple of numbers and lists is, like
 * a list, one array. */
static int is_tuple_of_arrays(PyObject *object) {
  const Py_ssize_t count = PyTuple_Check(object) ? PyTuple_Size(object) : 0;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PyTuple_GetItem(object, i);
    if (PyArray_Check(item)) return 1;
    int has = gather_py_has((PyObject *)Py_TYPE(item), gather_py.dlpack);
    if (has) return has;
  }
  return 0;
}

/* The indices of the call, and the dimensions of the table that they select on: its op is that of tuples for more than one. */
static int read_indices(gather_py_rows *rows) {
  gather_py_call *call = &rows->call;
  const int several = is_tuple_of_arrays(call->indices);
  if (several < 0) return -1;
  PyObject *function = several ? gather_py_fallback("join_ids") : NULL, *joined = NULL;
  if (several && !function) return -1;
  if (several) joined = PyObject_CallFunctionObjArgs(function, call->indices, NULL);
  Py_XDECREF(function);
  if (several && !joined) return -1;
  int result = gather_py_read_indices(several ? joined : call->indices, &rows->indices);
  Py_XDECREF(joined); /* the view keeps the array */
  if (several) call->op = &TAKE_BY_TUPLES;
  rows->lead = rows->indices.tensor.rank;
  rows->selected = 1;
  return result;
}

/* For tuples: the shape of the result by the library, whose errors come first. */
static int check_tuples(const gather_py_table *table, gather_py_rows *rows) {
  static const gather_options plain = GATHER_OPTIONS_INIT; /* the fill value was not read yet */
  gather_error error;
  int32_t rank;
  if (rows->call.op->tuples == GATHER_TUPLES_NONE) return 0;
  gather_status status = gather_output_shape(rows->call.op, &table->tensor, &rows->indices.tensor, &plain, rows->shape, &rank, &error);
  if (status != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  rows->lead--;
  rows->selected = (int32_t)rows->indices.shape[rows->lead];
  return 0;
}

/* ---- tensors ---- */

/* The table as the data of a call: its type, and a dtype. */
static gather_py_view data_of(const gather_py_table *table) {
  gather_py_view view;
  gather_py_view_init(&view);
  view.tensor.type = table->packed ? GATHER_TYPE_UINT8 : table->tensor.type;
  view.tensor.item_bytes = table->tensor.item_bytes;
  view.array = table->packed ? table->bytes_like : table->like; /* borrowed: this view is not cleared */
  return view;
}

/* The bytes of what an index selects. */
static int64_t selected_bytes(const gather_py_table *table, const gather_py_rows *rows) {
  int64_t bytes = table->row_bytes;
  for (int32_t d = 1; d < rows->selected; d++) bytes = table->shape[d] > 0 ? bytes / table->shape[d] : 0;
  return bytes;
}

/* For packed elements there is one dimension more. */
static int check_rank(const gather_py_table *table, const gather_py_rows *rows) {
  int32_t most = rows->lead + table->tensor.rank - rows->selected + 1;
  if (most <= GATHER_MAX_RANK) return 0;
  gather_py_fail(GATHER_RANK_MISMATCH, "indices", "the result would have %d dimensions; the maximum is %d", (int)most - 1,
                 GATHER_MAX_RANK - 1);
  return -1;
}

/* The shape of the caller's result array: rows of packed elements are bytes. Returns its rank, or -1. */
static int find_shape(const gather_py_table *table, gather_py_rows *rows) {
  int32_t rank = rows->lead;
  if (check_rank(table, rows) < 0) return -1;
  memcpy(rows->shape, rows->indices.shape, (size_t)rank * sizeof *rows->shape);
  if (table->packed) {
    rows->shape[rank] = selected_bytes(table, rows);
    return rank + 1;
  }
  for (int32_t d = rows->selected; d < table->tensor.rank; d++) rows->shape[rank++] = table->shape[d];
  return rank;
}

static int read_out(const gather_py_table *table, gather_py_rows *rows, int32_t rank) {
  gather_py_view data = data_of(table), *out = &rows->out;
  if (gather_py_read_out(rows->call.out, &data, out) < 0) return -1;
  if (gather_py_check_out_shape(out, rank, rows->shape) < 0) return -1;
  if (!gather_py_is_row_major(out)) {
    gather_py_fail(GATHER_UNSUPPORTED, "output", "out must be C-contiguous: rows are read directly into it");
    return -1;
  }
  /* NumPy's dtypes were compared; others have the machine's byte order. */
  if (out->array || !((out->tensor.flags ^ table->tensor.flags) & GATHER_TENSOR_BYTE_SWAPPED)) return 0;
  gather_py_fail(GATHER_TYPE_MISMATCH, "output", "out has a different byte order than the table");
  return -1;
}

static int make_out(const gather_py_table *table, gather_py_rows *rows, int32_t rank) {
  gather_py_view data = data_of(table);
  if (gather_py_output(&data, rank, rows->shape, &rows->out) < 0) return -1;
  if (table->row_bytes == 0) /* NumPy gives text of length 0 one character, which nothing would write */
    memset(rows->out.tensor.data, 0, (size_t)gather_tensor_bytes(&rows->out.tensor));
  return 0;
}

/* The output for the library: with the table's type, whatever type the caller's library has for it. */
static void settle(const gather_py_table *table, gather_py_rows *rows) {
  int32_t rank = rows->lead;
  rows->target = table->tensor;
  rows->target.data = rows->out.tensor.data;
  for (int32_t d = rows->selected; d < table->tensor.rank; d++) rows->shape[rank++] = table->shape[d];
  rows->target.rank = rank;
  rows->target.shape = rows->shape;
}

static int read_fill(const gather_py_table *table, gather_py_rows *rows) {
  gather_py_view data = data_of(table);
  data.array = table->like;
  return rows->call.fill ? gather_py_fill(NULL, &data, &rows->call, &rows->fill_owner, &rows->fill) : 0;
}

int gather_py_rows_read(const gather_py_function *function, gather_py_table *table, PyObject *const *args, Py_ssize_t count,
                        PyObject *names, gather_py_rows *rows) {
  gather_py_call *call = &rows->call;
  if (read_arguments(function, (PyObject *)table, args, count, names, call) < 0) return -1;
  if (check_axis(call, table) < 0) return -1;
  if (read_indices(rows) < 0 || check_tuples(table, rows) < 0) return -1;
  int32_t rank = find_shape(table, rows);
  if (rank < 0 || read_fill(table, rows) < 0) return -1;
  if ((call->out ? read_out(table, rows, rank) : make_out(table, rows, rank)) < 0) return -1;
  settle(table, rows);
  rows->options = (gather_table_take_options)GATHER_TABLE_TAKE_INIT;
  rows->options.op = call->op;
  rows->options.on_bad = call->options.on_bad;
  rows->options.negative = call->options.negative;
  rows->options.fill = call->options.fill;
  return 0;
}

void gather_py_rows_clear(gather_py_rows *rows) {
  gather_py_view_clear(&rows->indices);
  gather_py_view_clear(&rows->out);
  gather_py_view_clear(&rows->fill);
  Py_CLEAR(rows->fill_owner);
}

/* The bytes of packed rows as elements. */
static PyObject *unpack(const gather_py_table *table, gather_py_rows *rows) {
  PyObject *shape = gather_py_tuple(rows->target.rank, rows->target.shape), *result = NULL;
  PyObject *function = shape ? gather_py_fallback("unpack_rows") : NULL;
  if (function) result = PyObject_CallFunctionObjArgs(function, rows->out.array, table->type, shape, NULL);
  Py_XDECREF(function);
  Py_XDECREF(shape);
  return result;
}

PyObject *gather_py_rows_result(const gather_py_table *table, gather_py_rows *rows) {
  PyObject *result = rows->call.out ? rows->call.out : rows->out.array;
  if (!rows->call.out && table->packed) return unpack(table, rows);
  Py_INCREF(result);
  return rows->call.out ? result : PyArray_Return((PyArrayObject *)result);
}

/* ---- taking ---- */

static gather_status take(gather_py_table *self, gather_py_rows *rows, gather_table **table, gather_error *error) {
  gather_status status = GATHER_USAGE;
  *table = gather_py_handle_enter(&self->handle);
  if (!*table) return status;
  const bool chunked = gather_table_describe(*table)->chunked;
  rows->options.executor = gather_py_executor(rows->call.threads, chunked ? INT64_MAX : gather_tensor_bytes(&rows->target));
  status = gather_table_take(*table, &rows->indices.tensor, &rows->target, &rows->options, error);
  gather_py_handle_leave(&self->handle);
  return status;
}

static PyObject *run(gather_py_table *self, gather_py_rows *rows) {
  gather_table *table;
  gather_error error;
  gather_py_interruption interruption;
  if (gather_py_table_may_wait(self) < 0) return NULL;
  gather_py_interruption_init(&interruption, &self->handle, &rows->options);
  interruption.state = PyEval_SaveThread();
  gather_status status = take(self, rows, &table, &error);
  PyEval_RestoreThread(interruption.state);
  if (interruption.interrupted) return NULL; /* with the handler's exception, even if the take had ended */
  if (!table) return gather_py_table_closed();
  return status == GATHER_OK ? gather_py_rows_result(self, rows) : gather_py_raise(&error);
}

/* part: the bytes of each row that are wanted, from the first one on, and how many; NULL = all. */
static PyObject *read_and_run(const gather_py_function *function, PyObject *object, PyObject *const *args, Py_ssize_t count,
                              PyObject *names, const int64_t *part) {
  gather_py_table *self = (gather_py_table *)object;
  gather_py_rows rows;
  PyObject *result = NULL;
  memset(&rows.call, 0, sizeof rows.call);
  gather_py_view_init(&rows.indices);
  gather_py_view_init(&rows.out);
  gather_py_view_init(&rows.fill);
  rows.fill_owner = NULL;
  if (gather_py_rows_read(function, self, args, count, names, &rows) == 0) {
    if (part) rows.options.part_from = part[0], rows.options.part_bytes = part[1];
    result = run(self, &rows);
  }
  gather_py_rows_clear(&rows);
  return result;
}

PyObject *gather_py_table_take(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return read_and_run(&TAKE, self, args, count, names, NULL);
}

PyObject *gather_py_table_take_part(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  int64_t part[2] = {0, 0};
  for (Py_ssize_t i = 0; count == 3 && i < 2; i++) {
    part[i] = PyLong_AsLongLong(args[1 + i]);
    if (part[i] == -1 && PyErr_Occurred()) return NULL;
  }
  if (count == 3) return read_and_run(&TAKE, self, args, 1, NULL, part);
  PyErr_SetString(PyExc_TypeError, "_take_part() takes indices, the first byte and a number of bytes");
  return NULL;
}

PyObject *gather_py_table_gather_nd(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return read_and_run(&GATHER_ND, self, args, count, names, NULL);
}

static int is_integers(PyObject *key) {
  if (PyLong_CheckExact(key)) return 1;
  if (!PyArray_CheckExact(key)) return 0;
  char kind = PyArray_DESCR((PyArrayObject *)key)->kind;
  return kind == 'i' || kind == 'u';
}

/* Integers are handled here; libgather/table.py handles the other kinds of NumPy indexing. */
PyObject *gather_py_table_subscript(PyObject *self, PyObject *key) {
  if (is_integers(key)) return read_and_run(&SUBSCRIPT, self, &key, 1, NULL, NULL);
  return PyObject_CallMethod(self, "_select", "(O)", key);
}
