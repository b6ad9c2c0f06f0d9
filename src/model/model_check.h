/* SPDX-License-Identifier: MIT
 *
 * model_check.h: a check in progress, and the steps it is made of.
 */
#ifndef GATHER_MODEL_CHECK_H
#define GATHER_MODEL_CHECK_H

#include "model/infer.h"
#include "model/node_path.h"

/* Graphs in graphs: deeper models are refused. */
enum { GATHER_MAX_DEPTH = 64 };
/* Limit of the work of all function calls, counted in values and 16 times nodes: far above what real models need. */
enum { GATHER_ALL_CALLS = 1 << 20 };
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

/* A function by its name. */
typedef struct gather_callee {
  const gather_function *function;
  bool ambiguous;                  /* two have the name */
  bool reached;                    /* the nodes of a call are listed */
  bool cut;                        /* a call is beyond the limits and was not followed */
  bool shares_name, shares_domain; /* others differ only by the domain, or only by the overload */
} gather_callee;

/* What is known of a gather node beyond its public part. */
typedef struct gather_place {
  const gather_graph *graph;
  const char *root;    /* of its scope */
  bool never, perhaps; /* not executed; executed only if something that is not known says so */
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
                                                 const gather_override *overrides, int64_t override_count,
                                                 gather_check **check, gather_error *error);
/* Whether node `number` would be known to a check with these options; false also where it cannot be made. Returns
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_check_probe(const gather_model *model, const gather_check_options *options,
                                                int64_t number, gather_goal goal, bool *known, gather_error *error);
/* Copies options (NULL: the defaults) into `full`, and checks that what they point to is there. */
GATHER_CHECKED gather_status gather_check_read_options(const gather_check_options *options, gather_check_options *full,
                                                       gather_error *error);
/* options with every field set; checks that each name exists and each input fits, and collects the dimensions. */
GATHER_CHECKED gather_status gather_check_given(gather_check *check, const gather_check_options *options,
                                                gather_error *error);
/* The given input of that name; NULL. */
const gather_model_input *gather_check_input(const gather_check *check, const char *name);
/* A declared length, with the recorded length of its name. */
gather_dim gather_check_dim(const gather_check *check, const gather_dim *dim);
/* Whether the caller gave a length for that name, which no input of the model has: then it speaks of the values that are declared with
 * it. */
bool gather_check_names(const gather_check *check, const char *name);
/* Whether a length that gather_check_dim returned is that of another input which has the same name for it: runtimes do not compare the
 * two, so it is no fact. */
bool gather_check_borrows(const gather_check *check, const gather_dim *dim);
/* Records that a value contradicts its declaration. */
GATHER_CHECKED gather_status gather_check_contradicts(gather_check *check, const gather_scope *scope,
                                                      const gather_known *known, gather_error *error);
/* The operand with what the file declares where nothing else is known, for people to see. Allocates in the check. */
GATHER_CHECKED gather_status gather_check_shown(gather_check *check, const gather_scope *scope, gather_operand *operand,
                                                gather_error *error);

/* How a graph is walked. */
typedef struct gather_check_walk {
  const gather_scope *parent;
  const char *path;
  int depth;
  const gather_node *call; /* a function's body: the node that calls it, in the scope `caller`; NULL */
  const gather_function *function;
  const gather_scope *caller;
  const gather_known *inputs; /* of a body: what its inputs get; NULL */
  gather_known *results;      /* receives what is known of the graph's outputs; NULL */
} gather_check_walk;

/* Walks a graph and everything in it: infers each node's outputs, and verifies each gather node. */
GATHER_CHECKED gather_status gather_check_graph(gather_check *check, const gather_graph *graph,
                                                const gather_check_walk *walk, gather_error *error);

/* The order in which the nodes of a graph run; NULL: that of the file. Records the producer of each value. */
GATHER_CHECKED gather_status gather_check_order(gather_check *check, gather_scope *scope, const int64_t **order,
                                                gather_error *error);

/* ---- rounds.c: how often the graphs of a node run */

typedef enum gather_runs { GATHER_RUNS_SURELY, GATHER_RUNS_NEVER, GATHER_RUNS_PERHAPS } gather_runs;

/* Which of an If's graphs its condition takes, where that is known: 0 or 1; -1. */
int gather_check_branch(gather_step *step);
/* How often the body of a Loop or Scan runs. */
gather_dim gather_check_rounds(gather_step *step);
/* How many inputs of a Scan are carried from round to round; -1: not known, or another node. */
int64_t gather_scan_carried(const gather_step *step);
/* Whether graph number `which` of a node (of an If: 0 then, 1 else) runs; the text says why not, or what decides it. */
gather_runs gather_check_runs(gather_step *step, int which, char *text, size_t bytes);
/* An outer value as an input of a body. */
gather_known gather_body_input(const gather_known *outer);
/* The inputs of the body of a Loop or Scan in its first round: graph->input_count of them. Nothing is known of those of other nodes. */
void gather_body_inputs(gather_step *step, const gather_graph *graph, gather_known *inputs);
/* Whether each round passes input i on as it is. */
bool gather_body_keeps(const gather_step *step, const gather_graph *graph, int64_t i);
/* Whether the next round gets another value for input i. */
bool gather_body_carries(const gather_step *step, const gather_graph *graph, int64_t i);
/* Makes carried inputs more general where the results of a round do not fit them; false: all fit. last: so much that the next do. */
bool gather_body_widen(gather_step *step, const gather_graph *graph, const gather_known *results, bool last,
                       gather_known *inputs);

/* ---- flow.c */

/* Walks the function of the model that a node calls, and infers the node's outputs; does not change other nodes. number: of the node in its graph. */
GATHER_CHECKED gather_status gather_check_call(gather_check *check, const gather_scope *scope, gather_step *step,
                                               int64_t number, int depth, gather_error *error);
/* Makes the table of functions. */
GATHER_CHECKED gather_status gather_check_functions(gather_check *check, gather_error *error);
/* Lists the nodes of the functions that no call has listed. */
GATHER_CHECKED gather_status gather_check_uncalled(gather_check *check, gather_error *error);

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
