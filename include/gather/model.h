/* SPDX-License-Identifier: MIT
 *
 * model.h: the gather nodes of a model (ONNX, OpenVINO IR): find them, check their indices, run them.
 *
 * Contents: 1 models - 2 what a check is given - 3 what it finds - 4 one gather node - 5 runtimes - 6 running
 *           7 advice, and a check as text
 *
 * What gather.h says of errors, threads, memory and sizes holds here too. A gather node is a node of the operator Gather or
 * GatherElements, of ONNX's own domain or of an OpenVINO opset.
 */
#ifndef GATHER_MODEL_H
#define GATHER_MODEL_H

#include "gather/file.h"
#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 models -------------------------------------------------------------------------------------------------------- */

/* A model. Immutable once open: several threads may check and run one. */
typedef struct gather_model gather_model;

/* Opens a file that holds a model. Memory: freed by gather_model_close. Returns as gather_file_open, and GATHER_UNSUPPORTED for
 * a file that holds tensors only. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_open(const char *path, gather_model **model, gather_error *error);
/* The same for a file that is open already and must outlive the model. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_from_file(const gather_file *file, gather_model **model,
                                                               gather_error *error);
/* Closes a model, and its file where gather_model_open opened it. NULL does nothing. Since 0.1. */
GATHER_API void gather_model_close(gather_model *model);
/* The model's file, with the tensors it holds; lives as long as the model. Since 0.1. */
GATHER_API const gather_file *gather_model_file(const gather_model *model);
/* "onnx" or "openvino". Static memory. Since 0.1. */
GATHER_API const char *gather_model_dialect(const gather_model *model);
/* How many gather nodes it has: in the main graph, in subgraphs, and in functions (each counted once). Since 0.1. */
GATHER_API int64_t gather_model_node_count(const gather_model *model);
/* Nodes of other operators that take indices (GatherND, ScatterND, EmbeddingBagPackedSum, ...): no check looks at them, and a bad
 * index of theirs can make the model fail. How many such operators the model has; the name of number i, static memory, NULL where i
 * is none; how many nodes of it there are, counted as gather nodes are. Since 0.1. */
GATHER_API int64_t gather_model_not_checked_count(const gather_model *model);
GATHER_API const char *gather_model_not_checked_op(const gather_model *model, int64_t i);
GATHER_API int64_t gather_model_not_checked_nodes(const gather_model *model, int64_t i);
/* How many inputs and outputs its main graph has. Inputs that an initializer gives a value to are not counted. Since 0.1. */
GATHER_API int64_t gather_model_input_count(const gather_model *model);
GATHER_API int64_t gather_model_output_count(const gather_model *model);
/* The name of input or output number i; NULL where i is none. Lives as long as the model. Since 0.1. */
GATHER_API const char *gather_model_input_name(const gather_model *model, int64_t i);
GATHER_API const char *gather_model_output_name(const gather_model *model, int64_t i);
/* The type that the model declares for a value of its main graph, by name; in OpenVINO IR, by the layer of a Parameter too. node:
 * NULL, or a node as gather_model_run has it, whose graph and those round it are meant (where it is found). GATHER_TYPE_NONE =
 * it says none. Since 0.1. */
GATHER_API gather_type gather_model_value_type(const gather_model *model, const char *node, const char *name);

/* ---- 2 what a check is given ------------------------------------------------------------------------------------------ */

/* A tensor for an input of the model. The tensor's memory must live until the call returns (gather_model_check: as long as
 * the check). */
typedef struct gather_model_input {
  const char *name;
  gather_tensor tensor;
} gather_model_input;

/* A length for a dimension that has a name. */
typedef struct gather_model_dim {
  const char *name;
  int64_t len;
} gather_model_dim;

/* Start from GATHER_CHECK_OPTIONS_INIT; NULL in a call means just that: nothing is given. */
typedef struct gather_check_options {
  size_t size; /* sizeof(gather_check_options) */
  const gather_model_input *inputs;
  int64_t input_count;
  const gather_model_dim *dims;
  int64_t dim_count;
  const gather_executor *executor; /* NULL = the calling thread */
} gather_check_options;

