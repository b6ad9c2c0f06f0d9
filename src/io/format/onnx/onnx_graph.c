/* SPDX-License-Identifier: MIT
 *
 * onnx_graph.c: reads graphs, their nodes and the nodes' attributes: a graph has nodes, a node has attributes, and an attribute may be a
 * graph.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

/* ---- attributes, and the values of Constant nodes */

/* Of an AttributeProto. */
enum { FLOAT = 2, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS, TENSORS, GRAPHS, SPARSE_TENSOR = 22 };

/* Where a graph is in the model. */
typedef struct place {
  gather_graph *parent;
  const char *path;
  int depth;
} place;

/* The fields of one attribute; the last of each number. */
typedef struct parts {
  gather_proto message;
  const char *name, *reference;
  uint64_t type;
  gather_proto_field fields[SPARSE_TENSOR + 1];
  const place *at;
} parts;

static gather_status keep(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  parts *p = into;
  (void)onnx;
  p->fields[field->number] = *field;
  return GATHER_OK;
}

static const gather_onnx_row ATTRIBUTE_FIELDS[] = {{1, GATHER_ONNX_TEXT, offsetof(parts, name), NULL},
                                                   {FLOAT, GATHER_ONNX_OTHER, 0, keep},
                                                   {INT, GATHER_ONNX_OTHER, 0, keep},
                                                   {STRING, GATHER_ONNX_OTHER, 0, keep},
                                                   {TENSOR, GATHER_ONNX_OTHER, 0, keep},
                                                   {GRAPH, GATHER_ONNX_OTHER, 0, keep},
                                                   {FLOATS, GATHER_ONNX_OTHER, 0, keep},
                                                   {INTS, GATHER_ONNX_OTHER, 0, keep},
                                                   {STRINGS, GATHER_ONNX_OTHER, 0, keep},
                                                   {TENSORS, GATHER_ONNX_OTHER, 0, keep},
                                                   {GRAPHS, GATHER_ONNX_OTHER, 0, keep},
                                                   {20, GATHER_ONNX_NUMBER, offsetof(parts, type), NULL},
                                                   {21, GATHER_ONNX_TEXT, offsetof(parts, reference), NULL},
                                                   {SPARSE_TENSOR, GATHER_ONNX_OTHER, 0, keep},
                                                   {0}};

static float float_of(uint64_t bits) {
  const uint32_t half = (uint32_t)bits;
  float number;
  memcpy(&number, &half, sizeof number);
  return number;
}

static gather_status read_integer(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  attribute->kind = GATHER_ATTRIBUTE_INT;
  attribute->integer = (int64_t)p->fields[INT].value;
  return p->fields[INT].number ? gather_onnx_is(onnx, &p->fields[INT], GATHER_PROTO_VARINT) : GATHER_OK;
}

static gather_status read_float(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  attribute->kind = GATHER_ATTRIBUTE_FLOAT;
  attribute->number = float_of(p->fields[FLOAT].value);
  return p->fields[FLOAT].number ? gather_onnx_is(onnx, &p->fields[FLOAT], GATHER_PROTO_FIXED32) : GATHER_OK;
}

static gather_status read_text(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  attribute->kind = GATHER_ATTRIBUTE_TEXT;
  attribute->text = (gather_string){"", 0};
  const gather_proto_field *field = &p->fields[STRING];
  if (field->number == 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  int64_t bytes = field->inner.end - field->inner.at;
  char *copy = NULL;
  GATHER_TRY(gather_onnx_take(onnx, bytes + 1, 1, &copy));
  GATHER_TRY(gather_map_need(field->inner.map, field->inner.at, bytes, onnx->error));
  memcpy(copy, field->inner.map->bytes + field->inner.at, (size_t)bytes);
  attribute->text = (gather_string){copy, (size_t)bytes};
  return GATHER_OK;
}

static gather_status read_integers(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  uint64_t *values = NULL;
  attribute->kind = GATHER_ATTRIBUTE_INTS;
  GATHER_TRY(gather_onnx_list(onnx, p->message, INTS, GATHER_PROTO_VARINT, &values, &attribute->count));
  attribute->integers = (const int64_t *)values;
  return GATHER_OK;
}

static gather_status read_tensor(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  gather_file_tensor *tensor = NULL;
  attribute->kind = GATHER_ATTRIBUTE_TENSOR;
  if (p->fields[TENSOR].number == 0)
    return GATHER_ONNX_WRONG(onnx, p->message.at, "attribute '%.100s' has type TENSOR but no tensor", p->name);
  GATHER_TRY(gather_onnx_is(onnx, &p->fields[TENSOR], GATHER_PROTO_BYTES));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *tensor, &tensor));
  attribute->tensor = tensor;
  return gather_onnx_tensor(onnx, p->fields[TENSOR].inner, tensor);
}

