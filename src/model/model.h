/* SPDX-License-Identifier: MIT
 *
 * model.h: what the files of this folder share: the open model, and the check that knows the values of its graphs.
 */
#ifndef GATHER_MODEL_MODEL_H
#define GATHER_MODEL_MODEL_H

#include "base/arena.h"
#include "format/graph.h"
#include "gather/model.h"

struct gather_model {
  gather_file *owned; /* NULL where the caller has opened it */
  const gather_file *file;
  const gather_graph_file *graph_file;
  int64_t node_count;
  const char **input_names; /* of the main graph, without those that an initializer gives */
  int64_t input_count;
  gather_arena arena;
};

/* A model of a graph without a file, which must outlive it. For the tests. */
GATHER_CHECKED gather_status gather_model_from_graph(const gather_graph_file *graph_file, gather_model **model,
                                                     gather_error *error);

/* Whether a node is a gather node, by operator and domain. */
bool gather_model_is_gather(const gather_model *model, const gather_node *node);
/* The rules of a gather node; NULL where its version is none of ours. */
const gather_op *gather_model_rules(const gather_model *model, const gather_node *node);

#endif