#define GATHER_CHECK_OPTIONS_INIT \
  { sizeof(gather_check_options), NULL, 0, NULL, 0, NULL }

/* ---- 3 what it finds -------------------------------------------------------------------------------------------------- */

/* Where a value comes from. */
typedef enum gather_source {
  GATHER_SOURCE_NONE = 0,    /* the node has no such operand */
  GATHER_SOURCE_INITIALIZER, /* the file holds it */
  GATHER_SOURCE_CONSTANT,    /* a Constant node holds it */
  GATHER_SOURCE_INPUT,       /* an input of the model */
  GATHER_SOURCE_COMPUTED     /* another node's output, or an input of a subgraph or function */
} gather_source;

/* The name as JSON has it ("initializer"); "none" for 0. Since 0.1. */
GATHER_API const char *gather_source_name(gather_source source);

typedef struct gather_operand {
  const char *name;
  gather_type type; /* GATHER_TYPE_NONE = not known */
  gather_source source;
  int32_t rank; /* -1 = not known */
  const gather_dim *dims;
  const gather_tensor *value; /* its elements where they are known; else NULL */
  /* The tensor of the model whose elements it would need, and which cannot be read: its file is missing or too short, as
   * gather_file_tensor_check says. NULL where that is not why `value` is NULL. */
  const gather_file_tensor *unreadable;
} gather_operand;

typedef enum gather_verdict {
  GATHER_VERDICT_UNKNOWN = 0, /* not checked: `reason` says why */
  GATHER_VERDICT_OK,          /* every index was checked against the length of the axis */
  GATHER_VERDICT_BAD          /* an index is out of range, or the operands cannot be legal: `error` says which */
} gather_verdict;

/* The name as JSON has it ("ok"). Since 0.1. */
GATHER_API const char *gather_verdict_name(gather_verdict verdict);

/* One gather node. All pointers live as long as the check and the model. */
typedef struct gather_model_node {
  const char *name;       /* "" where it has none */
  const char *op;         /* "Gather" or "GatherElements" */
  const char *domain;     /* ONNX: ""; IR: "opset8" */
  int64_t opset;          /* 0 = not known */
  const char *graph;      /* "main", "main/if_3/then_branch", "function:NAME" */
  int64_t number;         /* of the node among the nodes of its graph, in the file's order */
  const gather_op *rules; /* NULL: its version is none of ours */
  bool axis_known;
  int64_t axis; /* counted from 0 where the rank of data is known and the axis fits it; else as it is written */
  const char *axis_name;                     /* of the value that gives the axis, where it is an input; else "" */
  const gather_file_tensor *axis_unreadable; /* as gather_operand.unreadable, of the axis */
  int64_t batch_dims;
  gather_operand data, indices, output;
  bool type_listed; /* the operator's version lists the types of data and of indices (true where they are not known) */
  bool indices_known;  /* then min and max stand, unless there are no indices */
  int64_t index_count; /* where indices_known */
  int64_t min, max;
  bool value_is_unsigned; /* read min and max as uint64_t */
  bool bad_known;         /* the indices were compared with the axis: `bad` stands */
  int64_t bad;            /* indices outside the valid range, also under rules that fill with zeros */
  gather_verdict verdict;
  bool not_executed;         /* it is in a branch that a known condition does not take: not judged, `reason` names it */
  const char *reason;        /* one sentence; "" where the verdict needs none */
  const char *cause;         /* the likely cause of bad indices, one sentence; "" */
  const gather_error *error; /* GATHER_VERDICT_BAD; else NULL */
} gather_model_node;

/* Writes where a node is, as snprintf does: "main/embed", or the operator and its number where it has no name ("main/Gather_5"). Every
 * `node` argument of this header takes that. Returns the length that it has or would have. Since 0.1. */
GATHER_API size_t gather_model_node_path(const gather_model_node *node, char *text, size_t bytes);

