/* SPDX-License-Identifier: MIT
 *
 * py_bag.c: _bag: embedding_bag of a table in memory, whose arguments bags.py has sorted.
 */
#include "py_scatter.h"

/* The operators of the documents, by the form of the bags. */
static const gather_py_scattering OFFSETS = {"bags by offsets", NULL, {"EmbeddingBagOffsetsSum", "EmbeddingBagOffsets"}, false};
static const gather_py_scattering PACKED = {"packed bags", NULL, {"EmbeddingBagPackedSum", "EmbeddingBagPacked"}, false};
static const gather_py_scattering SEGMENTS = {"bags by segment_ids", NULL, {"EmbeddingSegmentsSum"}, false};

typedef struct bag_request {
  PyObject *table, *indices, *offsets, *segment_ids, *segments, *weights, *default_index, *rules, *out; /* borrowed */
  gather_py_writing writing;
  int last_offset;
  const gather_op *op; /* NULL: of no document */
  gather_bags bags;
  gather_scatter_options options;
  int32_t threads;
  gather_py_view rows, ids, begins, of, by, to; /* table, indices, offsets, segment_ids, weights, out */
} bag_request;

static void bag_init(bag_request *call) {
  gather_py_view *const views[] = {&call->rows, &call->ids, &call->begins, &call->of, &call->by, &call->to};
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) gather_py_view_init(views[i]);
}

static void bag_clear(bag_request *call) {
  gather_py_view *const views[] = {&call->rows, &call->ids, &call->begins, &call->of, &call->by, &call->to};
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) gather_py_view_clear(views[i]);
}

static int find_rules(bag_request *call) {
  const gather_py_scattering *form = call->segment_ids != Py_None ? &SEGMENTS : call->offsets != Py_None ? &OFFSETS : &PACKED;
  if (call->rules == Py_None) return 0;
  call->op = gather_py_scattering_op(form, call->rules);
  return call->op ? 0 : -1;
}

static int read_options(bag_request *call) {
  gather_bags *bags = &call->bags;
  *bags = (gather_bags)GATHER_BAGS_INIT;
  bags->last_offset = call->last_offset != 0;
  if (gather_py_read_writing(&call->writing, &call->options, &call->threads) < 0) return -1;
  if (find_rules(call) < 0) return -1;
  if (call->segments != Py_None && gather_py_read_int(call->segments, "num_segments", &bags->segments) < 0) return -1;
  return gather_py_read_int(call->default_index, "default_index", &bags->default_index);
}

/* What cannot be read in place: objects, masks, tables in files. */
static int read_numbers(PyObject *object, const char *what, gather_py_view *view) {
  const int read = gather_py_read_input(object, what, view);
  if (read == 1) gather_py_fail(GATHER_TYPE_UNSUPPORTED, what, "%s must be an array of numbers, without a mask", what);
  return read == 0 ? 0 : -1;
}

/* An optional array of integers. */
static int read_ids(PyObject *object, gather_py_view *view, const gather_tensor **tensor) {
  if (object == Py_None) return 0;
  *tensor = &view->tensor;
  return gather_py_read_indices(object, view);
}

static int read_tensors(bag_request *call) {
  gather_bags *bags = &call->bags;
  if (read_numbers(call->table, "data", &call->rows) < 0 || read_ids(call->indices, &call->ids, &bags->indices) < 0 ||
      read_ids(call->offsets, &call->begins, &bags->offsets) < 0 || read_ids(call->segment_ids, &call->of, &bags->segment_ids) < 0)
    return -1;
  if (call->weights == Py_None) return 0;
  bags->weights = &call->by.tensor;
  return read_numbers(call->weights, "weights", &call->by);
}

/* [bags, ...]; the library looks at the rank of the table. */
static int make_output(bag_request *call) {
  const gather_tensor *table = &call->rows.tensor;
  int64_t shape[GATHER_MAX_RANK] = {0};
  gather_error error;
  if (call->out != Py_None) return gather_py_read_out(call->out, &call->rows, &call->to);
  if (gather_bags_count(&call->bags, &shape[0], &error) != GATHER_OK) {
    gather_py_raise(&error);
    return -1;
  }
  for (int32_t d = 1; d < table->rank; d++) shape[d] = call->rows.shape[d];
  return gather_py_output(&call->rows, table->rank > 0 ? table->rank : 1, shape, &call->to);
}

static gather_status apply(bag_request *call, gather_error *error) {
  return gather_embedding_bag(call->op, &call->rows.tensor, &call->bags, &call->to.tensor, &call->options, error);
}

static PyObject *run(bag_request *call) {
  gather_error error;
  gather_status status;
  const gather_tensor *table = &call->rows.tensor;
  const int64_t len = gather_tensor_len(&call->ids.tensor),
                row_count = table->rank > 0 && call->rows.shape[0] > 0 ? call->rows.shape[0] : 1;
  const int64_t bytes = gather_tensor_bytes(&call->to.tensor) + gather_tensor_bytes(table) / row_count * len;
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = apply(call, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    call->options.executor = gather_py_executor(call->threads, bytes);
    status = apply(call, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (call->out == Py_None) return gather_py_finish(call->table, &call->rows, &call->to, false);
  Py_INCREF(call->out);
  return call->out;
}

PyObject *gather_py_bag(PyObject *self, PyObject *args) {
  bag_request call = {.op = NULL};
  gather_py_writing *w = &call.writing;
  PyObject *result = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOOOOOpOOOOOOO", &call.table, &call.indices, &call.offsets, &call.segment_ids, &call.segments,
                        &call.weights, &call.default_index, &call.last_offset, &w->reduction, &call.rules, &w->mode, &w->negative,
                        &call.out, &w->threads, &w->accumulate))
    return NULL;
  bag_init(&call);
  if (read_options(&call) == 0 && read_tensors(&call) == 0 && make_output(&call) == 0) result = run(&call);
  bag_clear(&call);
  return result;
}
