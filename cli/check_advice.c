/* SPDX-License-Identifier: MIT
 *
 * check_advice.c: what would make an unknown node known. Nothing is advised that the command would then refuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report.h"

/* Advice asks the model again: not for very many nodes, nor in very large models. */
enum { MOST_ASKED = 64, MOST_NODES = 2000, MOST_TEXT = 600 };

static bool is_input(const gather_model *model, const char *name) {
  const char *input;
  for (int64_t i = 0; (input = gather_model_input_name(model, i)) != NULL; i++)
    if (strcmp(input, name) == 0) return true;
  return false;
}

/* Whether --dim takes that name: one that stands only in a subgraph it does not. */
static gather_status find_dim(gather_cli_advice *advice, const char *name, bool *taken, gather_error *error) {
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  const gather_model_dim dim = {name, 1};
  gather_check *check = NULL;
  *taken = false;
  for (int i = 0; i < advice->dim_count; i++)
    if (strcmp(advice->dims[i], name) == 0) *taken = advice->taken[i];
  for (int i = 0; i < advice->dim_count; i++)
    if (strcmp(advice->dims[i], name) == 0) return GATHER_OK;
  if (advice->dim_count == GATHER_CLI_ADVICE_DIMS) return GATHER_OK;
  options.dims = &dim;
  options.dim_count = 1;
  gather_status status = gather_model_check(advice->model, &options, &check, error);
  gather_check_destroy(check);
  if (status == GATHER_OUT_OF_MEMORY) return status;
  advice->dims[advice->dim_count] = name;
  *taken = advice->taken[advice->dim_count++] = status != GATHER_NAME_NOT_FOUND;
  return GATHER_OK;
}

static bool is_given(const gather_cli_advice *advice, const char *name) {
  for (int64_t i = 0; i < advice->options->input_count; i++)
    if (strcmp(advice->options->inputs[i].name, name) == 0) return true;
  return false;
}

/* The values that the indices are made of: inputs of the model, or values in between, which only explain and run take. */
static gather_status advise_indices(const gather_cli_advice *advice, const gather_model_node *node, char *text,
                                    gather_error *error) {
  char path[300];
  gather_model_operands *operands = NULL;
  const char *name;
  size_t at = 0;
  bool inputs = true, any = false;
  gather_cli_node_text(node, path, sizeof path);
  gather_status status = gather_model_operands_find(advice->model, path, NULL, &operands, error);
  if (status != GATHER_OK) return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
  for (int64_t i = 0; (name = gather_model_operands_missing(operands, i)) != NULL; i++) {
    inputs = inputs && is_input(advice->model, name);
    any = any || !is_given(advice, name);
  }
  if (any && !inputs) at = (size_t)snprintf(text, MOST_TEXT, "gather explain MODEL --node %s", path);
  for (int64_t i = 0; (name = gather_model_operands_missing(operands, i)) != NULL && at + 80 < MOST_TEXT; i++)
    if (!is_given(advice, name))
      at += (size_t)snprintf(text + at, MOST_TEXT - at, "%s--input %.60s=TENSOR", at ? " " : "", name);
  gather_model_operands_destroy(operands);
  return GATHER_OK;
}

static gather_status advise_length(gather_cli_advice *advice, const gather_model_node *node, char *text,
                                   gather_error *error) {
  const gather_operand *data = &node->data;
  bool taken = false;
  const char *symbol = node->axis_known && data->rank > 0 && node->axis >= 0 && node->axis < data->rank
                           ? data->dims[node->axis].symbol
                           : NULL;
  if (symbol) GATHER_CLI_TRY(find_dim(advice, symbol, &taken, error));
  if (taken)
    (void)snprintf(text, MOST_TEXT, "--dim %.200s=LENGTH", symbol);
  else if (data->source == GATHER_SOURCE_INPUT && is_input(advice->model, data->name))
    (void)snprintf(text, MOST_TEXT, "--input %.200s=TENSOR", data->name);
  return GATHER_OK;
}

static gather_status advise(gather_cli_advice *advice, const gather_model_node *node, char *text, gather_error *error) {
  *text = 0;
  if (node->verdict != GATHER_VERDICT_UNKNOWN || node->not_executed || !node->rules) return GATHER_OK;
  if (advice->asked >= MOST_ASKED || gather_model_node_count(advice->model) > MOST_NODES) return GATHER_OK;
  advice->asked++;
  return node->indices_known ? advise_length(advice, node, text, error) : advise_indices(advice, node, text, error);
}

static gather_status no_memory(gather_error *error) {
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for advice on the nodes");
}

gather_status gather_cli_advice_make(gather_cli_advice *advice, const gather_check *check, gather_error *error) {
  char text[MOST_TEXT];
  int64_t count = gather_check_count(check);
  advice->texts = calloc((size_t)count + 1, sizeof *advice->texts);
  if (!advice->texts) return no_memory(error);
  advice->count = count;
  for (int64_t i = 0; i < count; i++) {
    GATHER_CLI_TRY(advise(advice, gather_check_at(check, i), text, error));
    if (!*text) continue;
    size_t bytes = strlen(text) + 1;
    advice->texts[i] = malloc(bytes);
    if (!advice->texts[i]) return no_memory(error);
    memcpy(advice->texts[i], text, bytes);
  }
  return GATHER_OK;
}

void gather_cli_advice_clear(gather_cli_advice *advice) {
  for (int64_t i = 0; i < advice->count; i++) free(advice->texts[i]);
  free(advice->texts);
}