/* Of a Constant; other operators have no such attribute. */
static gather_status read_sparse(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  gather_file_tensor *tensor = NULL;
  const gather_proto_field *field = &p->fields[SPARSE_TENSOR];
  if (field->number == 0 || strcmp(p->name, "sparse_value") != 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *tensor, &tensor));
  attribute->tensor = tensor;
  return gather_onnx_sparse(onnx, field->inner, tensor);
}

/* Lists of floats and of strings have no kind of their own; a Constant needs them as a tensor. */
static gather_status read_floats(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  uint64_t *bits = NULL;
  float *numbers = NULL;
  int64_t count = 0;
  gather_file_tensor *tensor = NULL;
  GATHER_TRY(gather_onnx_list(onnx, p->message, FLOATS, GATHER_PROTO_FIXED32, &bits, &count));
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *numbers, &numbers));
  for (int64_t i = 0; i < count; i++) {
    const uint32_t word = (uint32_t)bits[i];
    memcpy(&numbers[i], &word, sizeof word);
  }
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *tensor, &tensor));
  attribute->tensor = tensor;
  return gather_onnx_made(onnx, GATHER_TYPE_FLOAT32, numbers, count, p->message.at, tensor);
}

static gather_status read_strings(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  gather_string *strings = NULL;
  int64_t count = 0;
  gather_file_tensor *tensor = NULL;
  GATHER_TRY(gather_onnx_strings(onnx, p->message, STRINGS, &strings, &count));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *tensor, &tensor));
  attribute->tensor = tensor;
  return gather_onnx_made(onnx, GATHER_TYPE_STRING, strings, count, p->message.at, tensor);
}

static gather_status graph_path(gather_onnx *onnx, const parts *p, int64_t number, const char **path) {
  char text[256], ordinal[24] = "";
  if (number >= 0) (void)snprintf(ordinal, sizeof ordinal, "_%" PRId64, number);
  int length = snprintf(text, sizeof text, "%s%s%s/", p->at->path, p->name, ordinal);
  /* The length of paths is limited: nested graphs could need names larger than the file. */
  if (length < 0 || (size_t)length >= sizeof text) (void)snprintf(text, sizeof text, "graph_%" PRId64 "/", onnx->scopes);
  *path = gather_arena_text(&onnx->file->arena, text, strlen(text));
  if (*path) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "out of memory for a graph's name");
}

static gather_status read_nested(gather_onnx *onnx, const parts *p, const gather_proto_field *field, int64_t number,
                                 gather_attribute *attribute) {
  const char *path = NULL;
  attribute->kind = GATHER_ATTRIBUTE_GRAPH;
  if (field->number == 0) return GATHER_ONNX_WRONG(onnx, p->message.at, "attribute '%.100s' has type GRAPH but no graph", p->name);
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  GATHER_TRY(graph_path(onnx, p, number, &path));
  return gather_onnx_graph(onnx, field->inner, p->at->parent, path, p->at->depth + 1, &attribute->graph);
}

static gather_status read_graph(gather_onnx *onnx, const parts *p, gather_attribute *attribute) {
  return read_nested(onnx, p, &p->fields[GRAPH], -1, attribute);
}

/* An attribute with several graphs: one entry for each. */
typedef struct graphs {
  const parts *p;
  gather_attribute *attributes;
  int64_t count;
} graphs;

static gather_status add_graph(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graphs *g = into;
  gather_attribute *attribute = &g->attributes[g->count];
  attribute->name = g->p->name;
  attribute->text.text = "";
  return read_nested(onnx, g->p, field, g->count++, attribute);
}