/* What a check found. */
typedef struct gather_check gather_check;

/* Infers shapes and constant values as far as it can, and checks every gather node whose indices and axis length are then
 * known. options: what is known beyond the file. A bad node is no failure of this call: see the verdicts.
 * Returns GATHER_NAME_NOT_FOUND (an input or dimension that the model has not), GATHER_TYPE_MISMATCH, GATHER_RANK_MISMATCH,
 * GATHER_SHAPE_MISMATCH (a given input does not fit its declaration; its type must be the declared one), GATHER_OUT_OF_MEMORY.
 * Memory: freed by gather_check_destroy. The model must outlive the check. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_check(const gather_model *model,
                                                           const gather_check_options *options, gather_check **check,
                                                           gather_error *error);
/* Frees a check; NULL does nothing. Since 0.1. */
GATHER_API void gather_check_destroy(gather_check *check);
/* How many gather nodes there are (gather_model_node_count), and node number i; NULL where i is none. The nodes of one graph
 * stand in the file's order, those of a subgraph where its node stands, functions last. Since 0.1. */
GATHER_API int64_t gather_check_count(const gather_check *check);
GATHER_API const gather_model_node *gather_check_at(const gather_check *check, int64_t i);
/* How many nodes have that verdict. Since 0.1. */
GATHER_API int64_t gather_check_verdicts(const gather_check *check, gather_verdict verdict);
/* The gather node of that name. Returns GATHER_NAME_NOT_FOUND with the nearest names; GATHER_USAGE where two or more have
 * it. NULL names the only gather node of a model that has one. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_check_find(const gather_check *check, const char *name,
                                                          const gather_model_node **node, gather_error *error);

/* ---- 4 one gather node ------------------------------------------------------------------------------------------------ */

/* One gather node, and what it works on as far as it is known. */
typedef struct gather_model_operands gather_model_operands;

/* Finds a gather node and its operands: what gather_model_check knows of them, and what the operators that gather_model_run has
 * make of it.
 * node: its name, with or without the path of its graph ("main/if_3/then_branch/g"); where it has none its output's, or operator
 * and number as in "main/Gather_5". NULL names the only gather node of a model that has one.
 * options: as for gather_model_check; an input may also be any value of the node's graph, by name, in place of what computes it.
 * Returns GATHER_NAME_NOT_FOUND (a node, with those there are; an input or dimension that the model has not), GATHER_USAGE (more
 * than one node is meant: they are named), GATHER_TYPE_MISMATCH, GATHER_RANK_MISMATCH, GATHER_SHAPE_MISMATCH (a given input does
 * not fit), GATHER_OUT_OF_MEMORY, and the returns of gather_apply where the indices come from a gather that fails itself.
 * Memory: freed by gather_model_operands_destroy. The model and the inputs' memory must live as long. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_operands_find(const gather_model *model, const char *node,
                                                                   const gather_check_options *options,
                                                                   gather_model_operands **operands,
                                                                   gather_error *error);
/* The node: data.value and indices.value are its tensors where they are known, else NULL; then data.dims and indices.dims say
 * what is known of their shapes. rules, axis and batch_dims say how it gathers. Lives as long as the operands. Since 0.1. */
GATHER_API const gather_model_node *gather_model_operands_node(const gather_model_operands *operands);
/* Where the indices, or an axis that is an input, are not known: the name of value number i that, given as an input, would make
 * them known; NULL where i is none. Since 0.1. */
GATHER_API const char *gather_model_operands_missing(const gather_model_operands *operands, int64_t i);
/* Frees operands; NULL does nothing. Since 0.1. */
GATHER_API void gather_model_operands_destroy(gather_model_operands *operands);

/* ---- 5 runtimes ------------------------------------------------------------------------------------------------------- */

/* How many runtimes are known, and the name of number i ("onnxruntime", "openvino", "tensorrt", "directml"); NULL. Since 0.1. */
GATHER_API size_t gather_runtime_count(void);
GATHER_API const char *gather_runtime_name(size_t i);
/* What runtime number i does with a node that is bad, or has indices out of range that its rules repair, one sentence; "" for any
 * other node. Static memory. Since 0.1. */
