/* SPDX-License-Identifier: MIT
 *
 * check_advice.c: what would make an unknown node known. It advises nothing that a check, or a function for one node,
 * then rejects.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "model/model_check.h"

/* Advice runs further checks, so it is limited to few nodes and to models that are not very large. */
enum { MOST_ASKED = 64, MOST_NODES = 2000, MOST_BYTES = 16 << 20 /* of values that it computes */ };

struct gather_check_advice {
  gather_arena arena;
  const gather_check *check;
  gather_advice *nodes;
  int asked;
};

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for advice on the nodes");
}

static bool is_input(const gather_model *model, const char *name) {
  for (int64_t i = 0; i < model->info.input_count; i++)
    if (strcmp(model->info.inputs[i], name) == 0) return true;
  return false;
}

/* Whether lengths for these names make those of the node's axes known. Not where no input leads to a length and the file only declares its
 * name, nor for a name that is only in a subgraph, which a check rejects. 1 is what a dimension may have to be, the other one what others
 * divide. */
static gather_status try_dims(gather_check_advice *advice, int64_t number, const char *const *names, int64_t count, bool *known,
                              gather_error *error) {
  static const int64_t LENGTHS[] = {1, 840};
  gather_check_options options = advice->check->options;
  const int64_t given = options.dim_count;
  gather_model_dim *dims = gather_arena_take(&advice->arena, given + count, sizeof *dims);
  *known = false;
  if (!dims) return no_memory(error);
  for (int64_t i = 0; i < given; i++) dims[i] = options.dims[i];
  options.dims = dims;
  options.dim_count = given + count;
  for (size_t k = 0; !*known && k < sizeof LENGTHS / sizeof *LENGTHS; k++) {
    for (int64_t i = 0; i < count; i++) dims[given + i] = (gather_model_dim){names[i], LENGTHS[k]};
    GATHER_TRY(gather_check_probe(advice->check->model, &options, number, GATHER_GOAL_LENGTHS, known, error));
  }
  return GATHER_OK;
}

/* Keeps `count` names. */
static gather_status set_names(gather_check_advice *advice, gather_advice_kind kind, const char *const *names, int64_t count,
                               gather_advice *out, gather_error *error) {
  const char **kept = gather_arena_take(&advice->arena, count, sizeof *kept);
  if (!kept) return no_memory(error);
  for (int64_t i = 0; i < count; i++)
    if (!(kept[i] = gather_arena_text(&advice->arena, names[i], strlen(names[i])))) return no_memory(error);
  out->kind = kind;
  out->names = kept;
  out->count = count;
  return GATHER_OK;
}

/* The values that the indices are computed from: inputs of the model, or intermediate values. */
static gather_status take_missing(gather_check_advice *advice, const gather_model_operands *operands, gather_advice *out,
                                  gather_error *error) {
  enum { MOST_NAMES = 64 };
  const gather_model_operands_info *info = gather_model_operands_describe(operands);
  const char *names[MOST_NAMES];
  int64_t count = 0;
  bool inputs = true;
  for (int64_t i = 0; i < info->missing_count; i++) {
    const char *name = info->missing[i];
    inputs = inputs && is_input(advice->check->model, name);
    if (!gather_check_input(advice->check, name) && count < MOST_NAMES) names[count++] = name;
  }
  if (count == 0) return GATHER_OK;
  return set_names(advice, inputs ? GATHER_ADVICE_INPUTS : GATHER_ADVICE_NODE, names, count, out, error);
}

static gather_status advise_indices(gather_check_advice *advice, gather_advice *out, gather_error *error) {
  gather_model_operands *operands = NULL;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  options.memory_bytes = MOST_BYTES;
  gather_status status = gather_model_operands_find(advice->check->model, out->node, &options, &operands, error);
  if (status != GATHER_OK) return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
  status = take_missing(advice, operands, out, error);
  gather_model_operands_destroy(operands);
  return status;
}

