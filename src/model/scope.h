/* SPDX-License-Identifier: MIT
 *
 * scope.h: what is known of the values of one graph, by name. A subgraph sees the values of the enclosing graphs.
 */
#ifndef GATHER_MODEL_SCOPE_H
#define GATHER_MODEL_SCOPE_H

#include "model/model_internal.h"

/* Lengths and shape arithmetic are followed through tensors of up to this many elements. */
enum { GATHER_MAX_PARTS = 1024 };
/* And through this many in all: far above what real models need, and below 500 MB. */
enum { GATHER_ALL_PARTS = 4 * 1024 * 1024 };

/* What is known of one value. */
typedef struct gather_known {
  const char *name;
  gather_type type; /* GATHER_TYPE_NONE = not known */
  gather_source source;
  int32_t rank; /* -1 = not known */
  const gather_dim *dims;
  const gather_tensor *tensor; /* all its elements; integers may be stored in another integer type than `type` */
  const gather_dim *parts;     /* of small integer tensors: each element as an interval or a name; may be below 0 */
  int64_t part_count;
  const gather_dim *bounds; /* of an integer tensor that is not known: the interval of all its elements; NULL */
  const gather_node *maker; /* the node it comes from; NULL */
  bool declared_input;      /* of the graph */
  const char *origin;       /* a body's input: the input of the model that it is; NULL */
  const gather_file_tensor *unreadable; /* it has the elements of this one, which cannot be read; tensor is NULL */
  const gather_value *declared;         /* what the file says of its shape, which no runtime enforces: no fact; NULL */
  int64_t producer;                     /* the number of the node in its graph that produces it, plus 1; 0 */
} gather_known;

typedef struct gather_scope {
  const struct gather_scope *parent;
  const gather_graph *graph;
  const char *path;
  const char *root;        /* the path of the outermost graph around it: the main one, or the body of one call */
  const gather_node *call; /* of a function's body: the node that calls it, in the scope `caller`; NULL */
  const gather_function *function;
  const struct gather_scope *caller;
  gather_known *slots;
  uint64_t mask;
} gather_scope;

/* Allocates a slot for every name of the graph. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_scope_open(gather_arena *arena, const gather_graph *graph,
                                               const gather_scope *parent, const char *path, gather_scope *scope,
                                               gather_error *error);
/* The value of that name in this graph, added if missing. NULL for "". */
gather_known *gather_scope_make(gather_scope *scope, const char *name);
/* The value of that name, in this graph or an enclosing one; NULL. */
const gather_known *gather_scope_find(const gather_scope *scope, const char *name);

/* Fails with GATHER_FILE_MALFORMED, as runtimes do, where a name of an ONNX model is that of two values: outputs of nodes, an input or
 * an initializer and an output, an input and an initializer of a body. */
GATHER_CHECKED gather_status gather_model_check_names(const gather_model *model, gather_error *error);

#endif
