/* SPDX-License-Identifier: MIT
 *
 * onnx_attribute.c: reads attributes of nodes, and the values of Constant nodes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

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
  NAME = 1,
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
    if (field.number == NAME) GATHER_TRY(gather_onnx_text(onnx, &field, &p->name));
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

gather_status gather_onnx_attribute(gather_onnx *onnx, gather_proto message, gather_graph *parent, const char *path,
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

gather_status gather_onnx_constant(gather_onnx *onnx, const gather_node *node, gather_file_tensor *tensor) {
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

#endif
