/* SPDX-License-Identifier: MIT
 *
 * infer_node.c: infers one node: the table of operators, the call of the rules, and what follows for elements that are not known: as
 * intervals or names one by one in small tensors (the arithmetic that models do with lengths), and as one interval that has every element,
 * whatever the size and whatever the inputs of the model are. Indices that stay in such an interval are in range without being known. Only
 * what every runtime computes counts: where a sum may overflow, nothing is known.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/infer.h"

/* ---- elements of small tensors, one by one */

enum { MOST_INPUTS = 8 };

/* Inputs of equal counts, or of one element, which is combined with each of the others. */
typedef struct {
  const gather_dim *parts[MOST_INPUTS];
  int64_t counts[MOST_INPUTS];
  int32_t inputs;
  int64_t count; /* of the output */
} operands;

static bool read_operands(gather_step *step, operands *all) {
  const gather_exact *exact = step->row->exact;
  all->inputs = exact->inputs ? exact->inputs : step->node->input_count;
  all->count = 1;
  if (all->inputs != step->node->input_count || all->inputs < 1 || all->inputs > MOST_INPUTS) return false;
  for (int32_t i = 0; i < all->inputs; i++) {
    all->parts[i] = gather_step_elements(step, gather_step_in(step, i), &all->counts[i]);
    if (!all->parts[i] || (all->counts[i] != 1 && all->count != 1 && all->counts[i] != all->count)) return false;
    if (all->counts[i] != 1) all->count = all->counts[i];
  }
  return true;
}

/* The exact function, if every operand is exact and the intervals do not decide the result. */
static gather_dim combine(const gather_step *step, const gather_dim *in, int32_t count) {
  const gather_operator *row = step->row;
  int64_t values[MOST_INPUTS], value;
  gather_dim made = row->interval->of(in, count);
  if (gather_is_exact(&made)) return made;
  for (int32_t i = 0; i < count; i++) {
    if (!gather_is_exact(&in[i])) return made;
    values[i] = in[i].min;
  }
  return row->exact->element(step, values, count, &value) ? gather_exact_dim(value) : made;
}

/* Whether the types that are known so far allow it; unknown types of the inputs do. */
static bool may_follow(const gather_step *step) {
  gather_demand types = step->row->exact->types;
  if (types == GATHER_SELECT) return true;
  return types == GATHER_NUMBERS ? gather_integer_bits(step->out.type) >= 8 : step->out.type == GATHER_TYPE_BOOL;
}

/* An exact element that does not fit its type may have wrapped around: nothing is known of it. */
static void keep_fitting(gather_dim *part, gather_type type) {
  if (gather_is_exact(part) && !gather_parts_fit(part, 1, type)) *part = gather_any_number;
}

/* Element-wise operators on small inputs of which some elements are intervals or names. */
static void follow_intervals(gather_step *step) {
  operands all;
  gather_dim in[MOST_INPUTS];
  bool numbers = step->row->exact->types == GATHER_NUMBERS, any = false;
  if (step->out.rank < 0 || !may_follow(step) || !read_operands(step, &all)) return;
  if (all.inputs > 1 && step->out.rank > 1) return; /* a shape of more axes is not two lists */
  gather_dim *parts = gather_step_new_elements(step, all.count);
  for (int64_t i = 0; parts && i < all.count; i++) {
    for (int32_t k = 0; k < all.inputs; k++) in[k] = all.parts[k][all.counts[k] == 1 ? 0 : i];
    parts[i] = combine(step, in, all.inputs);
    if (numbers) keep_fitting(&parts[i], step->out.type);
    any |= parts[i].min != INT64_MIN;
  }
  if (parts && (any || all.count == 0)) gather_step_set_elements(step, parts, all.count);
}

/* ---- one interval of all elements: after a Mod, a Min and a Max, an ArgMax, a Range up to a length */

static bool is_within(const gather_dim *part, const gather_dim *room) { return part->min >= room->min && part->max <= room->max; }

static gather_dim bounds_in(const gather_step *step, int32_t i) { return gather_bounds_of(gather_step_in(step, i)); }

/* ---- arithmetic */

