/* SPDX-License-Identifier: MIT
 *
 * tree_verify.c: one GatherTree node: its four operands and its parents. Its data are step_ids, its indices parent_ids, and its axis is
 * that of the beams.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "gather/tree.h"
#include "model/model_check.h"

enum { OPERANDS = 4, AXIS = 2 };
static const char *const NAMES[OPERANDS] = {"step_ids", "parent_ids", "max_seq_len", "end_token"};

static void shape_of(const gather_operand *operand, gather_shape *shape) {
  shape->rank = operand->rank;
  if (operand->rank > 0) memcpy(shape->dims, operand->dims, (size_t)operand->rank * sizeof *shape->dims);
}

/* All types that are known are one. */
static gather_status check_types(const gather_operand operands[OPERANDS], gather_type *type, gather_error *why) {
  *type = GATHER_TYPE_NONE;
  for (int i = 0; i < OPERANDS; i++) {
    if (operands[i].type == GATHER_TYPE_NONE) continue;
    if (*type == GATHER_TYPE_NONE) *type = operands[i].type;
    if (operands[i].type != *type)
      return gather_fail_input(why, GATHER_TYPE_MISMATCH, NAMES[i], "%s is %s, the inputs before it are %s", NAMES[i],
                               gather_type_get(operands[i].type)->name, gather_type_get(*type)->name);
  }
  return GATHER_OK;
}

static gather_status find_fault(const gather_operand operands[OPERANDS], gather_error *why) {
  gather_shape shapes[OPERANDS], out;
  gather_type type;
  for (int i = 0; i < OPERANDS; i++) {
    if (!*operands[i].name) return gather_fail(why, GATHER_FILE_MALFORMED, "the node has no %s", NAMES[i]);
    shape_of(&operands[i], &shapes[i]);
  }
  GATHER_TRY(check_types(operands, &type, why));
  return gather_tree_infer_shape(&shapes[0], &shapes[1], &shapes[2], &shapes[3], &out, why);
}

static gather_status unknown_lengths(gather_check *check, const gather_operand *lens, gather_model_node *out,
                                     gather_error *error) {
  char text[400];
  (void)snprintf(
      text, sizeof text,
      "the parents are known, but which of them count is not: max_seq_len '%.100s' is known when the model runs",
      lens->name);
  return gather_check_say(check, out, error, text);
}

/* step_ids and end_token are not read: their types and shapes are those of the parents. */
static gather_status compare(gather_check *check, const gather_operand operands[OPERANDS], gather_model_node *out,
                             gather_error *error) {
  const gather_tensor *parents = operands[1].value, *lens = operands[2].value;
  const gather_tensor steps = {.type = parents->type, .rank = parents->rank, .shape = parents->shape};
  const gather_tensor end = {.type = parents->type};
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error why;
  options.executor = check->options.executor;
  gather_status status = gather_tree_check(&steps, parents, lens, &end, &options, &why);
  if (status == GATHER_OUT_OF_MEMORY) return gather_fail(error, status, "%s", why.message);
  out->bad_known = status == GATHER_OK || (status == GATHER_INDEX_OUT_OF_RANGE && why.axis == AXIS);
  out->bad = out->bad_known && status != GATHER_OK ? why.bad_count : 0;
  out->index_count = gather_tensor_len(parents);
  out->verdict = GATHER_VERDICT_OK;
  return status == GATHER_OK ? GATHER_OK : gather_check_bad(check, out, &why, error);
}

gather_status gather_check_tree(gather_check *check, const gather_scope *scope, const gather_node *node,
                                gather_model_node *out, gather_error *error) {
  gather_operand operands[OPERANDS];
  gather_error why;
  bool done = false;
  GATHER_TRY(gather_check_begin(check, scope, node, out, &done, error));
  out->axis = AXIS, out->axis_known = true;
  GATHER_TRY(gather_check_components(check, out, error));
  if (done) return GATHER_OK;
  for (int i = 0; i < OPERANDS; i++) operands[i] = gather_check_operand(scope, node, i);
  operands[1].value = gather_check_may_read(check, operands[1].value) ? operands[1].value : NULL;
  operands[2].value = gather_check_may_read(check, operands[2].value) ? operands[2].value : NULL;
  if (find_fault(operands, &why) != GATHER_OK) return gather_check_bad(check, out, &why, error);
  if (!operands[1].value) return gather_check_unknown(check, scope, out, error);
  if (!operands[2].value) return unknown_lengths(check, &operands[2], out, error);
  return compare(check, operands, out, error);
}
