/* SPDX-License-Identifier: MIT
 *
 * ir.h: what the files that read OpenVINO IR share. ir.c parses the XML into a tree of layers, ports and edges;
 * ir_graph.c connects, orders and names them and makes the graph. The tree has its own arena; its texts are in the file's.
 */
#ifndef GATHER_FORMAT_IR_H
#define GATHER_FORMAT_IR_H

#include <string.h>

#include "io/format/format.h"

typedef struct ir_net ir_net;
typedef struct ir_layer ir_layer;

typedef struct ir_port {
  struct ir_port *next;
  ir_layer *layer;
  int64_t id, offset;
  bool is_output;
  int32_t position; /* among the layer's inputs or outputs */
  int32_t rank;
  const int64_t *dims;
  const char *names, *precision; /* as written; "" */
  struct ir_port *source;        /* inputs: the output at the other end of the edge */
  const char *value;             /* outputs: the name of the value */
  gather_alias *others;          /* outputs: names after the first */
  int32_t renamed;               /* how often it was renamed because of a duplicate */
} ir_port;

/* An attribute of <data>. */
typedef struct ir_pair {
  struct ir_pair *next;
  const char *name, *text;
} ir_pair;

typedef struct ir_body {
  struct ir_body *next;
  const char *name;
  ir_net *net;
} ir_body;

/* An entry of a port map: a port of the layer, and the Parameter or Result of a body. */
typedef struct ir_mapping {
  struct ir_mapping *next;
  const char *body; /* "then_body" */
  bool is_output;
  bool changes; /* changes with each iteration: a slice, or a result of the previous iteration */
  int64_t external, internal;
} ir_mapping;

struct ir_layer {
  ir_layer *next;
  int64_t number; /* of a Parameter or Result: its index among those of its net */
  ir_mapping *mappings;
  int64_t id, offset;
  const char *name, *type, *version, *output_names;
  ir_pair *pairs, **pair_tail;
  ir_port *inputs, **input_tail, *outputs, **output_tail;
  ir_body *bodies, **body_tail;
  bool has_data;
  int32_t pair_count, input_count, output_count, body_count;
  /* During topological sorting: the layer that waits for this one, and the next input to follow. */
  ir_layer *waiting;
  ir_port *followed;
  enum { IR_NOT_SEEN = 0, IR_BEGUN, IR_DONE } state;
};

typedef struct ir_edge {
  struct ir_edge *next;
  int64_t from_layer, from_port, to_layer, to_port, offset;
} ir_edge;

struct ir_net {
  const char *name;
  ir_layer *layers, **layer_tail;
  ir_edge *edges, **edge_tail;
  int64_t layer_count, port_count;
};

typedef struct ir_reader {
  gather_file *file;
  gather_error *error;
  gather_error why; /* scratch space for an error of one tensor */
  gather_arena tree;
  ir_net *net;              /* the main graph */
  int64_t version;          /* of the net */
  int64_t constant_count;   /* in all graphs */
  const char **plain_names; /* of file->tensors */
  int64_t tensor_count;     /* of file->tensors already set */
  const gather_map *bin;    /* NULL until a constant needs it */
} ir_reader;

/* Fails and reports byte `offset` of the XML. */
#define GATHER_IR_FAIL(reader, status, offset, ...) gather_fail_file((reader)->error, status, (reader)->file->name, offset, __VA_ARGS__)
#define GATHER_IR_NO_MEMORY(reader) GATHER_IR_FAIL(reader, GATHER_OUT_OF_MEMORY, -1, "out of memory for its graph")

/* ---- ir_layer.c */
/* A decimal integer; blanks around it are allowed. */
bool gather_ir_integer(const char *text, int64_t *value);
/* An attribute of the layer's <data>; NULL. */
GATHER_INLINE const char *gather_ir_attribute(const ir_layer *layer, const char *name) {
  for (const ir_pair *pair = layer->pairs; pair; pair = pair->next)
    if (strcmp(pair->name, name) == 0) return pair->text;
  return NULL;
}
/* The layer's operator, with older names replaced; and whether it is that one, ignoring case. */
const char *gather_ir_op(const ir_layer *layer);
bool gather_ir_is(const ir_layer *layer, const char *op);
/* The type of an element_type or a precision; *known false if there is no such type. */
gather_type gather_ir_type(const char *name, bool *known);
/* A shape as Parameter and Const have it: "3,2", "?", "2..5", "...", "". False if it is invalid; rank -1 = unknown. */
bool gather_ir_shape(const char *text, gather_shape *shape);

/* The tensor of a Const layer: a view of the .bin. */
GATHER_CHECKED gather_status gather_ir_constant(ir_reader *reader, const ir_layer *layer, gather_file_tensor *tensor);

/* ---- ir_graph.c */
/* Makes the graph of a net and of its bodies; sets the file's tensors. path: "" or "loop_3/body/". */
GATHER_CHECKED gather_status gather_ir_build(ir_reader *reader, ir_net *net, const char *path, gather_graph *parent, gather_graph **graph);

#endif
