/* SPDX-License-Identifier: MIT
 *
 * py_call.c: take, take_along_axis, gather_elements and gather_nd: one call from Python is one call of the engine.
 */
#include "py_call.h"
#include "py_layout.h"

#define ALL_TYPES UINT64_MAX
#define BIT(keyword) (1u << GATHER_PY_##keyword)
#define POLICY (BIT(OUT) | BIT(MODE) | BIT(FILL_VALUE) | BIT(NEGATIVE) | BIT(THREADS))

/* Our own rules: what NumPy's users expect; no document defines them. */
static const gather_op TAKE = {NULL,
                               "python",
                               "take",
                               0,
                               GATHER_FAMILY_GATHER,
                               true,
                               GATHER_ON_BAD_ERROR,
                               true,
                               GATHER_OFF_AXIS_NONE,
                               GATHER_AXIS_SOURCE_ATTRIBUTE,
                               ALL_TYPES,
                               ALL_TYPES,
                               "libgather's take",
                               GATHER_TUPLES_NONE,
                               false};
static const gather_op ALONG = {NULL,
                                "python",
                                "take_along_axis",
                                0,
                                GATHER_FAMILY_ELEMENTS,
                                true,
                                GATHER_ON_BAD_ERROR,
                                false,
                                GATHER_OFF_AXIS_EQUAL,
                                GATHER_AXIS_SOURCE_ATTRIBUTE,
                                ALL_TYPES,
                                ALL_TYPES,
                                "libgather's take_along_axis",
                                GATHER_TUPLES_NONE,
                                false};
static const gather_op ELEMENTS = {NULL,
                                   "python",
                                   "gather_elements",
                                   0,
                                   GATHER_FAMILY_ELEMENTS,
                                   true,
                                   GATHER_ON_BAD_ERROR,
                                   false,
                                   GATHER_OFF_AXIS_AT_MOST,
                                   GATHER_AXIS_SOURCE_ATTRIBUTE,
                                   ALL_TYPES,
                                   ALL_TYPES,
                                   "libgather's gather_elements",
                                   GATHER_TUPLES_NONE,
                                   false};
static const gather_op ND = {NULL,
                             "python",
                             "gather_nd",
                             0,
                             GATHER_FAMILY_ND,
                             true,
                             GATHER_ON_BAD_ERROR,
                             true,
                             GATHER_OFF_AXIS_NONE,
                             GATHER_AXIS_SOURCE_NONE,
                             ALL_TYPES,
                             ALL_TYPES,
                             "libgather's gather_nd",
                             GATHER_TUPLES_ANY,
                             false};

const gather_py_function gather_py_take = {"take", "Gather", &TAKE, false, 0, POLICY | BIT(AXIS) | BIT(BATCH_DIMS) | BIT(RULES)};
const gather_py_function gather_py_along = {"take_along_axis", NULL, &ALONG, true, -1, POLICY | BIT(AXIS)};
const gather_py_function gather_py_elements = {"gather_elements", "GatherElements", &ELEMENTS, false, 0, POLICY | BIT(AXIS) | BIT(RULES)};
const gather_py_function gather_py_nd = {"gather_nd", "GatherND", &ND, false, 0, POLICY | BIT(BATCH_DIMS) | BIT(RULES)};

/* One dimension to the length of the other: a length of 1 is repeated by a stride of 0. */
static int stretch(gather_py_view *view, int32_t d, int64_t length) {
  if (view->shape[d] == length) return 0;
  if (view->shape[d] != 1) return -1;
  view->shape[d] = length;
  view->strides[d] = 0;
  view->tensor.strides = view->strides;
  return 0;
}

/* Lengths are checked last: types, ranks and the axis come first, and the engine checks them. */
static int fail_broadcast(const gather_py_call *call, int32_t d, const gather_py_view *data, const gather_py_view *indices) {
  gather_error error;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_status status = gather_output_shape(call->op, &data->tensor, &indices->tensor, &call->options, shape, &rank, &error);
  if (status != GATHER_OK && status != GATHER_SHAPE_MISMATCH)
    gather_py_raise(&error);
  else
    gather_py_fail(GATHER_SHAPE_MISMATCH, "indices", "dimension %d of x has length %lld and of indices %lld: they do not broadcast", (int)d,
                   (long long)data->shape[d], (long long)indices->shape[d]);
  return -1;
}

