/* SPDX-License-Identifier: MIT
 *
 * verify.c: validates all indices before anything is written. One fast pass if all are in range; otherwise a slow one
 * counts those out of range and finds the first.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/plan/columns.h"
#include "core/plan/tasks.h"
#include "core/plan/walk.h"

typedef struct {
  const gather_plan *plan;
  const char *indices;
  gather_loop loops[GATHER_MAX_RANK];
  int32_t loop_count;
  int64_t count;    /* product of the loops; for tuples their number */
  atomic_int state; /* the worst gather_index_state that was seen */
} verification;

/* The merged loops over the indices in memory. `distinct` leaves out loops that repeat the same index. */
static void index_loops(verification *v, bool distinct) {
  const gather_plan *plan = v->plan;
  v->loop_count = 0, v->count = 1;
  for (int32_t d = 0; d < plan->index_rank - (plan->column_count > 1); d++) {
    int64_t len = plan->index_shape[d], step = plan->index_strides[d];
    if (len == 1 || (distinct && step == 0)) continue;
    v->count *= len;
    gather_loop *outer = v->loop_count > 0 ? &v->loops[v->loop_count - 1] : NULL;
    if (outer && outer->index == step * len) {
      outer->len *= len, outer->index = step;
    } else {
      gather_loop loop = {len, 0, step, 0};
      v->loops[v->loop_count++] = loop;
    }
  }
  if (v->loop_count == 0) {
    gather_loop once = {1, 0, 0, 0};
    v->loops[v->loop_count++] = once;
  }
}

static void worsen(verification *v, int state) {
  int seen = atomic_load_explicit(&v->state, memory_order_relaxed);
  while (seen < state && !atomic_compare_exchange_weak(&v->state, &seen, state)) continue;
}

static void validate_range(void *argument, int64_t first, int64_t last) {
  verification *v = argument;
  gather_walk walk;
  gather_walk_start(&walk, v->loops, v->loop_count, first);
  while (first < last && atomic_load_explicit(&v->state, memory_order_relaxed) < GATHER_INDICES_BAD) {
    int64_t run = gather_walk_left(&walk);
    if (run > last - first) run = last - first;
    worsen(v, (int)gather_columns_validate(v->plan, v->indices + walk.index, v->loops[v->loop_count - 1].index, run));
    first += run;
    gather_walk_next(&walk, run);
  }
}

static gather_index_state validate_all(verification *v, const gather_executor *executor) {
  const gather_index_rule *rule = &v->plan->rule;
  const int64_t width = gather_type_row(rule->type)->bits / 8;
  if (v->plan->index_dense && v->plan->column_count == 1 && !executor)
    return gather_indices_validate(rule, v->indices, width, v->plan->index_count);
  atomic_init(&v->state, GATHER_INDICES_PLAIN);
  index_loops(v, true);
  gather_split(executor, v->count, width * v->plan->column_count, 1, validate_range, v);
  return (gather_index_state)atomic_load(&v->state);
}

/* Counts the indices out of range; *position is the number of the first in row-major order, *value its value. */
static int64_t count_bad(verification *v, int64_t *position, int64_t *value) {
  gather_walk walk;
  int64_t bad = 0;
  gather_walk_start(&walk, v->loops, v->loop_count, 0);
  for (int64_t done = 0; done < v->count;) {
    int64_t run = gather_walk_left(&walk), first = 0, index = 0;
    int64_t found = gather_columns_count_bad(v->plan, v->indices + walk.index, v->loops[v->loop_count - 1].index, run,
                                             &first, &index);
    if (found && bad == 0) *position = done * v->plan->column_count + first, *value = index;
    bad += found, done += run;
    gather_walk_next(&walk, run);
  }
  return bad;
}

static void print_position(char *text, size_t bytes, const gather_error *error) {
  if (error->position_rank == 0)
    (void)snprintf(text, bytes, "indices");
  else {
    char shape[160];
    (void)snprintf(text, bytes, "indices%s",
                   gather_shape_text(shape, sizeof shape, error->position_rank, error->position));
  }
}

/* ", component 1 of tuple [4],": which number of which tuple. The position is that in the plan's indices. Indices of rank 1 are a single tuple. */
static void print_component(char *text, size_t bytes, const gather_plan *plan, const gather_error *error) {
  char shape[160];
  const int32_t last = error->position_rank - 1;
  text[0] = '\0';
  if (!plan->op->tuples || plan->tuple_dim == GATHER_TUPLE_DIM_NONE || last < 0) return;
  if (last == 0)
    (void)snprintf(text, bytes, ", component %" PRId64 " of the tuple,", error->position[0]);
  else
    (void)snprintf(text, bytes, ", component %" PRId64 " of tuple %s,", error->position[last],
                   gather_shape_text(shape, sizeof shape, last, error->position));
}

