/* SPDX-License-Identifier: MIT
 *
 * model.c: opening a model, and which of its nodes are gather nodes, which rules these follow, and which others take indices and are not
 * checked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "model/infer.h"

/* ---- gather nodes */

/* The latest operator set of OpenVINO (2026.4). A later one may have other rules, and OpenVINO refuses to read a layer of it. */
enum { LATEST_OPENVINO = 17 };

/* The latest operator set of ONNX (1.23), of which the same holds. */
enum { LATEST_ONNX = 28 };

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
    if (strcmp(file->functions[i].name, node->op) == 0 && strcmp(file->functions[i].domain, node->domain) == 0) return true;
  return false;
}

/* The operator's name as ops.def has it; NULL where no row of that dialect has one. */
static const char *gather_name(const gather_model *model, const gather_node *node, const char *dialect) {
  for (size_t i = 0; dialect && gather_op_at(i); i++) {
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
  for (size_t i = 0; gather_op_at(i); i++) {
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
    (void)snprintf(text, bytes, "the layer has the version '%.40s'; %s is known from opset%" PRId64 " to opset%d", node->domain, name,
                   first, LATEST_OPENVINO);
  else if (node->opset == 0)
    (void)snprintf(text, bytes, "no version of the operator set %s is imported; %s exists since version %" PRId64, domain, name, first);
  else if (node->opset > latest_of(dialect))
    (void)snprintf(text, bytes, "version %" PRId64 " of the operator set %s is imported; %s is known from version %" PRId64 " to %" PRId64,
                   node->opset, domain, name, first, latest_of(dialect));
  else
    (void)snprintf(text, bytes, "version %" PRId64 " of the operator set %s is imported; %s exists since version %" PRId64, node->opset,
                   domain, name, first);
}

/* ---- nodes that take indices and are not checked: the rows of siblings.def */

/* Where operators are defined, as bits. */
enum { ONNX = 1, ML = 2, MICROSOFT = 4, OPENVINO = 8 };

typedef struct sibling_row {
  unsigned homes;
  const char *op;
  int32_t input; /* that must be given; 0 is always */
} sibling_row;

static const sibling_row ROWS[] = {
#define GATHER_SIBLING(homes, op) {(homes), op, 0},
#define GATHER_SIBLING_INPUT(homes, op, i) {(homes), op, i},
#include "model/siblings.def"
#undef GATHER_SIBLING
#undef GATHER_SIBLING_INPUT
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static unsigned home_of(const gather_model *model, const char *domain) {
  if (gather_model_is_openvino(model)) return strncmp(domain, "opset", 5) == 0 ? OPENVINO : 0;
  if (!*domain) return ONNX;
  if (strcmp(domain, "ai.onnx.ml") == 0) return ML;
  return strcmp(domain, "com.microsoft") == 0 ? MICROSOFT : 0;
}

/* The operator's entry in the table, if that domain has it; otherwise NULL. */
static gather_unchecked *find(const gather_model *model, const char *domain, const char *op, unsigned *home) {
  *home = home_of(model, domain);
  for (int i = 0; *home && i < ROW_COUNT; i++)
    if ((ROWS[i].homes & *home) && gather_model_same_op(model, op, ROWS[i].op)) return &model->siblings[i];
  return NULL;
}

/* Counts the nodes that take indices and are not checked (siblings.def): begin, then each node, then end. */
static gather_status siblings_begin(gather_model *model, gather_error *error) {
  const gather_graph_file *file = model->graph_file;
  model->siblings = gather_arena_take(&model->arena, ROW_COUNT, sizeof *model->siblings);
  if (!model->siblings) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the operators of a model");
  for (int64_t i = 0; i < file->function_count; i++) {
    unsigned home;
    gather_unchecked *sibling = find(model, file->functions[i].domain, file->functions[i].name, &home);
    if (sibling) sibling->functions |= home;
  }
  return GATHER_OK;
}

static void siblings_count(gather_model *model, const gather_node *node) {
  unsigned home;
  gather_unchecked *sibling = find(model, node->domain, node->op, &home);
  if (!sibling || (sibling->functions & home)) return;
  const int32_t needed = ROWS[sibling - model->siblings].input;
  sibling->count += needed == 0 || (needed < node->input_count && *node->inputs[needed]);
}

static gather_status siblings_end(gather_model *model, gather_error *error) {
  gather_model_not_checked *rows = gather_arena_take(&model->arena, ROW_COUNT, sizeof *rows);
  if (!rows) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the operators of a model");
  for (int i = 0; i < ROW_COUNT; i++)
    if (model->siblings[i].count > 0)
      rows[model->info.not_checked_count++] = (gather_model_not_checked){.op = ROWS[i].op, .nodes = model->siblings[i].count};
  model->info.not_checked = rows;
  return GATHER_OK;
}

/* ---- opening */

static gather_status count_nodes(gather_model *model, const gather_graph *graph, int depth, gather_error *error) {
  if (depth > GATHER_MAX_DEPTH)
    return gather_fail_file(error, GATHER_UNSUPPORTED, model->file ? model->file->name : "", -1,
                            "its graphs are nested more than %d levels deep", GATHER_MAX_DEPTH);
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    model->info.node_count += gather_model_is_gather(model, node);
    siblings_count(model, node);
    for (int32_t k = 0; k < node->attribute_count; k++)
      if (node->attributes[k].kind == GATHER_ATTRIBUTE_GRAPH && node->attributes[k].graph)
        GATHER_TRY(count_nodes(model, node->attributes[k].graph, depth + 1, error));
  }
  return GATHER_OK;
}

static gather_status list_outputs(gather_model *model, gather_error *error) {
  const gather_graph *graph = model->graph_file->graph;
  const char **names = gather_arena_take(&model->arena, graph->output_count, sizeof *names);
  if (!names) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a model's outputs");
  for (int64_t i = 0; i < graph->output_count; i++) names[i] = graph->outputs[i].name;
  model->info.outputs = names;
  model->info.output_count = graph->output_count;
  return GATHER_OK;
}

/* Inputs without an initializer. A hash table finds them: models may have thousands. */
static gather_status list_inputs(gather_model *model, gather_error *error) {
  const gather_graph *graph = model->graph_file->graph;
  gather_arena names = {NULL};
  gather_scope scope;
  gather_status status = gather_scope_open(&names, graph, NULL, "", &scope, error);
  const char **inputs = gather_arena_take(&model->arena, graph->input_count, sizeof *inputs);
  model->info.inputs = inputs;
  if (status == GATHER_OK && !inputs) status = gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a model's inputs");
  for (int64_t i = 0; status == GATHER_OK && i < graph->constant_count; i++)
    (void)gather_scope_make(&scope, graph->constants[i].tensor.name);
  for (int64_t i = 0; status == GATHER_OK && i < graph->input_count; i++)
    if (!gather_scope_find(&scope, graph->inputs[i].name)) inputs[model->info.input_count++] = graph->inputs[i].name;
  gather_arena_clear(&names);
  return status;
}

static gather_status fill(gather_model *model, gather_error *error) {
  const gather_graph_file *graph_file = model->graph_file;
  if (!graph_file || !graph_file->graph)
    return gather_fail_file(error, GATHER_UNSUPPORTED, model->file ? model->file->name : "", -1, "it contains tensors, not a model");
  GATHER_TRY(siblings_begin(model, error));
  GATHER_TRY(count_nodes(model, graph_file->graph, 0, error));
  for (int64_t i = 0; i < graph_file->function_count; i++) GATHER_TRY(count_nodes(model, graph_file->functions[i].graph, 0, error));
  GATHER_TRY(siblings_end(model, error));
  GATHER_TRY(list_inputs(model, error));
  model->info.file = model->file;
  model->info.dialect = gather_model_is_openvino(model) ? "openvino" : "onnx";
  return list_outputs(model, error);
}

static gather_status create(const gather_file *file, const gather_graph_file *graph_file, gather_model **model, gather_error *error) {
  gather_model *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a model");
  made->file = file;
  made->graph_file = graph_file;
  gather_status status = fill(made, error);
  if (status == GATHER_OK)
    *model = made;
  else
    gather_model_close(made);
  return status;
}

gather_status gather_model_from_graph(const gather_graph_file *graph_file, gather_model **model, gather_error *error) {
  *model = NULL;
  return create(NULL, graph_file, model, error);
}

gather_status gather_model_from_file(const gather_file *file, gather_model **model, gather_error *error) {
  if (!file || !model) return gather_fail(error, GATHER_USAGE, "the file or the place for the model is NULL");
  *model = NULL;
  return create(file, gather_file_graph(file), model, error);
}

gather_status gather_model_open(const gather_file_source *source, gather_model **model, gather_error *error) {
  gather_file *file = NULL;
  if (!model) return gather_fail(error, GATHER_USAGE, "gather_model_open: model is NULL");
  *model = NULL;
  GATHER_TRY(gather_file_open(source, &file, error));
  gather_status status = gather_model_from_file(file, model, error);
  if (status == GATHER_OK)
    (*model)->owned = file;
  else
    gather_file_close(file);
  return status;
}

void gather_model_close(gather_model *model) {
  if (!model) return;
  gather_arena_clear(&model->arena);
  gather_file_close(model->owned);
  gather_free(model);
}

gather_status gather_model_input_check(const gather_model_input *input, gather_error *error) {
  GATHER_TRY(gather_tensor_check_input(&input->tensor, "input", error));
  if (input->tensor.data || gather_tensor_len(&input->tensor) == 0) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "the input '%.80s' has no elements: its data pointer is NULL", input->name);
}

const gather_model_info *gather_model_describe(const gather_model *model) { return &model->info; }