static gather_dim sum(gather_dim a, gather_dim b) {
  gather_dim made = gather_any_number;
  return gather_add(a.min, b.min, &made.min) && gather_add(a.max, b.max, &made.max) ? made : gather_any_number;
}

static gather_dim opposite(gather_dim a) { return a.min == INT64_MIN ? gather_any_number : (gather_dim){-a.max, -a.min, NULL}; }

static gather_dim product(gather_dim a, gather_dim b) {
  int64_t ends[4];
  if (!gather_mul(a.min, b.min, &ends[0]) || !gather_mul(a.min, b.max, &ends[1]) || !gather_mul(a.max, b.min, &ends[2]) ||
      !gather_mul(a.max, b.max, &ends[3]))
    return gather_any_number;
  gather_dim made = gather_exact_dim(ends[0]);
  for (int i = 1; i < 4; i++) made = gather_hull(made, gather_exact_dim(ends[i]));
  return made;
}

/* By a number of at least 1, towards 0. */
static gather_dim quotient(gather_dim a, gather_dim b) {
  if (b.min < 1) return gather_any_number;
  return (gather_dim){a.min / (a.min < 0 ? b.min : b.max), a.max / (a.max < 0 ? b.max : b.min), NULL};
}

/* With the sign of the divisor, or of the dividend. */
static gather_dim remainder_of(gather_dim a, gather_dim b, bool truncates) {
  if (b.min < 1) return gather_any_number;
  if (a.min >= 0) return (gather_dim){0, a.max < b.max - 1 ? a.max : b.max - 1, NULL};
  return (gather_dim){truncates ? 1 - b.max : 0, b.max - 1, NULL};
}

static gather_dim least(gather_dim a, gather_dim b) {
  return (gather_dim){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max, NULL};
}

static gather_dim most(gather_dim a, gather_dim b) {
  return (gather_dim){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max, NULL};
}

static gather_dim of_each(const gather_step *step, gather_dim (*join)(gather_dim, gather_dim), int32_t first) {
  gather_dim made = bounds_in(step, first);
  for (int32_t i = first + 1; i < step->node->input_count; i++) made = join(made, bounds_in(step, i));
  return made;
}

/* ---- operators, told apart by their rows in infer.def */

/* By how the elements are computed; false where this says nothing. */
static bool by_element(const gather_step *step, gather_dim *made) {
  const gather_exact *exact = step->row->exact;
  bool flag = false;
  if (exact == &gather_exact_elements.add || exact == &gather_exact_elements.total)
    *made = of_each(step, sum, 0);
  else if (exact == &gather_exact_elements.subtract)
    *made = sum(bounds_in(step, 0), opposite(bounds_in(step, 1)));
  else if (exact == &gather_exact_elements.multiply)
    *made = product(bounds_in(step, 0), bounds_in(step, 1));
  else if (exact == &gather_exact_elements.divide)
    *made = quotient(bounds_in(step, 0), bounds_in(step, 1));
  else if (exact == &gather_exact_elements.modulo && gather_step_flag(step, "fmod", false, &flag))
    *made = remainder_of(bounds_in(step, 0), bounds_in(step, 1), flag);
  else if (exact == &gather_exact_elements.least)
    *made = of_each(step, least, 0);
  else if (exact == &gather_exact_elements.most)
    *made = of_each(step, most, 0);
  else if (exact == &gather_exact_elements.choose)
    *made = of_each(step, gather_hull, 1);
  else if (exact == &gather_exact_elements.negate)
    *made = opposite(bounds_in(step, 0));
  else if (exact == &gather_exact_elements.convert) /* of a float nothing is known */
    *made = bounds_in(step, 0);
  else
    return false;
  return true;
}

/* Clip: bounds that are left out are none. */
static gather_dim clipped(const gather_step *step) {
  gather_dim made = bounds_in(step, 0);
  if (step->node->opset < 11) return gather_any_number;
  if (gather_step_has(step, 1)) made = most(made, bounds_in(step, 1));
  return gather_step_has(step, 2) ? least(made, bounds_in(step, 2)) : made;
}