static gather_status read_graphs(gather_onnx *onnx, const parts *p, gather_attribute *attributes) {
  const gather_onnx_row rows[] = {{GRAPHS, GATHER_ONNX_OTHER, 0, add_graph}, {0}};
  graphs g = {.p = p, .attributes = attributes};
  return gather_onnx_read(onnx, p->message, rows, &g);
}

/* AttributeProto.AttributeType by number: its name, second if another field has the value; the field that has it; what reads it. */
#define TYPE(name) name, name " without a value"

static const struct {
  const char *name, *mixed;
  uint32_t field;
  gather_status (*read)(gather_onnx *onnx, const parts *p, gather_attribute *attribute);
} TYPES[] = {{TYPE("UNDEFINED"), 0, NULL},          {TYPE("FLOAT"), FLOAT, read_float},    {TYPE("INT"), INT, read_integer},
             {TYPE("STRING"), STRING, read_text},   {TYPE("TENSOR"), TENSOR, read_tensor}, {TYPE("GRAPH"), GRAPH, read_graph},
             {TYPE("FLOATS"), FLOATS, read_floats}, {TYPE("INTS"), INTS, read_integers},   {TYPE("STRINGS"), STRINGS, read_strings},
             {TYPE("TENSORS"), TENSORS, NULL},      {TYPE("GRAPHS"), GRAPHS, read_graphs}, {"SPARSE_TENSOR", NULL, 0, read_sparse},
             {"SPARSE_TENSORS", NULL, 0, NULL},     {"TYPE_PROTO", NULL, 0, NULL},         {"TYPE_PROTOS", NULL, 0, NULL}};

enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES };

/* Files of the first versions do not give the type; there the field that is present determines it. */
static void find_type(parts *p) {
  for (uint64_t type = 1; type < TYPE_COUNT && p->type == 0; type++)
    if (TYPES[type].field != 0 && p->fields[TYPES[type].field].number != 0) p->type = type;
}

/* Whether the attribute gives one type but has a value of another. Writers may omit a value that is 0 or empty. */
static bool is_mixed(const parts *p) {
  bool other = false;
  if (p->type >= TYPE_COUNT || TYPES[p->type].field == 0 || p->fields[TYPES[p->type].field].number != 0) return false;
  for (uint32_t field = FLOAT; field <= GRAPHS; field++) other = other || p->fields[field].number != 0;
  return other;
}

static const char *type_name(const parts *p) {
  if (p->type >= TYPE_COUNT) return "an unknown type";
  return is_mixed(p) ? TYPES[p->type].mixed : TYPES[p->type].name;
}

/* How many entries an attribute becomes: GRAPHS become one for each graph. */
static gather_status count_places(gather_onnx *onnx, gather_proto message, int32_t *places, bool *has_graphs) {
  int64_t counts[GRAPHS + 1];
  GATHER_TRY(gather_onnx_count(onnx, message, GRAPHS + 1, counts));
  if (counts[GRAPHS] > INT32_MAX / 2) return GATHER_ONNX_WRONG(onnx, message.at, "an attribute has too many graphs");
  *places = counts[GRAPHS] > 1 ? (int32_t)counts[GRAPHS] : 1;
  *has_graphs = counts[GRAPH] > 0 || counts[GRAPHS] > 0;
  return GATHER_OK;
}

static gather_status read_attribute(gather_onnx *onnx, gather_proto message, const place *at, gather_attribute *attributes,
                                    int32_t *places) {
  bool has_graphs = false;
  parts p = {.message = message, .name = "", .reference = "", .at = at};
  GATHER_TRY(count_places(onnx, message, places, &has_graphs));
  GATHER_TRY(gather_onnx_read(onnx, message, ATTRIBUTE_FIELDS, &p));
  find_type(&p);
  for (int32_t i = 0; i < *places; i++) attributes[i] = (gather_attribute){.name = p.name, .type = type_name(&p), .text = {"", 0}};
  if (p.reference[0] != '\0') {
    attributes->kind = GATHER_ATTRIBUTE_REFERENCE;
    attributes->text = (gather_string){p.reference, strlen(p.reference)};
    return GATHER_OK;
  }
  if (is_mixed(&p) || p.type >= TYPE_COUNT || !TYPES[p.type].read) return GATHER_OK;
  return TYPES[p.type].read(onnx, &p, attributes);
}

