/* SPDX-License-Identifier: MIT
 *
 * scatter_apply.c: the functions that scatter: in one call, by a plan that is kept, and as the gradient of a gather.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/op/family.h"
#include "core/op/op.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

/* ---- one call */

static gather_status apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *updates,
                           const gather_tensor *out, const gather_scatter_options *options, gather_error *error) {
  gather_scatter_options full;
  gather_scatter_plan plan;
  const gather_family_rules *rules;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  GATHER_TRY(gather_family_find_written(op, &rules, error));
  if (!updates) return gather_fail_input(error, GATHER_USAGE, "updates", "the updates are NULL");
  if (!out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_scatter_lower(op, rules, data, indices, updates, out, &full, &plan, error));
  plan.windows.scatter = gather_windows_scatter;
  const gather_scatter_run run = {sizeof run, data->data, indices->data, updates->data, out->data, full.executor, full.bad_count};
  return gather_scatter_execute(&plan, &run, error);
}

gather_status gather_scatter_apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                   const gather_tensor *updates, const gather_tensor *out, const gather_scatter_options *options,
                                   gather_error *error) {
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  return gather_fail_op(error, op, apply(op, data, indices, updates, out, options, error));
}

static gather_status apply_own(const char *name, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *updates,
                               int64_t axis, gather_reduction reduction, const gather_tensor *out, gather_error *error) {
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.axis = axis, options.reduction = reduction;
  return gather_scatter_apply(gather_scatter_op(name), data, indices, updates, out, &options, error);
}

gather_status gather_scatter(const gather_tensor *data, const gather_tensor *indices, const gather_tensor *updates, int64_t axis,
                             gather_reduction reduction, const gather_tensor *out, gather_error *error) {
  return apply_own("scatter", data, indices, updates, axis, reduction, out, error);
}

gather_status gather_scatter_elements(const gather_tensor *data, const gather_tensor *indices, const gather_tensor *updates, int64_t axis,
                                      gather_reduction reduction, const gather_tensor *out, gather_error *error) {
  return apply_own("scatter_elements", data, indices, updates, axis, reduction, out, error);
}

gather_status gather_scatter_nd(const gather_tensor *data, const gather_tensor *indices, const gather_tensor *updates,
                                gather_reduction reduction, const gather_tensor *out, gather_error *error) {
  return apply_own("scatter_nd", data, indices, updates, 0, reduction, out, error);
}

/* ---- shapes */

static gather_status updates_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                   const gather_scatter_options *options, int64_t *shape, int32_t *rank, gather_error *error) {
  gather_scatter_options full;
  gather_options nest_options = GATHER_OPTIONS_INIT;
  gather_geometry g = {.tuple_dim = -1, .writes = true};
  const gather_family_rules *rules;
  int64_t len, bytes;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  GATHER_TRY(gather_family_find_written(op, &rules, error));
  GATHER_TRY(gather_tensor_check_input(data, "data", error));
  GATHER_TRY(gather_tensor_check_input(indices, "indices", error));
  if (!gather_type_is_index(indices->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "indices", "indices must be integers, not %s",
                             gather_type_get(indices->type)->name);
  if (full.numbers)
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "the shape of the updates does not follow from dimension numbers: the updates set the lengths of a window");
  nest_options.axis = full.axis, nest_options.batch_dims = full.batch_dims;
  GATHER_TRY(rules->shape(op, data, indices, &nest_options, &g, error));
  if (!gather_shape_len(g.rank, g.shape, &len) || !gather_tensor_len_fits(data, len, &bytes))
    return gather_fail_input(error, GATHER_OVERFLOW, "updates", "the updates' size does not fit in memory");
  for (int32_t d = 0; d < g.rank; d++) shape[d] = g.shape[d];
  *rank = g.rank;
  return GATHER_OK;
}

gather_status gather_scatter_updates_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                           const gather_scatter_options *options, int64_t *shape, int32_t *rank, gather_error *error) {
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  return gather_fail_op(error, op, updates_shape(op, data, indices, options, shape, rank, error));
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_shape *updates,
                           const gather_scatter_options *options, gather_shape *out, gather_error *error) {
  gather_scatter_options full;
  gather_options nest_options = GATHER_OPTIONS_INIT;
  gather_attributes a = {.axis = -1, .batch_dims = -1, .tuple_len = -1};
  gather_shape updates_must = {.rank = -1};
  const gather_family_rules *rules;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  GATHER_TRY(gather_family_find_written(op, &rules, error));
  nest_options.axis = full.axis, nest_options.batch_dims = full.batch_dims, nest_options.numbers = full.numbers;
  if (!full.numbers) {
    int64_t tuple_len = -1;
    if (indices->rank > 0 && indices->dims[indices->rank - 1].min == indices->dims[indices->rank - 1].max)
      tuple_len = indices->dims[indices->rank - 1].min;
    GATHER_TRY(rules->attributes(op, data->rank, indices->rank, tuple_len, &nest_options, false, &a, error));
    GATHER_TRY(rules->infer(op, data, indices, &a, &updates_must, error));
  }
  if (updates && updates->rank >= 0 && updates_must.rank >= 0) {
    if (updates->rank != updates_must.rank)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "updates", "the updates have rank %d; it must be %d", (int)updates->rank,
                               (int)updates_must.rank);
    for (int32_t d = 0; d < updates->rank; d++) {
      gather_dim both;
      if (!gather_dims_meet(&updates->dims[d], &updates_must.dims[d], &both))
        return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "updates", "dimension %d of the updates does not fit data and indices",
                                 (int)d);
    }
  }
  if (out != data) *out = *data;
  return GATHER_OK;
}

