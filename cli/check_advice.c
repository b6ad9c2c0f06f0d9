/* SPDX-License-Identifier: MIT
 *
 * check_advice.c: what would make an unknown node known. Nothing is advised that the command would then refuse.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"

/* Advice asks the model again: not for very many nodes, nor in very large models. */
enum { MOST_ASKED = 64, MOST_NODES = 2000 };

static bool is_input(const gather_model *model, const char *name) {
  const char *input;
  for (int64_t i = 0; (input = gather_model_input_name(model, i)) != NULL; i++)
    if (strcmp(input, name) == 0) return true;
  return false;
}

/* Whether --dim takes that name: one that stands only in a subgraph it does not. */
static bool is_dim(gather_cli_advice *advice, const char *name) {
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  const gather_model_dim dim = {name, 1};
  gather_check *check = NULL;
  gather_error error;
  for (int i = 0; i < advice->dim_count; i++)
    if (strcmp(advice->dims[i], name) == 0) return advice->taken[i];
  if (advice->dim_count == GATHER_CLI_ADVICE_DIMS) return false;
  options.dims = &dim;
  options.dim_count = 1;
  gather_status status = gather_model_check(advice->model, &options, &check, &error);
  gather_check_destroy(check);
  advice->dims[advice->dim_count] = name;
  return advice->taken[advice->dim_count++] = status != GATHER_NAME_NOT_FOUND && status != GATHER_OUT_OF_MEMORY;
}

static bool is_given(const gather_cli_advice *advice, const char *name) {
  for (int64_t i = 0; i < advice->options->input_count; i++)
    if (strcmp(advice->options->inputs[i].name, name) == 0) return true;
  return false;
}

/* The values that the indices are made of: inputs of the model, or values in between, which only explain and run take. */
static bool advise_indices(gather_cli_advice *advice, const gather_model_node *node, char *text, size_t bytes) {
  char path[300];
  gather_model_operands *operands = NULL;
  gather_error error;
  const char *name;
  size_t at = 0;
  bool inputs = true;
  gather_cli_node_text(node, path, sizeof path);
  if (gather_model_operands_find(advice->model, path, NULL, &operands, &error) != GATHER_OK) return false;
  for (int64_t i = 0; (name = gather_model_operands_missing(operands, i)) != NULL; i++)
    inputs = inputs && is_input(advice->model, name);
  if (!inputs) at = (size_t)snprintf(text, bytes, "gather explain MODEL --node %s", path);
  for (int64_t i = 0; (name = gather_model_operands_missing(operands, i)) != NULL && at + 80 < bytes; i++)
    if (!is_given(advice, name))
      at += (size_t)snprintf(text + at, bytes - at, "%s--input %.60s=TENSOR", at ? " " : "", name);
  gather_model_operands_destroy(operands);
  return at > 0 && at < bytes;
}

static bool advise_length(gather_cli_advice *advice, const gather_model_node *node, char *text, size_t bytes) {
  const gather_operand *data = &node->data;
  const char *symbol = node->axis_known && data->rank > 0 && node->axis >= 0 && node->axis < data->rank
                           ? data->dims[node->axis].symbol
                           : NULL;
  if (symbol && is_dim(advice, symbol)) return snprintf(text, bytes, "--dim %.200s=LENGTH", symbol) > 0;
  if (data->source == GATHER_SOURCE_INPUT && is_input(advice->model, data->name))
    return snprintf(text, bytes, "--input %.200s=TENSOR", data->name) > 0;
  return false;
}

bool gather_cli_advise(gather_cli_advice *advice, const gather_model_node *node, char *text, size_t bytes) {
  *text = 0;
  if (node->verdict != GATHER_VERDICT_UNKNOWN || !node->rules) return false;
  if (advice->asked >= MOST_ASKED || gather_model_node_count(advice->model) > MOST_NODES) return false;
  advice->asked++;
  return node->indices_known ? advise_length(advice, node, text, bytes) : advise_indices(advice, node, text, bytes);
}
