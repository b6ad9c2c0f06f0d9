/* SPDX-License-Identifier: MIT
 *
 * elements_logic.c: comparisons, logic and selection of one element: exact, and on intervals. The result of a comparison is 0 or
 * 1, or the interval of both where the operands do not decide it.
 */
#include "model/values.h"

#define GATHER_ELEMENT(name, types, condition)                                                          \
  static bool exact_##name(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) { \
    (void)step;                                                                                         \
    (void)count;                                                                                        \
    *value = (condition);                                                                               \
    return true;                                                                                        \
  }                                                                                                     \
  const gather_exact gather_exact_##name = {gather_follow_elements, exact_##name, 2, types};

/* yes, no: the conditions on the intervals a and b that decide the result. */
#define GATHER_BOUNDS(name, yes, no)                                       \
  static gather_dim interval_##name(const gather_dim *in, int32_t count) { \
    const gather_dim *a = &in[0], *b = &in[1];                             \
    (void)count;                                                           \
    return decide((yes), (no));                                            \
  }                                                                        \
  const gather_interval gather_interval_##name = {interval_##name};

static gather_dim decide(bool yes, bool no) { return (gather_dim){yes, !no, NULL}; }

static bool is_same(const gather_dim *a, const gather_dim *b) {
  return gather_is_exact(a) && gather_is_exact(b) && a->min == b->min;
}

static bool is_apart(const gather_dim *a, const gather_dim *b) { return a->max < b->min || a->min > b->max; }

GATHER_ELEMENT(equal, GATHER_COMPARE, in[0] == in[1])
GATHER_BOUNDS(equal, is_same(a, b), is_apart(a, b))
GATHER_ELEMENT(not_equal, GATHER_COMPARE, in[0] != in[1])
GATHER_BOUNDS(not_equal, is_apart(a, b), is_same(a, b))
GATHER_ELEMENT(less, GATHER_COMPARE, in[0] < in[1])
GATHER_BOUNDS(less, a->max < b->min, a->min >= b->max)
GATHER_ELEMENT(less_equal, GATHER_COMPARE, in[0] <= in[1])
GATHER_BOUNDS(less_equal, a->max <= b->min, a->min > b->max)
GATHER_ELEMENT(greater, GATHER_COMPARE, in[0] > in[1])
GATHER_BOUNDS(greater, a->min > b->max, a->max <= b->min)
GATHER_ELEMENT(greater_equal, GATHER_COMPARE, in[0] >= in[1])
GATHER_BOUNDS(greater_equal, a->min >= b->max, a->max < b->min)
GATHER_ELEMENT(both, GATHER_LOGIC, in[0] && in[1])
GATHER_BOUNDS(both, a->min == 1 && b->min == 1, a->max == 0 || b->max == 0)
GATHER_ELEMENT(either, GATHER_LOGIC, in[0] || in[1])
GATHER_BOUNDS(either, a->min == 1 || b->min == 1, a->max == 0 && b->max == 0)
GATHER_ELEMENT(one_of_two, GATHER_LOGIC, !in[0] != !in[1])
GATHER_BOUNDS(one_of_two, is_apart(a, b), is_same(a, b))
#undef GATHER_BOUNDS
#undef GATHER_ELEMENT

static bool is_not(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] == 0;
  return true;
}
const gather_exact gather_exact_is_not = {gather_follow_elements, is_not, 1, GATHER_LOGIC};

static gather_dim not_interval(const gather_dim *in, int32_t count) {
  (void)count;
  return (gather_dim){1 - in[0].max, 1 - in[0].min, NULL};
}
const gather_interval gather_interval_is_not = {not_interval};

static bool choose(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] ? in[1] : in[2];
  return true;
}
const gather_exact gather_exact_choose = {gather_follow_elements, choose, 3, GATHER_SELECT};

static gather_dim choose_interval(const gather_dim *in, int32_t count) {
  (void)count;
  if (!gather_is_exact(&in[0])) return gather_join_dims(&in[1], &in[2]);
  return in[0].min ? in[1] : in[2];
}
const gather_interval gather_interval_choose = {choose_interval};
