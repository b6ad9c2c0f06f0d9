/* SPDX-License-Identifier: MIT
 *
 * model_check.h: a check in progress, and the steps it is made of.
 */
#ifndef GATHER_MODEL_CHECK_H
#define GATHER_MODEL_CHECK_H

#include "core/base/growing.h"
#include "model/infer.h"

/* Limit of all indices checked that are fewer in memory, repeated by Expand and similar operators. */
enum { GATHER_ALL_REPEATED = 1 << 26 };

/* A value of a graph that the caller gives, or that was computed, in place of what the file says of it. */
typedef struct gather_override {
  const gather_graph *graph; /* that the name belongs to */
  const char *root;          /* of its scope: a function's graph has one for each call */
  const char *name;
  gather_type type; /* that the model says; GATHER_TYPE_NONE */
  gather_tensor tensor;
} gather_override;

/* A function by its name (walk.c). */
typedef struct gather_callee gather_callee;

/* What is known of a gather node beyond its public part. */
typedef struct gather_place {
  const gather_graph *graph;
  const char *root;    /* of its scope */
  bool never, perhaps; /* not executed; executed only if something that is not known says so */
  bool refused;        /* it is not supported, whatever its inputs are */
} gather_place;

/* What a check needs to know of a node to count as known (gather_check_probe). */
typedef enum gather_goal {
  GATHER_GOAL_INDICES, /* the indices, and an axis that is an input */
  GATHER_GOAL_LENGTHS, /* the lengths of the axes too */
  GATHER_GOAL_RUNS     /* and whether the node is executed */
} gather_goal;

struct gather_check {
  gather_arena arena;
  const gather_model *model;
  gather_check_options options;
  gather_model_node *nodes;
  gather_place *places; /* of each node */
  int64_t count, room;
  gather_check_info info; /* when all is done */
  const gather_override *overrides;
  int64_t override_count;
  gather_model_dim *dims; /* names with a length: those given, and those that given inputs show */
  int64_t dim_count;
  int64_t parts_left;
  int64_t repeated_left;
  bool probe;             /* only which values are known: no index is checked */
  gather_callee *callees; /* a table of names, each found by its hash */
  uint64_t callee_mask;
  int64_t call_room;        /* how much work is left to calls, and to bodies that are walked more than once */
  int quiet;                /* above 0: only the outputs of a graph are wanted, its nodes are not listed */
  const char *not_executed; /* in a graph that does not run: why; NULL */
  const char *uncalled;     /* in a function that is listed once: why its nodes have no verdict; NULL */
  const char *perhaps;      /* in a graph that may not run: what decides it; NULL */
  const char **contradictions;
  int64_t contradiction_count;
};

/* gather_model_check with known intermediate values. */
GATHER_CHECKED gather_status gather_check_create(const gather_model *model, const gather_check_options *options,
                                                 const gather_override *overrides, int64_t override_count, gather_check **check,
                                                 gather_error *error);
/* Whether node `number` would be known to a check with these options; false also where it cannot be made. Returns
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_check_probe(const gather_model *model, const gather_check_options *options, int64_t number,
                                                gather_goal goal, bool *known, gather_error *error);
/* Copies options (NULL: the defaults) into `full`, and checks that what they point to is there. */
GATHER_CHECKED gather_status gather_check_read_options(const gather_check_options *options, gather_check_options *full,
                                                       gather_error *error);
/* options with every field set; checks that each name exists and each input fits, and collects the dimensions. */
GATHER_CHECKED gather_status gather_check_given(gather_check *check, const gather_check_options *options, gather_error *error);
/* The given input of that name; NULL. */
const gather_model_input *gather_check_input(const gather_check *check, const char *name);
/* A declared length, with the recorded length of its name. */
gather_dim gather_check_dim(const gather_check *check, const gather_dim *dim);

/* Who says the length of a name. */
typedef enum gather_dim_giver {
  GATHER_DIM_OF_OTHERS, /* a given input that has the name, if anything: runtimes do not compare inputs, so for another one it is no fact */
  GATHER_DIM_OF_INPUT,  /* the caller, of a name that inputs of the model have */
  GATHER_DIM_OF_ITS_OWN /* the caller, of a name that no input has: it speaks of the values that are declared with it */
} gather_dim_giver;

gather_dim_giver gather_check_dim_giver(const gather_check *check, const char *name);

/* Walks the model: infers the outputs of each node, and lists and verifies each gather node, in the main graph, in graphs in nodes, and in
 * functions. */
GATHER_CHECKED gather_status gather_check_walk(gather_check *check, gather_error *error);

/* ---- the graphs of a node (flow.c) */

typedef enum gather_runs { GATHER_RUNS_SURELY, GATHER_RUNS_NEVER, GATHER_RUNS_PERHAPS } gather_runs;

/* Whether graph number `which` of a node (of an If: 0 then, 1 else) runs; the text says why not, or what decides it. */
gather_runs gather_check_runs(gather_step *step, int which, char *text, size_t bytes);
/* An outer value as an input of a body. */
gather_known gather_body_input(const gather_known *outer);
/* A value of a body as an output of the node, with its elements. */
gather_known gather_body_output(const gather_step *step, const gather_known *value);
/* The inputs of the body of a Loop or Scan in its first round: graph->input_count of them. Nothing is known of those of other nodes. */
void gather_body_inputs(gather_step *step, const gather_graph *graph, gather_known *inputs);

/* Whether the shape of an input of a body may change from round to round. */
bool gather_body_changes(gather_step *step, const gather_graph *graph, const gather_known *inputs);
/* Makes carried inputs more general where the results of a round do not fit them; false: all fit. last: so much that the next do. */
bool gather_body_widen(gather_step *step, const gather_graph *graph, const gather_known *results, bool last, gather_known *inputs);

/* Fills in operands, indices and verdict of one gather node; op, names and graph are set. */
GATHER_CHECKED gather_status gather_check_node(gather_check *check, const gather_scope *scope, const gather_node *node,
                                               gather_model_node *out, gather_error *error);

/* Fills in the likely cause of each node with bad indices, when all nodes are known. False if out of memory. */
bool gather_check_causes(gather_check *check);

/* The number, in the check, of the gather node that a name means; NULL means the only one. Returns GATHER_NAME_NOT_FOUND or
 * GATHER_USAGE with a list of the nodes. */
GATHER_CHECKED gather_status gather_check_choose(const gather_check *check, const char *name, int64_t *number, gather_error *error);

/* At most so many names come from it. */
enum { GATHER_MOST_LEADING = 8 };

/* The further inputs of the model that make node `number` known to that extent; none if inputs are not enough. The check's own inputs
 * and dimensions stay given. */
GATHER_CHECKED gather_status gather_operands_reach(const gather_check *check, int64_t number, gather_goal goal, gather_arena *arena,
                                                   const char **names, int64_t *count, gather_error *error);

/* Adds a line for each runtime with what it does with the bad index. indent: blanks before each line. */
void gather_model_bad_text(const gather_model_node *node, int indent, gather_growing *to);

#endif
