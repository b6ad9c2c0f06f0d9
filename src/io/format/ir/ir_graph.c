/* SPDX-License-Identifier: MIT
 *
 * ir_graph.c: makes the graph of graph.h from the tree of an IR, and the list of the file's tensors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/ir/ir.h"

/* Longer paths use a layer's id instead of its name: otherwise a small file could need unlimited memory. */
enum { LONGEST_PATH = 1000 };
/* No layer has more; the time grows with their number times that of the ports. */
enum { MOST_BODIES = 2 };

/* A graph under construction. */
typedef struct ir_draft {
  ir_reader *reader;
  const char *path;
  gather_graph *graph;
  gather_node *nodes;
  gather_value *inputs, *outputs, *infos;
  gather_constant *constants;
  gather_alias *first_alias, **alias_tail;
} ir_draft;

static void *take(ir_reader *reader, int64_t count, size_t bytes) {
  return gather_arena_take(&reader->file->arena, count, (int64_t)bytes);
}

/* ---- declarations */

static gather_status set_dims(ir_reader *reader, const gather_dim *dims, int32_t rank, gather_value *value) {
  value->rank = rank;
  if (rank <= 0) return GATHER_OK;
  gather_dim *copy = take(reader, rank, sizeof *copy);
  if (!copy) return GATHER_IR_NO_MEMORY(reader);
  memcpy(copy, dims, (size_t)rank * sizeof *copy);
  value->dims = copy;
  return GATHER_OK;
}

/* The port's declaration; OpenVINO itself infers it again. */
static gather_status declare_port(ir_reader *reader, const ir_port *port, gather_value *value) {
  bool known;
  *value = (gather_value){.name = port->value, .type = gather_ir_type(port->precision, &known)};
  if (!known)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, port->offset,
                          "invalid precision '%.40s' of a port of the layer '%.100s'", port->precision,
                          port->layer->name);
  gather_dim dims[GATHER_MAX_RANK];
  for (int32_t d = 0; d < port->rank; d++) {
    bool is_known = port->dims[d] >= 0;
    dims[d] = (gather_dim){.min = is_known ? port->dims[d] : 0, .max = is_known ? port->dims[d] : GATHER_DIM_UNBOUNDED};
  }
  return set_dims(reader, dims, port->rank, value);
}

static gather_status declare_parameter(ir_reader *reader, const ir_layer *layer, gather_value *value) {
  const char *type = gather_ir_attribute(layer, "element_type"), *text = gather_ir_attribute(layer, "shape");
  gather_shape shape;
  bool known;
  if (layer->output_count != 1 || !type || !text)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset,
                          "the parameter '%.100s' needs an element_type, a shape and one output", layer->name);
  *value = (gather_value){.name = layer->outputs->value, .type = gather_ir_type(type, &known)};
  if (!known)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset,
                          "invalid element_type '%.40s' of the parameter '%.100s'", type, layer->name);
  if (!gather_ir_shape(text, &shape))
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset,
                          "invalid shape '%.80s' of the parameter '%.100s'", text, layer->name);
  return set_dims(reader, shape.dims, shape.rank, value);
}

/* Appends a value's other names to the graph's aliases. */
static void add_aliases(ir_draft *draft, const ir_port *port) {
  for (gather_alias *other = port->others, *next; other; other = next) {
    next = other->next;
    other->next = NULL;
    other->value = port->value;
    *draft->alias_tail = other;
    draft->alias_tail = &other->next;
  }
}

/* ---- constants */

/* Path and name. NULL: out of memory. */
static const char *full_name(ir_draft *draft, const char *name) {
  size_t path = strlen(draft->path), length = strlen(name);
  if (path == 0) return name;
  char *full = take(draft->reader, (int64_t)(path + length) + 1, 1);
  if (!full) return NULL;
  memcpy(full, draft->path, path);
  memcpy(full + path, name, length);
  return full;
}

