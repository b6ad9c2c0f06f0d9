/* SPDX-License-Identifier: MIT
 *
 * onnx_node.c: reads the nodes of a graph or a function.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

enum { INPUT = 1, OUTPUT, NAME, OP, ATTRIBUTE, DOMAIN = 7, OVERLOAD = 8 };

static int64_t version_of(const gather_onnx_imports *imports, const char *domain) {
  for (int64_t i = 0; i < imports->count; i++)
    if (strcmp(imports->rows[i].domain, domain) == 0) return imports->rows[i].version;
  return 0;
}

/* The prefix of its bodies' tensors: the node's name, else its operator and number. */
static gather_status node_path(gather_onnx *onnx, const gather_node *node, const char *path, int64_t number,
                               const char **target) {
  char text[256], op[64];
  size_t length = strlen(node->op) < sizeof op ? strlen(node->op) : sizeof op - 1;
  for (size_t i = 0; i < length; i++) op[i] = (char)tolower((unsigned char)node->op[i]);
  op[length] = '\0';
  int needed = node->name[0] != '\0' ? snprintf(text, sizeof text, "%s%s/", path, node->name)
                                     : snprintf(text, sizeof text, "%s%s_%" PRId64 "/", path, op, number);
  if (needed < 0 || (size_t)needed >= sizeof text)
    (void)snprintf(text, sizeof text, "%.60s%.60s_%" PRId64 "/", path, op, number);
  *target = gather_arena_text(&onnx->file->arena, text, strlen(text));
  if (*target) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "no memory for a node's name");
}

/* The lists of a node under construction. */
typedef struct node_lists {
  const char **inputs, **outputs;
  gather_attribute *attributes;
} node_lists;

static gather_status count_attributes(gather_onnx *onnx, gather_proto message, int64_t *count, bool *has_graphs) {
  *count = 0;
  *has_graphs = false;
  for (;;) {
    gather_proto_field field;
    int32_t places = 0;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != ATTRIBUTE) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(gather_onnx_attribute(onnx, field.inner, NULL, "", 0, NULL, &places));
    int64_t counts[12];
    GATHER_TRY(gather_onnx_count(onnx, field.inner, 12, counts));
    *has_graphs = *has_graphs || counts[6] > 0 || counts[11] > 0;
    *count += places;
  }
}

static gather_status read_names(gather_onnx *onnx, gather_proto message, gather_node *node, const node_lists *l) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    switch (field.number) {
      case 0:
        return GATHER_OK;
      case INPUT:
        GATHER_TRY(gather_onnx_text(onnx, &field, &l->inputs[node->input_count++]));
        break;
      case OUTPUT:
        GATHER_TRY(gather_onnx_text(onnx, &field, &l->outputs[node->output_count++]));
        break;
      case NAME:
        GATHER_TRY(gather_onnx_text(onnx, &field, &node->name));
        break;
      case OP:
        GATHER_TRY(gather_onnx_text(onnx, &field, &node->op));
        break;
      case DOMAIN:
        GATHER_TRY(gather_onnx_domain(onnx, &field, &node->domain));
        break;
      case OVERLOAD:
        GATHER_TRY(gather_onnx_text(onnx, &field, &node->overload));
        break;
      default:
        break;
    }
  }
}

static gather_status read_attributes(gather_onnx *onnx, gather_proto message, gather_graph *graph, const char *path,
                                     int depth, gather_node *node, gather_attribute *attributes) {
  for (;;) {
    gather_proto_field field;
    int32_t places = 0;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != ATTRIBUTE) continue;
    GATHER_TRY(
        gather_onnx_attribute(onnx, field.inner, graph, path, depth, &attributes[node->attribute_count], &places));
    node->attribute_count += places;
  }
}

static gather_status make_lists(gather_onnx *onnx, gather_proto message, gather_node *node, node_lists *l,
                                bool *has_graphs) {
  int64_t counts[8], attributes = 0;
  GATHER_TRY(gather_onnx_count(onnx, message, 8, counts));
  GATHER_TRY(count_attributes(onnx, message, &attributes, has_graphs));
  if (counts[INPUT] > INT32_MAX || counts[OUTPUT] > INT32_MAX || attributes > INT32_MAX)
    return GATHER_ONNX_WRONG(onnx, message.at, "a node has too many inputs, outputs or attributes");
  GATHER_TRY(gather_onnx_take(onnx, counts[INPUT], sizeof *l->inputs, &l->inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[OUTPUT], sizeof *l->outputs, &l->outputs));
  GATHER_TRY(gather_onnx_take(onnx, attributes, sizeof *l->attributes, &l->attributes));
  node->inputs = l->inputs;
  node->outputs = l->outputs;
  node->attributes = l->attributes;
  return GATHER_OK;
}

static gather_status read_node(gather_onnx *onnx, const gather_proto_field *field, gather_graph *graph,
                               const char *path, int depth, gather_node *node) {
  node_lists l;
  bool has_graphs = false;
  *node = (gather_node){.name = "", .op = "", .domain = "", .overload = "", .file_offset = field->offset};
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  GATHER_TRY(make_lists(onnx, field->inner, node, &l, &has_graphs));
  GATHER_TRY(read_names(onnx, field->inner, node, &l));
  node->opset = version_of(&onnx->imports, node->domain);
  if (has_graphs) GATHER_TRY(node_path(onnx, node, path, graph->node_count, &path));
  return read_attributes(onnx, field->inner, graph, path, depth, node, l.attributes);
}

/* Appends the constants of nodes; graph->constants has space for them. */
static gather_status add_constants(gather_onnx *onnx, gather_graph *graph, gather_constant *constants) {
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    if (strcmp(node->op, "Constant") != 0 || node->domain[0] != '\0') continue;
    gather_constant *made = &constants[graph->constant_count];
    GATHER_TRY(gather_onnx_constant(onnx, node, &made->tensor));
    if (made->tensor.name) graph->constant_count++;
  }
  return GATHER_OK;
}

static gather_status make_room(gather_onnx *onnx, gather_graph *graph) {
  int64_t count = graph->constant_count;
  for (int64_t i = 0; i < graph->node_count; i++)
    count += strcmp(graph->nodes[i].op, "Constant") == 0 && graph->nodes[i].domain[0] == '\0';
  if (count == graph->constant_count) return GATHER_OK;
  gather_constant *constants = NULL;
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *constants, &constants));
  if (graph->constant_count > 0) memcpy(constants, graph->constants, (size_t)graph->constant_count * sizeof *constants);
  graph->constants = constants;
  return add_constants(onnx, graph, constants);
}

static gather_status walk_nodes(gather_onnx *onnx, gather_proto message, uint32_t number, gather_graph *graph,
                                const char *path, int depth, gather_node *nodes) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != number) continue;
    GATHER_TRY(read_node(onnx, &field, graph, path, depth, &nodes[graph->node_count]));
    graph->node_count++;
  }
}

gather_status gather_onnx_nodes(gather_onnx *onnx, gather_proto message, uint32_t number, gather_graph *graph,
                                const char *path, int depth) {
  int64_t counts[16];
  gather_node *nodes = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof *nodes, &nodes));
  graph->nodes = nodes;
  GATHER_TRY(walk_nodes(onnx, message, number, graph, path, depth, nodes));
  return make_room(onnx, graph);
}

#endif