GATHER_API const char *gather_runtime_behaviour(size_t i, const gather_model_node *node);

/* ---- 6 running -------------------------------------------------------------------------------------------------------- */

/* What a run is told beyond its inputs. Start from GATHER_MODEL_RUN_OPTIONS_INIT; NULL in a call means just that. */
typedef struct gather_model_run_options {
  size_t size; /* sizeof(gather_model_run_options) */
  /* Run this node alone: its name, or with the path of its graph before it ("main/if_3/then_branch/g", "function:NAME/g").
   * A node without a name goes by its first output's, or by operator and number ("main/Gather_5"). NULL = the whole main graph. */
  const char *node;
  const gather_executor *executor; /* NULL = the calling thread */
  const char **failed_node; /* receives the name of the node at which it failed, the model's; "" = none; may be NULL */
} gather_model_run_options;

#define GATHER_MODEL_RUN_OPTIONS_INIT \
  { sizeof(gather_model_run_options), NULL, NULL, NULL }

/* What a run gave. */
typedef struct gather_model_result gather_model_result;

/* Runs a model whose nodes are gather nodes and what comes with them: Constant, Identity, Cast (Convert) between integers,
 * Shape (ShapeOf), Reshape, Squeeze, Unsqueeze; or one gather node of any model.
 * inputs: one for each input of the model that no initializer gives (those may be given too). For one node: any of its values by
 * name; what the model's constants give may be left out. Elements are not copied where no operator changes them.
 * options: NULL = the whole main graph on the calling thread.
 * Returns GATHER_UNSUPPORTED for another operator, before any work; GATHER_USAGE where inputs are missing or given twice, with
 * their names; GATHER_NAME_NOT_FOUND (an input or a node that the model has not); GATHER_TYPE_MISMATCH, GATHER_RANK_MISMATCH,
 * GATHER_SHAPE_MISMATCH (an input does not fit its declaration, or dimensions of one name differ); GATHER_FILE_MALFORMED (a
 * value that nothing gives, nodes that need each other); the returns of gather_apply, with the node in the message.
 * Threads: options->executor, else the calling thread; several threads may run one model at once.
 * Memory: freed by gather_model_result_destroy. The model and the inputs' memory must live as long: outputs may be views of
 * them. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_run(const gather_model *model, const gather_model_input *inputs,
                                                         int64_t input_count, const gather_model_run_options *options,
                                                         gather_model_result **result, gather_error *error);
/* The number of the main graph's output of that name; in OpenVINO IR, of its layer or Result too. Returns
 * GATHER_NAME_NOT_FOUND with those there are. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_output_find(const gather_model *model, const char *name,
                                                                 int64_t *i, gather_error *error);
/* Frees a result and the tensors that are not views of the model or the inputs; NULL does nothing. Since 0.1. */
GATHER_API void gather_model_result_destroy(gather_model_result *result);
/* How many outputs there are, in the order of the graph (or the node), and number i with its name; NULL where i is none.
 * They are read-only and row-major without gaps. Since 0.1. */
GATHER_API int64_t gather_model_result_count(const gather_model_result *result);
GATHER_API const gather_model_input *gather_model_result_at(const gather_model_result *result, int64_t i);

/* ---- 7 advice, and a check as text ------------------------------------------------------------------------------------ */

typedef enum gather_advice_kind {
  GATHER_ADVICE_NONE = 0,
  GATHER_ADVICE_INPUTS, /* a tensor for each name: inputs of the model */
  GATHER_ADVICE_DIMS,   /* a length for the name of a dimension */
  GATHER_ADVICE_NODE /* a tensor for each name: values of the node's graph. A check does not take them; gather_model_operands_find
                      * and a run of the node do */
} gather_advice_kind;

