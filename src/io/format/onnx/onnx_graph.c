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

/* AttributeProto.AttributeType, and the fields that hold the values. */
enum {
  IS_FLOAT = 1,
  IS_INT,
  IS_STRING,
  IS_TENSOR,
  IS_GRAPH,
  IS_FLOATS,
  IS_INTS,
  IS_STRINGS,
  IS_TENSORS,
  IS_GRAPHS,
  IS_SPARSE
};

enum {
  ATTRIBUTE_NAME = 1,
  FLOAT,
  INT,
  STRING,
  TENSOR,
  GRAPH,
  FLOATS,
  INTS,
  STRINGS,
  TENSORS,
  GRAPHS,
  TYPE = 20,
  REFERENCE,
  SPARSE_TENSOR
};

/* The fields of one attribute; the last of each number. */
typedef struct parts {
  gather_proto message;
  const char *name, *reference;
  uint64_t type;
  gather_proto_field fields[GRAPHS + 1], sparse;
} parts;

/* The types by number; second: if another field has the value. */
#define NAMES(type) \
  { type, type " without a value" }

static const char *const TYPE_NAMES[][2] = {NAMES("UNDEFINED"), NAMES("FLOAT"),   NAMES("INT"),    NAMES("STRING"),
                                            NAMES("TENSOR"),    NAMES("GRAPH"),   NAMES("FLOATS"), NAMES("INTS"),
                                            NAMES("STRINGS"),   NAMES("TENSORS"), NAMES("GRAPHS"), {"SPARSE_TENSOR"},
                                            {"SPARSE_TENSORS"}, {"TYPE_PROTO"},   {"TYPE_PROTOS"}};

static const uint32_t FIELD_OF[] = {0, FLOAT, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS, TENSORS, GRAPHS};

/* Files of the first versions do not give the type; there the field that is present determines it. */
static void find_type(parts *p) {
  for (uint64_t type = IS_FLOAT; type <= IS_GRAPHS && p->type == 0; type++)
    if (p->fields[FIELD_OF[type]].number != 0) p->type = type;
}

/* Whether the attribute gives one type but has a value of another. Writers may omit a value that is 0 or empty. */
static bool is_mixed(const parts *p) {
  bool other = false;
  if (p->type < IS_FLOAT || p->type > IS_GRAPHS || p->fields[FIELD_OF[p->type]].number != 0) return false;
  for (uint32_t field = FLOAT; field <= GRAPHS; field++) other = other || p->fields[field].number != 0;
  return other;
}

static const char *type_name(const parts *p) {
  return p->type < sizeof TYPE_NAMES / sizeof *TYPE_NAMES ? TYPE_NAMES[p->type][is_mixed(p)] : "an unknown type";
}

static gather_status read_parts(gather_onnx *onnx, gather_proto message, parts *p) {
  *p = (parts){.message = message, .name = "", .reference = ""};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) break;
    if (field.number <= GRAPHS) p->fields[field.number] = field;
    if (field.number == SPARSE_TENSOR) p->sparse = field;
    if (field.number == ATTRIBUTE_NAME) GATHER_TRY(gather_onnx_text(onnx, &field, &p->name));
    if (field.number == REFERENCE) GATHER_TRY(gather_onnx_text(onnx, &field, &p->reference));
    if (field.number != TYPE) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
    p->type = field.value;
  }
  find_type(p);
  return GATHER_OK;
}

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
  if (p->sparse.number == 0 || strcmp(p->name, "sparse_value") != 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_is(onnx, &p->sparse, GATHER_PROTO_BYTES));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *tensor, &tensor));
  attribute->tensor = tensor;
  return gather_onnx_sparse(onnx, p->sparse.inner, tensor);
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

/* Where a graph is in the model. */
typedef struct place {
  gather_graph *parent;
  const char *path;
  int depth;
} place;

static gather_status graph_path(gather_onnx *onnx, const parts *p, const place *at, int64_t number, const char **path) {
  char text[256], ordinal[24] = "";
  if (number >= 0) (void)snprintf(ordinal, sizeof ordinal, "_%" PRId64, number);
  int length = snprintf(text, sizeof text, "%s%s%s/", at->path, p->name, ordinal);
  /* The length of paths is limited: nested graphs could need names larger than the file. */
  if (length < 0 || (size_t)length >= sizeof text)
    (void)snprintf(text, sizeof text, "graph_%" PRId64 "/", onnx->scopes);
  *path = gather_arena_text(&onnx->file->arena, text, strlen(text));
  if (*path) return GATHER_OK;
  return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "no memory for a graph's name");
}

