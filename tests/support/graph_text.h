/* SPDX-License-Identifier: MIT
 *
 * graph_text.h: a model's graph read from text, for tables of cases. Statements end with ';' or a new line:
 *
 *     in x float32[2,?,N,0..9]              an input; "*" for the shape: of unknown rank; "[]": a scalar; "seq" for the type: no tensor
 *     out y                                 an output, declared as inputs are, or by its name alone
 *     info z int64[3]                       a declaration
 *     const k int64[2] = 1,2                an initializer. Of types other than float32 and float64 the numbers are the elements' bits
 *     const k int64[2] swapped = 1,2        the same in the other byte order
 *     const k int64[2] gone                 its elements cannot be read
 *     g: y, z = com.microsoft.Op/1(x, , k) axis=1 perm=[1,0] mode='text' alpha=0.5 value=int64[2]:1,2 body={ ... } to=@name odd=?
 *     y = Op(3, [1,2], uint8 7, float32[0.5]) inputs that are initializers: int64 without a type; scalars, or of one dimension
 *     fun local.F { in a; out b; default axis=1; b = Gather(a, a) axis=@axis }
 *
 *     stored k int64[2] = 1,2               the elements of a Constant or Const node, which is written, too
 *     give x float32[2] = 1,2               the caller's tensor for x
 *     dim N 5                               the caller's length for N
 *
 * The name of a node, its domain and opset may be left out (the opset is then 13, of OpenVINO 8); "_" is an omitted input or output.
 * In a body of OpenVINO "in x float32[2] < v" gets the outer value v, and "out y > 0" becomes output 0 of its node.
 */
#ifndef GATHER_TESTS_SUPPORT_GRAPH_TEXT_H
#define GATHER_TESTS_SUPPORT_GRAPH_TEXT_H

#include <stdlib.h>

#include "gather/model.h"
#include "io/format/format.h"
#include "io/format/graph.h"
#include "model/model_internal.h"
#include "support/unit.h"

/* Everything that one text became; static memory of the tests, so that what the library allocates can be counted. */
typedef struct graph_text {
  char room[1 << 18];
  size_t used;
  const char *at;
  bool openvino;
  gather_function functions[8];
  gather_model_input given[8];
  int64_t given_count;
  gather_model_dim dims[8]; /* lengths that the caller gives */
  int64_t dim_count;
  gather_graph_file file;
} graph_text;

enum { GRAPH_TEXT_MOST = 80 };

static inline void *graph_text_take(graph_text *t, size_t bytes) {
  void *taken = t->room + t->used;
  t->used += (bytes + 15) / 16 * 16;
  if (t->used > sizeof t->room) fail_msg("the graph is too large");
  return memset(taken, 0, bytes);
}

static inline void graph_text_space(graph_text *t) { t->at += strspn(t->at, " \t"); }

static inline bool graph_text_next(graph_text *t, const char *mark) {
  graph_text_space(t);
  const size_t len = strlen(mark);
  if (strncmp(t->at, mark, len) != 0) return false;
  t->at += len;
  return true;
}

static inline void graph_text_need(graph_text *t, const char *mark) {
  if (!graph_text_next(t, mark)) fail_msg("'%s' expected at: %.60s", mark, t->at);
}

/* A name up to a mark of the notation; "" if there is none. */
static inline const char *graph_text_word(graph_text *t) {
  graph_text_space(t);
  const size_t len = strcspn(t->at, " \t\n;,=()[]{}:/<>*'");
  char *word = graph_text_take(t, len + 1);
  memcpy(word, t->at, len);
  t->at += len;
  return strcmp(word, "_") == 0 ? "" : word;
}

static inline int64_t graph_text_number(graph_text *t) {
  char *end;
  graph_text_space(t);
  /* The bits of the largest unsigned numbers, too. */
  const int64_t number = *t->at == '-' ? strtoll(t->at, &end, 0) : (int64_t)strtoull(t->at, &end, 0);
  if (end == t->at) fail_msg("a number expected at: %.60s", t->at);
  t->at = end;
  return number;
}

