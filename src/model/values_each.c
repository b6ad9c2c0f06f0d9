/* SPDX-License-Identifier: MIT
 *
 * values_each.c: element-wise operators on whole tensors of integers. What overflows, divides by 0, or is rounded differently by
 * different runtimes is not followed.
 */
#include <string.h>

#include "base/checked.h"
#include "model/values.h"

static bool add(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  return gather_add(in[0], in[1], value);
}

static bool subtract(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  return in[1] != INT64_MIN && gather_add(in[0], -in[1], value);
}

static bool multiply(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  return gather_mul(in[0], in[1], value);
}

/* The remainder as C has it; by -1 it may not be asked for. */
static int64_t remainder_of(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

/* ONNX rounds towards 0; OpenVINO's devices differ below 0 where it is not whole. */
static bool divide(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)count;
  if (in[1] == 0 || (in[0] == INT64_MIN && in[1] == -1)) return false;
  *value = in[0] / in[1];
  return !step->openvino || (in[0] >= 0) == (in[1] > 0) || remainder_of(in[0], in[1]) == 0;
}

/* The sign of the divisor: ONNX's Mod without fmod, and FloorMod; else that of the dividend. */
static bool modulo(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  bool truncates = step->openvino;
  (void)count;
  if (in[1] == 0 || (!step->openvino && !gather_step_flag(step, "fmod", false, &truncates))) return false;
  *value = remainder_of(in[0], in[1]);
  if (!truncates && *value != 0 && (*value < 0) != (in[1] < 0)) *value += in[1];
  return true;
}

static bool floor_modulo(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  if (in[1] == 0) return false;
  *value = remainder_of(in[0], in[1]);
  if (*value != 0 && (*value < 0) != (in[1] < 0)) *value += in[1];
  return true;
}

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

static bool negate(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] == INT64_MIN ? 0 : -in[0];
  return in[0] != INT64_MIN;
}

static bool absolute(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  return in[0] < 0 ? negate(step, in, count, value) : (*value = in[0], true);
}

static bool is_not(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] == 0;
  return true;
}

static bool convert(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)count;
  *value = step->out.type == GATHER_TYPE_BOOL ? in[0] != 0 : in[0];
  return true;
}

static bool choose(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] ? in[1] : in[2];
  return true;
}

#define GATHER_COMPARE(name, condition)                                                         \
  static bool name(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) { \
    (void)step;                                                                                 \
    (void)count;                                                                                \
    *value = (condition);                                                                       \
    return true;                                                                                \
  }
GATHER_COMPARE(equal, in[0] == in[1])
GATHER_COMPARE(not_equal, in[0] != in[1])
GATHER_COMPARE(less, in[0] < in[1])
GATHER_COMPARE(less_equal, in[0] <= in[1])
GATHER_COMPARE(greater, in[0] > in[1])
GATHER_COMPARE(greater_equal, in[0] >= in[1])
GATHER_COMPARE(both, in[0] && in[1])
GATHER_COMPARE(either, in[0] || in[1])
GATHER_COMPARE(one_of_two, !in[0] != !in[1])
#undef GATHER_COMPARE

/* What the inputs must be: of one type; both yes or no; one yes or no and two of one type. */
typedef enum { SAME = 1, LOGIC, ANY, SELECT } demand;

/* inputs: how many; 0: one or more. The rows are searched in order. */
typedef struct {
  const char *op;
  int32_t inputs;
  demand types;
  gather_element_fn function;
} row;

static const row ROWS[] = {
    {"Add", 2, SAME, add},
    {"Sub", 2, SAME, subtract},
    {"Subtract", 2, SAME, subtract},
    {"Mul", 2, SAME, multiply},
    {"Multiply", 2, SAME, multiply},
    {"Div", 2, SAME, divide},
    {"Divide", 2, SAME, divide},
    {"Mod", 2, SAME, modulo},
    {"FloorMod", 2, SAME, floor_modulo},
    {"Min", 0, SAME, least},
    {"Minimum", 2, SAME, least},
    {"Max", 0, SAME, most},
    {"Maximum", 2, SAME, most},
    {"Neg", 1, SAME, negate},
    {"Negative", 1, SAME, negate},
    {"Abs", 1, SAME, absolute},
    {"Cast", 1, ANY, convert},
    {"CastLike", 1, ANY, convert},
    {"Convert", 1, ANY, convert},
    {"ConvertLike", 1, ANY, convert},
    {"Equal", 2, SAME, equal},
    {"NotEqual", 2, SAME, not_equal},
    {"Less", 2, SAME, less},
    {"LessOrEqual", 2, SAME, less_equal},
    {"LessEqual", 2, SAME, less_equal},
    {"Greater", 2, SAME, greater},
    {"GreaterOrEqual", 2, SAME, greater_equal},
    {"GreaterEqual", 2, SAME, greater_equal},
    {"And", 2, LOGIC, both},
    {"LogicalAnd", 2, LOGIC, both},
    {"Or", 2, LOGIC, either},
    {"LogicalOr", 2, LOGIC, either},
    {"Xor", 2, LOGIC, one_of_two},
    {"LogicalXor", 2, LOGIC, one_of_two},
    {"Not", 1, LOGIC, is_not},
    {"LogicalNot", 1, LOGIC, is_not},
    {"Where", 3, SELECT, choose},
    {"Select", 3, SELECT, choose},
};

