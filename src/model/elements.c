/* SPDX-License-Identifier: MIT
 *
 * elements.c: the elements of element-wise operators and reductions, by the columns exact and interval of infer.def: on whole tensors of
 * integers, on one element, and on intervals of one element.
 *
 * An exact result that overflows, divides by 0, or is rounded differently by different runtimes is unknown. An interval is passed on only
 * if the other operand does not change it. The result of a comparison is 0 or 1, or the interval of both where the operands do not
 * decide it.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"
#include "model/model_internal.h"

/* ---- whole tensors, by the exact function of the row */

enum { MOST = 8 };

/* Whether the output can become known here. */
static bool is_open(const gather_step *step) { return step->out.rank >= 0 && gather_integer_bits(step->out.type) > 0; }

/* The types that the model declares for the inputs; their elements may be stored in others. */
static bool types_fit(const gather_step *step, gather_demand types, int32_t count) {
  bool selects = types == GATHER_SELECT;
  gather_type first = gather_step_in(step, selects)->type;
  if (types == GATHER_CONVERT) return gather_integer_bits(first) > 0;
  if (selects && gather_step_in(step, 0)->type != GATHER_TYPE_BOOL) return false;
  for (int32_t i = selects; i < count; i++)
    if (gather_step_in(step, i)->type != first) return false;
  return types == GATHER_LOGIC ? first == GATHER_TYPE_BOOL : gather_integer_bits(first) > 0;
}

/* Given values may exceed the type that the model declares; what a runtime would read is then unknown. */
static bool reads_truly(const gather_step *step, const gather_view *view, gather_type type) {
  char place[8];
  gather_step reading = *step;
  gather_view nowhere = *view;
  if (view->type == type || view->type == GATHER_TYPE_BOOL) return true;
  reading.out.type = type;
  nowhere.data = place;
  nowhere.type = GATHER_TYPE_INT64;
  memset(nowhere.strides, 0, sizeof nowhere.strides);
  return gather_step_each(&reading, view, 1, NULL, &nowhere);
}

/* Before opset 8 some inputs were broadcast differently: only equal shapes are followed. */
static bool stretches(const gather_step *step, gather_view *view, const gather_view *to) {
  return (step->openvino || step->node->opset >= 8 || view->rank == to->rank) && gather_view_stretch(view, to->rank, to->lengths);
}

/* Computes the output from the views; types: the declared type of each. */
static void make(gather_step *step, gather_view *views, const gather_type *types, int32_t count) {
  gather_view to;
  if (!gather_step_new_view(step, &to)) return;
  for (int32_t i = 0; i < count; i++)
    if (!stretches(step, &views[i], &to) || !reads_truly(step, &views[i], types[i])) return;
  if (gather_step_each(step, views, count, step->row->exact->element, &to)) (void)gather_step_set_view(step, &to);
}

/* Clip has bounds that may be left out; Clamp has them as attributes, of which only whole numbers are followed. */
static void follow_clip(gather_step *step) {
  gather_view views[3];
  int64_t bounds[2] = {INT64_MIN, INT64_MAX};
  gather_type types[3] = {step->out.type, GATHER_TYPE_INT64, GATHER_TYPE_INT64};
  bool clamp = step->openvino;
  if (!is_open(step) || !gather_step_input_view(step, 0, &views[0])) return;
  if (!clamp && step->node->opset < 11) return;
  if (clamp && (!gather_step_integer(step, "min", INT64_MIN, &bounds[0]) || !gather_step_integer(step, "max", INT64_MAX, &bounds[1])))
    return;
  for (int32_t i = 1; i < 3; i++) {
    views[i] = (gather_view){.data = (const char *)&bounds[i - 1], .type = GATHER_TYPE_INT64};
    if (clamp || !gather_step_has(step, i)) continue;
    types[i] = gather_step_in(step, i)->type;
    if (!gather_step_input_view(step, i, &views[i]) || views[i].rank != 0 || types[i] != types[0]) return;
  }
  make(step, views, types, 3);
}

/* Element-wise operators: the output where all inputs are known whole. */
static void follow_elements(gather_step *step) {
  gather_view views[MOST];
  gather_type types[MOST];
  const gather_exact *exact = step->row->exact;
  int32_t count = exact->inputs ? exact->inputs : step->node->input_count;
  if (!is_open(step) || count > MOST || count < 1 || !types_fit(step, exact->types, count)) return;
  for (int32_t i = 0; i < count; i++) {
    types[i] = gather_step_in(step, i)->type;
    if (!gather_step_input_view(step, i, &views[i])) return;
  }
  make(step, views, types, count);
}

/* A short list whose only axis was reduced: to no axis, or to one element. */
static void follow_fold(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0), *out = &step->out;
  int64_t count, value;
  bool folded = in->rank == 1 && (out->rank == 0 || (out->rank == 1 && out->dims[0].min == 1 && out->dims[0].max == 1));
  if (!folded || gather_integer_bits(in->type) < 8) return;
  const int64_t *values = gather_step_integers(step, in, &count);
  if (!values || count == 0 || !step->row->exact->element(step, values, (int32_t)count, &value)) return;
  const gather_dim part = gather_exact_dim(value);
  if (gather_parts_fit(&part, 1, in->type)) gather_step_fill(step, part);
}

