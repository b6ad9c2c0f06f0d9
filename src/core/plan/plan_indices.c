/* SPDX-License-Identifier: MIT
 *
 * plan_indices.c: the indices of a plan: validated, resolved, copied where others may write them, and blamed.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "core/plan/execution.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"

/* ---- tuples of indices: validated column by column, and resolved to offsets block by block */

/* The slot of their kernels. */
static int width_of(const gather_plan *plan) { return gather_type_row(plan->rule.type)->bits == 32 ? GATHER_WIDTH_4 : GATHER_WIDTH_8; }

/* The axes of tuples for the kernels of kernel/indices.h. false: these tuples have none (one or many columns, narrow or byte-swapped
 * numbers, numbers apart, axes or steps of 2^31 and more). */
static bool find_axes(const gather_plan *plan, gather_tuple_axes *axes) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8, most = INT64_C(1) << 31;
  const int32_t count = plan->column_count;
  if (count < 2 || count > GATHER_TUPLE_MOST || width < 4 || plan->rule.swapped) return false;
  const bool back = plan->rule.negative && plan->rule.type <= GATHER_TYPE_INT64;
  axes->base = 0;
  for (int32_t c = 0; c < count; c++) {
    const gather_loop *column = gather_column(plan, c);
    if (column->len < 1 || column->len > most || column->data <= -most || column->data >= most) return false;
    if (column->index != c * width) return false;
    axes->len[c] = column->len, axes->back[c] = back ? column->len : 0, axes->step[c] = column->data;
    axes->base += column->out;
  }
  return true;
}

static gather_tuples_within_fn find_within(int width, int32_t len) {
  const char *name, **isa = &name;
  GATHER_RETURN_KERNEL(tuples_within[width][len - 2]);
}

static gather_tuples_fold_fn find_fold(int width, int32_t len) {
  const char *name, **isa = &name;
  GATHER_RETURN_KERNEL(tuples_fold[width][len - 2]);
}

gather_tuples_fold_fn gather_columns_fold(const gather_plan *plan, gather_tuple_axes *axes) {
  return find_axes(plan, axes) ? find_fold(width_of(plan), plan->column_count) : NULL;
}

gather_index_state gather_tuples_validate(const gather_plan *plan, const char *indices, int64_t step, int64_t count) {
  gather_index_state worst = GATHER_INDICES_PLAIN;
  gather_tuple_axes axes;
  if (step == gather_column(plan, 1)->index * plan->column_count && find_axes(plan, &axes) &&
      find_within(width_of(plan), plan->column_count)(&axes, indices, count))
    return worst;
  for (int32_t c = 0; c < plan->column_count && worst < GATHER_INDICES_BAD; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    if (gather_indices_cannot_fail(&rule)) continue;
    gather_index_state state = gather_indices_validate(&rule, indices + gather_column(plan, c)->index, step, count);
    if (state > worst) worst = state;
  }
  return worst;
}

/* Whether an index out of range on an axis of `len` elements may be the one that an error names. Clamp and wrap repair all but those on
 * an axis of length 0, and every tuple has a number on such an axis if there is one. */
static bool may_blame(const gather_plan *plan, int64_t len) {
  const gather_on_bad on_bad = plan->rule.on_bad;
  return len == 0 || plan->rule.axis_len > 0 || (on_bad != GATHER_ON_BAD_CLAMP && on_bad != GATHER_ON_BAD_WRAP);
}

static int64_t count_bad_tuples(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *first, int64_t *value) {
  int64_t bad = 0;
  bool blamed = false;
  for (int32_t c = 0; c < plan->column_count; c++) {
    const gather_index_rule rule = gather_columns_rule(plan, c);
    int64_t tuple, number;
    int64_t found = gather_indices_count_bad(&rule, indices + gather_column(plan, c)->index, step, count, &tuple, &number);
    bad += found;
    if (!found || !may_blame(plan, rule.axis_len)) continue;
    if (!blamed || tuple * plan->column_count + c < *first) *first = tuple * plan->column_count + c, *value = number;
    blamed = true;
  }
  return bad;
}