/* The constant's other names also find it in the file's list. */
static gather_status list_names(ir_draft *draft, const ir_port *port) {
  gather_file *file = draft->reader->file;
  for (const gather_alias *other = port->others; other; other = other->next) {
    gather_other_name *listed = take(draft->reader, 1, sizeof *listed);
    const char *full = full_name(draft, other->name);
    if (!listed || !full) return GATHER_IR_NO_MEMORY(draft->reader);
    *listed = (gather_other_name){file->others, full, other->name, draft->reader->tensor_count};
    file->others = listed;
  }
  return GATHER_OK;
}

static gather_status add_constant(ir_draft *draft, const ir_layer *layer) {
  ir_reader *reader = draft->reader;
  if (layer->output_count != 1 || layer->input_count != 0)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset,
                          "the constant '%.100s' must have one output and no input", layer->name);
  gather_constant *constant = &draft->constants[draft->graph->constant_count];
  GATHER_TRY(gather_ir_constant(reader, layer, &constant->tensor));
  constant->tensor.name = layer->outputs->value;
  gather_file_tensor *listed = &reader->file->tensors[reader->tensor_count];
  *listed = constant->tensor;

  /* Another name that finds it: in the main graph the layer's name, in a body the name without the path. */
  bool is_main = draft->path[0] == '\0';
  reader->plain_names[reader->tensor_count] = is_main ? layer->name : constant->tensor.name;
  listed->name = full_name(draft, constant->tensor.name);
  if (!listed->name) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(list_names(draft, layer->outputs));
  draft->graph->constant_count++;
  reader->tensor_count++;
  return GATHER_OK;
}

/* ---- nodes */

static gather_status port_names(ir_reader *reader, const ir_layer *layer, gather_node *node) {
  const char **inputs = take(reader, layer->input_count, sizeof *inputs);
  const char **outputs = take(reader, layer->output_count, sizeof *outputs);
  if (!inputs || !outputs) return GATHER_IR_NO_MEMORY(reader);
  for (const ir_port *port = layer->inputs; port; port = port->next) inputs[port->position] = port->source->value;
  for (const ir_port *port = layer->outputs; port; port = port->next) outputs[port->position] = port->value;
  node->inputs = inputs;
  node->outputs = outputs;
  node->input_count = layer->input_count;
  node->output_count = layer->output_count;
  return GATHER_OK;
}

static gather_attribute text_attribute(const char *name, const char *text) {
  return (gather_attribute){.name = name, .kind = GATHER_ATTRIBUTE_TEXT, .text = {text, strlen(text)}};
}

static gather_status body_graph(ir_draft *draft, const ir_layer *layer, const ir_body *body, gather_graph **graph) {
  char path[3 * LONGEST_PATH];
  bool fits = strlen(draft->path) + strlen(layer->name) + strlen(body->name) < LONGEST_PATH && layer->name[0] != '\0';
  if (fits)
    (void)snprintf(path, sizeof path, "%s%s/%s/", draft->path, layer->name, body->name);
  else
    (void)snprintf(path, sizeof path, "%.*s/%" PRId64 "/%s/", LONGEST_PATH, draft->path, layer->id, body->name);
  return gather_ir_build(draft->reader, body->net, path, draft->graph, graph);
}

static gather_status add_attributes(ir_draft *draft, const ir_layer *layer, gather_node *node) {
  bool has_names = layer->output_names[0] != '\0';
  gather_attribute *attributes =
      take(draft->reader, (int64_t)layer->pair_count + layer->body_count + has_names, sizeof *attributes);
  int32_t count = 0;
  if (!attributes) return GATHER_IR_NO_MEMORY(draft->reader);
  for (const ir_pair *pair = layer->pairs; pair; pair = pair->next)
    attributes[count++] = text_attribute(pair->name, pair->text);
  if (has_names) attributes[count++] = text_attribute("output_names", layer->output_names);
  for (const ir_body *body = layer->bodies; body; body = body->next) {
    gather_attribute *attribute = &attributes[count++];
    *attribute = (gather_attribute){.name = body->name, .kind = GATHER_ATTRIBUTE_GRAPH};
    GATHER_TRY(body_graph(draft, layer, body, &attribute->graph));
    if (layer->body_count <= MOST_BODIES) GATHER_TRY(gather_ir_map_body(draft->reader, layer, body, attribute->graph));
  }
  node->attributes = attributes;
  node->attribute_count = count;
  return GATHER_OK;
}

