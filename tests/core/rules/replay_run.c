/* SPDX-License-Identifier: MIT
 *
 * replay_run.c: one case through the public calls: one call, a plan, shapes.
 */
#include <inttypes.h>

#include "core/rules/replay.h"

static gather_options options_for(const replay_case *c) {
  gather_options options = options_of(c->axis, c->batch_dims);
  options.on_bad = c->on_bad, options.negative = c->negative, options.fill = c->fill;
  return options;
}

static void run_call(const replay_case *c, const gather_executor *executor, replay_result *r) {
  gather_options options = options_for(c);
  options.executor = executor, options.bad_count = &r->bad_count, options.fresh_output = r->fresh;
  r->status = gather_apply(c->op, &c->tensors[REPLAY_DATA].tensor, &c->tensors[REPLAY_INDICES].tensor, &c->tensors[REPLAY_OUT].tensor,
                           &options, &r->error);
}

static void check_plan(const replay_case *c, const gather_plan *plan, const gather_run *run) {
  int64_t shape[GATHER_MAX_RANK];
  assert_int_equal(gather_plan_shape(plan, shape), c->rank);
  for (int32_t d = 0; d < c->rank; d++) assert_int_equal(shape[d], c->shape[d]);
  gather_error error;
  const gather_status status = gather_plan_check(plan, run, &error);
  if (status != c->status) fail_msg("gather_plan_check returned %s", gather_status_name(status));
  if (status != GATHER_OK) replay_compare_error(c, &error);
}

/* A plan that is made without the data pointers; where the output is plain, perhaps without the output. */
static void run_plan(const replay_case *c, const gather_executor *executor, bool without_output, replay_result *r) {
  gather_tensor bare[REPLAY_TENSORS];
  for (int t = 0; t < REPLAY_TENSORS; t++) bare[t] = c->tensors[t].tensor, bare[t].data = NULL;
  const gather_tensor *out = &bare[REPLAY_OUT];
  if (without_output && c->wanted && !out->strides && out->packed_offset == 0) out = NULL;
  gather_options options = options_for(c);
  gather_plan *plan;
  r->status = gather_plan_create(c->op, &bare[REPLAY_DATA], &bare[REPLAY_INDICES], out, &options, &plan, &r->error);
  if (r->status != GATHER_OK) return;
  const gather_run run = {ITEMS(sizeof run, c->tensors[REPLAY_DATA].tensor.data, c->tensors[REPLAY_INDICES].tensor.data,
                                c->tensors[REPLAY_OUT].tensor.data, executor, &r->bad_count, r->fresh)};
  check_plan(c, plan, &run);
  r->status = gather_plan_run(plan, &run, &r->error);
  gather_plan_destroy(plan);
}

static void run_once(const replay_case *c, replay_mode mode, int64_t how, replay_result *r) {
  const gather_executor *executor = replay_executor(mode);
  r->error = dirty_error(), r->bad_count = -99;
  if (how % 2)
    run_plan(c, executor, how % 4 == 1, r);
  else
    run_call(c, executor, r);
}

/* Two runs that are the same but for what the output holds before, complementary bits: together they show each byte that a task writes. */
static void run_apart(replay_case *c, int64_t how, replay_result *r) {
  const int64_t size = c->tensors[REPLAY_OUT].size;
  replay_apart_begin(replay_output(), size);
  replay_mark(c, true);
  run_once(c, REPLAY_APART, how, r);
  assert_status(r->status, c->status);
  replay_mark(c, false);
  run_once(c, REPLAY_APART, how, r);
  if (replay_apart_conflict() >= 0)
    fail_msg("two tasks wrote byte %" PRId64 " of the %" PRId64 " that the output spans", replay_apart_conflict(), size);
}

void replay_run(replay_case *c, replay_mode mode) {
  replay_result result = {.fresh = replay_below(2)};
  const int64_t how = replay_below(4);
  gather_tensor *indices = &c->tensors[REPLAY_INDICES].tensor;
  const uint32_t flags = indices->flags;
  if (replay_below(3) == 0) indices->flags |= (uint32_t)GATHER_TENSOR_SHARED;
  replay_place(c);
  if (mode == REPLAY_APART)
    run_apart(c, how, &result);
  else
    run_once(c, mode, how, &result);
  replay_compare(c, &result);
  indices->flags = flags;
}

/* ---- shapes */

/* A shape that the tensor's fits: its own, or wider by chance. */
static void widen(gather_shape *shape, const gather_tensor *tensor, bool wider) {
  shape->rank = tensor->rank;
  for (int32_t d = 0; d < tensor->rank; d++) {
    const int64_t n = tensor->shape[d], below = wider ? replay_below(3) : 0, above = wider ? replay_below(4) : 0;
    shape->dims[d] = (gather_dim){n < below ? 0 : n - below, above == 3 ? GATHER_DIM_UNBOUNDED : n + above, NULL};
  }
}

/* Whether the answer's shape is in the inferred one; where all is known, it must be that. */
static void compare_shape(const replay_case *c, const gather_shape *shape, bool known) {
  if (shape->rank < 0 && !known) return;
  assert_int_equal(shape->rank, c->rank);
  for (int32_t d = 0; d < c->rank; d++) {
    const gather_dim *dim = &shape->dims[d];
    if (dim->min > c->shape[d] || dim->max < c->shape[d] || (known && dim->min != dim->max))
      fail_msg("dimension %d is inferred as [%" PRId64 ", %" PRId64 "], and is %" PRId64, (int)d, dim->min, dim->max, c->shape[d]);
  }
}

static void infer(const replay_case *c, const gather_shape *data, const gather_shape *indices, int64_t axis, bool known) {
  static gather_shape out;
  gather_options options = options_for(c);
  options.axis = axis;
  gather_error error = dirty_error();
  const gather_status status = gather_infer_shape(c->op, data, indices, &options, &out, &error);
  assert_status(status, c->shape_status);
  if (status == GATHER_OK)
    compare_shape(c, &out, known);
  else
    assert_error(&error, status);
}

void replay_shapes(const replay_case *c) {
  static gather_shape data, indices;
  const gather_tensor *x = &c->tensors[REPLAY_DATA].tensor, *by = &c->tensors[REPLAY_INDICES].tensor;
  const gather_options options = options_for(c);
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error = dirty_error();
  const gather_status status = gather_output_shape(c->op, x, by, &options, shape, &rank, &error);
  assert_status(status, c->shape_status);
  widen(&data, x, false), widen(&indices, by, false);
  infer(c, &data, &indices, c->axis, true);
  if (status != GATHER_OK) {
    assert_error(&error, status);
    return;
  }
  assert_int_equal(rank, c->rank);
  for (int32_t d = 0; d < rank; d++) assert_int_equal(shape[d], c->shape[d]);
  widen(&data, x, true), widen(&indices, by, true);
  infer(c, &data, &indices, c->axis, false);
  infer(c, &data, &indices, GATHER_AXIS_UNKNOWN, false);
  if (replay_below(2))
    data.rank = -1;
  else
    indices.rank = -1;
  infer(c, &data, &indices, c->axis, false);
}