/* The type and the shape of a value. */
static inline gather_value graph_text_value(graph_text *t, const char *name) {
  gather_value value = {.name = name, .rank = -1};
  const char *type = graph_text_word(t);
  value.no_tensor = strcmp(type, "seq") == 0;
  value.type = *type && !value.no_tensor ? gather_type_parse(type) : GATHER_TYPE_NONE;
  if (*type && !value.no_tensor && strcmp(type, "any") != 0 && !value.type) fail_msg("no type '%s'", type);
  if (graph_text_next(t, "*") || !graph_text_next(t, "[")) return value;
  gather_dim *dims = graph_text_take(t, (GATHER_MAX_RANK + 1) * sizeof *dims);
  for (value.rank = 0; !graph_text_next(t, "]"); (void)graph_text_next(t, ",")) {
    gather_dim *dim = &dims[value.rank++];
    const char *word = graph_text_word(t), *dots = strstr(word, "..");
    *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
    if (*word >= '0' && *word <= '9') dim->min = dim->max = strtoll(word, NULL, 10);
    if (dots) dim->max = strtoll(dots + 2, NULL, 10);
    if ((*word < '0' || *word > '9') && *word != '?') dim->symbol = word;
  }
  value.dims = value.rank ? dims : NULL;
  return value;
}

/* "1,2" as elements of a type: the numbers of floats, the bits of all others; packed from the lowest bit up. */
static inline void *graph_text_elements(graph_text *t, gather_type type, int64_t len, bool swapped) {
  const uint16_t probe = 1;
  const bool little = *(const unsigned char *)&probe == 1;
  const int32_t bits = gather_type_get(type)->bits;
  unsigned char *bytes = graph_text_take(t, (size_t)(len * bits + 7) / 8 + 1);
  for (int64_t i = 0; i < len; i++) {
    unsigned char element[8] = {0};
    if (i > 0) graph_text_need(t, ",");
    if (type == GATHER_TYPE_FLOAT32 || type == GATHER_TYPE_FLOAT64) {
      char *end;
      const double number = strtod(t->at, &end);
      const float narrow = (float)number;
      memcpy(element, type == GATHER_TYPE_FLOAT32 ? (const void *)&narrow : &number, (size_t)bits / 8);
      t->at = end;
    } else {
      const uint64_t number = (uint64_t)graph_text_number(t);
      for (int32_t b = 0; b < bits && bits < 8; b++) bytes[(i * bits + b) / 8] |= (unsigned char)((number >> b & 1) << (i * bits + b) % 8);
      for (int32_t k = 0; k < bits / 8; k++) element[little ? k : bits / 8 - 1 - k] = (unsigned char)(number >> (8 * k));
    }
    for (int32_t k = 0; k < bits / 8; k++) bytes[i * (bits / 8) + k] = element[swapped ? bits / 8 - 1 - k : k];
  }
  return bytes;
}

/* "int64[2] = 1,2": the mark before the elements is '=' or ':'. */
static inline gather_file_tensor graph_text_tensor(graph_text *t, const char *name) {
  static const gather_unreadable GONE = {GATHER_FILE_NOT_FOUND, "model", "the elements are gone", -1, NULL, NULL};
  const gather_value value = graph_text_value(t, name);
  int64_t *shape = graph_text_take(t, GATHER_MAX_RANK * sizeof *shape), len = 1;
  gather_file_tensor made = {.name = name};
  for (int32_t d = 0; d < value.rank; d++) len *= shape[d] = value.dims[d].max;
  made.tensor = tensor_of(value.type, NULL, value.rank < 0 ? 0 : value.rank, shape);
  if (graph_text_next(t, "gone")) {
    made.unreadable = &GONE;
    return made;
  }
  const bool swapped = graph_text_next(t, "swapped");
  if (swapped) made.tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  if (!graph_text_next(t, ":")) graph_text_need(t, "=");
  made.tensor.data = graph_text_elements(t, value.type, len, swapped);
  return made;
}

static inline gather_graph *graph_text_graph(graph_text *t, gather_graph *parent, const char *name, gather_function *function);