static gather_status add_node(ir_draft *draft, const ir_layer *layer) {
  gather_node *node = &draft->nodes[draft->graph->node_count++];
  *node = (gather_node){.name = layer->name,
                        .op = gather_ir_op(layer),
                        .domain = layer->version,
                        .opset = gather_ir_opset(layer->version),
                        .file_offset = layer->offset};
  GATHER_TRY(port_names(draft->reader, layer, node));
  return add_attributes(draft, layer, node);
}

static gather_status add_values(ir_draft *draft, ir_layer *layer) {
  ir_reader *reader = draft->reader;
  gather_graph *graph = draft->graph;
  layer->number = gather_ir_is(layer, "Parameter") ? graph->input_count : graph->output_count;
  if (gather_ir_is(layer, "Parameter")) return declare_parameter(reader, layer, &draft->inputs[graph->input_count++]);
  if (gather_ir_is(layer, "Constant")) return add_constant(draft, layer);
  if (gather_ir_is(layer, "Result")) {
    if (layer->input_count != 1)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset, "the result '%.100s' must have one input",
                            layer->name);
    return declare_port(reader, layer->inputs->source, &draft->outputs[graph->output_count++]);
  }
  for (const ir_port *port = layer->outputs; port; port = port->next)
    GATHER_TRY(declare_port(reader, port, &draft->infos[graph->info_count++]));
  return GATHER_OK;
}

/* ---- the graph */

static int64_t count_layers(const ir_net *net, const char *op) {
  int64_t count = 0;
  for (const ir_layer *layer = net->layers; layer; layer = layer->next) count += gather_ir_is(layer, op);
  return count;
}

static gather_status begin_graph(ir_draft *draft, const ir_net *net, gather_graph *parent) {
  ir_reader *reader = draft->reader;
  draft->graph = take(reader, 1, sizeof *draft->graph);
  draft->nodes = take(reader, net->layer_count, sizeof *draft->nodes);
  draft->inputs = take(reader, count_layers(net, "Parameter"), sizeof *draft->inputs);
  draft->outputs = take(reader, count_layers(net, "Result"), sizeof *draft->outputs);
  draft->constants = take(reader, count_layers(net, "Constant"), sizeof *draft->constants);
  draft->infos = take(reader, net->port_count, sizeof *draft->infos);
  if (!draft->graph || !draft->nodes || !draft->inputs || !draft->outputs || !draft->constants || !draft->infos)
    return GATHER_IR_NO_MEMORY(reader);
  *draft->graph = (gather_graph){.name = net->name,
                                 .parent = parent,
                                 .nodes = draft->nodes,
                                 .inputs = draft->inputs,
                                 .outputs = draft->outputs,
                                 .infos = draft->infos,
                                 .constants = draft->constants};
  return GATHER_OK;
}

/* Inputs and outputs keep the file's order; nodes are sorted topologically. */
gather_status gather_ir_build(ir_reader *reader, ir_net *net, const char *path, gather_graph *parent,
                              gather_graph **graph) {
  ir_draft draft = {.reader = reader, .path = path};
  ir_layer **order = gather_arena_take(&reader->tree, net->layer_count, (int64_t)sizeof *order);
  if (!order) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(gather_ir_connect(reader, net));
  GATHER_TRY(gather_ir_order(reader, net, order));
  GATHER_TRY(gather_ir_name_values(reader, net));
  GATHER_TRY(begin_graph(&draft, net, parent));
  draft.alias_tail = &draft.first_alias;
  for (ir_layer *layer = net->layers; layer; layer = layer->next) {
    GATHER_TRY(add_values(&draft, layer));
    for (const ir_port *port = layer->outputs; port; port = port->next) add_aliases(&draft, port);
  }
  draft.graph->aliases = draft.first_alias;
  for (int64_t i = 0; i < net->layer_count; i++) GATHER_TRY(add_node(&draft, order[i]));
  *graph = draft.graph;
  return GATHER_OK;
}
