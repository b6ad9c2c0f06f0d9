/* SPDX-License-Identifier: MIT
 *
 * given.c: what the targets for models share: opening one, small tensors for its inputs, and the promises of a node's check.
 */
#include "fuzz/given.h"

#include "support/open_file.h"

#include <stdio.h>
#include <string.h>

enum { CELLS = 256 };

/* ---- what the model is given */

/* Numbers from the file itself, so that the fuzzer chooses them. */
static int64_t cells[CELLS];

static void fill_cells(const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < CELLS; i++) cells[i] = size > 0 ? (int64_t)bytes[(i * 7) % size] - 8 : 0;
}

static void add_dims(const gather_value *value, fuzz_given *g) {
  for (int32_t d = 0; d < value->rank && g->options.dim_count < FUZZ_MOST; d++) {
    if (!value->dims[d].symbol) continue;
    bool is_new = true;
    for (int64_t i = 0; i < g->options.dim_count; i++) is_new = is_new && strcmp(g->dims[i].name, value->dims[d].symbol) != 0;
    if (is_new) g->dims[g->options.dim_count++] = (gather_model_dim){value->dims[d].symbol, 2};
  }
}

/* A small tensor of the input's type and shape; left out where it would be large. */
static void add_input(const gather_value *value, fuzz_given *g) {
  int64_t count = g->options.input_count, len = 1;
  const gather_type_info *info = gather_type_get(value->type);
  if (count == FUZZ_MOST || !info || info->kind == GATHER_KIND_STRING || info->kind == GATHER_KIND_OPAQUE || value->rank < 0) return;
  for (int32_t d = 0; d < value->rank; d++) {
    const gather_dim *dim = &value->dims[d];
    int64_t length = dim->symbol || (dim->min < 2 && dim->max >= 2) ? 2 : dim->min;
    if (length > CELLS || len * length > CELLS / 2) return;
    len *= length;
    g->shapes[count][d] = length;
  }
  g->inputs[count] =
      (gather_model_input){value->name, {.data = cells, .type = value->type, .rank = value->rank, .shape = g->shapes[count]}};
  g->options.input_count++;
}

static void give(const gather_graph *graph, const uint8_t *bytes, size_t size, fuzz_given *g) {
  memset(g, 0, sizeof *g);
  fill_cells(bytes, size);
  g->options = (gather_check_options)GATHER_CHECK_OPTIONS_INIT;
  g->options.inputs = g->inputs;
  g->options.dims = g->dims;
  for (int64_t i = 0; i < graph->input_count; i++) {
    add_dims(&graph->inputs[i], g);
    add_input(&graph->inputs[i], g);
  }
}

/* ---- models */

static gather_model *open_model(const uint8_t *bytes, size_t size, gather_file **file) {
  gather_model *model = NULL;
  gather_error error;
  gather_status status;
  if (!fuzz_open_ir(bytes, size, file, &status, &error)) status = file_open(file_in(bytes, size, "fuzz"), file, &error);
  return status == GATHER_OK && gather_model_from_file(*file, &model, &error) == GATHER_OK ? model : NULL;
}

int fuzz_model(const uint8_t *bytes, size_t size, void (*see)(const gather_model *model, const fuzz_given *g)) {
  static fuzz_given g;
  gather_file *file = NULL;
  gather_model *model = open_model(bytes, size, &file);
  if (model) {
    give(gather_file_graph(file)->graph, bytes, size, &g);
    see(model, &g);
  }
  gather_model_close(model);
  gather_file_close(file);
  return 0;
}

void fuzz_each_node(const gather_model *model, const fuzz_given *g,
                    void (*see)(const gather_model *model, const char *path, const fuzz_given *g)) {
  enum { MOST_NODES = 16 };
  gather_check *check = NULL;
  char path[400];
  if (gather_model_check(model, NULL, &check, NULL) != GATHER_OK) return;
  for (int64_t i = 0; i < gather_check_describe(check)->count && i < MOST_NODES; i++) {
    const gather_model_node *node = gather_check_at(check, i);
    if (*node->name)
      (void)snprintf(path, sizeof path, "%s/%s", node->graph, node->name);
    else
      (void)snprintf(path, sizeof path, "%s/%s_%lld", node->graph, node->op, (long long)node->number);
    see(model, path, g);
  }
  gather_check_destroy(check);
}

/* ---- what was found */

static void see_operand(const gather_operand *operand) {
  fuzz_see_text(operand->name);
  fuzz_see_text(gather_source_name(operand->source));
  fuzz_check(operand->rank >= -1 && operand->rank <= GATHER_MAX_RANK, "a rank is one, or not known");
  for (int32_t d = 0; d < operand->rank; d++) fuzz_check(operand->dims[d].min <= operand->dims[d].max, "a length lies between its bounds");
  if (!operand->value) return;
  fuzz_check(gather_tensor_check(operand->value, NULL) == GATHER_OK, "a value is described sanely");
  fuzz_check(operand->value->data || gather_tensor_len(operand->value) == 0, "a value has its elements");
}

void fuzz_see_node(const gather_model_node *node) {
  fuzz_see_text(node->name);
  fuzz_see_text(node->op);
  fuzz_see_text(node->domain);
  fuzz_see_text(node->graph);
  fuzz_see_text(node->reason);
  fuzz_see_text(node->cause);
  fuzz_see_text(gather_verdict_name(node->verdict));
  see_operand(&node->data);
  see_operand(&node->indices);
  see_operand(&node->output);
  fuzz_check((node->verdict == GATHER_VERDICT_BAD) == (node->error != NULL), "a bad node has an error, others have none");
  fuzz_check(node->verdict != GATHER_VERDICT_OK || (node->bad_known && node->indices_known) || node->reason[0] != '\0',
             "what is ok was checked, or says why no index can be out of range");
  fuzz_check(node->verdict == GATHER_VERDICT_OK || node->reason[0] != '\0', "a verdict that is not ok has its reason");
  for (size_t i = 0; gather_runtime_name(i); i++) fuzz_see_text(gather_runtime_behaviour(i, node));
}