enum { MOST = 8, ROW_COUNT = (int)(sizeof ROWS / sizeof *ROWS) };

static const row *row_of(const gather_step *step) {
  for (int i = 0; i < ROW_COUNT; i++)
    if (strcmp(ROWS[i].op, step->op) == 0) return &ROWS[i];
  return NULL;
}

/* The types that the model says of the inputs; their elements may be stored in others. */
static bool types_fit(const gather_step *step, const row *r, int32_t count) {
  gather_type first = gather_step_in(step, r->types == SELECT ? 1 : 0)->type;
  if (r->types == ANY) return gather_integer_bits(first) > 0;
  if (r->types == SELECT && gather_step_in(step, 0)->type != GATHER_TYPE_BOOL) return false;
  for (int32_t i = r->types == SELECT; i < count; i++)
    if (gather_step_in(step, i)->type != first) return false;
  return r->types == LOGIC ? first == GATHER_TYPE_BOOL : gather_integer_bits(first) > 0;
}

/* Given values may be beyond the type that the model says; then nobody knows what a runtime would be given. */
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

/* Before opset 8 some inputs were stretched otherwise: only equal shapes. */
static bool stretches(const gather_step *step, gather_view *view, const gather_view *to) {
  return (step->openvino || step->node->opset >= 8 || view->rank == to->rank) &&
         gather_view_stretch(view, to->rank, to->lengths);
}

/* Makes the output of the views; types: what the model says of each. */
static void make(gather_step *step, gather_view *views, const gather_type *types, int32_t count,
                 gather_element_fn function) {
  gather_view to;
  if (!gather_step_new_view(step, &to)) return;
  for (int32_t i = 0; i < count; i++)
    if (!stretches(step, &views[i], &to) || !reads_truly(step, &views[i], types[i])) return;
  if (gather_step_each(step, views, count, function, &to)) (void)gather_step_set_view(step, &to);
}

static bool clip(const gather_step *step, const int64_t *in, int32_t count, int64_t *value) {
  (void)step;
  (void)count;
  *value = in[0] < in[1] ? in[1] : in[0];
  if (*value > in[2]) *value = in[2];
  return true;
}

/* Clip has bounds that may be left out; Clamp has them as attributes, of which only whole numbers are followed. */
static void follow_clip(gather_step *step) {
  gather_view views[3];
  int64_t bounds[2] = {INT64_MIN, INT64_MAX};
  gather_type types[3] = {step->out.type, GATHER_TYPE_INT64, GATHER_TYPE_INT64};
  bool clamp = step->openvino;
  if (!gather_step_input_view(step, 0, &views[0])) return;
  if (!clamp && step->node->opset < 11) return;
  if (clamp && (!gather_step_integer(step, "min", INT64_MIN, &bounds[0]) ||
                !gather_step_integer(step, "max", INT64_MAX, &bounds[1])))
    return;
  for (int32_t i = 1; i < 3; i++) {
    views[i] = (gather_view){.data = (const char *)&bounds[i - 1], .type = GATHER_TYPE_INT64};
    if (clamp || !gather_step_has(step, i)) continue;
    types[i] = gather_step_in(step, i)->type;
    if (!gather_step_input_view(step, i, &views[i]) || views[i].rank != 0 || types[i] != types[0]) return;
  }
  make(step, views, types, 3, clip);
}

void gather_follow_elements(gather_step *step) {
  gather_view views[MOST];
  gather_type types[MOST];
  const row *r = row_of(step);
  if (step->out.tensor || step->out.rank < 0 || gather_integer_bits(step->out.type) == 0) return;
  if (strcmp(step->op, "Clip") == 0 || strcmp(step->op, "Clamp") == 0) follow_clip(step);
  int32_t count = r && r->inputs ? r->inputs : step->node->input_count;
  if (!r || count > MOST || count < 1 || !types_fit(step, r, count)) return;
  for (int32_t i = 0; i < count; i++) {
    types[i] = gather_step_in(step, i)->type;
    if (!gather_step_input_view(step, i, &views[i])) return;
  }
  make(step, views, types, count, r->function);
}
