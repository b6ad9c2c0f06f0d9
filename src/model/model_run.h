/* SPDX-License-Identifier: MIT
 *
 * model_run.h: what the files that run a model share: the values of a graph by name, and what becomes of a node.
 */
#ifndef GATHER_MODEL_RUN_H
#define GATHER_MODEL_RUN_H

#include "core/base/arena.h"
#include "gather/model.h"
#include "io/format/graph.h"
#include "model/model_internal.h"

typedef enum gather_run_state { GATHER_RUN_WAITING = 0, GATHER_RUN_OPEN, GATHER_RUN_DONE } gather_run_state;

/* A value that dequantises constants: (data - zero_point) * scale, or data as another float type. It is not computed before it is
 * needed, and a gather decodes only its rows. */
typedef struct gather_dequantized gather_dequantized;

/* A value of the graph. */
typedef struct gather_run_value {
  struct gather_run_value *next; /* of the same hash */
  const char *name;
  gather_tensor tensor;
  bool ready;                           /* the tensor is set */
  bool given;                           /* by the caller: no node computes it */
  bool missing;                         /* neither given nor computed */
  bool wanted;                          /* an output of the run */
  int64_t producer;                     /* number of the node; -1 = none */
  const char *source;                   /* its name in the graph around this one, or what the call of this function passes; NULL */
  bool asked;                           /* gather_run_roots has looked at it */
  const gather_file_tensor *unreadable; /* the file's tensor, whose elements cannot be read: ready, without data */
  gather_dequantized *dequantized;      /* ready, but without data: see gather_run_decode; NULL */
} gather_run_value;

/* The way to a node: the graphs from the outermost one to its own. */
typedef struct gather_run_place {
  const gather_graph *graph;
  const gather_node *node;         /* the node, or the one whose body or function the next graph is */
  const gather_function *function; /* whose body the graph is; NULL */
} gather_run_place;

enum { GATHER_RUN_DEEPEST = 64 };

typedef struct gather_run_way {
  gather_run_place places[GATHER_RUN_DEEPEST + 1];
  int32_t count;
} gather_run_way;

struct gather_model_result {
  gather_arena arena; /* this structure is outside of it */
  gather_model_input *outputs;
  int64_t output_count;
};

/* What a run shares with those of the graphs around its graph. */
typedef struct gather_run_common {
  const gather_node *at; /* the node being computed, for error messages */
  int64_t inner_left;    /* how many more bytes values that are no outputs may take, */
  int64_t all_left;      /* and all values */
  bool is_over;          /* more was needed */
} gather_run_common;

/* One run of one graph. */
typedef struct gather_running {
  const gather_model *model;
  const gather_graph *graph;     /* of the file; of a function's body, with the attributes that the call gives */
  const gather_graph *as_stored; /* the file's */
  struct gather_running *outer;  /* of the graph around it, or of the one that calls it; NULL */
  const gather_node *call;       /* the graph is a function's body: the node of `outer` that calls it; NULL */
  const gather_function *function;
  gather_arena *arena; /* the result's */
  const gather_executor *executor;
  gather_run_value **buckets;
  int64_t bucket_count;  /* a power of two */
  int64_t value_count;   /* in the buckets */
  uint8_t *states;       /* gather_run_state of each node */
  bool one_node;         /* missing values are not a fault of the file */
  bool skips_unreadable; /* with one_node: elements that cannot be read are missing values, not failures */
  bool for_output;       /* it makes an output of the run; or outputs are made ready */
  gather_run_common *common;
} gather_running;

/* ---- model_run.c */

/* Computes a value and the values that it needs; it stays unready if one is missing (with one_node). */
GATHER_CHECKED gather_status gather_run_compute(gather_running *run, gather_run_value *value, gather_error *error);

/* Calls `add` for each value that must be given so that these values become usable: those that nothing here computes. */
GATHER_CHECKED gather_status gather_run_roots(gather_running *run, const char *const *names, int32_t count,
                                              void (*add)(void *context, const char *name), void *context, gather_error *error);

/* ---- run_values.c */

/* The value of that name; NULL. */
gather_run_value *gather_run_find(const gather_running *run, const char *name);
/* The caller's tensor replaces the value of the file or of a node. */
GATHER_INLINE void gather_run_set(gather_run_value *value, const gather_tensor *tensor) {
  value->tensor = *tensor;
  value->unreadable = NULL;
  value->ready = value->given = true;
}
/* Whether an operator belongs to the dialect itself, not to another domain. */
GATHER_INLINE bool gather_run_is_own(const gather_model *model, const gather_node *node) {
  bool onnx = strcmp(model->graph_file->dialect, "onnx") == 0;
  return onnx ? !*node->domain || strcmp(node->domain, "ai.onnx") == 0 : strncmp(node->domain, "opset", 5) == 0;
}

/* The tensor of input number i; NULL if it is omitted. */
const gather_tensor *gather_run_operand(const gather_running *run, const gather_node *node, int32_t i);
/* Sets the value of output number 0 to that tensor. */
void gather_run_give(gather_running *run, const gather_node *node, const gather_tensor *tensor);