/* *first: the number of the first one out of range, counted through all columns; of one that clamp and wrap cannot repair if there is
 * one. */
static int64_t count_bad(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *first, int64_t *value) {
  if (plan->column_count > 1) return count_bad_tuples(plan, indices, step, count, first, value);
  return gather_indices_count_bad(&plan->rule, indices, step, count, first, value);
}

/* Adds what one column selects. */
static void add_column(const gather_plan *plan, int32_t column, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  enum { BLOCK = 256 /* 2 KiB on the stack, which fit L1 */ };
  const gather_index_rule rule = gather_columns_rule(plan, column);
  const int64_t unit = gather_column(plan, column)->data, base = gather_column(plan, column)->out;
  int64_t own[BLOCK];
  for (int64_t j = 0, now; j < count; j += now) {
    now = count - j < BLOCK ? count - j : BLOCK;
    gather_indices_resolve(&rule, indices + j * step, step, now, own);
    for (int64_t k = 0; k < now; k++) rows[j + k] = own[k] < 0 || rows[j + k] < 0 ? GATHER_ROW_FILL : rows[j + k] + base + own[k] * unit;
  }
}

void gather_tuples_resolve(const gather_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  for (int64_t j = 0; j < count; j++) rows[j] = 0;
  for (int32_t c = 0; c < plan->column_count; c++) add_column(plan, c, indices + gather_column(plan, c)->index, step, count, rows);
}

/* ---- indices that others may write: private copies */

/* Adds `count` of them; position, value: of the first of these. */
static void add_bad(gather_bad *bad, int64_t count, int64_t position, int64_t value) {
  atomic_fetch_add_explicit(&bad->count, count, memory_order_relaxed);
  while (atomic_flag_test_and_set_explicit(&bad->busy, memory_order_acquire)) continue;
  if (position < bad->position) bad->position = position, bad->value = value;
  atomic_flag_clear_explicit(&bad->busy, memory_order_release);
}

void gather_bad_find(const gather_plan *plan, const char *indices, int64_t number, int64_t count, gather_bad *bad) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  const int64_t step = width * plan->column_count;
  int64_t first, value;
  int64_t found = count_bad(plan, indices, step, count / plan->column_count, &first, &value);
  if (found) add_bad(bad, found, number + first, value);
}

/* ---- copies */

static void copy_run(const char *from, int64_t step, int64_t width, bool swapped, int64_t count, char *copy) {
  if (step == width && !swapped) {
    memcpy(copy, from, (size_t)(count * width));
    return;
  }
  for (int64_t j = 0; j < count; j++)
    for (int64_t b = 0; b < width; b++) copy[j * width + b] = from[j * step + (swapped ? width - 1 - b : b)];
}

void gather_shared_copy(const gather_plan *plan, const char *indices, int64_t first, int64_t count, char *copy) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  if (plan->shared_dense) {
    copy_run(indices + first * width, width, width, plan->shared_swapped, count, copy);
  } else {
    while (count > 0) {
      int64_t left, step, offset = gather_index_run(plan, plan->shared_strides, first, &left, &step), run = left < count ? left : count;
      copy_run(indices + offset, step, width, plan->shared_swapped, run, copy);
      first += run, copy += run * width, count -= run;
    }
  }
  /* From here on the copy is read: the compiler must not read the original again. */
  atomic_signal_fence(memory_order_seq_cst);
}

typedef struct copying {
  const gather_plan *plan;
  const char *indices;
  char *copy;
} copying;

static void copy_part(void *argument, int64_t first, int64_t last) {
  const copying *c = argument;
  const int64_t width = gather_type_row(c->plan->rule.type)->bits / 8;
  gather_shared_copy(c->plan, c->indices, first, last - first, c->copy + first * width);
}

void gather_shared_copy_all(const gather_plan *plan, const char *indices, const gather_executor *executor, char *copy) {
  copying c = {plan, indices, copy};
  gather_split(executor, plan->index_count, gather_type_row(plan->rule.type)->bits / 8, 1, copy_part, &c);
}

