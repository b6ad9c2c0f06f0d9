/* SPDX-License-Identifier: MIT
 *
 * check.h: a check in progress, and the steps it is made of.
 */
#ifndef GATHER_MODEL_CHECK_H
#define GATHER_MODEL_CHECK_H

#include "model/infer.h"

/* Graphs in graphs: deeper models are refused. */
enum { GATHER_MAX_DEPTH = 64 };

struct gather_check {
  gather_arena arena;
  const gather_model *model;
  gather_check_options options;
  gather_model_node *nodes;
  int64_t count;
  gather_model_dim *dims; /* names with a length: those given, and those that given inputs show */
  int64_t dim_count;
  int64_t parts_left;
};

/* options with every field set; checks that each name exists and each input fits, and collects the dimensions. */
GATHER_CHECKED gather_status gather_check_given(gather_check *check, const gather_check_options *options,
                                                gather_error *error);
/* The given input of that name; NULL. */
const gather_model_input *gather_check_input(const gather_check *check, const char *name);
/* A declared length with what its name stands for. */
gather_dim gather_check_dim(const gather_check *check, const gather_dim *dim);

/* Walks a graph and everything in it: infers each node's output, and verifies each gather node. */
GATHER_CHECKED gather_status gather_check_graph(gather_check *check, const gather_graph *graph,
                                                const gather_scope *parent, const char *path, int depth,
                                                gather_error *error);

/* Fills in operands, indices and verdict of one gather node; op, names and graph are set. */
GATHER_CHECKED gather_status gather_check_node(gather_check *check, const gather_scope *scope, const gather_node *node,
                                               gather_model_node *out, gather_error *error);

/* The likely cause of bad indices, ""; static memory or the check's. */
const char *gather_check_cause(const gather_model_node *node);

#endif