static inline void graph_text_attribute(graph_text *t, gather_graph *graph, const char *name, gather_attribute *made) {
  *made = (gather_attribute){.name = name};
  if (graph_text_next(t, "{")) {
    made->kind = GATHER_ATTRIBUTE_GRAPH, made->type = "GRAPH";
    made->graph = graph_text_graph(t, graph, name, NULL);
  } else if (graph_text_next(t, "'")) {
    const size_t len = strcspn(t->at, "'");
    char *text = graph_text_take(t, len + 1);
    memcpy(text, t->at, len);
    t->at += len + 1;
    made->kind = GATHER_ATTRIBUTE_TEXT, made->type = t->openvino ? NULL : "STRING";
    made->text = (gather_string){text, len};
  } else if (graph_text_next(t, "[")) {
    int64_t *numbers = graph_text_take(t, GRAPH_TEXT_MOST * sizeof *numbers);
    for (; !graph_text_next(t, "]"); (void)graph_text_next(t, ",")) numbers[made->count++] = graph_text_number(t);
    made->kind = GATHER_ATTRIBUTE_INTS, made->type = "INTS";
    made->integers = numbers;
  } else if (graph_text_next(t, "@")) {
    made->kind = GATHER_ATTRIBUTE_REFERENCE;
    made->text.text = graph_text_word(t);
    made->text.bytes = strlen(made->text.text);
  } else if (graph_text_next(t, "?")) {
    made->type = "FLOATS";
  } else if (*t->at == '-' || (*t->at >= '0' && *t->at <= '9')) {
    const bool real = t->at[strcspn(t->at, " .;\n}")] == '.';
    char *end = NULL;
    if (real) made->number = strtof(t->at, &end);
    if (real) t->at = end;
    made->kind = real ? GATHER_ATTRIBUTE_FLOAT : GATHER_ATTRIBUTE_INT, made->type = real ? "FLOAT" : "INT";
    if (!real) made->integer = graph_text_number(t);
  } else {
    gather_file_tensor *tensor = graph_text_take(t, sizeof *tensor);
    *tensor = graph_text_tensor(t, "");
    made->kind = GATHER_ATTRIBUTE_TENSOR, made->type = "TENSOR";
    made->tensor = tensor;
  }
}

/* "3", "[1,2]", "int8 7", "float32[0.5]": an initializer of its own. NULL, and nothing is read: a name. */
static inline const char *graph_text_literal(graph_text *t, gather_graph *graph) {
  const char *const from = t->at, *type = graph_text_word(t);
  const bool list = *t->at == '[', number = strchr("-0123456789", *type) != NULL && *type;
  graph_text_space(t);
  if (!list && !number && !strchr("-0123456789", *t->at)) {
    t->at = from;
    return NULL;
  }
  gather_constant *made = (gather_constant *)(uintptr_t)&graph->constants[graph->constant_count++];
  int64_t *shape = graph_text_take(t, sizeof *shape), len = 1;
  char *name = graph_text_take(t, 16);
  (void)snprintf(name, 16, ".%d", (int)graph->constant_count);
  if (number) t->at = from;
  if (list) t->at++, len = *t->at != ']';
  if (list)
    for (const char *at = t->at; *at && *at != ']'; at++) len += *at == ',';
  *shape = len;
  made->is_initializer = true;
  made->tensor.name = name;
  made->tensor.tensor = tensor_of(*type && !number ? gather_type_parse(type) : GATHER_TYPE_INT64, NULL, list, shape);
  made->tensor.tensor.data = graph_text_elements(t, made->tensor.tensor.type, len, false);
  if (list) graph_text_need(t, "]");
  return name;
}

/* "a, , b" up to a mark; with a graph also literals. */
static inline const char **graph_text_names(graph_text *t, const char *end, int32_t *count, gather_graph *graph) {
  const char **names = graph_text_take(t, GRAPH_TEXT_MOST * sizeof *names);
  for (*count = 0; !graph_text_next(t, end);) {
    assert_in_range(*count, 0, GRAPH_TEXT_MOST - 1);
    const char *literal = graph ? graph_text_literal(t, graph) : NULL;
    names[(*count)++] = literal ? literal : graph_text_word(t);
    if (graph_text_next(t, ",")) continue;
    graph_text_need(t, end);
    break;
  }
  return names;
}

