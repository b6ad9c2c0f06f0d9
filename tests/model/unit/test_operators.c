/* SPDX-License-Identifier: MIT
 *
 * test_operators.c: the tables of this door that list operators lack none of them.
 */
#include "support/unit.h"

enum { NEGATIVE, SHORT_NEGATIVE, RANGE, SHORT_RANGE, DEQUANTIZED, WIDE, KINDS };

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(runtimes_know_every_operator), cmocka_unit_test(models_infer_every_operator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