gather_status gather_scatter_infer_shape(const gather_op *op, const gather_shape *data, const gather_shape *indices,
                                         const gather_shape *updates, const gather_scatter_options *options, gather_shape *out,
                                         gather_error *error) {
  if (!op || !data || !indices || !out) return gather_fail(error, GATHER_USAGE, "the operator, data, indices or `out` is NULL");
  return gather_fail_op(error, op, infer(op, data, indices, updates, options, out, error));
}

/* ---- plans on the heap */

static gather_status create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *updates,
                            const gather_tensor *out, const gather_scatter_options *options, gather_scatter_plan **plan,
                            gather_error *error) {
  gather_scatter_options full;
  const gather_family_rules *rules;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  GATHER_TRY(gather_family_find_written(op, &rules, error));
  if (!updates) return gather_fail_input(error, GATHER_USAGE, "updates", "the updates are NULL");
  gather_scatter_plan *made = gather_alloc(sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a plan");
  const gather_status status = gather_scatter_lower(op, rules, data, indices, updates, out, &full, made, error);
  made->windows.scatter = gather_windows_scatter;
  if (status == GATHER_OK)
    *plan = made;
  else
    gather_free(made);
  return status;
}

gather_status gather_scatter_plan_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                         const gather_tensor *updates, const gather_tensor *out, const gather_scatter_options *options,
                                         gather_scatter_plan **plan, gather_error *error) {
  if (!op || !plan) return gather_fail(error, GATHER_USAGE, "the operator or `plan` is NULL");
  *plan = NULL;
  return gather_fail_op(error, op, create(op, data, indices, updates, out, options, plan, error));
}

void gather_scatter_plan_destroy(gather_scatter_plan *plan) {
  if (!plan) return;
  if (plan->kept) gather_sorted_free(&plan->sorted);
  gather_free(plan);
}

gather_status gather_scatter_plan_keep(gather_scatter_plan *plan, const void *indices, const gather_executor *executor,
                                       gather_error *error) {
  gather_sorted sorted;
  int64_t bad = 0;
  if (!plan) return gather_fail(error, GATHER_USAGE, "the plan is NULL");
  GATHER_TRY(gather_executor_check(executor, error));
  const gather_status status = gather_scatter_sort(plan, indices, executor, true, &sorted, &bad, error);
  if (status != GATHER_OK) return gather_fail_op(error, plan->nest.op, status);
  if (plan->kept) gather_sorted_free(&plan->sorted);
  plan->sorted = sorted, plan->kept_bad = bad, plan->kept = true;
  return GATHER_OK;
}

static gather_status read_run(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_scatter_run *full,
                              gather_error *error) {
  if (!plan || !run) return gather_fail(error, GATHER_USAGE, "the plan or `run` is NULL");
  *full = (gather_scatter_run)GATHER_SCATTER_RUN_INIT;
  return gather_struct_read(full, sizeof *full, run, "gather_scatter_run", "GATHER_SCATTER_RUN_INIT", error);
}

gather_status gather_scatter_plan_run(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  gather_scatter_run full;
  GATHER_TRY(read_run(plan, run, &full, error));
  return gather_fail_op(error, plan->nest.op, gather_scatter_execute(plan, &full, error));
}

gather_status gather_scatter_plan_check(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  gather_scatter_run full;
  int64_t bad = 0;
  GATHER_TRY(read_run(plan, run, &full, error));
  GATHER_TRY(gather_executor_check(full.executor, error));
  const gather_status status = gather_scatter_check_indices(plan, full.indices, full.executor, &bad, error);
  if (status == GATHER_OK && full.bad_count) *full.bad_count = bad;
  return gather_fail_op(error, plan->nest.op, status);
}

size_t gather_scatter_plan_print(const gather_scatter_plan *plan, char *text, size_t bytes) {
  const gather_plan *nest = &plan->nest;
  const int length = snprintf(text, bytes, "%s%s%s: %s of %lld rows of %lld bytes into %lld places%s%s%s", nest->op->name,
                              GATHER_RULES_TEXT(nest->op), gather_reduction_name(plan->options.reduction), (long long)nest->row_count,
                              (long long)(plan->empty ? 0 : nest->row_bytes), (long long)plan->places,
                              !plan->kept            ? ""
                              : plan->sorted.indices ? ", kept in order"
                                                     : ", sorted",
                              *plan->isa ? ", " : "", plan->isa);
  return length > 0 ? (size_t)length : 0;
}

/* ---- gradients */

static gather_status backward(const gather_op *op, const gather_tensor *grad, const gather_tensor *indices, const gather_tensor *out,
                              bool add, const gather_scatter_options *options, gather_error *error) {
  gather_scatter_options full;
  gather_scatter_plan plan;
  const gather_family_rules *rules;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  GATHER_TRY(gather_family_find(op, &rules, error));
  if (!grad || !out) return gather_fail(error, GATHER_USAGE, "grad or the output is NULL");
  full.reduction = GATHER_REDUCTION_ADD;
  GATHER_TRY(gather_scatter_lower(op, rules, out, indices, grad, out, &full, &plan, error));
  plan.clears = !add;
  const gather_scatter_run run = {sizeof run, out->data, indices->data, grad->data, out->data, full.executor, full.bad_count};
  return gather_scatter_execute(&plan, &run, error);
}

gather_status gather_backward(const gather_op *op, const gather_tensor *grad, const gather_tensor *indices, const gather_tensor *out,
                              bool add, const gather_scatter_options *options, gather_error *error) {
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  return gather_fail_op(error, op, backward(op, grad, indices, out, add, options, error));
}