static gather_status read_graph(gather_onnx *onnx, const parts *p, const place *at, const gather_proto_field *field,
                                int64_t number, gather_attribute *attribute) {
  const char *path = NULL;
  attribute->kind = GATHER_ATTRIBUTE_GRAPH;
  if (field->number == 0)
    return GATHER_ONNX_WRONG(onnx, p->message.at, "attribute '%.100s' has type GRAPH but no graph", p->name);
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  GATHER_TRY(graph_path(onnx, p, at, number, &path));
  return gather_onnx_graph(onnx, field->inner, at->parent, path, at->depth + 1, &attribute->graph);
}

static gather_status read_graphs(gather_onnx *onnx, const parts *p, const place *at, gather_attribute *attributes) {
  gather_proto message = p->message;
  for (int64_t i = 0;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != GRAPHS) continue;
    attributes[i].name = p->name;
    attributes[i].text.text = "";
    GATHER_TRY(read_graph(onnx, p, at, &field, i, &attributes[i]));
    i++;
  }
}

static gather_status read_kind(gather_onnx *onnx, const parts *p, const place *at, gather_attribute *attribute) {
  switch (p->type) {
    case IS_FLOAT:
      return read_float(onnx, p, attribute);
    case IS_INT:
      return read_integer(onnx, p, attribute);
    case IS_STRING:
      return read_text(onnx, p, attribute);
    case IS_TENSOR:
      return read_tensor(onnx, p, attribute);
    case IS_GRAPH:
      return read_graph(onnx, p, at, &p->fields[GRAPH], -1, attribute);
    case IS_FLOATS:
      return read_floats(onnx, p, attribute);
    case IS_INTS:
      return read_integers(onnx, p, attribute);
    case IS_STRINGS:
      return read_strings(onnx, p, attribute);
    case IS_SPARSE:
      return read_sparse(onnx, p, attribute);
    default:
      return GATHER_OK;
  }
}

/* Reads an attribute into one entry, or several: GRAPHS become one for each graph. places: how many; NULL
 * attributes: only counts. */
static gather_status read_attribute(gather_onnx *onnx, gather_proto message, gather_graph *parent, const char *path,
                                    int depth, gather_attribute *attributes, int32_t *places) {
  parts p;
  int64_t counts[GRAPHS + 1];
  const place at = {parent, path, depth};
  GATHER_TRY(gather_onnx_count(onnx, message, GRAPHS + 1, counts));
  if (counts[GRAPHS] > INT32_MAX / 2) return GATHER_ONNX_WRONG(onnx, message.at, "an attribute has too many graphs");
  *places = counts[GRAPHS] > 1 ? (int32_t)counts[GRAPHS] : 1;
  if (!attributes) return GATHER_OK;
  GATHER_TRY(read_parts(onnx, message, &p));
  for (int32_t i = 0; i < *places; i++)
    attributes[i] = (gather_attribute){.name = p.name, .type = type_name(&p), .text = {"", 0}};
  if (p.reference[0] != '\0') {
    attributes->kind = GATHER_ATTRIBUTE_REFERENCE;
    attributes->text = (gather_string){p.reference, strlen(p.reference)};
    return GATHER_OK;
  }
  if (is_mixed(&p)) return GATHER_OK;
  if (p.type == IS_GRAPHS) return read_graphs(onnx, &p, &at, attributes);
  return read_kind(onnx, &p, &at, attributes);
}

/* ---- Constant nodes */

static gather_status scalar(gather_onnx *onnx, const gather_node *node, const gather_attribute *attribute,
                            gather_file_tensor *tensor) {
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
  else if (found->kind == GATHER_ATTRIBUTE_INT || found->kind == GATHER_ATTRIBUTE_FLOAT ||
           found->kind == GATHER_ATTRIBUTE_TEXT)
    GATHER_TRY(scalar(onnx, node, found, tensor));
  else
    return GATHER_OK;
  tensor->name = node->outputs[0];
  return GATHER_OK;
}

/* ---- nodes */

enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, OP, ATTRIBUTE, DOMAIN = 7, OVERLOAD = 8 };

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
    GATHER_TRY(read_attribute(onnx, field.inner, NULL, "", 0, NULL, &places));
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
      case NODE_INPUT:
        GATHER_TRY(gather_onnx_text(onnx, &field, &l->inputs[node->input_count++]));
        break;
      case NODE_OUTPUT:
        GATHER_TRY(gather_onnx_text(onnx, &field, &l->outputs[node->output_count++]));
        break;
      case NODE_NAME:
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
    GATHER_TRY(read_attribute(onnx, field.inner, graph, path, depth, &attributes[node->attribute_count], &places));
    node->attribute_count += places;
  }
}

static gather_status make_node_lists(gather_onnx *onnx, gather_proto message, gather_node *node, node_lists *l,
                                     bool *has_graphs) {
  int64_t counts[8], attributes = 0;
  GATHER_TRY(gather_onnx_count(onnx, message, 8, counts));
  GATHER_TRY(count_attributes(onnx, message, &attributes, has_graphs));
  if (counts[NODE_INPUT] > INT32_MAX || counts[NODE_OUTPUT] > INT32_MAX || attributes > INT32_MAX)
    return GATHER_ONNX_WRONG(onnx, message.at, "a node has too many inputs, outputs or attributes");
  GATHER_TRY(gather_onnx_take(onnx, counts[NODE_INPUT], sizeof *l->inputs, &l->inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[NODE_OUTPUT], sizeof *l->outputs, &l->outputs));
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
  GATHER_TRY(make_node_lists(onnx, field->inner, node, &l, &has_graphs));
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
    GATHER_TRY(read_constant(onnx, node, &made->tensor));
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

/* Reads nodes, and appends the constants among them to graph->constants. */
static gather_status read_nodes(gather_onnx *onnx, gather_proto message, uint32_t number, gather_graph *graph,
                                const char *path, int depth) {
  int64_t counts[16];
  gather_node *nodes = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof *nodes, &nodes));
  graph->nodes = nodes;
  GATHER_TRY(walk_nodes(onnx, message, number, graph, path, depth, nodes));
  return make_room(onnx, graph);
}

/* ---- graphs */

enum { NODE = 1, GRAPH_NAME = 2, INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, INFO = 13, SPARSE = 15 };

/* The lists of a graph under construction. */
typedef struct graph_lists {
  gather_value *inputs, *outputs, *infos;
  gather_constant *constants;
} graph_lists;

static gather_status read_field(gather_onnx *onnx, const gather_proto_field *field, gather_graph *graph,
                                const graph_lists *l) {
  if (field->number == GRAPH_NAME) return gather_onnx_text(onnx, field, &graph->name);
  if (field->number != INITIALIZER && field->number != GRAPH_INPUT && field->number != GRAPH_OUTPUT &&
      field->number != INFO && field->number != SPARSE)
    return GATHER_OK;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  gather_constant *constant;
  switch (field->number) {
    case GRAPH_INPUT:
      return gather_onnx_value(onnx, field->inner, &l->inputs[graph->input_count++]);
    case GRAPH_OUTPUT:
      return gather_onnx_value(onnx, field->inner, &l->outputs[graph->output_count++]);
    case INFO:
      return gather_onnx_value(onnx, field->inner, &l->infos[graph->info_count++]);
    default:
      constant = &l->constants[graph->constant_count++];
      constant->is_initializer = true;
      return field->number == SPARSE ? gather_onnx_sparse(onnx, field->inner, &constant->tensor)
                                     : gather_onnx_tensor(onnx, field->inner, &constant->tensor);
  }
}

static gather_status make_graph_lists(gather_onnx *onnx, gather_proto message, gather_graph *graph, graph_lists *l) {
  int64_t counts[16];
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[GRAPH_INPUT], sizeof *l->inputs, &l->inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[GRAPH_OUTPUT], sizeof *l->outputs, &l->outputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[INFO], sizeof *l->infos, &l->infos));
  GATHER_TRY(gather_onnx_take(onnx, counts[INITIALIZER] + counts[SPARSE], sizeof *l->constants, &l->constants));
  graph->inputs = l->inputs;
  graph->outputs = l->outputs;
  graph->infos = l->infos;
  graph->constants = l->constants;
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

