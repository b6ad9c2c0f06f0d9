/* SPDX-License-Identifier: MIT
 *
 * graph.h: a model as stored, the same for ONNX and OpenVINO IR. The readers (onnx.c, ir.c) make it; src/model/ uses
 * it. Only the file format is checked: operators may be unknown, names undefined.
 *
 * All texts end with a zero byte and are UTF-8, converted if needed. All memory belongs to the model's arena; tensors
 * are views of the mapped files, or of the arena if the stored form cannot be viewed. Absent texts are "", not NULL.
 */
#ifndef GATHER_FORMAT_GRAPH_H
#define GATHER_FORMAT_GRAPH_H

#include <string.h>

#include "core/base/arena.h"
#include "core/base/compiler.h"
#include "gather/file.h"
#include "gather/gather.h"

typedef struct gather_graph gather_graph;

typedef enum gather_attribute_kind {
  GATHER_ATTRIBUTE_OTHER = 0, /* skipped */
  GATHER_ATTRIBUTE_INT,
  GATHER_ATTRIBUTE_FLOAT,
  GATHER_ATTRIBUTE_TEXT, /* ONNX STRING; every attribute of an IR layer's <data> */
  GATHER_ATTRIBUTE_INTS,
  GATHER_ATTRIBUTE_TENSOR,
  GATHER_ATTRIBUTE_GRAPH,    /* ONNX: a body; IR: "body", "then_body", "else_body" */
  GATHER_ATTRIBUTE_REFERENCE /* in an ONNX function: `text` names the function's attribute */
} gather_attribute_kind;

typedef struct gather_attribute {
  const char *name;
  gather_attribute_kind kind;
  const char *type; /* ONNX: its type as stored ("STRING"), static memory; NULL in IR, where all are text */
  int64_t integer;
  float number;
  gather_string text; /* may hold any bytes; a zero byte follows it */
  const int64_t *integers;
  int64_t count; /* of integers */
  const gather_file_tensor *tensor;
  gather_graph *graph;
} gather_attribute;

/* A value's declaration. dims is NULL for rank -1 (unknown) and rank 0. */
typedef struct gather_value {
  const char *name;
  gather_type type; /* GATHER_TYPE_NONE if not given, or not a tensor */
  int32_t rank;
  const gather_dim *dims;
  bool no_tensor; /* declared as something else: a sequence, a map */
} gather_value;

typedef struct gather_node {
  const char *name;          /* "" if it has none */
  const char *op;            /* "Gather" */
  const char *domain;        /* ONNX: "" also for "ai.onnx"; IR: the layer's version as written ("opset8") */
  int64_t opset;             /* ONNX: the version that model or function imports for the domain; IR: N of opsetN; 0 = unknown */
  const char *overload;      /* ONNX: of the function that it calls; "" and NULL: none */
  const char *const *inputs; /* value names; "" = omitted */
  int32_t input_count;
  const char *const *outputs;
  int32_t output_count;
  const gather_attribute *attributes;
  int32_t attribute_count;
  int64_t file_offset; /* its position in the file, for messages; -1 */
} gather_node;

/* A tensor in the file, under the name of the value it defines. */
typedef struct gather_constant {
  gather_file_tensor tensor; /* tensor.name is the value's name */
  bool is_initializer;       /* false: the output of a Constant or Const node, which is also among the nodes */
} gather_constant;

/* Another name of a value: an IR port may have many. */
typedef struct gather_alias {
  struct gather_alias *next;
  const char *name, *value;
} gather_alias;

struct gather_graph {
  const char *name;
  gather_graph *parent;     /* the graph whose names are visible here; NULL for the main graph and for functions */
  const gather_node *nodes; /* in file order; IR: in topological order */
  int64_t node_count;
  const gather_value *inputs, *outputs, *infos; /* infos: declarations of intermediate values */
  int64_t input_count, output_count, info_count;
  const gather_constant *constants;
  int64_t constant_count;
  const char *const *sources;  /* IR bodies: the outer graph's value that input i gets; "" and NULL = unknown */
  const int32_t *places;       /* IR bodies: the output of its node that output i becomes; -1 = none */
  const gather_alias *aliases; /* in file order; none is also a value's name in this graph, unless the file repeats it */
};

/* A local function of an ONNX model: the graph that nodes of this op and domain call. */
typedef struct gather_function {
  const char *domain, *name, *overload;
  gather_graph *graph;
  const gather_attribute *defaults; /* of attributes that a call may leave out */
  int32_t default_count;
} gather_function;

/* A whole file. A TensorProto is a model without a graph (graph NULL). */
typedef struct gather_graph_file {
  const char *dialect; /* "onnx" or "openvino" */
  int64_t version;     /* of the file format: ONNX's ir_version, the IR's net version */
  gather_graph *graph;
  const gather_function *functions;
  int64_t function_count;
} gather_graph_file;

/* The graph of an open file; NULL if its format has none. */
const gather_graph_file *gather_file_graph(const gather_file *file);

/* The value of this graph with this alias; NULL. A value's own name has precedence over aliases. */
GATHER_INLINE const char *gather_graph_alias(const gather_graph *graph, const char *name) {
  for (const gather_alias *alias = graph->aliases; alias; alias = alias->next)
    if (strcmp(alias->name, name) == 0) return alias->value;
  return NULL;
}

/* The attribute of that name; NULL. If the node has two, one of the kind GATHER_ATTRIBUTE_OTHER, of which gather_attribute_wrong says so.
 * Bodies in a list (GRAPHS) share one name: it finds the first. */
const gather_attribute *gather_node_attribute(const gather_node *node, const char *name);
/* The input of the graph that has that name; NULL: none. */
GATHER_INLINE const gather_value *gather_graph_input(const gather_graph *graph, const char *name) {
  for (int64_t i = 0; i < graph->input_count; i++)
    if (strcmp(graph->inputs[i].name, name) == 0) return &graph->inputs[i];
  return NULL;
}
/* The attribute of that name that a call gives to a function, or the function's default; NULL: the nodes of its body do not have it. */
const gather_attribute *gather_function_attribute(const gather_function *function, const gather_node *call, const char *name);
/* The attribute of an ONNX Constant that says its value; NULL. */
const gather_attribute *gather_constant_attribute(const gather_node *node);
/* Whether an ONNX attribute holds a tensor, a number, a text or a list of them; its elements as a tensor, which views the attribute and
 * `shape`. */
bool gather_attribute_tensor(const gather_attribute *attribute, int64_t shape[1], gather_tensor *tensor);
/* An integer attribute (ONNX: INT; IR: a text that is a decimal int64). False for any other. */
bool gather_attribute_integer(const gather_attribute *attribute, int64_t *value);
/* A boolean attribute (ONNX: INT; IR: true, false, 1, 0, case ignored). False for any other. */
bool gather_attribute_flag(const gather_attribute *attribute, bool *value);
/* Fails with GATHER_FILE_MALFORMED: the attribute does not have the type `wanted` ("INT"), which in IR is a text
 * described by `words` ("a 64-bit integer"). GATHER_UNSUPPORTED if it refers to an attribute of a function's caller,
 * which is unknown. */
GATHER_CHECKED gather_status gather_attribute_wrong(const gather_attribute *attribute, const char *name, const char *wanted,
                                                    const char *words, gather_error *error);

#endif