/* NumPy's take_along_axis looks at the axis before the ranks: 0, or -1 with the engine's error about an axis that x does not have. */
static int check_axis(const gather_py_call *call, const gather_py_view *data, const gather_py_view *indices) {
  const int64_t axis = call->options.axis, rank = data->tensor.rank;
  gather_tensor like = indices->tensor; /* indices of x's shape */
  gather_error error;
  int64_t shape[GATHER_MAX_RANK];
  int32_t out_rank;
  if (axis >= -rank && axis < rank) return 0;
  like.rank = data->tensor.rank;
  like.shape = data->tensor.shape;
  like.strides = NULL;
  if (gather_output_shape(call->op, &data->tensor, &like, &call->options, shape, &out_rank, &error) == GATHER_OK) return 0;
  gather_py_raise(&error);
  return -1;
}

int gather_py_broadcast(const gather_py_call *call, gather_py_view *data, gather_py_view *indices) {
  int32_t rank = data->tensor.rank;
  int64_t axis = call->options.axis;
  if (!call->function->along) return 0;
  if (indices->tensor.rank != rank) return check_axis(call, data, indices); /* the engine reports ranks */
  int64_t on = axis < 0 ? axis + rank : axis;
  for (int32_t d = 0; d < rank; d++) {
    if (d == on) continue;
    int64_t length = data->shape[d] == 1 ? indices->shape[d] : data->shape[d];
    if (stretch(data, d, length) < 0 || stretch(indices, d, length) < 0) return fail_broadcast(call, d, data, indices);
  }
  return 0;
}

/* axis=None: take_along_axis flattens x; the others need an axis, except take if there is only one. */
static int choose_axis(gather_py_call *call, gather_py_tensors *t) {
  if (!call->axis_none && (call->axis_given || call->function != &gather_py_take)) return 0;
  if (call->function->along) {
    call->options.axis = 0;
    return gather_py_flatten(call->x, &t->data, &t->flat);
  }
  if (call->function == &gather_py_take && t->data.tensor.rank <= 1) return 0;
  PyErr_Format(PyExc_TypeError, "%s() needs axis=%s", call->function->name,
               call->function == &gather_py_take ? " if x has more than one dimension" : "");
  return -1;
}

void gather_py_tensors_init(gather_py_tensors *t) {
  gather_py_view_init(&t->data);
  gather_py_view_init(&t->indices);
  gather_py_view_init(&t->out);
  gather_py_view_init(&t->fill);
  t->flat = t->fill_owner = NULL;
}

static int read_tensors(gather_py_call *call, gather_py_tensors *t) {
  int result = gather_py_read_data(call->x, &t->data);
  return result ? result : gather_py_read_indices(call->indices, &t->indices);
}

/* Broadcasts them. */
static int fit_tensors(gather_py_call *call, gather_py_tensors *t) {
  if (choose_axis(call, t) < 0) return -1;
  if (call->fill && gather_py_fill(call->x, &t->data, call, &t->fill_owner, &t->fill) < 0) return -1;
  return gather_py_broadcast(call, &t->data, &t->indices);
}

int gather_py_tensors_read(gather_py_call *call, gather_py_tensors *t) {
  int result = read_tensors(call, t);
  return result ? result : fit_tensors(call, t);
}

void gather_py_tensors_clear(gather_py_tensors *t) {
  gather_py_view_clear(&t->data);
  gather_py_view_clear(&t->indices);
  gather_py_view_clear(&t->out);
  gather_py_view_clear(&t->fill);
  Py_XDECREF(t->flat);
  Py_XDECREF(t->fill_owner);
}