/* Opens the graphs on the way to a node; `run` becomes that of the last one. The values of the graph around it, and the arguments and
 * attributes of the node that calls a function, are then those of its values and nodes. */
GATHER_CHECKED gather_status gather_run_open(gather_running *run, const gather_run_way *way, gather_error *error);

/* The value that the caller means by a name: an input of the model, where the node is in a function that it calls; else the nearest
 * of that name, from the node's graph outward. *owner: the run that has it. NULL: there is none. */
gather_run_value *gather_run_named(gather_running *run, const char *name, gather_running **owner);
/* Passes values that are ready from each graph to the one in it: constants, and what the caller gives. */
void gather_run_pass(gather_running *run);
/* Sets a value to that of the graph around it. */
void gather_run_inherit(gather_run_value *value, const gather_run_value *outer);

/* ---- given.c */

/* Sets the caller's tensors as values. Names, types and shapes are checked against the graph's declarations. */
GATHER_CHECKED gather_status gather_run_inputs(gather_running *run, const gather_model_input *inputs, int64_t count, gather_error *error);

/* ---- node_names.c */

/* The node of that name, with or without the path of its graph. by_call: one of a function is refused without its call, and the message
 * names the calls, unless nothing calls the function. */
GATHER_CHECKED gather_status gather_run_find_node(const gather_model *model, const char *name, bool by_call, gather_run_way *way,
                                                  gather_error *error);

/* A node's name, or its first output's if it has none. */
GATHER_INLINE const char *gather_run_name(const gather_node *node) {
  return !*node->name && node->output_count > 0 ? node->outputs[0] : node->name;
}
/* OpenVINO IR: the value that has this other name, or that the Parameter layer of that name produces; NULL. */
const char *gather_run_layer_input(const gather_graph *graph, const char *name);

/* ---- run_operators.c */

/* An operator that a run computes. */
typedef struct gather_run_operation {
  const char *op;
  int32_t least, most;                                                                         /* inputs */
  gather_status (*compute)(gather_running *run, const gather_node *node, gather_error *error); /* NULL: nothing to do */
  int32_t dequantized; /* so many of its first inputs may be dequantised values, which have no elements yet */
} gather_run_operation;

/* Those that change shapes, move whole tensors or compute integers; the last one has no name. */
extern const gather_run_operation gather_run_operators[];

/* ---- run_writing.c: operators that write by index, and embedding bags */

GATHER_CHECKED gather_status gather_run_scatter(gather_running *run, const gather_node *node, gather_error *error);
GATHER_CHECKED gather_status gather_run_tensor_scatter(gather_running *run, const gather_node *node, gather_error *error);
GATHER_CHECKED gather_status gather_run_embedding_bag(gather_running *run, const gather_node *node, gather_error *error);

/* ---- run_values.c: memory and copies */

GATHER_CHECKED gather_status gather_run_no_memory(gather_error *error);
/* A copy of a shape in the result's memory. */
GATHER_CHECKED gather_status gather_run_shape(gather_running *run, int32_t rank, const int64_t *lengths, const int64_t **shape,
                                              gather_error *error);
/* Sets how much memory values may take: memory_bytes of gather_model_run_options. */
GATHER_CHECKED gather_status gather_run_limit(gather_running *run, int64_t memory_bytes, gather_error *error);
/* Row-major memory for a tensor of that type and shape; fails with is_over above the limit. */
GATHER_CHECKED gather_status gather_run_allocate(gather_running *run, gather_tensor *tensor, gather_error *error);
/* A row-major view of the same elements: the tensor itself, or a copy. */
GATHER_CHECKED gather_status gather_run_dense(gather_running *run, const gather_tensor *tensor, gather_tensor *dense, gather_error *error);
/* Copies the elements into a tensor of the same type and shape, which may have strides. */
GATHER_CHECKED gather_status gather_run_copy(gather_running *run, const gather_tensor *tensor, const gather_tensor *out,
                                             gather_error *error);

/* ---- run_dequantize.c: dequantised values, and gathers that decode */

/* Whether an arithmetic node dequantises constants. */
bool gather_run_dequantizes(const gather_running *run, const gather_node *node);

/* Describes the output of a node that dequantises: Convert (to that type), Subtract, Multiply, DequantizeLinear. */
GATHER_CHECKED gather_status gather_run_dequantize(gather_running *run, const gather_node *node, gather_type type, gather_error *error);

/* Where input number 0 is a dequantised value: sets the value of output number 0 to the same in the shape of that tensor, without computing
 * it. False where it is another one. */
bool gather_run_keep_dequantized(gather_running *run, const gather_node *node, const gather_tensor *tensor);
/* Computes the elements of a dequantised value; does nothing for another one. */
GATHER_CHECKED gather_status gather_run_decode(gather_running *run, gather_run_value *value, gather_error *error);
/* Gathers rows of quantised data, or of a dequantised value of which nothing before the rows was reshaped, and decodes them. *done: false
 * where the node is another gather. */
GATHER_CHECKED gather_status gather_run_gather_decoded(gather_running *run, const gather_node *node, const gather_op *op,
                                                       const gather_options *options, bool *done, gather_error *error);

#endif
