/* SPDX-License-Identifier: MIT
 *
 * model_op.c: which of a model's nodes are gather nodes, and which rules they follow.
 */
#include <string.h>

#include "model/model_internal.h"

bool gather_model_is_openvino(const gather_model *model) { return strcmp(model->graph_file->dialect, "openvino") == 0; }

/* OpenVINO ignores case in layer types. */
static bool same_name(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if ((*a | 32) != (*b | 32)) return false;
  return *a == *b;
}

bool gather_model_same_op(const gather_model *model, const char *a, const char *b) {
  return gather_model_is_openvino(model) ? same_name(a, b) : strcmp(a, b) == 0;
}

/* The operator's name as ops.def has it; NULL where no row of the model's dialect has one. */
static const char *gather_name(const gather_model *model, const gather_node *node) {
  bool openvino = gather_model_is_openvino(model);
  if (openvino ? strncmp(node->domain, "opset", 5) != 0 : node->domain[0] != '\0') return NULL;
  for (size_t i = 0; i < gather_op_count(); i++) {
    const gather_op *op = gather_op_at(i);
    if (gather_model_same_op(model, node->op, op->name) && strcmp(op->dialect, model->graph_file->dialect) == 0)
      return op->name;
  }
  return NULL;
}

bool gather_model_is_gather(const gather_model *model, const gather_node *node) {
  return gather_name(model, node) != NULL;
}

const gather_op *gather_model_rules(const gather_model *model, const gather_node *node) {
  const char *name = gather_name(model, node);
  return name ? gather_op_for_opset(model->graph_file->dialect, name, node->opset) : NULL;
}
