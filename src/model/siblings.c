/* SPDX-License-Identifier: MIT
 *
 * siblings.c: the nodes of a model that take indices and are not checked.
 */
#include <string.h>

#include "core/base/error.h"
#include "model/model_internal.h"

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

gather_status gather_siblings_begin(gather_model *model, gather_error *error) {
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

void gather_siblings_count(gather_model *model, const gather_node *node) {
  unsigned home;
  gather_unchecked *sibling = find(model, node->domain, node->op, &home);
  if (!sibling || (sibling->functions & home)) return;
  const int32_t needed = ROWS[sibling - model->siblings].input;
  sibling->count += needed == 0 || (needed < node->input_count && *node->inputs[needed]);
}

void gather_siblings_end(gather_model *model) {
  for (int i = 0; i < ROW_COUNT; i++)
    if (model->siblings[i].count > 0)
      model->siblings[model->sibling_count++] = (gather_unchecked){.op = ROWS[i].op, .count = model->siblings[i].count};
}

int64_t gather_model_not_checked_count(const gather_model *model) { return model->sibling_count; }

const char *gather_model_not_checked_op(const gather_model *model, int64_t i) {
  return i >= 0 && i < model->sibling_count ? model->siblings[i].op : NULL;
}

int64_t gather_model_not_checked_nodes(const gather_model *model, int64_t i) {
  return i >= 0 && i < model->sibling_count ? model->siblings[i].count : 0;
}
