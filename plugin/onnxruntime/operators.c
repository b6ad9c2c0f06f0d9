/* SPDX-License-Identifier: MIT
 *
 * operators.c: looks up rows of operators.def.
 */
#include <string.h>

#include "node.h"

enum { MOST_ATTRIBUTES = 4 };

#define ORT_OPERATOR(domain, name, dialect, inputs, required, data, index, quantised, ...) \
  {domain, name, dialect, inputs, required, data, index, quantised, (const char *const[MOST_ATTRIBUTES + 1]){__VA_ARGS__, NULL}},
static const ort_operator operators[] = {
#include "operators.def"
};
#undef ORT_OPERATOR

const ort_operator *gather_ort_operator_at(int i) {
  return i >= 0 && (size_t)i < sizeof operators / sizeof *operators ? &operators[i] : NULL;
}

const ort_operator *gather_ort_operator_find(const char *domain, const char *name) {
  if (!domain || !name) return NULL;
  if (!strcmp(domain, "ai.onnx")) domain = "";
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (!strcmp(operators[i].domain, domain) && !strcmp(operators[i].name, name)) return &operators[i];
  return NULL;
}

/* Newer opsets than those of the table have the rules of the newest row. */
const gather_op *gather_ort_operator_rules(const ort_operator *op, int version) {
  return gather_op_for_opset(op->dialect, op->name, version > 0 ? version : INT32_MAX);
}

int gather_ort_operator_last_opset(const gather_op *op) {
  int last = INT32_MAX;
  const gather_op *other;
  for (size_t i = 0; (other = gather_op_at(i)); i++)
    if (strcmp(other->dialect, op->dialect) == 0 && strcmp(other->name, op->name) == 0 && other->version > op->version &&
        other->version - 1 < last)
      last = other->version - 1;
  return last == INT32_MAX ? op->version : last;
}