/* ---- checking without using */

typedef struct checking {
  const gather_plan *plan;
  const char *indices;
  gather_bad bad;
} checking;

static void check_part(void *argument, int64_t first, int64_t last) {
  checking *c = argument;
  const int32_t columns = c->plan->column_count;
  const int64_t width = gather_type_row(c->plan->rule.type)->bits / 8;
  const int64_t most = GATHER_COPY_BYTES / width / columns * columns; /* whole tuples */
  char copy[GATHER_COPY_BYTES];
  for (int64_t now; first < last; first += now) {
    now = last - first < most ? last - first : most;
    gather_shared_copy(c->plan, c->indices, first, now, copy);
    if (gather_columns_validate(c->plan, copy, width * columns, now / columns) == GATHER_INDICES_BAD)
      gather_bad_find(c->plan, copy, first, now, &c->bad);
  }
}

/* Each index is read once. */
static gather_status check_shared(const gather_plan *plan, const void *indices, const gather_executor *executor, int64_t *bad,
                                  gather_error *error) {
  checking c = {.plan = plan, .indices = indices};
  gather_bad_init(&c.bad);
  gather_split(executor, plan->index_count, gather_type_row(plan->rule.type)->bits / 8, plan->column_count, check_part, &c);
  *bad = gather_bad_count(&c.bad);
  if (*bad == 0 || gather_plan_can_repair(plan)) return GATHER_OK;
  return gather_plan_blame(plan, error, c.bad.position, c.bad.value, *bad);
}

/* ---- validating all indices before anything is written. One fast pass if all are in range; otherwise a slow one counts those out of range
 * and finds the first. */

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
static int64_t count_all_bad(verification *v, int64_t *position, int64_t *value) {
  gather_walk walk;
  int64_t bad = 0;
  gather_walk_start(&walk, v->loops, v->loop_count, 0);
  for (int64_t done = 0; done < v->count;) {
    int64_t run = gather_walk_left(&walk), first = 0, index = 0;
    int64_t found = count_bad(v->plan, v->indices + walk.index, v->loops[v->loop_count - 1].index, run, &first, &index);
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
    (void)snprintf(text, bytes, "indices%s", gather_shape_text(shape, sizeof shape, error->position_rank, error->position));
  }
}

/* ", component 1 of tuple [4],": which number of which tuple. The position is that in the plan's indices. Indices of rank 1 are a single
 * tuple. */
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
static void turn_back(const gather_plan *plan, int64_t *position) {
  if (plan->tuple_dim < 0) return;
  const int64_t component = position[plan->index_rank - 1];
  for (int32_t d = plan->index_rank - 1; d > plan->tuple_dim; d--) position[d] = position[d - 1];
  position[plan->tuple_dim] = component;
}

/* The coordinates of index number `number`, counted in row-major order. Tuples without numbers count as tuples of one. */
static void find_coordinates(const gather_plan *plan, int64_t number, int64_t *position) {
  for (int32_t d = plan->index_rank - 1; d >= 0; d--) {
    const int64_t len = plan->index_shape[d] > 0 ? plan->index_shape[d] : 1;
    position[d] = number % len;
    number /= len;
  }
}

