/* SPDX-License-Identifier: MIT
 *
 * model.c: walks over a model's graph to its last name.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/format/graph.h"

static int64_t sum; /* keeps the compiler from leaving the reading out */

static void see_values(const gather_value *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    fuzz_see_text(values[i].name);
    fuzz_check(values[i].rank >= -1 && values[i].rank <= GATHER_MAX_RANK, "a rank is one, or not known");
    for (int32_t d = 0; d < values[i].rank; d++) {
      const gather_dim *dim = &values[i].dims[d];
      fuzz_check(dim->min >= 0 && dim->min <= dim->max, "a length lies between its bounds");
      if (dim->symbol) fuzz_see_text(dim->symbol);
    }
  }
}

static void see_graph(const gather_graph *graph);

static void see_attribute(const gather_attribute *attribute, const gather_graph *graph) {
  fuzz_see_text(attribute->name);
  if (attribute->kind == GATHER_ATTRIBUTE_TEXT || attribute->kind == GATHER_ATTRIBUTE_REFERENCE)
    fuzz_check(attribute->text.text[attribute->text.bytes] == '\0', "a zero byte follows a text");
  for (int64_t i = 0; i < attribute->count; i++) sum += attribute->integers[i] & 1;
  if (attribute->kind == GATHER_ATTRIBUTE_TENSOR) fuzz_walk_tensor(attribute->tensor);
  if (attribute->kind != GATHER_ATTRIBUTE_GRAPH) return;
  fuzz_check(attribute->graph->parent == graph, "a body knows the graph round it");
  see_graph(attribute->graph);
}

static void see_node(const gather_node *node, const gather_graph *graph) {
  fuzz_see_text(node->name);
  fuzz_see_text(node->op);
  fuzz_see_text(node->domain);
  for (int32_t i = 0; i < node->input_count; i++) fuzz_see_text(node->inputs[i]);
  for (int32_t i = 0; i < node->output_count; i++) fuzz_see_text(node->outputs[i]);
  for (int32_t i = 0; i < node->attribute_count; i++) see_attribute(&node->attributes[i], graph);
}

static void see_graph(const gather_graph *graph) {
  fuzz_see_text(graph->name);
  see_values(graph->inputs, graph->input_count);
  see_values(graph->outputs, graph->output_count);
  see_values(graph->infos, graph->info_count);
  for (int64_t i = 0; i < graph->node_count; i++) see_node(&graph->nodes[i], graph);
  for (int64_t i = 0; i < graph->constant_count; i++) fuzz_walk_tensor(&graph->constants[i].tensor);
}

void fuzz_walk_model(const gather_graph_file *model) {
  if (!model) return;
  fuzz_check(strcmp(model->dialect, "onnx") == 0 || strcmp(model->dialect, "openvino") == 0, "a model has a dialect");
  if (model->graph) see_graph(model->graph);
  for (int64_t i = 0; i < model->function_count; i++) {
    fuzz_see_text(model->functions[i].domain);
    fuzz_see_text(model->functions[i].name);
    see_graph(model->functions[i].graph);
  }
}