/* ---- one element: arithmetic, exact and on intervals */

static bool is_number(const gather_dim *part, int64_t number) { return part->min == number && part->max == number; }

/* The exact function combines exact elements (infer_node.c); all others become unknown. */
static gather_dim unknown(const gather_dim *in, int32_t count) {
  (void)in;
  (void)count;
  return gather_any_number;
}

/* ---- sums */

static bool add(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++)
    if (!gather_add(*value, in[i], value)) return false;
  return true;
}

static gather_dim add_intervals(const gather_dim *in, int32_t count) {
  gather_dim sum = in[0];
  for (int32_t i = 1; i < count; i++) {
    if (is_number(&in[i], 0)) continue;
    sum = is_number(&sum, 0) ? in[i] : gather_any_number;
  }
  return sum;
}

static bool subtract(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  return in[1] != INT64_MIN && gather_add(in[0], -in[1], value);
}

static gather_dim subtract_intervals(const gather_dim *in, int32_t count) {
  (void)count;
  return is_number(&in[1], 0) ? in[0] : gather_any_number;
}

/* ---- products and quotients */

static bool multiply(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++)
    if (!gather_mul(*value, in[i], value)) return false;
  return true;
}

static gather_dim multiply_intervals(const gather_dim *in, int32_t count) {
  (void)count;
  if (is_number(&in[0], 1)) return in[1];
  return is_number(&in[1], 1) ? in[0] : gather_any_number;
}

/* ONNX rounds towards 0; OpenVINO's devices differ below 0 where the quotient is not whole. */
static bool divide(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)count;
  if (in[1] == 0 || (in[0] == INT64_MIN && in[1] == -1)) return false;
  *value = in[0] / in[1];
  return !step->openvino || (in[0] >= 0) == (in[1] > 0) || gather_remainder(in[0], in[1]) == 0;
}

static gather_dim divide_intervals(const gather_dim *in, int32_t count) {
  (void)count;
  return is_number(&in[1], 1) && in[0].min >= 0 ? in[0] : gather_any_number;
}

static bool floor_modulo(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  if (in[1] == 0) return false;
  *value = gather_floor_remainder(in[0], in[1]);
  return true;
}

/* ONNX's Mod without fmod has the sign of the divisor; the others have the sign of the dividend. */
static bool modulo(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  bool truncates = step->openvino;
  if (in[1] == 0 || (!step->openvino && !gather_step_flag(step, "fmod", false, &truncates))) return false;
  if (!truncates) return floor_modulo(step, in, count, value);
  *value = gather_remainder(in[0], in[1]);
  return true;
}

/* ---- the smallest and the largest */

static bool least(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++) *value = in[i] < *value ? in[i] : *value;
  return true;
}

static bool most(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++) *value = in[i] > *value ? in[i] : *value;
  return true;
}

/* An element, and its lower and its upper bound. */
static bool clip(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] < in[1] ? in[1] : in[0];
  if (*value > in[2]) *value = in[2];
  return true;
}

/* ---- one operand */

static bool negate(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] == INT64_MIN ? 0 : -in[0];
  return in[0] != INT64_MIN;
}

static bool absolute(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  return in[0] < 0 ? negate(step, in, count, value) : (*value = in[0], true);
}

static gather_dim absolute_interval(const gather_dim *in, int32_t count) {
  (void)count;
  return in[0].min >= 0 ? in[0] : gather_any_number;
}

static bool convert(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)count;
  *value = step->out.type == GATHER_TYPE_BOOL ? in[0] != 0 : in[0];
  return true;
}

/* ---- comparisons, logic and selection */

#define GATHER_ELEMENT(name, condition)                                                                 \
  static bool exact_##name(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) { \
    (void)step;                                                                                         \
    (void)count;                                                                                        \
    *value = (condition);                                                                               \
    return true;                                                                                        \
  }
/* yes, no: the conditions on the intervals a and b that decide the result. */
#define GATHER_BOUNDS(name, yes, no)                                       \
  static gather_dim interval_##name(const gather_dim *in, int32_t count) { \
    const gather_dim *a = &in[0], *b = &in[1];                             \
    (void)count;                                                           \
    return decide((yes), (no));                                            \
  }

static gather_dim decide(bool yes, bool no) { return (gather_dim){yes, !no, NULL}; }

static bool is_same(const gather_dim *a, const gather_dim *b) { return gather_is_exact(a) && gather_is_exact(b) && a->min == b->min; }

static bool is_apart(const gather_dim *a, const gather_dim *b) { return a->max < b->min || a->min > b->max; }