static bool has(const char *const *names, int64_t count, const char *name) {
  for (int64_t i = 0; name && i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* Inputs of the model that make the lengths known, or whether the node is executed: conditions, shapes, trip counts. */
static gather_status advise_inputs(gather_check_advice *advice, const gather_model_node *node, gather_goal goal, gather_advice *out,
                                   gather_error *error) {
  const char *names[GATHER_MOST_LEADING];
  int64_t count = 0;
  gather_arena arena = {NULL};
  gather_status status = gather_operands_reach(advice->check, node - advice->check->nodes, goal, &arena, names, &count, error);
  if (status == GATHER_OK && count > 0) status = set_names(advice, GATHER_ADVICE_INPUTS, names, count, out, error);
  gather_arena_clear(&arena);
  return status;
}

/* The names of all lengths that are not known, or the data whole. */
static gather_status advise_length(gather_check_advice *advice, const gather_model_node *node, gather_advice *out, gather_error *error) {
  const gather_operand *data = &node->data;
  const char *symbols[GATHER_MAX_RANK];
  int64_t count = 0;
  bool known = true;
  for (int32_t c = 0; known && c < node->component_count; c++) {
    const char *symbol = data->dims[node->components[c].axis].symbol;
    if (node->components[c].len >= 0 || has(symbols, count, symbol)) continue;
    known = symbol != NULL;
    symbols[count++] = symbol;
  }
  if (known && count > 0) GATHER_TRY(try_dims(advice, node - advice->check->nodes, symbols, count, &known, error));
  if (known && count > 0) return set_names(advice, GATHER_ADVICE_DIMS, symbols, count, out, error);
  if (data->source == GATHER_SOURCE_INPUT && is_input(advice->check->model, data->name))
    return set_names(advice, GATHER_ADVICE_INPUTS, &data->name, 1, out, error);
  return advise_inputs(advice, node, GATHER_GOAL_LENGTHS, out, error);
}

static gather_status set_path(gather_check_advice *advice, const gather_model_node *node, gather_advice *out, gather_error *error) {
  size_t bytes = gather_model_node_path(node, NULL, 0) + 1;
  char *path = gather_arena_take(&advice->arena, (int64_t)bytes, 1);
  if (!path) return no_memory(error);
  (void)gather_model_node_path(node, path, bytes);
  out->node = path;
  return GATHER_OK;
}

static bool lengths_known(const gather_model_node *node) {
  for (int32_t c = 0; c < node->component_count; c++)
    if (node->components[c].len < 0) return false;
  return node->component_count >= 0;
}

static gather_status advise(gather_check_advice *advice, const gather_model_node *node, gather_advice *out, gather_error *error) {
  GATHER_TRY(set_path(advice, node, out, error));
  if (node->verdict != GATHER_VERDICT_UNKNOWN || node->not_executed || !node->rules) return GATHER_OK;
  if (advice->check->places[node - advice->check->nodes].refused) return GATHER_OK;
  if (advice->asked >= MOST_ASKED || advice->check->count > MOST_NODES) return GATHER_OK;
  advice->asked++;
  if (!node->indices_known) return advise_indices(advice, out, error);
  const bool perhaps = advice->check->places[node - advice->check->nodes].perhaps;
  if (perhaps && lengths_known(node)) return advise_inputs(advice, node, GATHER_GOAL_RUNS, out, error);
  return advise_length(advice, node, out, error);
}

static gather_status advise_all(gather_check_advice *advice, gather_error *error) {
  int64_t count = advice->check->count;
  advice->nodes = gather_arena_take(&advice->arena, count, sizeof *advice->nodes);
  if (!advice->nodes) return no_memory(error);
  for (int64_t i = 0; i < count; i++) GATHER_TRY(advise(advice, &advice->check->nodes[i], &advice->nodes[i], error));
  return GATHER_OK;
}

gather_status gather_check_advise(const gather_check *check, gather_check_advice **advice, gather_error *error) {
  if (!check || !advice) return gather_fail(error, GATHER_USAGE, "the check or the place for the advice is NULL");
  *advice = NULL;
  gather_check_advice *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return no_memory(error);
  made->check = check;
  gather_status status = advise_all(made, error);
  if (status == GATHER_OK)
    *advice = made;
  else
    gather_check_advice_destroy(made);
  return status;
}

const gather_advice *gather_check_advice_at(const gather_check_advice *advice, int64_t i) {
  return i >= 0 && i < advice->check->count ? &advice->nodes[i] : NULL;
}

void gather_check_advice_destroy(gather_check_advice *advice) {
  if (!advice) return;
  gather_arena_clear(&advice->arena);
  gather_free(advice);
}