gather_status gather_onnx_graph(gather_onnx *onnx, gather_proto message, gather_graph *parent, const char *path,
                                int depth, gather_graph **graph) {
  graph_lists l;
  gather_proto rest = message;
  if (depth > GATHER_ONNX_DEPTH_MAX)
    return GATHER_ONNX_WRONG(onnx, message.at, "graphs are nested deeper than %d levels", GATHER_ONNX_DEPTH_MAX);
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof **graph, graph));
  (*graph)->name = "";
  (*graph)->parent = parent;
  GATHER_TRY(add_scope(onnx, *graph, path));
  GATHER_TRY(make_graph_lists(onnx, message, *graph, &l));
  GATHER_TRY(gather_onnx_external_open(onnx, message, INITIALIZER));
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &rest, &field));
    if (field.number == 0) break;
    GATHER_TRY(read_field(onnx, &field, *graph, &l));
  }
  return read_nodes(onnx, message, NODE, *graph, path, depth);
}

/* ---- functions */

enum {
  FUNCTION_INPUT = 4,
  FUNCTION_OUTPUT = 5,
  FUNCTION_NODE = 7,
  FUNCTION_IMPORT = 9,
  FUNCTION_DOMAIN = 10,
  FUNCTION_DEFAULT = 11,
  FUNCTION_INFO = 12,
  FUNCTION_OVERLOAD = 13
};

static gather_status read_function_names(gather_onnx *onnx, gather_proto message, gather_function *function,
                                         const graph_lists *l) {
  gather_graph *graph = function->graph;
  for (;;) {
    gather_proto_field field;
    gather_value *value = NULL;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) GATHER_TRY(gather_onnx_text(onnx, &field, &function->name));
    if (field.number == FUNCTION_OVERLOAD) GATHER_TRY(gather_onnx_text(onnx, &field, &function->overload));
    if (field.number == FUNCTION_DOMAIN) GATHER_TRY(gather_onnx_domain(onnx, &field, &function->domain));
    if (field.number == FUNCTION_INPUT) value = &l->inputs[graph->input_count++];
    if (field.number == FUNCTION_OUTPUT) value = &l->outputs[graph->output_count++];
    if (field.number == FUNCTION_INFO) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
      GATHER_TRY(gather_onnx_value(onnx, field.inner, &l->infos[graph->info_count++]));
    }
    if (!value) continue;
    *value = (gather_value){.name = "", .type = GATHER_TYPE_NONE, .rank = -1};
    GATHER_TRY(gather_onnx_text(onnx, &field, &value->name));
  }
}

/* The attributes with a default. Nodes of the body are not read yet: a graph among them is one of its own. */
static gather_status read_defaults(gather_onnx *onnx, gather_proto message, int64_t count, const char *path,
                                   gather_function *function) {
  gather_attribute *defaults = NULL;
  if (count > INT32_MAX) return GATHER_ONNX_WRONG(onnx, message.at, "a function has too many attributes");
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *defaults, &defaults));
  function->defaults = defaults;
  for (;;) {
    gather_proto_field field;
    int32_t places = 0;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != FUNCTION_DEFAULT) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_attribute(onnx, field.inner, NULL, path, 1, NULL, &places));
    if (places != 1) continue; /* a list of graphs: nothing here uses one */
    places = 0;
    GATHER_TRY(
        read_attribute(onnx, field.inner, function->graph, path, 1, &defaults[function->default_count], &places));
    function->default_count += places;
  }
}

gather_status gather_onnx_function(gather_onnx *onnx, gather_proto message, gather_function *function) {
  int64_t counts[16];
  graph_lists l;
  gather_graph *graph = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *graph, &graph));
  *function = (gather_function){.domain = "", .name = "", .overload = "", .graph = graph};
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_INPUT], sizeof *l.inputs, &l.inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_OUTPUT], sizeof *l.outputs, &l.outputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_INFO], sizeof *l.infos, &l.infos));
  graph->inputs = l.inputs;
  graph->outputs = l.outputs;
  graph->infos = l.infos;
  GATHER_TRY(read_function_names(onnx, message, function, &l));
  GATHER_TRY(gather_onnx_imports_read(onnx, message, FUNCTION_IMPORT));
  graph->name = function->name;
  char path[256];
  int length =
      snprintf(path, sizeof path, "%s%s%s/", function->domain, function->domain[0] != '\0' ? "." : "", function->name);
  if (length < 0 || (size_t)length >= sizeof path) (void)snprintf(path, sizeof path, "%.100s/", function->name);
  const char *kept = gather_arena_text(&onnx->file->arena, path, strlen(path));
  if (!kept)
    return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "no memory for a function's name");
  GATHER_TRY(add_scope(onnx, graph, kept));
  GATHER_TRY(read_defaults(onnx, message, counts[FUNCTION_DEFAULT], kept, function));
  return read_nodes(onnx, message, FUNCTION_NODE, graph, kept, 1);
}

#endif
