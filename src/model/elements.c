/* SPDX-License-Identifier: MIT
 *
 * elements.c: arithmetic on one element: exact, and on intervals. An exact result that overflows, divides by 0,
 * or is rounded differently by different runtimes is unknown. An interval is passed on only if the other operand does
 * not change it.
 */
#include "core/base/checked.h"
#include "model/remainder.h"
#include "model/values.h"

static bool is_number(const gather_dim *part, int64_t number) { return part->min == number && part->max == number; }

/* The exact function combines exact elements (intervals.c); all others become unknown. */
static gather_dim unknown(const gather_dim *in, int32_t count) {
  (void)in;
  (void)count;
  return gather_any_number;
}
const gather_interval gather_interval_exact_only = {unknown};

/* ---- sums */

static bool add(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++)
    if (!gather_add(*value, in[i], value)) return false;
  return true;
}
const gather_exact gather_exact_add = {gather_follow_elements, add, 2, GATHER_NUMBERS};
const gather_exact gather_exact_total = {gather_follow_elements, add, 0, GATHER_NUMBERS};
const gather_exact gather_exact_fold_add = {gather_follow_fold, add, 0, GATHER_NUMBERS};

static gather_dim add_intervals(const gather_dim *in, int32_t count) {
  gather_dim sum = in[0];
  for (int32_t i = 1; i < count; i++) {
    if (is_number(&in[i], 0)) continue;
    sum = is_number(&sum, 0) ? in[i] : gather_any_number;
  }
  return sum;
}
const gather_interval gather_interval_add = {add_intervals};

static bool subtract(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  return in[1] != INT64_MIN && gather_add(in[0], -in[1], value);
}
const gather_exact gather_exact_subtract = {gather_follow_elements, subtract, 2, GATHER_NUMBERS};

static gather_dim subtract_intervals(const gather_dim *in, int32_t count) {
  (void)count;
  return is_number(&in[1], 0) ? in[0] : gather_any_number;
}
const gather_interval gather_interval_subtract = {subtract_intervals};

/* ---- products and quotients */

static bool multiply(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++)
    if (!gather_mul(*value, in[i], value)) return false;
  return true;
}
const gather_exact gather_exact_multiply = {gather_follow_elements, multiply, 2, GATHER_NUMBERS};
const gather_exact gather_exact_fold_multiply = {gather_follow_fold, multiply, 0, GATHER_NUMBERS};

static gather_dim multiply_intervals(const gather_dim *in, int32_t count) {
  (void)count;
  if (is_number(&in[0], 1)) return in[1];
  return is_number(&in[1], 1) ? in[0] : gather_any_number;
}
const gather_interval gather_interval_multiply = {multiply_intervals};

/* ONNX rounds towards 0; OpenVINO's devices differ below 0 where the quotient is not whole. */
static bool divide(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)count;
  if (in[1] == 0 || (in[0] == INT64_MIN && in[1] == -1)) return false;
  *value = in[0] / in[1];
  return !step->openvino || (in[0] >= 0) == (in[1] > 0) || gather_remainder(in[0], in[1]) == 0;
}
const gather_exact gather_exact_divide = {gather_follow_elements, divide, 2, GATHER_NUMBERS};

static gather_dim divide_intervals(const gather_dim *in, int32_t count) {
  (void)count;
  return is_number(&in[1], 1) && in[0].min >= 0 ? in[0] : gather_any_number;
}
const gather_interval gather_interval_divide = {divide_intervals};

static bool floor_modulo(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  if (in[1] == 0) return false;
  *value = gather_floor_remainder(in[0], in[1]);
  return true;
}
const gather_exact gather_exact_floor_modulo = {gather_follow_elements, floor_modulo, 2, GATHER_NUMBERS};

/* ONNX's Mod without fmod has the sign of the divisor; the others have the sign of the dividend. */
static bool modulo(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  bool truncates = step->openvino;
  if (in[1] == 0 || (!step->openvino && !gather_step_flag(step, "fmod", false, &truncates))) return false;
  if (!truncates) return floor_modulo(step, in, count, value);
  *value = gather_remainder(in[0], in[1]);
  return true;
}
const gather_exact gather_exact_modulo = {gather_follow_elements, modulo, 2, GATHER_NUMBERS};

/* ---- the smallest and the largest */

static bool least(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++) *value = in[i] < *value ? in[i] : *value;
  return true;
}
const gather_exact gather_exact_least = {gather_follow_elements, least, 0, GATHER_NUMBERS};
const gather_exact gather_exact_fold_least = {gather_follow_fold, least, 0, GATHER_NUMBERS};

static bool most(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  *value = in[0];
  for (int32_t i = 1; i < count; i++) *value = in[i] > *value ? in[i] : *value;
  return true;
}
const gather_exact gather_exact_most = {gather_follow_elements, most, 0, GATHER_NUMBERS};
const gather_exact gather_exact_fold_most = {gather_follow_fold, most, 0, GATHER_NUMBERS};

/* An element, and its lower and its upper bound. */
static bool clip(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] < in[1] ? in[1] : in[0];
  if (*value > in[2]) *value = in[2];
  return true;
}
const gather_exact gather_exact_clip = {gather_follow_clip, clip, 3, GATHER_NUMBERS};

/* ---- one operand */

static bool negate(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] == INT64_MIN ? 0 : -in[0];
  return in[0] != INT64_MIN;
}
const gather_exact gather_exact_negate = {gather_follow_elements, negate, 1, GATHER_NUMBERS};

static bool absolute(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  return in[0] < 0 ? negate(step, in, count, value) : (*value = in[0], true);
}
const gather_exact gather_exact_absolute = {gather_follow_elements, absolute, 1, GATHER_NUMBERS};

static gather_dim absolute_interval(const gather_dim *in, int32_t count) {
  (void)count;
  return in[0].min >= 0 ? in[0] : gather_any_number;
}
const gather_interval gather_interval_absolute = {absolute_interval};

static bool convert(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)count;
  *value = step->out.type == GATHER_TYPE_BOOL ? in[0] != 0 : in[0];
  return true;
}
const gather_exact gather_exact_convert = {gather_follow_elements, convert, 1, GATHER_CONVERT};
