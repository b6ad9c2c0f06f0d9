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
#include "py_index_tuples.h"

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
static const gather_py_function INDEX = {"index", NULL, &ALONG_ONE,
                                         false,   0,    BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE) | BIT(THREADS)};

/* A call. */
typedef struct indexing_call {
  gather_py_call call;
  gather_py_tensors t; /* indices are not used: the columns' are in `indexing` */
  gather_py_indexing indexing;
} indexing_call;

/* ---- the tensors of the engine ---- */

/* x from the first element of the view on. */
static void start_data(gather_py_made *made, const gather_py_indexing *ix) {
  const gather_tensor *x = &ix->x->tensor;
  const bool packed = gather_type_get(x->type)->packing != GATHER_PACKING_BYTES;
  gather_py_made_start(made, x, x->data && !packed ? (char *)x->data + ix->offset : x->data);
  if (packed) made->tensor.packed_offset += ix->offset;
}

/* The strides of the caller's output, whose dimensions are the result's. */
static void push_kept(const gather_py_indexing *ix, int32_t first, int32_t last, const int64_t *out_strides, gather_py_made *data,
                      gather_py_made *out) {
  for (int32_t k = first; k < last; k++) {
    if (ix->kept[k].len == 1) continue;
    gather_py_made_push(data, ix->kept[k].len, ix->kept[k].step);
    gather_py_made_push(out, ix->kept[k].len, out_strides[k < ix->place ? k : k + ix->rank]);
  }
}

static void push_broadcast(const gather_py_indexing *ix, const int64_t *out_strides, gather_py_made *out) {
  for (int32_t d = 0; d < ix->rank; d++) gather_py_made_push(out, ix->shape[d], out_strides[ix->place + d]);
}

/* ---- the three gathers ---- */

static gather_status copy_view(const indexing_call *c, const int64_t *out_strides, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  static const int64_t first = 0;
  const gather_tensor index = {.data = (void *)(uintptr_t)&first, .type = GATHER_TYPE_INT64};
  gather_py_made data, out;
  start_data(&data, ix);
  gather_py_made_start(&out, &c->t.out.tensor, c->t.out.tensor.data);
  gather_py_made_push(&data, 1, 0);
  push_kept(ix, 0, ix->kept_count, out_strides, &data, &out);
  gather_options options = c->call.options;
  options.on_bad = GATHER_ON_BAD_ERROR;
  return gather_apply(&ALONG_ONE, &data.tensor, &index, &out.tensor, &options, error);
}

static gather_status along_one(const indexing_call *c, const int64_t *out_strides, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  const gather_py_column *column = ix->columns;
  gather_py_made data, indices, out;
  start_data(&data, ix);
  gather_py_made_start(&out, &c->t.out.tensor, c->t.out.tensor.data);
  gather_py_made_indices(&indices, column);
  gather_options options = c->call.options;
  push_kept(ix, 0, ix->place, out_strides, &data, &out);
  options.axis = data.tensor.rank;
  gather_py_made_push(&data, column->len, column->step);
  push_broadcast(ix, out_strides, &out);
  push_kept(ix, ix->place, ix->kept_count, out_strides, &data, &out);
  for (int32_t d = 0; d < ix->rank; d++) gather_py_made_push(&indices, ix->shape[d], column->strides[d]);
  return gather_apply(&ALONG_ONE, &data.tensor, &indices.tensor, &out.tensor, &options, error);
}

static gather_status by_tuples(indexing_call *c, const int64_t *out_strides, gather_error *error) {
  const gather_py_indexing *ix = &c->indexing;
  gather_py_made data, indices, out;
  if (ix->rank + 1 > GATHER_MAX_RANK)
    return gather_error_set(error, GATHER_UNSUPPORTED, "the arrays of the key broadcast to rank %d", (int)ix->rank);
  gather_status status = gather_py_tuples_make(&c->indexing, &c->t.out, &indices, error);
  if (status != GATHER_OK) return status;
  start_data(&data, ix);
  gather_py_made_start(&out, &c->t.out.tensor, c->t.out.tensor.data);
  for (int32_t i = 0; i < ix->column_count; i++) gather_py_made_push(&data, ix->columns[i].len, ix->columns[i].step);
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
  gather_py_tuples_read_again(ix, column, error);
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

static int make_out(indexing_call *c) {
  gather_py_tensors *t = &c->t;
  t->rank = result_shape(&c->indexing, t->shape);
  if (c->call.out && gather_py_read_out(c->call.out, &t->data, &t->out) < 0) return -1;
  if (c->call.out) return gather_py_check_out_shape(&t->out, t->rank, t->shape);
  if (gather_py_output(&t->data, t->rank, t->shape, &t->out) < 0) return -1;
  gather_py_view_settle(&t->out);
  return 0;
}

static PyObject *gather(indexing_call *c) {
  gather_error error;
  gather_status status;
  const int64_t bytes = gather_tensor_bytes(&c->t.out.tensor) + c->indexing.len * c->indexing.column_count * (int64_t)sizeof(int64_t);
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
  if (gather_py_key_read(c->call.indices, t->data.tensor.rank, &ix->key) < 0 || gather_py_indexing_read(ix) < 0) return NULL;
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