/* Places along axes of a length up to `len`. */
static gather_dim places(gather_dim len) {
  const bool known = len.max != GATHER_DIM_UNBOUNDED && len.max > 0;
  return (gather_dim){0, known ? len.max - 1 : GATHER_DIM_UNBOUNDED, NULL};
}

static gather_dim places_along(const gather_step *step, int64_t fallback) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t number;
  int32_t axis;
  const bool known = in->rank > 0 && gather_step_integer(step, "axis", fallback, &number) && gather_wrap_axis(number, in->rank, &axis);
  return places(known ? in->dims[axis] : gather_any_dim);
}

/* The lengths of a tensor, which are at least 0. */
static gather_dim lengths_of(const gather_known *in) {
  gather_dim made = gather_any_dim;
  for (int32_t d = 0; d < in->rank; d++) made = d == 0 ? in->dims[d] : gather_hull(made, in->dims[d]);
  made.symbol = NULL;
  return made;
}

static gather_dim range_bounds(const gather_step *step) {
  const gather_dim start = bounds_in(step, 0), end = bounds_in(step, 1), by = bounds_in(step, 2);
  if (by.min > 0 && end.max > INT64_MIN) return (gather_dim){start.min, end.max - 1, NULL};
  if (by.max < 0 && end.min < INT64_MAX) return (gather_dim){end.min + 1, start.max, NULL};
  return gather_any_number;
}

/* Operators that only move elements of input `first`, or of all inputs from it on. */
static const struct {
  const gather_infer_fn *shape;
  int32_t first;
  bool all;
} MOVES[] = {{&gather_rules_shape.reshape, 0, false}, {&gather_rules_shape.identity, 0, false},  {&gather_rules_shape.flatten, 0, false},
             {&gather_rules_shape.squeeze, 0, false}, {&gather_rules_shape.unsqueeze, 0, false}, {&gather_rules_shape.transpose, 0, false},
             {&gather_rules_slice.slice, 0, false},   {&gather_rules_slice.split, 0, false},     {&gather_rules_values.expand, 0, false},
             {&gather_rules_values.tile, 0, false},   {&gather_rules_gather.gather, 0, false},   {&gather_rules_shape.concat, 0, true},
             {&gather_rules_reduce.one_hot, 2, false}};

/* By what the shape rule says of the operator. */
static bool by_shape(const gather_step *step, gather_dim *made) {
  const gather_infer_fn *shape = step->row->shape;
  for (size_t m = 0; m < sizeof MOVES / sizeof *MOVES; m++) {
    if (MOVES[m].shape != shape) continue;
    *made = MOVES[m].all ? of_each(step, gather_hull, MOVES[m].first) : bounds_in(step, MOVES[m].first);
    return true;
  }
  if (step->row->exact == &gather_exact_elements.clip)
    *made = clipped(step);
  else if (shape == &gather_rules_reduce.arg)
    *made = places_along(step, 0);
  else if (shape == &gather_rules_reduce.top && step->at == 1)
    *made = places_along(step, -1);
  else if (shape == &gather_rules_reduce.top)
    *made = bounds_in(step, 0);
  else if (shape == &gather_rules_reduce.non_zero)
    *made = places(lengths_of(gather_step_in(step, 0)));
  else if (shape == &gather_rules_values.shape_of)
    *made = lengths_of(gather_step_in(step, 0));
  else if (shape == &gather_rules_writing.gather_scatter_apply && !gather_step_find(step, "reduction"))
    *made = gather_hull(bounds_in(step, 0), bounds_in(step, 2));
  else if (shape == &gather_rules_values.size)
    *made = gather_any_dim;
  else if (shape == &gather_rules_values.range)
    *made = range_bounds(step);
  else
    return false;
  return true;
}

/* Sets the bounds of the step's current output, whose type is set, where they follow from its inputs. */
static void infer_bounds(gather_step *step) {
  gather_dim made, *kept;
  const gather_known unknown = {.type = step->out.type};
  const gather_dim room = gather_bounds_of(&unknown); /* what the type can hold */
  if (step->openvino || !step->row || gather_integer_bits(step->out.type) < 8 || step->out.tensor || step->out.parts) return;
  if (!by_element(step, &made) && !by_shape(step, &made)) return;
  if (!is_within(&made, &room) || (made.min == INT64_MIN && made.max == INT64_MAX)) return;
  kept = gather_step_take(step, 1, sizeof *kept);
  if (kept) *kept = made;
  step->out.bounds = kept;
}

