/* SPDX-License-Identifier: MIT
 *
 * py_recall.c: the plan of earlier calls: one per process. A thread that uses it takes it out meanwhile, so that
 * no two threads have it; a thread that finds it missing makes a new plan.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "py_layout.h"

struct gather_py_recalled {
  gather_plan *plan;
  uint64_t number;
  const gather_op *op;
  int64_t axis, batch_dims;
  gather_on_bad on_bad;
  gather_negative negative;
  bool axis_given;
  gather_py_layout data, indices;
  int32_t rank;
  int64_t shape[GATHER_MAX_RANK];
};

static _Atomic(gather_py_recalled *) left;
static _Atomic uint64_t kept;   /* its number, also while it is in use */
static _Atomic uint64_t missed; /* the number of the last call that found none */

static uint64_t mix(uint64_t sum, uint64_t with) { return (sum ^ with) * 0x9E3779B97F4A7C15u; }

static uint64_t mix_view(uint64_t sum, const gather_py_view *view) {
  sum = mix(sum, (uint64_t)view->tensor.type << 32 | (uint32_t)view->tensor.rank);
  for (int32_t d = 0; d < view->tensor.rank; d++) sum = mix(mix(sum, (uint64_t)view->shape[d]), (uint64_t)view->strides[d]);
  return sum;
}

/* Equal calls have equal numbers; a collision costs only a plan that is not used. */
static uint64_t number_of(const gather_py_call *call, const gather_py_tensors *t) {
  uint64_t sum = mix((uint64_t)(uintptr_t)call->op, (uint64_t)call->options.axis);
  return mix_view(mix_view(sum, &t->data), &t->indices);
}

/* Of the element type only the size matters: outputs are made like the data of each call. Fill values and flattened data belong
 * to one call; for large work the time of planning is negligible. */
static bool is_recallable(const gather_py_call *call, const gather_py_tensors *t) {
  return !call->fill && !call->axis_none && gather_tensor_bytes(&t->indices.tensor) < GATHER_PY_RELEASE_BYTES;
}

static bool is_same(const gather_py_recalled *plan, const gather_py_call *call, const gather_py_tensors *t) {
  const gather_options *options = &call->options;
  return plan->op == call->op && plan->axis == options->axis && plan->batch_dims == options->batch_dims &&
         plan->on_bad == options->on_bad && plan->negative == options->negative && plan->axis_given == call->axis_given &&
         gather_py_is_like(&plan->data, &t->data) && gather_py_is_like(&plan->indices, &t->indices);
}

gather_py_recalled *gather_py_recall(const gather_py_call *call, const gather_py_tensors *t) {
  if (!is_recallable(call, t)) return NULL;
  gather_py_recalled *plan = atomic_exchange_explicit(&left, NULL, memory_order_acquire);
  if (!plan || is_same(plan, call, t)) return plan;
  gather_py_leave(plan);
  return NULL;
}

void gather_py_leave(gather_py_recalled *plan) {
  atomic_store_explicit(&kept, plan->number, memory_order_relaxed);
  gather_py_recalled *other = atomic_exchange_explicit(&left, plan, memory_order_acq_rel);
  if (other) gather_py_forget(other);
}

void gather_py_forget(gather_py_recalled *plan) {
  gather_plan_destroy(plan->plan);
  free(plan);
}

gather_py_recalled *gather_py_consider(const gather_py_call *call, const gather_py_tensors *t) {
  if (!is_recallable(call, t)) return NULL;
  uint64_t number = number_of(call, t);
  if (atomic_exchange_explicit(&missed, number, memory_order_relaxed) != number) return NULL;
  if (atomic_load_explicit(&kept, memory_order_relaxed) == number) return NULL; /* another thread has it now */
  gather_py_recalled *plan = malloc(sizeof *plan);
  if (!plan) return NULL;
  plan->plan = NULL;
  plan->number = number;
  gather_py_layout_read(&plan->data, &t->data);
  gather_py_layout_read(&plan->indices, &t->indices);
  return plan;
}

void gather_py_decide(gather_py_recalled *plan, const gather_py_call *call, const gather_py_tensors *t) {
  const gather_options *options = &call->options;
  plan->op = call->op;
  plan->axis = options->axis;
  plan->batch_dims = options->batch_dims;
  plan->on_bad = options->on_bad;
  plan->negative = options->negative;
  plan->axis_given = call->axis_given;
  if (gather_plan_create(call->op, &t->data.tensor, &t->indices.tensor, NULL, options, &plan->plan, NULL) != GATHER_OK) {
    plan->plan = NULL;
    gather_py_forget(plan);
    return;
  }
  plan->rank = gather_plan_shape(plan->plan, plan->shape);
  gather_py_leave(plan);
}

const gather_plan *gather_py_recalled_plan(const gather_py_recalled *plan, int32_t *rank, const int64_t **shape) {
  *rank = plan->rank;
  *shape = plan->shape;
  return plan->plan;
}
