/* SPDX-License-Identifier: MIT
 *
 * py_index.c: libgather.index(x, key): one gather of a strided view of x. No column is a copy, one column a Gather along its axis,
 * several a GatherND: then the axes of the columns are moved to the front of x, and the broadcast dimensions to the front of the
 * output. Dimensions of length 1 stay out of it, so that the rank of what the engine sees is small.
 */
#include "py_index.h"

#include <stdlib.h>
#include <string.h>

#include "py_call.h"
#include "py_index_error.h"

#define BIT(keyword) (1u << GATHER_PY_##keyword)

/* Our own rules: NumPy's. */
static const gather_op ALONG_ONE = {.dialect = "python",
                                    .name = "index",
                                    .family = GATHER_FAMILY_GATHER,
                                    .negative = true,
                                    .on_bad = GATHER_ON_BAD_ERROR,
                                    .off_axis = GATHER_OFF_AXIS_NONE,
                                    .types = UINT64_MAX,
                                    .index_types = UINT64_MAX,
                                    .document = "libgather's index"};
static const gather_op BY_TUPLES = {.dialect = "python",
                                    .name = "index",
                                    .family = GATHER_FAMILY_ND,
                                    .negative = true,
                                    .on_bad = GATHER_ON_BAD_ERROR,
                                    .off_axis = GATHER_OFF_AXIS_NONE,
                                    .axis_source = GATHER_AXIS_SOURCE_NONE,
                                    .types = UINT64_MAX,
                                    .index_types = UINT64_MAX,
                                    .document = "libgather's index",
                                    .tuples = GATHER_TUPLES_NONEMPTY};
static const gather_py_function INDEX = {
    "index", NULL, &ALONG_ONE, false, 0, BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE) | BIT(THREADS)};

/* A call. */
typedef struct indexing_call {
  gather_py_call call;
  gather_py_tensors t; /* indices are not used: the columns' are in `indexing` */
  gather_py_indexing indexing;
} indexing_call;

/* ---- the tensors of the engine ---- */

/* A tensor whose dimensions are appended. */
typedef struct made_tensor {
  gather_tensor tensor;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
} made_tensor;

static void start(made_tensor *made, const gather_tensor *like, void *data) {
  made->tensor = *like;
  made->tensor.data = data;
  made->tensor.rank = 0;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
}

static void push(made_tensor *made, int64_t len, int64_t step) {
  made->shape[made->tensor.rank] = len;
  made->strides[made->tensor.rank++] = step;
}

/* x from the first element of the view on. */
static void start_data(made_tensor *made, const gather_py_indexing *ix) {
  const gather_tensor *x = &ix->x->tensor;
  const bool packed = gather_type_get(x->type)->packing != GATHER_PACKING_BYTES;
  start(made, x, x->data && !packed ? (char *)x->data + ix->offset : x->data);
  if (packed) made->tensor.packed_offset += ix->offset;
}

/* The strides of the caller's output, whose dimensions are the result's. */
static void push_kept(const gather_py_indexing *ix, int32_t first, int32_t last, const int64_t *out_strides,
                      made_tensor *data, made_tensor *out) {
  for (int32_t k = first; k < last; k++) {
    if (ix->kept[k].len == 1) continue;
    push(data, ix->kept[k].len, ix->kept[k].step);
    push(out, ix->kept[k].len, out_strides[k < ix->place ? k : k + ix->rank]);
  }
}

static void push_broadcast(const gather_py_indexing *ix, const int64_t *out_strides, made_tensor *out) {
  for (int32_t d = 0; d < ix->rank; d++) push(out, ix->shape[d], out_strides[ix->place + d]);
}

/* The numbers of the only column. */
static void start_indices(made_tensor *made, const gather_py_column *column) {
  static const gather_tensor none;
  start(made, &none, (void *)(uintptr_t)column->numbers);
  made->tensor.type = column->type;
  made->tensor.flags = column->swapped ? GATHER_TENSOR_BYTE_SWAPPED : 0;
}

/* ---- the three gathers ---- */

static gather_status copy_view(const indexing_call *c, const int64_t *out_strides, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  static const int64_t first = 0;
  const gather_tensor index = {.data = (void *)(uintptr_t)&first, .type = GATHER_TYPE_INT64};
  made_tensor data, out;
  start_data(&data, ix);
  start(&out, &c->t.out.tensor, c->t.out.tensor.data);
  push(&data, 1, 0);
  push_kept(ix, 0, ix->kept_count, out_strides, &data, &out);
  gather_options options = c->call.options;
  options.on_bad = GATHER_ON_BAD_ERROR;
  return gather_apply(&ALONG_ONE, &data.tensor, &index, &out.tensor, &options, error);
}

