/* SPDX-License-Identifier: MIT
 *
 * model_op.c: which of a model's nodes are gather nodes, and which rules they follow.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/model_internal.h"

/* The latest operator set of OpenVINO (2026.4). A later one may have other rules, and OpenVINO refuses to read a layer of it. */
enum { LATEST_OPENVINO = 17 };
/* The latest operator set of ONNX (1.23), of which the same holds. */
enum { LATEST_ONNX = 28 };

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

/* The dialect of ops.def that defines the node's operator, by its domain; NULL. */
static const char *dialect_of(const gather_model *model, const gather_node *node) {
  if (gather_model_is_openvino(model)) return strncmp(node->domain, "opset", 5) == 0 ? "openvino" : NULL;
  if (!*node->domain) return "onnx";
  return strcmp(node->domain, "com.microsoft") == 0 ? "microsoft" : NULL;
}

/* Whether a function of the model replaces an operator of a domain other than ONNX's own. */
static bool is_function(const gather_model *model, const gather_node *node) {
  const gather_graph_file *file = model->graph_file;
  for (int64_t i = 0; *node->domain && i < file->function_count; i++)
    if (strcmp(file->functions[i].name, node->op) == 0 && strcmp(file->functions[i].domain, node->domain) == 0)
      return true;
  return false;
}

/* The operator's name as ops.def has it; NULL where no row of that dialect has one. */
static const char *gather_name(const gather_model *model, const gather_node *node, const char *dialect) {
  for (size_t i = 0; dialect && i < gather_op_count(); i++) {
    const gather_op *op = gather_op_at(i);
    if (gather_model_same_op(model, node->op, op->name) && strcmp(op->dialect, dialect) == 0)
      return is_function(model, node) ? NULL : op->name;
  }
  return NULL;
}

bool gather_model_is_gather(const gather_model *model, const gather_node *node) {
  return gather_name(model, node, dialect_of(model, node)) != NULL;
}

/* The newest version of an operator set of which it is known that the last row of each operator holds. */
static int64_t latest_of(const char *dialect) {
  if (strcmp(dialect, "openvino") == 0) return LATEST_OPENVINO;
  return strcmp(dialect, "onnx") == 0 ? LATEST_ONNX : INT64_MAX;
}

const gather_op *gather_model_rules(const gather_model *model, const gather_node *node) {
  const char *dialect = dialect_of(model, node), *name = gather_name(model, node, dialect);
  if (!name || node->opset > latest_of(dialect)) return NULL;
  return gather_op_for_opset(dialect, name, node->opset);
}

/* The first version of its operator set that has the operator. */
static int64_t first_version(const char *dialect, const char *name) {
  int64_t first = INT64_MAX;
  for (size_t i = 0; i < gather_op_count(); i++) {
    const gather_op *op = gather_op_at(i);
    if (strcmp(op->dialect, dialect) == 0 && strcmp(op->name, name) == 0 && op->version < first) first = op->version;
  }
  return first;
}

void gather_model_version_text(const gather_model *model, const gather_node *node, char *text, size_t bytes) {
  const char *dialect = dialect_of(model, node), *name = gather_name(model, node, dialect);
  const char *domain = *node->domain ? node->domain : "ai.onnx";
  const int64_t first = name ? first_version(dialect, name) : 0;
  if (!name)
    (void)snprintf(text, bytes, "the version of the operator is unknown");
  else if (gather_model_is_openvino(model))
    (void)snprintf(text, bytes, "the layer has the version '%.40s'; %s is known from opset%" PRId64 " to opset%d",
                   node->domain, name, first, LATEST_OPENVINO);
  else if (node->opset == 0)
    (void)snprintf(text, bytes, "no version of the operator set %s is imported; %s exists since version %" PRId64,
                   domain, name, first);
  else if (node->opset > latest_of(dialect))
    (void)snprintf(text, bytes,
                   "version %" PRId64 " of the operator set %s is imported; %s is known from version %" PRId64
                   " to %" PRId64,
                   node->opset, domain, name, first, latest_of(dialect));
  else
    (void)snprintf(text, bytes,
                   "version %" PRId64 " of the operator set %s is imported; %s exists since version %" PRId64,
                   node->opset, domain, name, first);
}

bool gather_op_is_quantized(const gather_op *op) { return op && strcmp(op->name, "GatherBlockQuantized") == 0; }