/* The shape of a new output. */
static int find_shape(gather_py_call *call, gather_py_tensors *t) {
  gather_error error;
  gather_status status = gather_output_shape(call->op, &t->data.tensor, &t->indices.tensor, &call->options, t->shape, &t->rank, &error);
  if (status == GATHER_OK) return 0;
  gather_py_raise(&error);
  return -1;
}

/* What the call moves, roughly. */
static int64_t work_of(const gather_py_tensors *t) { return gather_tensor_bytes(&t->out.tensor) + gather_tensor_bytes(&t->indices.tensor); }

static gather_status move(const gather_plan *plan, const gather_py_call *call, const gather_py_tensors *t, gather_error *error) {
  if (!plan) return gather_apply(call->op, &t->data.tensor, &t->indices.tensor, &t->out.tensor, &call->options, error);
  gather_run run = {sizeof run, t->data.tensor.data,       t->indices.tensor.data, t->out.tensor.data, call->options.executor,
                    NULL,       call->options.fresh_output};
  return gather_plan_run(plan, &run, error);
}

PyObject *gather_py_gather(const gather_plan *plan, gather_py_call *call, gather_py_tensors *t, int64_t bytes) {
  gather_error error;
  gather_status status;
  call->options.fresh_output = !call->out;
  if (bytes < GATHER_PY_RELEASE_BYTES) {
    status = move(plan, call, t, &error);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    call->options.executor = gather_py_executor(call->threads, bytes);
    status = move(plan, call, t, &error);
    PyEval_RestoreThread(state);
  }
  if (status != GATHER_OK) return gather_py_raise(&error);
  if (!call->out) return gather_py_finish(t->flat ? t->flat : call->x, &t->data, &t->out, true);
  Py_INCREF(call->out);
  return call->out;
}

/* Makes the plan and gathers. The tensors were read, and so was the output if it is the caller's. */
static PyObject *apply(gather_py_call *call, gather_py_tensors *t) {
  gather_py_recalled *left = gather_py_consider(call, t);
  PyObject *result = NULL;
  if (fit_tensors(call, t) == 0 && (call->out || (find_shape(call, t) == 0 && gather_py_output(&t->data, t->rank, t->shape, &t->out) == 0)))
    result = gather_py_gather(NULL, call, t, work_of(t));
  if (left && result)
    gather_py_decide(left, call, t);
  else if (left)
    gather_py_forget(left);
  return result;
}

/* By the plan of an earlier call, or a new one. */
static PyObject *apply_or_recall(gather_py_call *call, gather_py_tensors *t) {
  const int64_t *shape;
  PyObject *result = NULL;
  if (call->out && gather_py_read_out(call->out, &t->data, &t->out) < 0) return NULL;
  gather_py_recalled *left = gather_py_recall(call, t);
  if (!left) return apply(call, t);
  const gather_plan *plan = gather_py_recalled_plan(left, &t->rank, &shape);
  bool fits = !call->out || gather_py_is_planned(t->rank, shape, &t->out);
  if (fits && (call->out || gather_py_output(&t->data, t->rank, shape, &t->out) == 0)) result = gather_py_gather(plan, call, t, work_of(t));
  gather_py_leave(left);
  return fits ? result : apply(call, t);
}

static PyObject *run(const gather_py_function *function, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  gather_py_call call;
  gather_py_tensors tensors;
  PyObject *result = NULL;
  if (gather_py_read_call(function, args, count, names, &call) < 0) return NULL;
  gather_py_tensors_init(&tensors);
  int read = read_tensors(&call, &tensors);
  if (read == 0) result = apply_or_recall(&call, &tensors);
  if (read == 1) result = gather_py_fall_back(function->name, args, count, names);
  gather_py_tensors_clear(&tensors);
  return result;
}

PyObject *gather_py_call_take(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  (void)self;
  return run(&gather_py_take, args, count, names);
}

PyObject *gather_py_call_along(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  (void)self;
  return run(&gather_py_along, args, count, names);
}

PyObject *gather_py_call_elements(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  (void)self;
  return run(&gather_py_elements, args, count, names);
}

PyObject *gather_py_call_nd(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  (void)self;
  return run(&gather_py_nd, args, count, names);
}