/* ---- Constant nodes */

static gather_status scalar(gather_onnx *onnx, const gather_node *node, const gather_attribute *attribute, gather_file_tensor *tensor) {
  if (attribute->kind == GATHER_ATTRIBUTE_INT)
    return gather_onnx_made(onnx, GATHER_TYPE_INT64, &attribute->integer, -1, node->file_offset, tensor);
  if (attribute->kind == GATHER_ATTRIBUTE_TEXT)
    return gather_onnx_made(onnx, GATHER_TYPE_STRING, &attribute->text, -1, node->file_offset, tensor);
  return gather_onnx_made(onnx, GATHER_TYPE_FLOAT32, &attribute->number, -1, node->file_offset, tensor);
}

/* node: its op and domain are used. tensor->name stays NULL if it has no known value. */
static gather_status read_constant(gather_onnx *onnx, const gather_node *node, gather_file_tensor *tensor) {
  *tensor = (gather_file_tensor){0};
  if (node->output_count < 1 || node->outputs[0][0] == '\0') return GATHER_OK;
  const gather_attribute *found = gather_constant_attribute(node);
  if (!found) return GATHER_OK;
  if (found->tensor)
    *tensor = *found->tensor;
  else if (found->kind == GATHER_ATTRIBUTE_INTS)
    GATHER_TRY(gather_onnx_made(onnx, GATHER_TYPE_INT64, found->integers, found->count, node->file_offset, tensor));
  else if (found->kind == GATHER_ATTRIBUTE_INT || found->kind == GATHER_ATTRIBUTE_FLOAT || found->kind == GATHER_ATTRIBUTE_TEXT)
    GATHER_TRY(scalar(onnx, node, found, tensor));
  else
    return GATHER_OK;
  tensor->name = node->outputs[0];
  return GATHER_OK;
}

/* ---- nodes */

enum { NODE_INPUT = 1, NODE_OUTPUT, ATTRIBUTE = 5 };

static int64_t version_of(const gather_onnx_imports *imports, const char *domain) {
  for (int64_t i = 0; i < imports->count; i++)
    if (strcmp(imports->rows[i].domain, domain) == 0) return imports->rows[i].version;
  return 0;
}

/* The prefix of its bodies' tensors: the node's name, else its operator and number. */
static gather_status node_path(gather_onnx *onnx, const gather_node *node, const char *path, int64_t number, const char **target) {
  char text[256], op[64];
  size_t length = strlen(node->op) < sizeof op ? strlen(node->op) : sizeof op - 1;
  for (size_t i = 0; i < length; i++) op[i] = (char)tolower((unsigned char)node->op[i]);
  op[length] = '\0';
  int needed = node->name[0] != '\0' ? snprintf(text, sizeof text, "%s%s/", path, node->name)
                                     : snprintf(text, sizeof text, "%s%s_%" PRId64 "/", path, op, number);
  if (needed < 0 || (size_t)needed >= sizeof text) (void)snprintf(text, sizeof text, "%.60s%.60s_%" PRId64 "/", path, op, number);
  *target = gather_arena_text(&onnx->file->arena, text, strlen(text));
  if (*target) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "out of memory for a node's name");
}

/* A node under construction. */
typedef struct node_parts {
  gather_node node;
  const char **inputs, **outputs;
  gather_attribute *attributes;
  int64_t places; /* of the attributes */
  bool has_graphs;
  place at;
} node_parts;

static gather_status count_attribute(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  node_parts *n = into;
  int32_t places = 0;
  bool has_graphs = false;
  GATHER_TRY(count_places(onnx, field->inner, &places, &has_graphs));
  n->places += places;
  n->has_graphs = n->has_graphs || has_graphs;
  return GATHER_OK;
}

static gather_status add_input(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  node_parts *n = into;
  return gather_onnx_text(onnx, field, &n->inputs[n->node.input_count++]);
}

static gather_status add_output(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  node_parts *n = into;
  return gather_onnx_text(onnx, field, &n->outputs[n->node.output_count++]);
}

