/* SPDX-License-Identifier: MIT
 *
 * model_internal.h: what the files of this folder share: the open model, and the check that knows the values of its graphs.
 */
#ifndef GATHER_MODEL_INTERNAL_H
#define GATHER_MODEL_INTERNAL_H

#include "core/base/arena.h"
#include "gather/model.h"
#include "io/format/graph.h"

/* An operator that takes indices and is not checked. */
typedef struct gather_unchecked {
  const char *op;
  int64_t count;      /* of nodes */
  unsigned functions; /* where a function of the model has its name, so that a node is a call */
} gather_unchecked;

struct gather_model {
  gather_file *owned; /* NULL where the caller has opened it */
  const gather_file *file;
  const gather_graph_file *graph_file;
  int64_t node_count;
  const char **input_names; /* of the main graph, without those that an initializer gives */
  int64_t input_count;
  gather_unchecked *siblings; /* those that it has, each operator once */
  int64_t sibling_count;
  gather_arena arena;
};

/* A model of a graph without a file, which must outlive it. For the tests. */
GATHER_CHECKED gather_status gather_model_from_graph(const gather_graph_file *graph_file, gather_model **model,
                                                     gather_error *error);

/* Checks a tensor that the caller gives: it is valid, and has its elements. */
GATHER_CHECKED gather_status gather_model_input_check(const gather_model_input *input, gather_error *error);

/* Whether a node is a gather node, by operator and domain. */
bool gather_model_is_gather(const gather_model *model, const gather_node *node);
/* The rules of a gather node; NULL if its version is unknown. */
const gather_op *gather_model_rules(const gather_model *model, const gather_node *node);

/* Says why a gather node has no rules: which version the model asks for, and which ones are known. */
void gather_model_version_text(const gather_model *model, const gather_node *node, char *text, size_t bytes);

/* Whether these are the rules of an operator that gathers quantised data; NULL is not. */
bool gather_op_is_quantized(const gather_op *op);

bool gather_model_is_openvino(const gather_model *model);
/* Whether two operator names are the same in the model's dialect: OpenVINO ignores case in layer types. */
bool gather_model_same_op(const gather_model *model, const char *a, const char *b);

/* Counts the nodes that take indices and are not checked (siblings.c): begin, then each node, then end. */
GATHER_CHECKED gather_status gather_siblings_begin(gather_model *model, gather_error *error);
void gather_siblings_count(gather_model *model, const gather_node *node);
void gather_siblings_end(gather_model *model);

#endif
