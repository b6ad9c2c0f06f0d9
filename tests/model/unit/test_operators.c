/* SPDX-License-Identifier: MIT
 *
 * test_operators.c: the tables of this door that list operators lack none of them; and the interval functions of infer.def hold every
 * value that the exact function of the same row gives, keep a name that nothing changes, and decide a comparison where the bounds do.
 */
#include "model/infer.h"
#include "support/unit.h"

/* ---- no operator is missing */
enum { NEGATIVE, SHORT_NEGATIVE, RANGE, SHORT_RANGE, DEQUANTIZED, WIDE, REPEATED, OFFSETS, KINDS };

enum {
#define GATHER_RUNTIME(id, name, reads_ir) RUNTIME_##id,
#define GATHER_DOES(code, sentence)
#define GATHER_BEHAVIOUR(runtime, op, kind, code)
#include "model/runtimes.def"
#undef GATHER_RUNTIME
#undef GATHER_BEHAVIOUR
};

enum {
#define GATHER_OP(ENUM, ...) OP_##ENUM,
#include "core/op/ops.def"
#undef GATHER_OP
};

static const bool reads_ir[] = {
#define GATHER_RUNTIME(id, name, ir) ir,
#define GATHER_BEHAVIOUR(runtime, op, kind, code)
#include "model/runtimes.def"
#undef GATHER_RUNTIME
#undef GATHER_BEHAVIOUR
};

static const struct {
  int runtime, op, kind;
} behaviours[] = {
#define GATHER_RUNTIME(id, name, ir)
#define GATHER_BEHAVIOUR(runtime, op, kind, code) {RUNTIME_##runtime, OP_##op, kind},
#include "model/runtimes.def"
#undef GATHER_RUNTIME
#undef GATHER_BEHAVIOUR
#undef GATHER_DOES
};

static const struct {
  const char *op, *function;
} inferred[] = {
#define GATHER_INFER(dialect, op, shape, exact, interval) {op, #shape},
#define GATHER_FLOW(dialect, op, shape)
#include "model/infer.def"
#undef GATHER_INFER
#undef GATHER_FLOW
};

/* Models are of ONNX and OpenVINO: no file has StableHLO's. */
static bool in_models(const gather_op *op) { return strcmp(op->dialect, "stablehlo") != 0; }

/* "not known" is an answer that somebody wrote down, not one for a row that somebody forgot. */
static void runtimes_know_every_operator(void **state) {
  for (size_t r = 0; r < COUNT(reads_ir); r++)
    for (size_t i = 0; gather_op_at(i); i++) {
      const gather_op *op = gather_op_at(i);
      bool reads = in_models(op) && (strcmp(op->dialect, "openvino") != 0 || reads_ir[r]), found = false;
      for (size_t k = 0; k < COUNT(behaviours); k++)
        found = found || (behaviours[k].runtime == (int)r && behaviours[k].op == (int)i && behaviours[k].kind == RANGE);
      if (found != reads)
        fail_msg("runtimes.def: %s %s has %s row of the kind RANGE for runtime number %d", op->name, op->rules, found ? "a" : "no", (int)r);
    }
}

static void models_infer_every_operator(void **state) {
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_family_info *family = gather_family_get(gather_op_at(i)->family);
    const bool decodes = strcmp(gather_op_at(i)->name, "GatherBlockQuantized") == 0;
    const char *function = family->function ? family->function : decodes ? "block_quantized" : "gather";
    bool found = false;
    for (size_t k = 0; k < COUNT(inferred) && !found; k++)
      found = strcmp(inferred[k].op, gather_op_at(i)->name) == 0 && strcmp(strchr(inferred[k].function, '.') + 1, function) == 0;
    if (!found && in_models(gather_op_at(i))) fail_msg("infer.def has no row for %s", gather_op_at(i)->name);
  }
}

/* ---- intervals */
enum { LOW = -3, HIGH = 3, MOST = 3 };

static const gather_node NODE = {.name = "n", .op = "", .domain = "", .opset = 21};
static const gather_step STEP = {.node = &NODE};

typedef struct {
  const char *op;
  const gather_exact *exact;
  const gather_interval *interval;
} row;

static const row ROWS[] = {
#define GATHER_FLOW(dialect, op, rule)
#define GATHER_INFER(dialect, op, rule, exact, interval) {op, &gather_exact_##exact, &gather_interval_##interval},
#include "model/infer.def"
#undef GATHER_INFER
#undef GATHER_FLOW
};

static bool is_logic(const row *r, int32_t input) {
  return r->exact->types == GATHER_LOGIC || (r->exact->types == GATHER_SELECT && input == 0);
}

static int32_t inputs_of(const row *r) { return r->exact->inputs ? r->exact->inputs : 2; }

/* Every choice of one value from each interval. */
static void try_values(const row *r, const gather_dim *in, int64_t *values, int32_t at, const gather_dim *made) {
  int64_t value;
  if (at < inputs_of(r) && at < MOST) {
    for (values[at] = in[at].min; values[at] <= in[at].max; values[at]++) try_values(r, in, values, at + 1, made);
    return;
  }
  if (r->exact->element(&STEP, values, at, &value) && (value < made->min || value > made->max))
    fail_msg("%s: the value %d is outside the interval [%d, %d]", r->op, (int)value, (int)made->min, (int)made->max);
}

