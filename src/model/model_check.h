/* SPDX-License-Identifier: MIT
 *
 * model_check.h: a check in progress, and the steps it is made of.
 */
#ifndef GATHER_MODEL_CHECK_H
#define GATHER_MODEL_CHECK_H

#include "model/infer.h"

/* Graphs in graphs: deeper models are refused. */
enum { GATHER_MAX_DEPTH = 64 };
/* Limit of the work of all function calls, counted in values and 16 times nodes: far above what real models need. */
enum { GATHER_ALL_CALLS = 1 << 20 };
/* Limit of all indices checked that are fewer in memory, repeated by Expand and similar operators. */
enum { GATHER_ALL_REPEATED = 1 << 26 };

/* A value of a graph that the caller gives, or that was computed, in place of what the file says of it. */
typedef struct gather_override {
  const gather_graph *graph; /* that the name belongs to */
  const char *name;
  gather_type type; /* that the model says; GATHER_TYPE_NONE */
  gather_tensor tensor;
} gather_override;

/* A function by its name; ambiguous: two have it (overloads). */
typedef struct gather_callee {
  const gather_function *function;
  bool ambiguous;
} gather_callee;

struct gather_check {
  gather_arena arena;
  const gather_model *model;
  gather_check_options options;
  gather_model_node *nodes;
  const gather_graph **graphs; /* of each node */
  int64_t count;
  const gather_override *overrides;
  int64_t override_count;
  gather_model_dim *dims; /* names with a length: those given, and those that given inputs show */
  int64_t dim_count;
  int64_t parts_left;
  int64_t repeated_left;
  bool probe;             /* only which values are known: no index is checked */
  gather_callee *callees; /* a table of names, each found by its hash */
  uint64_t callee_mask;
  int64_t call_room;        /* how much work is left to calls */
  int quiet;                /* above 0 in a call: the nodes are listed elsewhere */
  const char *not_executed; /* in a branch that is not taken: why; NULL */
};

/* gather_model_check with known intermediate values. */
GATHER_CHECKED gather_status gather_check_create(const gather_model *model, const gather_check_options *options,
                                                 const gather_override *overrides, int64_t override_count,
                                                 gather_check **check, gather_error *error);
/* Whether the indices of node `number` would be known to a check with these options; false also where it cannot be made. Returns
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_check_probe(const gather_model *model, const gather_check_options *options,
                                                int64_t number, bool *known, gather_error *error);
/* options with every field set; checks that each name exists and each input fits, and collects the dimensions. */
GATHER_CHECKED gather_status gather_check_given(gather_check *check, const gather_check_options *options,
                                                gather_error *error);
/* The given input of that name; NULL. */
const gather_model_input *gather_check_input(const gather_check *check, const char *name);
/* A declared length, with the recorded length of its name. */
gather_dim gather_check_dim(const gather_check *check, const gather_dim *dim);

/* How a graph is walked. */
typedef struct gather_check_walk {
  const gather_scope *parent;
  const char *path;
  int depth;
  const gather_node *call; /* a function's body: the node that calls it, in the scope `caller`; NULL */
  const gather_scope *caller;
  gather_known *results; /* receives what is known of the graph's outputs; NULL */
} gather_check_walk;

/* Walks a graph and everything in it: infers each node's outputs, and verifies each gather node. */
GATHER_CHECKED gather_status gather_check_graph(gather_check *check, const gather_graph *graph,
                                                const gather_check_walk *walk, gather_error *error);

/* Which of an If's graphs its condition takes, where that is known: 0 or 1; -1. */
int gather_check_branch(gather_step *step);
/* The outputs of a node that calls a function of the model; does not change other nodes. */
GATHER_CHECKED gather_status gather_check_call(gather_check *check, const gather_scope *scope, gather_step *step,
                                               int depth, gather_error *error);
/* Makes the table of functions. */
GATHER_CHECKED gather_status gather_check_functions(gather_check *check, gather_error *error);

/* The same for a node of an operator with a function of its own, GatherTree. */
GATHER_CHECKED gather_status gather_check_tree(gather_check *check, const gather_scope *scope, const gather_node *node,
                                               gather_model_node *out, gather_error *error);
/* Its steps that all nodes have. begin: rules and operands; *done: the node is not checked, for a reason that is given. */
GATHER_CHECKED gather_status gather_check_begin(gather_check *check, const gather_scope *scope, const gather_node *node,
                                                gather_model_node *out, bool *done, gather_error *error);
/* Operand number i of a node. */
gather_operand gather_check_operand(const gather_scope *scope, const gather_node *node, int32_t i);
/* Whether the elements are known, and not too many to check; NULL: not known. */
bool gather_check_may_read(gather_check *check, const gather_tensor *tensor);
/* Gives the verdict unknown and why, or bad and what is wrong; unknown: says why the indices are not known. */
GATHER_CHECKED gather_status gather_check_say(gather_check *check, gather_model_node *out, gather_error *error,
                                              const char *text);
GATHER_CHECKED gather_status gather_check_bad(gather_check *check, gather_model_node *out, const gather_error *why,
                                              gather_error *error);
GATHER_CHECKED gather_status gather_check_unknown(gather_check *check, const gather_scope *scope,
                                                  gather_model_node *out, gather_error *error);

/* Fills in operands, indices and verdict of one gather node; op, names and graph are set. */
GATHER_CHECKED gather_status gather_check_node(gather_check *check, const gather_scope *scope, const gather_node *node,
                                               gather_model_node *out, gather_error *error);

/* Fills in what each number of an index selects on, and the smallest and largest of them all, once the operands are set. */
GATHER_CHECKED gather_status gather_check_components(gather_check *check, gather_model_node *out, gather_error *error);

/* Whether the lengths that data and indices share fit, whatever those are that are not known. */
bool gather_check_lengths_fit(const gather_model_node *out);
/* Whether indices that are not known are in range all the same: each is within the bounds. */
bool gather_check_stays_in_range(const gather_scope *scope, const gather_model_node *out, gather_dim *bounds);

/* Fills in the likely cause of each node with bad indices, when all nodes are known. False if out of memory. */
bool gather_check_causes(gather_check *check);

#endif