GATHER_ELEMENT(equal, in[0] == in[1])
GATHER_BOUNDS(equal, is_same(a, b), is_apart(a, b))
GATHER_ELEMENT(not_equal, in[0] != in[1])
GATHER_BOUNDS(not_equal, is_apart(a, b), is_same(a, b))
GATHER_ELEMENT(less, in[0] < in[1])
GATHER_BOUNDS(less, a->max < b->min, a->min >= b->max)
GATHER_ELEMENT(less_equal, in[0] <= in[1])
GATHER_BOUNDS(less_equal, a->max <= b->min, a->min > b->max)
GATHER_ELEMENT(greater, in[0] > in[1])
GATHER_BOUNDS(greater, a->min > b->max, a->max <= b->min)
GATHER_ELEMENT(greater_equal, in[0] >= in[1])
GATHER_BOUNDS(greater_equal, a->min >= b->max, a->max < b->min)
GATHER_ELEMENT(both, in[0] && in[1])
GATHER_BOUNDS(both, a->min == 1 && b->min == 1, a->max == 0 || b->max == 0)
GATHER_ELEMENT(either, in[0] || in[1])
GATHER_BOUNDS(either, a->min == 1 || b->min == 1, a->max == 0 && b->max == 0)
GATHER_ELEMENT(one_of_two, !in[0] != !in[1])
GATHER_BOUNDS(one_of_two, is_apart(a, b), is_same(a, b))
#undef GATHER_BOUNDS
#undef GATHER_ELEMENT

static bool is_not(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] == 0;
  return true;
}

static gather_dim not_interval(const gather_dim *in, int32_t count) {
  (void)count;
  return (gather_dim){1 - in[0].max, 1 - in[0].min, NULL};
}

static bool choose(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] ? in[1] : in[2];
  return true;
}

static gather_dim choose_interval(const gather_dim *in, int32_t count) {
  (void)count;
  if (!gather_is_exact(&in[0])) return gather_join_dims(&in[1], &in[2]);
  return in[0].min ? in[1] : in[2];
}

/* ---- the tables */

const struct gather_exact_of_elements gather_exact_elements = {
    .none = {NULL, NULL, 0, GATHER_NUMBERS},
    .shape = {NULL, NULL, 0, GATHER_NUMBERS},
    .add = {follow_elements, add, 2, GATHER_NUMBERS},
    .total = {follow_elements, add, 0, GATHER_NUMBERS},
    .fold_add = {follow_fold, add, 0, GATHER_NUMBERS},
    .subtract = {follow_elements, subtract, 2, GATHER_NUMBERS},
    .multiply = {follow_elements, multiply, 2, GATHER_NUMBERS},
    .fold_multiply = {follow_fold, multiply, 0, GATHER_NUMBERS},
    .divide = {follow_elements, divide, 2, GATHER_NUMBERS},
    .floor_modulo = {follow_elements, floor_modulo, 2, GATHER_NUMBERS},
    .modulo = {follow_elements, modulo, 2, GATHER_NUMBERS},
    .least = {follow_elements, least, 0, GATHER_NUMBERS},
    .fold_least = {follow_fold, least, 0, GATHER_NUMBERS},
    .most = {follow_elements, most, 0, GATHER_NUMBERS},
    .fold_most = {follow_fold, most, 0, GATHER_NUMBERS},
    .clip = {follow_clip, clip, 3, GATHER_NUMBERS},
    .negate = {follow_elements, negate, 1, GATHER_NUMBERS},
    .absolute = {follow_elements, absolute, 1, GATHER_NUMBERS},
    .convert = {follow_elements, convert, 1, GATHER_CONVERT},
    .equal = {follow_elements, exact_equal, 2, GATHER_COMPARE},
    .not_equal = {follow_elements, exact_not_equal, 2, GATHER_COMPARE},
    .less = {follow_elements, exact_less, 2, GATHER_COMPARE},
    .less_equal = {follow_elements, exact_less_equal, 2, GATHER_COMPARE},
    .greater = {follow_elements, exact_greater, 2, GATHER_COMPARE},
    .greater_equal = {follow_elements, exact_greater_equal, 2, GATHER_COMPARE},
    .both = {follow_elements, exact_both, 2, GATHER_LOGIC},
    .either = {follow_elements, exact_either, 2, GATHER_LOGIC},
    .one_of_two = {follow_elements, exact_one_of_two, 2, GATHER_LOGIC},
    .is_not = {follow_elements, is_not, 1, GATHER_LOGIC},
    .choose = {follow_elements, choose, 3, GATHER_SELECT},
};

const struct gather_interval_of_elements gather_interval_elements = {
    .none = {NULL},
    .shape = {NULL},
    .exact_only = {unknown},
    .add = {add_intervals},
    .subtract = {subtract_intervals},
    .multiply = {multiply_intervals},
    .divide = {divide_intervals},
    .absolute = {absolute_interval},
    .equal = {interval_equal},
    .not_equal = {interval_not_equal},
    .less = {interval_less},
    .less_equal = {interval_less_equal},
    .greater = {interval_greater},
    .greater_equal = {interval_greater_equal},
    .both = {interval_both},
    .either = {interval_either},
    .one_of_two = {interval_one_of_two},
    .is_not = {not_interval},
    .choose = {choose_interval},
};