/* What to give so that a node that is not known becomes known. */
typedef struct gather_advice {
  gather_advice_kind kind;
  const char *node; /* the path of the node */
  const char *const *names;
  int64_t count; /* of names */
} gather_advice;

/* Writes advice in the terms of a program's own users (options of a command line, arguments of a call) into `text`: at most `bytes`
 * with the terminator, cut where it does not fit. advice->kind is never GATHER_ADVICE_NONE, and there is at least one name. */
typedef void (*gather_advice_writer)(void *context, const gather_advice *advice, char *text, size_t bytes);

/* The advice for all nodes of a check. */
typedef struct gather_check_advice gather_check_advice;

/* Finds out what to give. It asks the model again for each unknown node, of the first 64 such nodes, in models of up to 2000 gather
 * nodes; other nodes have no advice. Names that the check was given are not advised.
 * Memory: freed by gather_check_advice_destroy; the check and the model must outlive it. Returns GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_check_advise(const gather_check *check, gather_check_advice **advice,
                                                            gather_error *error);
/* The advice for node number i of the check. Its kind is GATHER_ADVICE_NONE, and it has no names, where nothing helps; NULL where i
 * is none. Lives as long as the advice. Since 0.1. */
GATHER_API const gather_advice *gather_check_advice_at(const gather_check_advice *advice, int64_t i);
/* Frees advice; NULL does nothing. Since 0.1. */
GATHER_API void gather_check_advice_destroy(gather_check_advice *advice);

/* For gather_check_text_options.node. */
enum {
  GATHER_CHECK_TEXT_ALL = -1, /* the whole text */
  GATHER_CHECK_TEXT_HEAD = -2 /* the lines about the whole model, without any node */
};

/* How a check becomes text. Start from GATHER_CHECK_TEXT_OPTIONS_INIT; NULL in a call means just that. */
typedef struct gather_check_text_options {
  size_t size;                       /* sizeof(gather_check_text_options) */
  const char *name;                  /* what the first line calls the model; NULL = "model" */
  const gather_check_advice *advice; /* of this check; NULL = no advice is shown */
  gather_advice_writer writer;       /* how advice reads; NULL = in neutral words */
  void *context;                     /* for writer */
  int64_t node;  /* a number: only this node, without the first lines; or one of GATHER_CHECK_TEXT_... */
  bool only_bad; /* only nodes with indices out of range or illegal operands; an empty text where no node is bad */
  bool compact;  /* without the empty line before the nodes */
  /* Ends the line that says how many more files cannot be read (of more than four): where to see them all. NULL = nothing. */
  const char *unreadable_all;
} gather_check_text_options;

#define GATHER_CHECK_TEXT_OPTIONS_INIT \
  { sizeof(gather_check_text_options), NULL, NULL, NULL, NULL, GATHER_CHECK_TEXT_ALL, false, false, NULL }

/* Writes a check as text for people: one line for all of it, a line for each file that cannot be read, then a line for each node with
 * its verdict, and below it what a bad or an unknown node needs: operands, reason, advice, cause, what each runtime does.
 * Lines end with '\n'. Names from the model are made visible (gather_text_visible), so that they cannot control a terminal. The words
 * may change; programs read gather_check_at.
 * text: receives the text, zero-terminated; bytes: its length without the zero, or NULL.
 * Returns GATHER_OUT_OF_MEMORY, GATHER_USAGE (options, a node that there is not). Threads: any. Memory: freed by gather_text_free.
 * Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_check_text(const gather_check *check,
                                                          const gather_check_text_options *options, char **text,
                                                          size_t *bytes, gather_error *error);
/* Parts of that text, made and freed in the same way. First "2 GatherND nodes and 1 ScatterND node": the nodes that take indices and
 * are not checked; "" where there are none. Then a line for each file that is missing or too short, with how many tensors of an opened
 * file need it; all: as unreadable_all. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_model_not_checked_text(const gather_model *model, char **text,
                                                                      gather_error *error);
GATHER_API GATHER_CHECKED gather_status gather_file_unreadable_text(const gather_file *file, const char *all,
                                                                    char **text, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
