/* SPDX-License-Identifier: MIT
 *
 * infer_arith.c: element-wise operators, and their values where those are small integers: shape arithmetic.
 */
#include <string.h>

#include "base/checked.h"
#include "model/infer.h"

/* OpenVINO's name and ONNX's mean the same here. */
static bool is_op(const char *op, const char *one, const char *other) {
  return strcmp(op, one) == 0 || strcmp(op, other) == 0;
}

static bool calculate(const char *op, int64_t a, int64_t b, int64_t *value) {
  if (is_op(op, "Add", "Sum")) return gather_add(a, b, value);
  if (is_op(op, "Sub", "Subtract")) return b != INT64_MIN && gather_add(a, -b, value);
  if (is_op(op, "Mul", "Multiply")) return gather_mul(a, b, value);
  /* Rounding of quotients below zero differs between the documents: only what all agree on. */
  if (is_op(op, "Div", "Divide")) return a >= 0 && b > 0 && (*value = a / b, true);
  if (is_op(op, "Mod", "FloorMod")) return a >= 0 && b > 0 && (*value = a % b, true);
  if (is_op(op, "Min", "Minimum")) return *value = a < b ? a : b, true;
  if (is_op(op, "Max", "Maximum")) return *value = a > b ? a : b, true;
  return false;
}

/* What is known of a number that nothing is known of: it may be below 0. */
static const gather_dim ANY_NUMBER = {INT64_MIN, GATHER_DIM_UNBOUNDED, NULL};

static bool is_number(const gather_dim *part, int64_t number) { return part->min == number && part->max == number; }

static gather_dim combine(const char *op, const gather_dim *a, const gather_dim *b) {
  gather_dim value = ANY_NUMBER;
  if (gather_is_exact(a) && gather_is_exact(b)) {
    if (calculate(op, a->min, b->min, &value.min)) value.max = value.min;
    return value;
  }
  bool adds = is_op(op, "Add", "Sum"), multiplies = is_op(op, "Mul", "Multiply");
  if ((adds && is_number(a, 0)) || (multiplies && is_number(a, 1))) return *b;
  if (((adds || is_op(op, "Sub", "Subtract")) && is_number(b, 0)) ||
      ((multiplies || (is_op(op, "Div", "Divide") && a->min >= 0)) && is_number(b, 1)))
    return *a;
  return ANY_NUMBER;
}

/* Whether a compares so with b: 0 or 1, or either where the intervals do not say it. */
static gather_dim weigh(const char *op, const gather_dim *a, const gather_dim *b) {
  const gather_dim no = gather_exact_dim(0), yes = gather_exact_dim(1), either = {0, 1, NULL};
  bool below = a->max<b->min, above = a->min> b->max;
  bool equal = gather_is_exact(a) && gather_is_exact(b) && a->min == b->min;
  if (is_op(op, "Equal", "Equal")) return equal ? yes : below || above ? no : either;
  if (is_op(op, "NotEqual", "NotEqual")) return equal ? no : below || above ? yes : either;
  if (is_op(op, "Less", "Less")) return below ? yes : a->min >= b->max ? no : either;
  if (is_op(op, "Greater", "Greater")) return above ? yes : a->max <= b->min ? no : either;
  if (is_op(op, "LessOrEqual", "LessEqual")) return a->max <= b->min ? yes : above ? no : either;
  if (is_op(op, "GreaterOrEqual", "GreaterEqual")) return a->min >= b->max ? yes : below ? no : either;
  if (is_op(op, "And", "LogicalAnd"))
    return a->min == 1 && b->min == 1 ? yes : a->max == 0 || b->max == 0 ? no : either;
  if (is_op(op, "Or", "LogicalOr")) return a->min == 1 || b->min == 1 ? yes : a->max == 0 && b->max == 0 ? no : either;
  return either;
}

typedef gather_dim (*combine_fn)(const char *op, const gather_dim *a, const gather_dim *b);

/* The parts of two inputs of equal counts, or one of a single element, put together; NULL where they are not known. */
static gather_dim *pairwise(gather_step *step, combine_fn function, int64_t *count) {
  int64_t counts[2];
  if (step->node->input_count != 2 || step->out.rank < 0 || step->out.rank > 1) return NULL;
  const gather_dim *a = gather_step_parts(step, gather_step_in(step, 0), &counts[0]);
  const gather_dim *b = gather_step_parts(step, gather_step_in(step, 1), &counts[1]);
  if (!a || !b || (counts[0] != counts[1] && counts[0] != 1 && counts[1] != 1)) return NULL;
  *count = counts[0] == 1 ? counts[1] : counts[0];
  gather_dim *parts = gather_step_new_parts(step, *count);
  for (int64_t i = 0; parts && i < *count; i++)
    parts[i] = function(step->op, &a[counts[0] == 1 ? 0 : i], &b[counts[1] == 1 ? 0 : i]);
  return parts;
}