/* The coordinates in the caller's indices, whose tuples may have their numbers in another dimension than the last. */
static void turn_back(const gather_plan *plan, gather_error *error) {
  if (plan->tuple_dim < 0) return;
  const int64_t component = error->position[plan->index_rank - 1];
  for (int32_t d = plan->index_rank - 1; d > plan->tuple_dim; d--) error->position[d] = error->position[d - 1];
  error->position[plan->tuple_dim] = component;
}

/* Reports the first index out of range. */
gather_status gather_plan_blame(const gather_plan *plan, gather_error *error, int64_t position, int64_t value,
                                int64_t bad) {
  gather_status status = gather_fail_input(error, GATHER_INDEX_OUT_OF_RANGE, "indices", "an index is out of range");
  if (!error) return status;
  const int32_t column = (int32_t)(position % plan->column_count);
  const gather_index_rule rule = gather_columns_rule(plan, column);
  error->op = plan->op->name, error->rules = plan->op->rules,
  error->axis = plan->has_axes ? plan->column_axes[column] : plan->axis + column;
  error->position_rank = plan->index_rank;
  for (int32_t d = plan->index_rank - 1; d >= 0; d--) {
    error->position[d] = position % plan->index_shape[d];
    position /= plan->index_shape[d];
  }
  error->value = value;
  error->value_is_unsigned = plan->rule.type >= GATHER_TYPE_UINT8;
  gather_index_range(&rule, &error->low, &error->high);
  error->bad_count = bad;

  char place[200], number[32], component[200];
  print_component(component, sizeof component, plan, error);
  turn_back(plan, error);
  print_position(place, sizeof place, error);
  (void)snprintf(number, sizeof number, error->value_is_unsigned ? "%" PRIu64 : "%" PRId64, (uint64_t)value);
  int at = snprintf(error->message, sizeof error->message, "%s = %s%s ", place, number, component);
  size_t room = sizeof error->message - (size_t)at;
  if (rule.axis_len == 0)
    at += snprintf(error->message + at, room, "cannot be in range: axis %" PRId32 " has length 0", error->axis);
  else
    at += snprintf(error->message + at, room, "is outside [%" PRId64 ", %" PRId64 "] of axis %" PRId32, error->low,
                   error->high, error->axis);
  (void)snprintf(error->message + at, sizeof error->message - (size_t)at,
                 " (%s%s%s); %" PRId64 " of %" PRId64 " indices %s bad", plan->op->name, GATHER_RULES_TEXT(plan->op),
                 bad, plan->index_count, bad == 1 ? "is" : "are");
  return status;
}

/* Clamp and wrap cannot repair on an axis of length 0. */
bool gather_plan_can_repair(const gather_plan *plan) {
  switch (plan->rule.on_bad) {
    case GATHER_ON_BAD_ERROR:
      return false;
    case GATHER_ON_BAD_CLAMP:
    case GATHER_ON_BAD_WRAP:
      return plan->rule.axis_len > 0;
    default:
      return true;
  }
}

gather_index_state gather_indices_unchecked(const gather_index_rule *rule) {
  return rule->negative && rule->type <= GATHER_TYPE_INT64 ? GATHER_INDICES_NEGATIVE : GATHER_INDICES_PLAIN;
}

bool gather_plan_must_check(const gather_plan *plan) {
  if (plan->index_count == 0 || plan->rule.on_bad == GATHER_ON_BAD_PROMISE) return false;
  /* Without an output only an error matters. */
  if (plan->out_len == 0 && gather_plan_can_repair(plan)) return false;
  return !gather_columns_cannot_fail(plan);
}

gather_status gather_plan_check_indices(const gather_plan *plan, const void *indices, const gather_executor *executor,
                                        gather_index_state *state, int64_t *bad, gather_error *error) {
  *bad = 0;
  *state = gather_indices_unchecked(&plan->rule);
  if (!gather_plan_must_check(plan)) return GATHER_OK;
  if (!indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  verification v;
  v.plan = plan, v.indices = indices;
  *state = validate_all(&v, executor);
  if (*state != GATHER_INDICES_BAD) return GATHER_OK;
  int64_t position = 0, value = 0;
  index_loops(&v, false);
  *bad = count_bad(&v, &position, &value);
  return gather_plan_can_repair(plan) ? GATHER_OK : gather_plan_blame(plan, error, position, value, *bad);
}
