/* SPDX-License-Identifier: MIT
 *
 * apply.c: the functions that run a gather: in one call, or by a plan that is kept.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/op/family.h"
#include "core/op/op.h"
#include "core/plan/execution.h"
#include "core/plan/plan.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"

/* ---- one call: a plan on the stack, run once */

static gather_status apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                           const gather_options *options, gather_error *error) {
  gather_options full;
  gather_plan plan;
  GATHER_TRY(gather_options_read(options, &full, error));
  if (!out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_lower_nest(op, data, indices, out, &full, &plan, error));
  gather_run run = {sizeof run, data->data, indices->data, out->data, full.executor, full.bad_count, full.fresh_output};
  if (gather_plan_execute_few(&plan, &run)) return GATHER_OK;
  gather_plan_choose(&plan);
  return gather_plan_execute(&plan, &run, error);
}

gather_status gather_apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                           const gather_options *options, gather_error *error) {
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  return gather_fail_op(error, op, apply(op, data, indices, out, options, error));
}

gather_status gather_take(const gather_tensor *data, const gather_tensor *indices, int64_t axis, const gather_tensor *out,
                          gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = axis;
  return gather_apply(GATHER_OP_OF_TAKE, data, indices, out, &options, error);
}

gather_status gather_elements(const gather_tensor *data, const gather_tensor *indices, int64_t axis, const gather_tensor *out,
                              gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = axis;
  return gather_apply(GATHER_OP_OF_ELEMENTS, data, indices, out, &options, error);
}

#if !defined(GATHER_ONLY_GATHER)
gather_status gather_nd(const gather_tensor *data, const gather_tensor *indices, int64_t batch_dims, const gather_tensor *out,
                        gather_error *error) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.batch_dims = batch_dims;
  return gather_apply(GATHER_OP_OF_ND, data, indices, out, &options, error);
}
#endif

gather_status gather_infer_value(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                                 const gather_options *options, gather_error *error) {
  /* A length is an element; all bits zero is the length 0, as rules that fill with zeros need. */
  if (data && (data->type != GATHER_TYPE_OPAQUE || data->item_bytes != (int64_t)sizeof(gather_dim)))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data", "data must have gather_dim elements");
  return gather_apply(op, data, indices, out, options, error);
}

gather_status gather_axis_read(const gather_tensor *axis, int64_t *value, gather_error *error) {
  GATHER_TRY(gather_tensor_check_input(axis, "axis", error));
  if (!gather_type_is_index(axis->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "axis", "the axis must be an integer, not %s",
                             gather_type_get(axis->type)->name);
  if (gather_tensor_len(axis) != 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "axis", "the axis must be one element, not %" PRId64, gather_tensor_len(axis));
  if (!axis->data) return gather_fail_input(error, GATHER_USAGE, "axis", "the axis's data pointer is NULL");
  const gather_index_rule rule = {.type = axis->type, .swapped = (axis->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0};
  *value = gather_index_value(&rule, axis->data);
  if (axis->type == GATHER_TYPE_UINT64 && *value < 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "the axis is %" PRIu64, (uint64_t)*value);
  return GATHER_OK;
}

/* ---- plans on the heap */

/* A plan on the heap. A fill element, which may have any size, is stored after it. */
typedef struct {
  gather_plan plan;
  gather_winners winners;
} kept_plan;

static void keep_fill(kept_plan *kept) {
  gather_plan *plan = &kept->plan;
  if (!plan->fill || plan->packed) return;
  void *fill = kept + 1;
  memcpy(fill, plan->fill, (size_t)plan->fill_bytes);
  plan->fill = fill;
}

static gather_status create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                            const gather_options *options, gather_plan **plan, gather_error *error) {
  gather_options full;
  gather_plan local;
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(gather_lower(op, data, indices, out, &full, &local, error));
  kept_plan *kept = gather_alloc((int64_t)sizeof *kept + (local.fill ? local.fill_bytes : 0));
  if (!kept) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a plan");
  kept->plan = local;
  for (int order = 0; order < GATHER_ORDERS; order++)
    atomic_init(&kept->winners.of[order].runs, 0), atomic_init(&kept->winners.of[order].result, 0);
  kept->plan.winners = &kept->winners;
  keep_fill(kept);
  *plan = &kept->plan;
  return GATHER_OK;
}

gather_status gather_plan_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                                 const gather_options *options, gather_plan **plan, gather_error *error) {
  if (!op || !plan) return gather_fail(error, GATHER_USAGE, "the operator or `plan` is NULL");
  *plan = NULL;
  return gather_fail_op(error, op, create(op, data, indices, out, options, plan, error));
}

void gather_plan_destroy(gather_plan *plan) { gather_free(plan); }

/* Sets *run to the caller's struct if it has the size of this header's, else to `full`. */
static gather_status read_run(const gather_plan *plan, const gather_run **run, gather_run *full, gather_error *error) {
  if (!plan || !*run) return gather_fail(error, GATHER_USAGE, "the plan or `run` is NULL");
  if ((*run)->size == sizeof **run) return GATHER_OK;
  *full = (gather_run)GATHER_RUN_INIT;
  GATHER_TRY(gather_struct_read(full, sizeof *full, *run, "gather_run", "GATHER_RUN_INIT", error));
  *run = full;
  return GATHER_OK;
}

gather_status gather_plan_run(const gather_plan *plan, const gather_run *run, gather_error *error) {
  gather_run full;
  GATHER_TRY(read_run(plan, &run, &full, error));
  return gather_fail_op(error, plan->op, gather_plan_execute(plan, run, error));
}

gather_status gather_plan_check(const gather_plan *plan, const gather_run *run, gather_error *error) {
  gather_index_state state;
  int64_t bad;
  gather_status status;
  gather_run full;
  GATHER_TRY(read_run(plan, &run, &full, error));
  GATHER_TRY(gather_executor_check(run->executor, error));
  status = gather_plan_check_indices(plan, run->indices, plan->shared, run->executor, &state, &bad, error);
  if (status == GATHER_OK && run->bad_count) *run->bad_count = bad;
  return gather_fail_op(error, plan->op, status);
}

int32_t gather_plan_shape(const gather_plan *plan, int64_t *shape) {
  if (plan->out_rank > 0) memcpy(shape, plan->out_shape, (size_t)plan->out_rank * sizeof *shape);
  return plan->out_rank;
}