void gather_infer_compare(gather_step *step) {
  int64_t count;
  step->out.type = GATHER_TYPE_BOOL;
  gather_step_broadcast(step, 0);
  const gather_dim *parts = pairwise(step, weigh, &count);
  if (parts) gather_step_set_parts(step, parts, count);
}

/* Whether something is known of any part: else they are not worth following. */
static bool any_known(const gather_dim *parts, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (parts[i].min != INT64_MIN) return true;
  return count == 0;
}

/* A part that has a bound beyond its type says nothing: the sum may have gone round. */
static void keep_fitting(gather_dim *parts, int64_t count, gather_type type) {
  for (int64_t i = 0; i < count; i++)
    if (gather_is_exact(&parts[i]) && !gather_parts_fit(&parts[i], 1, type)) parts[i] = ANY_NUMBER;
}

void gather_infer_binary(gather_step *step) {
  const gather_known *first = gather_step_in(step, 0), *second = gather_step_in(step, 1);
  int64_t count;
  gather_step_broadcast(step, 0);
  step->out.type = first->type != GATHER_TYPE_NONE ? first->type : second->type;
  if (gather_integer_bits(step->out.type) < 8) return;
  gather_dim *parts = pairwise(step, combine, &count);
  if (!parts) return;
  keep_fitting(parts, count, step->out.type);
  if (any_known(parts, count)) gather_step_set_parts(step, parts, count);
}

static gather_dim alter(const char *op, const gather_dim *a) {
  if (is_op(op, "Not", "LogicalNot")) return (gather_dim){1 - a->max, 1 - a->min, NULL};
  if (strcmp(op, "Abs") == 0 && a->min >= 0) return *a;
  if (!gather_is_exact(a) || a->min == INT64_MIN) return ANY_NUMBER;
  return gather_exact_dim(is_op(op, "Neg", "Negative") || a->min < 0 ? -a->min : a->min);
}

/* Abs, Neg, Not: one input, followed through its values. */
void gather_infer_unary(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  bool is_not = is_op(step->op, "Not", "LogicalNot");
  gather_infer_same(step);
  if (step->out.rank < 0 || (is_not ? in->type != GATHER_TYPE_BOOL : gather_integer_bits(in->type) < 8)) return;
  const gather_dim *from = gather_step_parts(step, in, &count);
  gather_dim *parts = from ? gather_step_new_parts(step, count) : NULL;
  for (int64_t i = 0; parts && i < count; i++) parts[i] = alter(step->op, &from[i]);
  if (!parts) return;
  if (!is_not) keep_fitting(parts, count, in->type);
  if (any_known(parts, count)) gather_step_set_parts(step, parts, count);
}

static void where_values(gather_step *step) {
  int64_t counts[3], count = 1;
  const gather_dim *in[3];
  if (step->out.rank < 0 || step->out.rank > 1) return;
  for (int32_t i = 0; i < 3; i++) {
    in[i] = gather_step_parts(step, gather_step_in(step, i), &counts[i]);
    if (!in[i] || (counts[i] != 1 && count != 1 && counts[i] != count)) return;
    if (counts[i] != 1) count = counts[i];
  }
  gather_dim *parts = gather_step_new_parts(step, count);
  for (int64_t i = 0; parts && i < count; i++) {
    const gather_dim *which = &in[0][counts[0] == 1 ? 0 : i];
    const gather_dim *x = &in[1][counts[1] == 1 ? 0 : i], *y = &in[2][counts[2] == 1 ? 0 : i];
    parts[i] = !gather_is_exact(which) ? gather_join_dims(x, y) : which->min ? *x : *y;
  }
  if (parts && any_known(parts, count)) gather_step_set_parts(step, parts, count);
}

void gather_infer_where(gather_step *step) {
  gather_step_broadcast(step, 0);
  step->out.type = gather_step_in(step, 1)->type;
  if (step->out.type == GATHER_TYPE_NONE) step->out.type = gather_step_in(step, 2)->type;
  where_values(step);
}