/* Every interval for each input. */
static void try_intervals(const row *r, gather_dim *in, int32_t at) {
  int64_t values[MOST];
  if (at == inputs_of(r) || at == MOST) {
    const gather_dim made = r->interval->of(in, at);
    try_values(r, in, values, 0, &made);
    return;
  }
  int64_t low = is_logic(r, at) ? 0 : LOW, high = is_logic(r, at) ? 1 : HIGH;
  for (int64_t min = low; min <= high; min++)
    for (int64_t max = min; max <= high; max++) {
      in[at] = (gather_dim){min, max, NULL};
      try_intervals(r, in, at + 1);
    }
}

static void intervals_hold_every_value(void **state) {
  gather_dim in[MOST];
  int tried = 0;
  for (size_t i = 0; i < COUNT(ROWS); i++) {
    if (!ROWS[i].interval->of) continue;
    if (!ROWS[i].exact->element) fail_msg("%s has an interval function and no exact one", ROWS[i].op);
    assert_in_range(inputs_of(&ROWS[i]), 1, MOST);
    try_intervals(&ROWS[i], in, 0);
    tried++;
  }
  assert_true(tried > 30);
}

static gather_dim of(const char *op, gather_dim a, gather_dim b) {
  const gather_dim in[] = {a, b};
  for (size_t i = 0; i < COUNT(ROWS); i++)
    if (strcmp(ROWS[i].op, op) == 0) return ROWS[i].interval->of(in, inputs_of(&ROWS[i]));
  fail_msg("no row %s", op);
  return gather_any_number;
}

static void assert_dim(gather_dim got, gather_dim want) {
  assert_int_equal(got.min, want.min);
  assert_int_equal(got.max, want.max);
  assert_ptr_equal(got.symbol, want.symbol);
}

static void names_are_kept(void **state) {
  const gather_dim n = {0, GATHER_DIM_UNBOUNDED, "n"}, zero = gather_exact_dim(0), one = gather_exact_dim(1);
  for (int i = 0; i < 2; i++) {
    assert_dim(of(i ? "Sum" : "Add", n, zero), n);
    assert_dim(of(i ? "Sum" : "Add", zero, n), n);
    assert_dim(of(i ? "Subtract" : "Sub", n, zero), n);
    assert_dim(of(i ? "Multiply" : "Mul", n, one), n);
    assert_dim(of(i ? "Multiply" : "Mul", one, n), n);
    assert_dim(of(i ? "Divide" : "Div", n, one), n);
  }
  assert_dim(of("Abs", n, zero), n);
}

static void bounds_decide(void **state) {
  static const struct {
    const char *op;
    int64_t a[2], b[2], want[2];
  } cases[] = {
      {"Less", {0, 1}, {2, 5}, {1, 1}},         {"Less", {2, 5}, {0, 2}, {0, 0}},
      {"Less", {0, 2}, {2, 3}, {0, 1}},         {"Greater", {2, 5}, {0, 1}, {1, 1}},
      {"Greater", {0, 2}, {2, 5}, {0, 0}},      {"LessOrEqual", {0, 2}, {2, 5}, {1, 1}},
      {"LessEqual", {3, 5}, {0, 2}, {0, 0}},    {"GreaterOrEqual", {2, 5}, {0, 2}, {1, 1}},
      {"GreaterEqual", {0, 1}, {2, 5}, {0, 0}}, {"Equal", {0, 1}, {2, 5}, {0, 0}},
      {"Equal", {2, 2}, {2, 2}, {1, 1}},        {"Equal", {0, 2}, {2, 2}, {0, 1}},
      {"NotEqual", {0, 1}, {2, 5}, {1, 1}},     {"NotEqual", {2, 2}, {2, 2}, {0, 0}},
      {"And", {0, 0}, {0, 1}, {0, 0}},          {"LogicalAnd", {1, 1}, {1, 1}, {1, 1}},
      {"Or", {1, 1}, {0, 1}, {1, 1}},           {"LogicalOr", {0, 0}, {0, 0}, {0, 0}},
      {"Xor", {0, 0}, {1, 1}, {1, 1}},          {"LogicalXor", {0, 1}, {1, 1}, {0, 1}},
      {"Not", {0, 0}, {0, 0}, {1, 1}},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_dim(of(cases[i].op, (gather_dim){cases[i].a[0], cases[i].a[1], NULL}, (gather_dim){cases[i].b[0], cases[i].b[1], NULL}),
               (gather_dim){cases[i].want[0], cases[i].want[1], NULL});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(runtimes_know_every_operator), cmocka_unit_test(models_infer_every_operator),
                                     cmocka_unit_test(intervals_hold_every_value), cmocka_unit_test(names_are_kept),
                                     cmocka_unit_test(bounds_decide)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
