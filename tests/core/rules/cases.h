/* SPDX-License-Identifier: MIT
 *
 * cases.h: the worked examples of the documents, one file in cases/ per operator, as a table of structs. Tensors are nested lists as
 * the documents print them. `rules` has each version that the case holds for, divided by blanks. A row of src/core/op/ops.def without a
 * case fails the tests.
 *
 * GATHER_CASE(op, rules, name, axis, batch_dims, type, data, index type, indices, output)
 * GATHER_BAD(op, rules, name, axis, batch_dims, type, data, index type, indices, position, value, low, high, bad_count)
 * GATHER_SHAPES(op, rules, name, axis, batch_dims, data's shape, indices' shape, output's shape)
 * GATHER_SHAPE_ERROR(op, rules, name, axis, batch_dims, data's shape, indices' shape, status)
 */
#ifndef GATHER_TESTS_CORE_RULES_CASES_H
#define GATHER_TESTS_CORE_RULES_CASES_H

#include <stdint.h>

enum rule_kind { RULE_VALUES = 1, RULE_BAD, RULE_SHAPES, RULE_SHAPE_ERROR };

struct rule_case {
  enum rule_kind kind;
  const char *op, *rules, *name;
  int64_t axis, batch_dims;
  const char *type, *data, *index_type, *indices;
  const char *output; /* values or a shape; RULE_BAD: the position; RULE_SHAPE_ERROR: the status */
  int64_t value, low, high, bad_count;
};

#define GATHER_CASE(op, rules, name, axis, b, type, data, itype, indices, output) \
  {RULE_VALUES, op, rules, name, axis, b, type, data, itype, indices, output, 0, 0, 0, 0},
#define GATHER_BAD(op, rules, name, axis, b, type, data, itype, indices, position, value, low, high, count) \
  {RULE_BAD, op, rules, name, axis, b, type, data, itype, indices, position, value, low, high, count},
#define GATHER_SHAPES(op, rules, name, axis, b, data, indices, output) \
  {RULE_SHAPES, op, rules, name, axis, b, "float32", data, "int64", indices, output, 0, 0, 0, 0},
#define GATHER_SHAPE_ERROR(op, rules, name, axis, b, data, indices, status) \
  {RULE_SHAPE_ERROR, op, rules, name, axis, b, "float32", data, "int64", indices, status, 0, 0, 0, 0},

static const struct rule_case rule_cases[] = {
#include "core/rules/cases/gather.def"
#include "core/rules/cases/gather_block_quantized.def"
#include "core/rules/cases/gather_elements.def"
#include "core/rules/cases/gather_nd.def"
};

#define RULE_CASE_COUNT (sizeof rule_cases / sizeof rule_cases[0])

#undef GATHER_CASE
#undef NODE_TEST_DATA
#undef EVERY_ND
#undef GATHER_BAD
#undef GATHER_SHAPES
#undef GATHER_SHAPE_ERROR

#endif