static const gather_onnx_row NODE_FIELDS[] = {{NODE_INPUT, GATHER_ONNX_OTHER, 0, add_input},
                                              {NODE_OUTPUT, GATHER_ONNX_OTHER, 0, add_output},
                                              {3, GATHER_ONNX_TEXT, offsetof(node_parts, node.name), NULL},
                                              {4, GATHER_ONNX_TEXT, offsetof(node_parts, node.op), NULL},
                                              {7, GATHER_ONNX_DOMAIN, offsetof(node_parts, node.domain), NULL},
                                              {8, GATHER_ONNX_TEXT, offsetof(node_parts, node.overload), NULL},
                                              {0}};

static gather_status add_attribute(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  node_parts *n = into;
  int32_t places = 0;
  GATHER_TRY(read_attribute(onnx, field->inner, &n->at, &n->attributes[n->node.attribute_count], &places));
  n->node.attribute_count += places;
  return GATHER_OK;
}

static gather_status make_node_lists(gather_onnx *onnx, gather_proto message, node_parts *n) {
  int64_t counts[8];
  GATHER_TRY(gather_onnx_count(onnx, message, 8, counts));
  GATHER_TRY(gather_onnx_each(onnx, message, ATTRIBUTE, count_attribute, n));
  if (counts[NODE_INPUT] > INT32_MAX || counts[NODE_OUTPUT] > INT32_MAX || n->places > INT32_MAX)
    return GATHER_ONNX_WRONG(onnx, message.at, "a node has too many inputs, outputs or attributes");
  GATHER_TRY(gather_onnx_take(onnx, counts[NODE_INPUT], sizeof *n->inputs, &n->inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[NODE_OUTPUT], sizeof *n->outputs, &n->outputs));
  GATHER_TRY(gather_onnx_take(onnx, n->places, sizeof *n->attributes, &n->attributes));
  n->node.inputs = n->inputs;
  n->node.outputs = n->outputs;
  n->node.attributes = n->attributes;
  return GATHER_OK;
}

/* The nodes of a graph under construction. */
typedef struct node_list {
  gather_graph *graph;
  const char *path;
  int depth;
  gather_node *nodes;
} node_list;

static gather_status add_node(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  node_list *list = into;
  gather_graph *graph = list->graph;
  node_parts n = {.at = {graph, list->path, list->depth}};
  n.node = (gather_node){.name = "", .op = "", .domain = "", .overload = "", .file_offset = field->offset};
  GATHER_TRY(make_node_lists(onnx, field->inner, &n));
  GATHER_TRY(gather_onnx_read(onnx, field->inner, NODE_FIELDS, &n));
  n.node.opset = version_of(&onnx->imports, n.node.domain);
  if (n.has_graphs) GATHER_TRY(node_path(onnx, &n.node, list->path, graph->node_count, &n.at.path));
  GATHER_TRY(gather_onnx_each(onnx, field->inner, ATTRIBUTE, add_attribute, &n));
  list->nodes[graph->node_count++] = n.node;
  return GATHER_OK;
}

/* Appends the constants of nodes; graph->constants has space for them. */
static gather_status add_constants(gather_onnx *onnx, gather_graph *graph, gather_constant *constants) {
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    if (strcmp(node->op, "Constant") != 0 || node->domain[0] != '\0') continue;
    gather_constant *made = &constants[graph->constant_count];
    GATHER_TRY(read_constant(onnx, node, &made->tensor));
    if (made->tensor.name) graph->constant_count++;
  }
  return GATHER_OK;
}

static gather_status make_room(gather_onnx *onnx, gather_graph *graph) {
  int64_t count = graph->constant_count;
  for (int64_t i = 0; i < graph->node_count; i++) count += strcmp(graph->nodes[i].op, "Constant") == 0 && graph->nodes[i].domain[0] == '\0';
  if (count == graph->constant_count) return GATHER_OK;
  gather_constant *constants = NULL;
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *constants, &constants));
  if (graph->constant_count > 0) memcpy(constants, graph->constants, (size_t)graph->constant_count * sizeof *constants);
  graph->constants = constants;
  return add_constants(onnx, graph, constants);
}