static gather_status along_one(const indexing_call *c, const int64_t *out_strides, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  const gather_py_column *column = ix->columns;
  made_tensor data, indices, out;
  start_data(&data, ix);
  start(&out, &c->t.out.tensor, c->t.out.tensor.data);
  start_indices(&indices, column);
  gather_options options = c->call.options;
  push_kept(ix, 0, ix->place, out_strides, &data, &out);
  options.axis = data.tensor.rank;
  push(&data, column->len, column->step);
  push_broadcast(ix, out_strides, &out);
  push_kept(ix, ix->place, ix->kept_count, out_strides, &data, &out);
  for (int32_t d = 0; d < ix->rank; d++) push(&indices, ix->shape[d], column->strides[d]);
  return gather_apply(&ALONG_ONE, &data.tensor, &indices.tensor, &out.tensor, &options, error);
}

static gather_status no_memory(gather_error *error) {
  return gather_error_set(error, GATHER_OUT_OF_MEMORY, "no memory for the tuples of the key's arrays");
}

/* A tensor's bytes: [*low, *high), as numbers. */
static void find_span(const gather_tensor *tensor, uint64_t *low, uint64_t *high) {
  const gather_type_info *type = gather_type_get(tensor->type);
  const bool packed = type->packing != GATHER_PACKING_BYTES;
  *low = *high = (uint64_t)(uintptr_t)tensor->data;
  *high += type->kind == GATHER_KIND_OPAQUE ? (uint64_t)tensor->item_bytes : 16;
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] == 0) *high = *low;
    if (tensor->shape[d] == 0) return;
    const int64_t last = (tensor->shape[d] - 1) * tensor->strides[d] / (packed ? 2 : 1);
    if (last < 0)
      *low -= (uint64_t)-last;
    else
      *high += (uint64_t)last;
  }
}

/* Whether the output is in between: two arrays are always evenly spaced, with anything between them, and the engine would refuse an
 * output there. */
static bool is_apart(const made_tensor *indices, const gather_py_view *out) {
  uint64_t low, high, out_low, out_high;
  gather_tensor written = out->tensor;
  written.strides = out->strides;
  find_span(&indices->tensor, &low, &high);
  find_span(&written, &out_low, &out_high);
  return high <= out_low || out_high <= low;
}

enum { HUGE_BYTES = 4 << 20 };

/* The tuples, in memory as they are, or copied: column after column. */
static gather_status make_tuples(indexing_call *c, made_tensor *indices, gather_error *error) {
  gather_py_indexing *ix = &c->indexing;
  int64_t step;
  start_indices(indices, ix->columns);
  if (gather_py_columns_are_even(ix, &step)) {
    for (int32_t d = 0; d < ix->rank; d++) push(indices, ix->shape[d], ix->columns[0].strides[d]);
    push(indices, ix->column_count, step);
    if (is_apart(indices, &c->t.out)) return GATHER_OK;
  }
  /* Neither product overflows: broadcasting checked it. */
  const uint64_t bytes = (uint64_t)ix->len * (uint64_t)ix->column_count * sizeof *ix->tuples;
  if (bytes > SIZE_MAX / 2) return no_memory(error);
  ix->tuples = malloc((size_t)bytes + 1);
  if (!ix->tuples) return no_memory(error);
  if (bytes >= HUGE_BYTES) (void)gather_advise_huge_pages(ix->tuples, (size_t)bytes); /* fewer page faults */
  for (int32_t i = 0; i < ix->column_count; i++) gather_py_column_copy(ix, &ix->columns[i], ix->tuples + i * ix->len);
  start(indices, &indices->tensor, ix->tuples);
  indices->tensor.type = GATHER_TYPE_INT64, indices->tensor.flags = 0;
  int64_t strides[GATHER_MAX_RANK];
  gather_py_row_major(ix->rank, ix->shape, (int64_t)sizeof *ix->tuples, strides);
  for (int32_t d = 0; d < ix->rank; d++) push(indices, ix->shape[d], strides[d]);
  push(indices, ix->column_count, ix->len * (int64_t)sizeof *ix->tuples);
  return GATHER_OK;
}

static gather_status by_tuples(indexing_call *c, const int64_t *out_strides, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  made_tensor data, indices, out;
  if (ix->rank + 1 > GATHER_MAX_RANK)
    return gather_error_set(error, GATHER_UNSUPPORTED, "the arrays of the key broadcast to rank %d", (int)ix->rank);
  gather_status status = make_tuples(c, &indices, error);
  if (status != GATHER_OK) return status;
  start_data(&data, ix);
  start(&out, &c->t.out.tensor, c->t.out.tensor.data);
  for (int32_t i = 0; i < ix->column_count; i++) push(&data, ix->columns[i].len, ix->columns[i].step);
  push_broadcast(ix, out_strides, &out);
  push_kept(ix, 0, ix->kept_count, out_strides, &data, &out);
  return gather_apply(&BY_TUPLES, &data.tensor, &indices.tensor, &out.tensor, &c->call.options, error);
}

static gather_status move(indexing_call *c, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  const int64_t *out_strides = c->t.out.strides;
  for (int32_t d = 0; d < ix->rank && ix->column_count == 0; d++)
    if (ix->shape[d] == 0) return GATHER_OK; /* a False: the output has no elements */
  if (ix->column_count == 0) return copy_view(c, out_strides, error);
  return ix->column_count == 1 ? along_one(c, out_strides, error) : by_tuples(c, out_strides, error);
}