/* ---- the table, and the rules of a row */

enum { ONNX = 1, OPENVINO = 2, BOTH = 3, MICROSOFT = 4 };

static const gather_operator ROWS[] = {
#define GATHER_INFER(dialect, op, shape, exact, interval) \
  {op, dialect, &gather_rules_##shape, &gather_exact_##exact, &gather_interval_##interval},
#define GATHER_FLOW(dialect, op, rule) GATHER_INFER(dialect, op, rule, shape, shape)
#include "model/infer.def"
#undef GATHER_FLOW
#undef GATHER_INFER
};

enum { ROW_COUNT = (int)(sizeof ROWS / sizeof *ROWS) };

/* Only operators of the standard domains: a Reshape of another domain may do anything. */
static int dialect_of(const gather_step *step) {
  const char *domain = step->node->domain;
  if (step->openvino) return strncmp(domain, "opset", 5) == 0 ? OPENVINO : 0;
  if (domain[0] == '\0') return ONNX;
  return strcmp(domain, "com.microsoft") == 0 ? MICROSOFT : 0;
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int compare(const char *a, const char *b) {
  int d = 0;
  for (; d == 0 && (*a || *b); a++, b++) d = lower(*a) - lower(*b);
  return d;
}

/* The first row whose operator is not before that one. */
static int find_row(const char *op) {
  int low = 0, high = ROW_COUNT;
  while (low < high) {
    int middle = (low + high) / 2;
    if (compare(ROWS[middle].name, op) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* OpenVINO accepts a layer's type in any case. */
const gather_operator *gather_infer_row(const gather_step *step) {
  const char *op = step->node->op;
  int dialect = dialect_of(step);
  for (int i = find_row(op); i < ROW_COUNT && compare(ROWS[i].name, op) == 0; i++)
    if ((ROWS[i].dialect & dialect) && (step->openvino || strcmp(ROWS[i].name, op) == 0)) return &ROWS[i];
  return NULL;
}

static gather_known nothing(const gather_step *step) {
  return (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = step->node};
}

/* For nodes that depend only on the file, if elements of an input cannot be read: the unknown outputs lack the same
 * elements. If the node also needs an input of the model, its outputs are unknown for that reason. */
static void pass_unreadable(gather_step *step) {
  const gather_file_tensor *unreadable = NULL;
  const gather_operator *row = step->row;
  if (row && (row->shape == &gather_rules_values.shape_of || row->shape == &gather_rules_values.size)) return; /* needs no element */
  for (int32_t i = 0; i < step->node->input_count; i++) {
    if (!gather_step_has(step, i)) continue;
    const gather_known *in = gather_step_in(step, i);
    if (!in->tensor && !in->unreadable) return;
    if (!unreadable) unreadable = in->unreadable;
  }
  for (int32_t k = 0; k < step->node->output_count; k++)
    if (!step->outs[k].tensor && !step->outs[k].unreadable) step->outs[k].unreadable = unreadable;
}

gather_status gather_infer_node(gather_step *step, gather_error *error) {
  int count = step->node->output_count;
  step->out = nothing(step);
  step->at = 0;
  step->no_memory = false;
  step->outs = gather_step_take(step, count, sizeof *step->outs);
  for (int i = 0; step->outs && i < count; i++) step->outs[i] = step->out;
  if (step->row && step->outs && count > 0) {
    (*step->row->shape)(step);
    if (step->row->interval->of) follow_intervals(step);
    if (step->row->exact->follow && !step->out.tensor) step->row->exact->follow(step);
    gather_step_output(step, step->at);
    for (int i = 0; i < count; i++) {
      gather_step_output(step, i);
      infer_bounds(step);
    }
    gather_step_output(step, step->at);
  }
  if (step->outs) pass_unreadable(step);
  if (step->no_memory) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for shapes and constants");
  return GATHER_OK;
}