/* Reads nodes, and appends the constants among them to graph->constants. */
static gather_status read_nodes(gather_onnx *onnx, gather_proto message, uint32_t number, gather_graph *graph, const char *path,
                                int depth) {
  int64_t counts[16];
  node_list list = {graph, path, depth, NULL};
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof *list.nodes, &list.nodes));
  graph->nodes = list.nodes;
  GATHER_TRY(gather_onnx_each(onnx, message, number, add_node, &list));
  return make_room(onnx, graph);
}

/* ---- graphs */

enum { NODE = 1, INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_INFO = 13, SPARSE = 15 };

/* A graph under construction, or a function and its graph. */
typedef struct graph_parts {
  gather_graph *graph;
  const char *name, *domain, *overload;
  gather_value *inputs, *outputs, *infos;
  gather_constant *constants;
  gather_attribute *defaults;
  int32_t default_count;
  place at;
} graph_parts;

static gather_status add_input_value(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graph_parts *g = into;
  return gather_onnx_value(onnx, field->inner, &g->inputs[g->graph->input_count++]);
}

static gather_status add_output_value(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graph_parts *g = into;
  return gather_onnx_value(onnx, field->inner, &g->outputs[g->graph->output_count++]);
}

static gather_status add_info(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graph_parts *g = into;
  return gather_onnx_value(onnx, field->inner, &g->infos[g->graph->info_count++]);
}

static gather_status add_initializer(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graph_parts *g = into;
  gather_constant *constant = &g->constants[g->graph->constant_count++];
  constant->is_initializer = true;
  return field->number == SPARSE ? gather_onnx_sparse(onnx, field->inner, &constant->tensor)
                                 : gather_onnx_tensor(onnx, field->inner, &constant->tensor);
}

static const gather_onnx_row GRAPH_FIELDS[] = {{2, GATHER_ONNX_TEXT, offsetof(graph_parts, name), NULL},
                                               {INITIALIZER, GATHER_ONNX_MESSAGE, 0, add_initializer},
                                               {GRAPH_INPUT, GATHER_ONNX_MESSAGE, 0, add_input_value},
                                               {GRAPH_OUTPUT, GATHER_ONNX_MESSAGE, 0, add_output_value},
                                               {GRAPH_INFO, GATHER_ONNX_MESSAGE, 0, add_info},
                                               {SPARSE, GATHER_ONNX_MESSAGE, 0, add_initializer},
                                               {0}};

static gather_status make_graph_lists(gather_onnx *onnx, graph_parts *g, int64_t inputs, int64_t outputs, int64_t infos,
                                      int64_t constants) {
  GATHER_TRY(gather_onnx_take(onnx, inputs, sizeof *g->inputs, &g->inputs));
  GATHER_TRY(gather_onnx_take(onnx, outputs, sizeof *g->outputs, &g->outputs));
  GATHER_TRY(gather_onnx_take(onnx, infos, sizeof *g->infos, &g->infos));
  GATHER_TRY(gather_onnx_take(onnx, constants, sizeof *g->constants, &g->constants));
  g->graph->inputs = g->inputs;
  g->graph->outputs = g->outputs;
  g->graph->infos = g->infos;
  g->graph->constants = g->constants;
  return GATHER_OK;
}

/* Registers a graph for the file's list of tensors. */
static gather_status add_scope(gather_onnx *onnx, const gather_graph *graph, const char *path) {
  gather_onnx_scope *scope = NULL;
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *scope, &scope));
  *scope = (gather_onnx_scope){.graph = graph, .path = path};
  *onnx->last = scope;
  onnx->last = &scope->next;
  onnx->scopes++;
  return GATHER_OK;
}

gather_status gather_onnx_graph(gather_onnx *onnx, gather_proto message, gather_graph *parent, const char *path, int depth,
                                gather_graph **graph) {
  graph_parts g = {.name = ""};
  int64_t counts[16];
  if (depth > GATHER_ONNX_DEPTH_MAX)
    return GATHER_ONNX_WRONG(onnx, message.at, "graphs are nested deeper than %d levels", GATHER_ONNX_DEPTH_MAX);
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof **graph, graph));
  g.graph = *graph;
  g.graph->parent = parent;
  GATHER_TRY(add_scope(onnx, g.graph, path));
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(
      make_graph_lists(onnx, &g, counts[GRAPH_INPUT], counts[GRAPH_OUTPUT], counts[GRAPH_INFO], counts[INITIALIZER] + counts[SPARSE]));
  GATHER_TRY(gather_onnx_external_open(onnx, message, INITIALIZER));
  GATHER_TRY(gather_onnx_read(onnx, message, GRAPH_FIELDS, &g));
  g.graph->name = g.name;
  return read_nodes(onnx, message, NODE, g.graph, path, depth);
}