/* ---- errors ---- */

/* The number at the error's position: tuples were widened to int64. */
static void read_again(const gather_py_indexing *ix, const gather_py_column *column, gather_error *error) {
  int64_t offset = 0;
  if (!ix->tuples || column->type != GATHER_TYPE_UINT64) return;
  for (int32_t d = 0; d < ix->rank; d++) offset += error->position[d] * column->strides[d];
  const char *at = column->numbers + offset;
  char bytes[sizeof(uint64_t)];
  for (size_t b = 0; b < sizeof bytes; b++) bytes[b] = at[column->swapped ? sizeof bytes - 1 - b : b];
  memcpy(&error->value, bytes, sizeof bytes);
  error->value_is_unsigned = true;
}

/* From the engine's tensors to x and the key. */
static void raise(const indexing_call *c, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  if (error->status == GATHER_UNSUPPORTED) { /* too many columns: an IndexError in NumPy */
    (void)gather_py_key_fail(error->status, "%s", error->message);
    return;
  }
  if (error->status != GATHER_INDEX_OUT_OF_RANGE) {
    (void)gather_py_raise(error);
    return;
  }
  int64_t component = ix->column_count > 1 ? error->position[ix->rank] : 0;
  const gather_py_column *column = &ix->columns[component];
  error->position_rank = ix->rank;
  error->axis = column->axis;
  read_again(ix, column, error);
  (void)gather_py_index_raise(error, column->item, column->len);
}

/* ---- the call ---- */

static int32_t result_shape(const gather_py_indexing *ix, int64_t *shape) {
  int32_t rank = 0;
  for (int32_t k = 0; k < ix->place; k++) shape[rank++] = ix->kept[k].len;
  for (int32_t d = 0; d < ix->rank; d++) shape[rank++] = ix->shape[d];
  for (int32_t k = ix->place; k < ix->kept_count; k++) shape[rank++] = ix->kept[k].len;
  return rank;
}

static int check_out(const indexing_call *c) {
  const gather_py_view *out = &c->t.out;
  if (out->tensor.rank == c->t.rank && memcmp(out->shape, c->t.shape, (size_t)c->t.rank * sizeof *out->shape) == 0)
    return 0;
  PyObject *have = gather_py_tuple(out->tensor.rank, out->shape), *want = gather_py_tuple(c->t.rank, c->t.shape);
  PyObject *text = have && want ? PyUnicode_FromFormat("out has the shape %R, not %R", have, want) : NULL;
  const char *message = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  if (message) gather_py_fail(GATHER_SHAPE_MISMATCH, "output", "%s", message);
  Py_XDECREF(have);
  Py_XDECREF(want);
  Py_XDECREF(text);
  return -1;
}

static int make_out(indexing_call *c) {
  gather_py_tensors *t = &c->t;
  t->rank = result_shape(&c->indexing, t->shape);
  if (c->call.out) return gather_py_read_out(c->call.out, &t->data, &t->out) < 0 ? -1 : check_out(c);
  if (gather_py_output(&t->data, t->rank, t->shape, &t->out) < 0) return -1;
  gather_py_view_settle(&t->out);
  return 0;
}

static PyObject *gather(indexing_call *c) {
  gather_error error;
  gather_status status;
  const int64_t bytes =
      gather_tensor_bytes(&c->t.out.tensor) + c->indexing.len * c->indexing.column_count * (int64_t)sizeof(int64_t);
  c->call.options.fresh_output = !c->call.out;
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = move(c, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    c->call.options.executor = gather_py_executor(c->call.threads, bytes);
    status = move(c, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) {
    raise(c, &error);
    return NULL;
  }
  if (!c->call.out) return gather_py_finish(c->call.x, &c->t.data, &c->t.out, !c->indexing.key.ellipsis);
  Py_INCREF(c->call.out);
  return c->call.out;
}

/* x was read. */
static PyObject *index_data(indexing_call *c) {
  gather_py_indexing *ix = &c->indexing;
  gather_py_tensors *t = &c->t;
  ix->x = &t->data;
  ix->options = &c->call.options;
  if (gather_py_key_read(c->call.indices, t->data.tensor.rank, &ix->key) < 0 || gather_py_indexing_read(ix) < 0)
    return NULL;
  if (c->call.fill && gather_py_fill(c->call.x, &t->data, &c->call, &t->fill_owner, &t->fill) < 0) return NULL;
  return make_out(c) < 0 ? NULL : gather(c);
}

PyObject *gather_py_call_index(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  indexing_call c;
  PyObject *result = NULL;
  (void)self;
  if (gather_py_read_call(&INDEX, args, count, names, &c.call) < 0) return NULL;
  memset(&c.indexing, 0, sizeof c.indexing);
  gather_py_tensors_init(&c.t);
  int read = gather_py_read_data(c.call.x, &c.t.data);
  if (read == 0) result = index_data(&c);
  if (read == 1) result = gather_py_fall_back(INDEX.name, args, count, names);
  gather_py_indexing_clear(&c.indexing);
  gather_py_tensors_clear(&c.t);
  return result;
}