/* From its outputs on: "y, z = Op(x) axis=1". */
static inline void graph_text_node(graph_text *t, gather_graph *graph, gather_node *node) {
  gather_attribute *attributes = graph_text_take(t, 12 * sizeof *attributes);
  const char *name = "", *const from = t->at;
  (void)graph_text_word(t);
  if (graph_text_next(t, ":")) {
    t->at = from;
    name = graph_text_word(t);
    graph_text_need(t, ":");
  } else {
    t->at = from;
  }
  *node = (gather_node){.name = name, .opset = t->openvino ? 8 : 13, .overload = "", .file_offset = -1};
  node->outputs = graph_text_names(t, "=", &node->output_count, NULL);
  const char *op = graph_text_word(t), *dot = strrchr(op, '.');
  char *own = graph_text_take(t, strlen(op) + 16);
  if (dot) memcpy(own, op, (size_t)(dot - op));
  if (graph_text_next(t, "/")) node->opset = graph_text_number(t);
  if (t->openvino && !dot) (void)snprintf(own, 16, "opset%d", (int)node->opset);
  node->op = dot ? dot + 1 : op;
  node->domain = own;
  graph_text_need(t, "(");
  node->inputs = graph_text_names(t, ")", &node->input_count, graph);
  for (graph_text_space(t); *t->at && !strchr(";\n}", *t->at); graph_text_space(t)) {
    assert_in_range(node->attribute_count, 0, 11);
    const char *attribute = graph_text_word(t);
    graph_text_need(t, "=");
    graph_text_attribute(t, graph, attribute, &attributes[node->attribute_count++]);
  }
  node->attributes = attributes;
}

static inline void graph_text_function(graph_text *t) {
  gather_function *function = &t->functions[t->file.function_count++];
  const char *name = graph_text_word(t), *dot = strrchr(name, '.');
  char *domain = graph_text_take(t, strlen(name) + 1);
  if (dot) memcpy(domain, name, (size_t)(dot - name));
  graph_text_need(t, "{");
  *function = (gather_function){.domain = domain, .name = dot ? dot + 1 : name, .overload = ""};
  function->graph = graph_text_graph(t, NULL, function->name, function);
}

/* Up to the end of the text, or '}'. */
static inline gather_graph *graph_text_graph(graph_text *t, gather_graph *parent, const char *name, gather_function *function) {
  gather_graph *graph = graph_text_take(t, sizeof *graph);
  gather_node *nodes = graph_text_take(t, GRAPH_TEXT_MOST * sizeof *nodes);
  gather_value *values[3];
  gather_constant *constants = graph_text_take(t, GRAPH_TEXT_MOST * sizeof *constants);
  gather_attribute *defaults = graph_text_take(t, 4 * sizeof *defaults);
  const char **sources = graph_text_take(t, GRAPH_TEXT_MOST * sizeof *sources);
  int32_t *places = graph_text_take(t, GRAPH_TEXT_MOST * sizeof *places);
  for (int k = 0; k < 3; k++) values[k] = graph_text_take(t, GRAPH_TEXT_MOST * sizeof **values);
  *graph = (gather_graph){ITEMS(.name = name, .parent = parent, .nodes = nodes, .inputs = values[0], .outputs = values[1],
                                .infos = values[2], .constants = constants)};
  if (parent && t->openvino) graph->sources = sources, graph->places = places;
  for (bool stored;;) {
    t->at += strspn(t->at, " \t\n;");
    if (!*t->at || graph_text_next(t, "}")) return graph;
    assert_true(graph->node_count < GRAPH_TEXT_MOST && graph->constant_count < GRAPH_TEXT_MOST);
    if (graph_text_next(t, "in ")) {
      const char *own = graph_text_word(t);
      sources[graph->input_count] = "";
      values[0][graph->input_count] = graph_text_value(t, own);
      if (graph_text_next(t, "<")) sources[graph->input_count] = graph_text_word(t);
      graph->input_count++;
    } else if (graph_text_next(t, "out ")) {
      const char *own = graph_text_word(t);
      places[graph->output_count] = -1;
      values[1][graph->output_count] = graph_text_value(t, own);
      if (graph_text_next(t, ">")) places[graph->output_count] = (int32_t)graph_text_number(t);
      graph->output_count++;
    } else if (graph_text_next(t, "info ")) {
      const char *own = graph_text_word(t);
      values[2][graph->info_count++] = graph_text_value(t, own);
    } else if ((stored = graph_text_next(t, "stored ")) || graph_text_next(t, "const ")) {
      const char *own = graph_text_word(t);
      constants[graph->constant_count].is_initializer = !stored;
      constants[graph->constant_count++].tensor = graph_text_tensor(t, own);
    } else if (graph_text_next(t, "give ")) {
      const char *own = graph_text_word(t);
      assert_in_range(t->given_count, 0, COUNT(t->given) - 1);
      t->given[t->given_count++] = (gather_model_input){own, graph_text_tensor(t, own).tensor};
    } else if (graph_text_next(t, "dim ")) {
      const char *own = graph_text_word(t);
      assert_in_range(t->dim_count, 0, COUNT(t->dims) - 1);
      t->dims[t->dim_count++] = (gather_model_dim){own, graph_text_number(t)};
    } else if (graph_text_next(t, "default ")) {
      const char *own = graph_text_word(t);
      graph_text_need(t, "=");
      graph_text_attribute(t, graph, own, &defaults[function->default_count++]);
      function->defaults = defaults;
    } else if (graph_text_next(t, "fun ")) {
      graph_text_function(t);
    } else {
      graph_text_node(t, graph, &nodes[graph->node_count++]);
    }
  }
}