/* ---- functions */

enum { FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_NODE = 7, FUNCTION_IMPORT = 9, FUNCTION_DEFAULT = 11, FUNCTION_INFO = 12 };

/* An input or an output: a name without a type. */
static gather_status add_name(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graph_parts *g = into;
  gather_value *value = field->number == FUNCTION_INPUT ? &g->inputs[g->graph->input_count++] : &g->outputs[g->graph->output_count++];
  *value = (gather_value){.name = "", .type = GATHER_TYPE_NONE, .rank = -1};
  return gather_onnx_text(onnx, field, &value->name);
}

static const gather_onnx_row FUNCTION_FIELDS[] = {{1, GATHER_ONNX_TEXT, offsetof(graph_parts, name), NULL},
                                                  {FUNCTION_INPUT, GATHER_ONNX_OTHER, 0, add_name},
                                                  {FUNCTION_OUTPUT, GATHER_ONNX_OTHER, 0, add_name},
                                                  {10, GATHER_ONNX_DOMAIN, offsetof(graph_parts, domain), NULL},
                                                  {FUNCTION_INFO, GATHER_ONNX_MESSAGE, 0, add_info},
                                                  {13, GATHER_ONNX_TEXT, offsetof(graph_parts, overload), NULL},
                                                  {0}};

/* An attribute with a default. Nodes of the body are not read yet: a graph among them is one of its own. */
static gather_status add_default(gather_onnx *onnx, const gather_proto_field *field, void *into) {
  graph_parts *g = into;
  int32_t places = 0;
  bool has_graphs = false;
  GATHER_TRY(count_places(onnx, field->inner, &places, &has_graphs));
  if (places != 1) return GATHER_OK; /* a list of graphs: nothing here uses one */
  GATHER_TRY(read_attribute(onnx, field->inner, &g->at, &g->defaults[g->default_count], &places));
  g->default_count += places;
  return GATHER_OK;
}

/* The prefix of its tensors' names. */
static gather_status function_path(gather_onnx *onnx, const graph_parts *g, const char **kept) {
  char path[256];
  int length = snprintf(path, sizeof path, "%s%s%s/", g->domain, g->domain[0] != '\0' ? "." : "", g->name);
  if (length < 0 || (size_t)length >= sizeof path) (void)snprintf(path, sizeof path, "%.100s/", g->name);
  *kept = gather_arena_text(&onnx->file->arena, path, strlen(path));
  if (*kept) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "out of memory for a function's name");
}

gather_status gather_onnx_function(gather_onnx *onnx, gather_proto message, gather_function *function) {
  int64_t counts[16];
  graph_parts g = {.name = "", .domain = "", .overload = ""};
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *g.graph, &g.graph));
  GATHER_TRY(make_graph_lists(onnx, &g, counts[FUNCTION_INPUT], counts[FUNCTION_OUTPUT], counts[FUNCTION_INFO], 0));
  GATHER_TRY(gather_onnx_read(onnx, message, FUNCTION_FIELDS, &g));
  GATHER_TRY(gather_onnx_imports_read(onnx, message, FUNCTION_IMPORT));
  g.graph->name = g.name;
  g.at = (place){g.graph, NULL, 1};
  GATHER_TRY(function_path(onnx, &g, &g.at.path));
  GATHER_TRY(add_scope(onnx, g.graph, g.at.path));
  if (counts[FUNCTION_DEFAULT] > INT32_MAX) return GATHER_ONNX_WRONG(onnx, message.at, "a function has too many attributes");
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_DEFAULT], sizeof *g.defaults, &g.defaults));
  GATHER_TRY(gather_onnx_each(onnx, message, FUNCTION_DEFAULT, add_default, &g));
  *function = (gather_function){g.domain, g.name, g.overload, g.graph, g.defaults, g.default_count};
  return read_nodes(onnx, message, FUNCTION_NODE, g.graph, g.at.path, 1);
}

#endif