/* Reports the first index out of range. */
gather_status gather_plan_blame(const gather_plan *plan, gather_error *error, int64_t position, int64_t value, int64_t bad) {
  gather_status status = gather_fail_input(error, GATHER_INDEX_OUT_OF_RANGE, "indices", "an index is out of range");
  if (!error) return status;
  const int32_t column = (int32_t)(position % plan->column_count);
  const gather_index_rule rule = gather_columns_rule(plan, column);
  error->op = plan->op->name, error->rules = plan->op->rules,
  error->axis = plan->has_axes ? plan->column_axes[column] : plan->axis + column;
  error->position_rank = plan->index_rank;
  find_coordinates(plan, position, error->position);
  error->value = value;
  error->value_is_unsigned = plan->rule.type >= GATHER_TYPE_UINT8;
  gather_index_range(&rule, &error->low, &error->high);
  error->bad_count = bad;

  char place[200], number[32], component[200];
  print_component(component, sizeof component, plan, error);
  turn_back(plan, error->position);
  print_position(place, sizeof place, error);
  (void)snprintf(number, sizeof number, error->value_is_unsigned ? "%" PRIu64 : "%" PRId64, (uint64_t)value);
  int at = snprintf(error->message, sizeof error->message, "%s = %s%s ", place, number, component);
  size_t room = sizeof error->message - (size_t)at;
  if (rule.axis_len == 0)
    at += snprintf(error->message + at, room, "cannot be in range: axis %" PRId32 " has length 0", error->axis);
  else
    at +=
        snprintf(error->message + at, room, "is outside [%" PRId64 ", %" PRId64 "] of axis %" PRId32, error->low, error->high, error->axis);
  (void)snprintf(error->message + at, sizeof error->message - (size_t)at, " (%s%s%s); %" PRId64 " of %" PRId64 " indices %s bad",
                 plan->op->name, GATHER_RULES_TEXT(plan->op), bad, plan->index_count, bad == 1 ? "is" : "are");
  return status;
}

/* "indices[3]", or "tuple [3]". The last number of the coordinates is a component. */
static void print_index(char *text, size_t bytes, const gather_plan *plan, int32_t rank, const int64_t *position) {
  char shape[160];
  const bool tuple = plan->op->tuples && plan->tuple_dim != GATHER_TUPLE_DIM_NONE;
  if (tuple) rank--;
  (void)snprintf(text, bytes, "%s%s", tuple ? "tuple " : "indices", rank > 0 ? gather_shape_text(shape, sizeof shape, rank, position) : "");
}

gather_status gather_plan_blame_repeated(const gather_plan *plan, const char *indices, int64_t position, int64_t first,
                                         gather_error *error) {
  gather_status status = gather_fail_input(error, GATHER_INDEX_REPEATED, "indices", "an index is repeated");
  char place[200], before[200], number[32];
  if (!error) return status;
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  error->op = plan->op->name, error->rules = plan->op->rules;
  error->axis = plan->has_axes ? plan->column_axes[0] : plan->axis;
  error->position_rank = plan->index_rank;
  error->value_is_unsigned = plan->rule.type >= GATHER_TYPE_UINT8;
  const bool empty = plan->index_count == 0; /* tuples without numbers, of which the second selects what the first does */
  error->value = empty ? 0 : gather_index_value(&plan->rule, indices + position * width);
  find_coordinates(plan, empty ? 1 : position, error->position);
  find_coordinates(plan, empty ? 0 : first, error->first_position);
  print_index(place, sizeof place, plan, error->position_rank, error->position);
  print_index(before, sizeof before, plan, error->position_rank, error->first_position);
  turn_back(plan, error->position), turn_back(plan, error->first_position);
  (void)snprintf(number, sizeof number, error->value_is_unsigned ? " = %" PRIu64 : " = %" PRId64, (uint64_t)error->value);
  (void)snprintf(error->message, sizeof error->message, "%s%s selects the same place as %s (%s%s%s)", place, plan->op->tuples ? "" : number,
                 before, plan->op->name, GATHER_RULES_TEXT(plan->op));
  return status;
}

gather_status gather_plan_check_indices(const gather_plan *plan, const void *indices, bool shared, const gather_executor *executor,
                                        gather_index_state *state, int64_t *bad, gather_error *error) {
  *bad = 0;
  *state = gather_indices_unchecked(&plan->rule);
  if (!gather_plan_must_check(plan)) return GATHER_OK;
  if (!indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  if (shared) return check_shared(plan, indices, executor, bad, error);
  verification v;
  v.plan = plan, v.indices = indices;
  *state = validate_all(&v, executor);
  if (*state != GATHER_INDICES_BAD) return GATHER_OK;
  int64_t position = 0, value = 0;
  index_loops(&v, false);
  *bad = count_all_bad(&v, &position, &value);
  return gather_plan_can_repair(plan) ? GATHER_OK : gather_plan_blame(plan, error, position, value, *bad);
}