/* "int64[2] = 1,2": as it is read, but floats of all types as numbers. Returns the end of the text. */
static inline char *graph_text_print(char *text, const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_get(tensor->type);
  const int32_t bits = type->bits, bytes = bits / 8;
  const uint16_t probe = 1;
  const bool little = *(const unsigned char *)&probe == 1, swapped = tensor->flags & GATHER_TENSOR_BYTE_SWAPPED;
  text += sprintf(text, "%s[", type->name);
  for (int32_t d = 0; d < tensor->rank; d++) text += sprintf(text, "%s%d", d ? "," : "", (int)tensor->shape[d]);
  text += sprintf(text, "]%s", swapped ? " swapped" : "");
  for (int64_t i = 0; i < gather_tensor_len(tensor); i++) {
    const unsigned char *from = tensor->data;
    unsigned char element[8] = {0};
    uint64_t number = 0;
    double real;
    for (int32_t b = 0; b < bits && bits < 8; b++) number |= (uint64_t)(from[(i * bits + b) / 8] >> (i * bits + b) % 8 & 1) << b;
    for (int32_t k = 0; k < bytes; k++) element[k] = from[i * bytes + (swapped ? bytes - 1 - k : k)];
    for (int32_t k = 0; k < bytes; k++) number |= (uint64_t)element[little ? k : bytes - 1 - k] << 8 * k;
    if (type->kind == GATHER_KIND_INT && number >> (bits - 1)) number -= bits < 64 ? (uint64_t)1 << bits : 0;
    if (bits < 8) element[0] = (unsigned char)number;
    text += sprintf(text, i ? "," : " = ");
    if (type->kind == GATHER_KIND_FLOAT && gather_float_read(tensor->type, element, &real))
      text += sprintf(text, "%g", real);
    else
      text += type->kind == GATHER_KIND_INT ? sprintf(text, "%lld", (long long)number) : sprintf(text, "%llu", (unsigned long long)number);
  }
  return text;
}

/* What is known of an operand: "[2,0..5,?]", or "none". */
static inline char *graph_text_print_operand(char *text, const gather_operand *operand) {
  if (operand->rank < 0) return text + sprintf(text, "none");
  *text++ = '[';
  for (int32_t d = 0; d < operand->rank; d++) {
    const gather_dim *dim = &operand->dims[d];
    if (d) *text++ = ',';
    if (dim->min != dim->max && dim->symbol)
      text += sprintf(text, "%s", dim->symbol);
    else if (dim->min == dim->max)
      text += sprintf(text, "%lld", (long long)dim->min);
    else if (dim->max != GATHER_DIM_UNBOUNDED)
      text += sprintf(text, "%lld..%lld", (long long)dim->min, (long long)dim->max);
    else if (dim->min > 0)
      text += sprintf(text, "%lld..", (long long)dim->min);
    else
      *text++ = '?';
  }
  return text + sprintf(text, "]");
}

/* Reads a graph; the file in `t` then has it, and must outlive a model of it. */
static inline void graph_text_read(graph_text *t, bool openvino, const char *text) {
  t->used = 0;
  t->given_count = t->dim_count = 0;
  t->at = text;
  t->openvino = openvino;
  t->file = (gather_graph_file){.dialect = openvino ? "openvino" : "onnx", .functions = t->functions};
  t->file.graph = graph_text_graph(t, NULL, "", NULL);
}

#endif
