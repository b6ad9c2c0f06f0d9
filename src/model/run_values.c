/* SPDX-License-Identifier: MIT
 *
 * run_values.c: the values of a graph by name: constants of the file, outputs of nodes, and those of graphs around it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/model_run.h"

static int64_t hash(const char *name, int64_t buckets) {
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
  return (int64_t)((h ^ h >> 32) & (uint64_t)(buckets - 1));
}

gather_run_value *gather_run_find(const gather_running *run, const char *name) {
  for (gather_run_value *value = run->buckets[hash(name, run->bucket_count)]; value; value = value->next)
    if (strcmp(value->name, name) == 0) return value;
  return NULL;
}

gather_status gather_run_readable(const gather_run_value *value, gather_error *error) {
  return value->unreadable ? gather_file_tensor_check(value->unreadable, error) : GATHER_OK;
}

const gather_tensor *gather_run_operand(const gather_running *run, const gather_node *node, int32_t i) {
  if (i >= node->input_count || !*node->inputs[i]) return NULL;
  gather_run_value *value = gather_run_find(run, node->inputs[i]);
  return value && value->ready ? &value->tensor : NULL;
}

void gather_run_give(gather_running *run, const gather_node *node, const gather_tensor *tensor) {
  if (node->output_count < 1 || !*node->outputs[0]) return;
  gather_run_value *value = gather_run_find(run, node->outputs[0]);
  if (value->given) return;
  value->tensor = *tensor;
  value->ready = true;
}

void gather_run_set(gather_run_value *value, const gather_tensor *tensor) {
  value->tensor = *tensor;
  value->unreadable = NULL;
  value->ready = value->given = true;
}

bool gather_run_is_own(const gather_model *model, const gather_node *node) {
  bool onnx = strcmp(model->graph_file->dialect, "onnx") == 0;
  return onnx ? !*node->domain || strcmp(node->domain, "ai.onnx") == 0 : strncmp(node->domain, "opset", 5) == 0;
}

bool gather_run_needs_shape(const gather_model *model, const gather_node *node) {
  return gather_run_is_own(model, node) && (strcmp(node->op, "Shape") == 0 || strcmp(node->op, "ShapeOf") == 0);
}

bool gather_run_usable(const gather_running *run, const gather_node *node, const gather_run_value *value) {
  if (!value->ready) return false;
  return !run->skips_unreadable || !value->unreadable || gather_run_needs_shape(run->model, node);
}

gather_run_value *gather_run_ensure(gather_running *run, const char *name) {
  gather_run_value *value = gather_run_find(run, name);
  if (value) return value;
  value = gather_arena_take(run->arena, 1, (int64_t)sizeof *value);
  if (!value) return NULL;
  value->name = name;
  value->producer = -1;
  gather_run_value **bucket = &run->buckets[hash(name, run->bucket_count)];
  value->next = *bucket;
  *bucket = value;
  run->value_count++;
  return value;
}

static gather_status add_constants(gather_running *run, const gather_graph *graph, gather_error *error) {
  for (int64_t i = 0; i < graph->constant_count; i++) {
    const gather_constant *constant = &graph->constants[i];
    gather_run_value *value = gather_run_ensure(run, constant->tensor.name);
    if (!value) return gather_run_no_memory(error);
    if (value->ready) continue;
    value->tensor = constant->tensor.tensor;
    value->unreadable = constant->tensor.unreadable ? &constant->tensor : NULL;
    value->ready = true;
  }
  return GATHER_OK;
}

static gather_status add_outputs(gather_running *run, int64_t number, gather_error *error) {
  const gather_node *node = &run->graph->nodes[number];
  for (int32_t k = 0; k < node->output_count; k++) {
    if (!*node->outputs[k]) continue;
    gather_run_value *value = gather_run_ensure(run, node->outputs[k]);
    if (!value) return gather_run_no_memory(error);
    if (value->producer >= 0)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, "the model", node->file_offset,
                              "two nodes produce the value '%.100s'", node->outputs[k]);
    if (strcmp(node->op, "Parameter") != 0) value->producer = number; /* the caller gives the value of a Parameter */
  }
  return GATHER_OK;
}

/* Every input of a node has a value too, so that the caller may give it. */
static gather_status add_inputs(gather_running *run, const gather_node *node, gather_error *error) {
  for (int32_t k = 0; k < node->input_count; k++)
    if (*node->inputs[k] && !gather_run_ensure(run, node->inputs[k])) return gather_run_no_memory(error);
  return GATHER_OK;
}

static int64_t count_names(const gather_graph *graph) {
  int64_t count = graph->input_count + graph->constant_count;
  for (int64_t i = 0; i < graph->node_count; i++)
    count += (int64_t)graph->nodes[i].output_count + graph->nodes[i].input_count;
  return count;
}

gather_status gather_run_values(gather_running *run, gather_error *error) {
  const gather_graph *graph = run->graph;
  int64_t names = count_names(graph);
  for (run->bucket_count = 16; run->bucket_count < names; run->bucket_count *= 2) {
  }
  run->buckets = gather_arena_take(run->arena, run->bucket_count, (int64_t)sizeof(gather_run_value *));
  run->states = gather_arena_take(run->arena, graph->node_count, 1);
  if (!run->buckets || !run->states) return gather_run_no_memory(error);
  GATHER_TRY(add_constants(run, graph, error));
  for (int64_t i = 0; i < graph->node_count; i++) {
    GATHER_TRY(add_outputs(run, i, error));
    GATHER_TRY(add_inputs(run, &graph->nodes[i], error));
  }
  for (int64_t i = 0; i < graph->input_count; i++)
    if (!gather_run_ensure(run, graph->inputs[i].name)) return gather_run_no_memory(error);
  return GATHER_OK;
}
