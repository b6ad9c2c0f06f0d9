/* SPDX-License-Identifier: MIT
 *
 * model.h: the gather nodes of a model (ONNX, OpenVINO IR): find them, check their indices, run them. Since 0.1.
 *
 * Contents: 1 models - 2 what a check is given - 3 what it finds - 4 one gather node - 5 runtimes - 6 running
 *           7 advice, and a check as text
 *
 * The rules of gather.h on errors, threads, memory and sizes apply. A gather node is a node of one of these operators: Gather,
 * GatherElements or GatherND of ONNX's own domain or of an OpenVINO opset, com.microsoft's GatherND, OpenVINO's GatherTree, operators that
 * write by index, and embedding bags (scatter.h). For GatherTree, data are step_ids, indices parent_ids, and the axis is that of the beams.
 * Only parents that a sequence follows can be out of range. For TensorScatter, data are past_cache, and indices write_indices. For a bag,
 * data are its table.
 */
#ifndef GATHER_MODEL_H
#define GATHER_MODEL_H

#include "gather/file.h"
#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 models -------------------------------------------------------------------------------------------------------- */

/* A model. Immutable: several threads may check and run one. */
typedef struct gather_model gather_model;

/* Opens a model file. Memory: freed by gather_model_close. Returns as gather_file_open, and GATHER_UNSUPPORTED for a file that is
 * not a model. */
GATHER_API GATHER_CHECKED gather_status gather_model_open(const gather_file_source *source, gather_model **model, gather_error *error);
/* The same for an open file, which must outlive the model. */
GATHER_API GATHER_CHECKED gather_status gather_model_from_file(const gather_file *file, gather_model **model, gather_error *error);
/* Closes a model, and its file if gather_model_open opened it. NULL does nothing. */
GATHER_API void gather_model_close(gather_model *model);
/* An operator that takes indices and is not checked (MaxUnpool, RoiAlign, ...): an index out of range in its nodes can make
 * the model fail. */
typedef struct gather_model_not_checked {
  const char *op;
  int64_t nodes; /* counted as gather nodes are */
} gather_model_not_checked;

/* The properties of a model. All pointers are valid as long as it. */
typedef struct gather_model_info {
  const gather_file *file; /* with its tensors */
  const char *dialect;     /* "onnx" or "openvino" */
  int64_t node_count;      /* gather nodes: in the main graph, subgraphs, and functions (each once; a check has them once for each call) */
  const char *const *inputs; /* names of the inputs of the main graph, without those that have an initializer */
  int64_t input_count;
  const char *const *outputs; /* names of its outputs */
  int64_t output_count;
  const gather_model_not_checked *not_checked; /* each operator once */
  int64_t not_checked_count;
} gather_model_info;

GATHER_API const gather_model_info *gather_model_describe(const gather_model *model);
/* The type that the model declares for a value of its main graph, by name. In OpenVINO IR also by the layer of a Parameter. node: NULL, or
 * a node as for gather_model_run: then its graph and the graphs around it are searched. GATHER_TYPE_NONE = not declared. */
GATHER_API gather_type gather_model_value_type(const gather_model *model, const char *node, const char *name);

/* ---- 2 what a check is given ------------------------------------------------------------------------------------------ */

/* A tensor for an input of the model. The tensor's memory must be valid until the call returns (gather_model_check: as long as the
 * check). */
typedef struct gather_model_input {
  const char *name;
  gather_tensor tensor;
} gather_model_input;

/* The length of a named dimension. */
typedef struct gather_model_dim {
  const char *name;
  int64_t len;
} gather_model_dim;

/* Initialise with GATHER_CHECK_OPTIONS_INIT. NULL in a call means the defaults: nothing is given. */
typedef struct gather_check_options {
  size_t size; /* sizeof(gather_check_options) */
  const gather_model_input *inputs;
  int64_t input_count;
  const gather_model_dim *dims;
  int64_t dim_count;
  const gather_executor *executor; /* NULL = the calling thread */
  /* gather_model_operands_find only: the most bytes of values that it computes. Values beyond them are not known. 0 = as for a run. (What
   * gather_model_check itself follows is limited to a few million elements.) */
  int64_t memory_bytes;
} gather_check_options;

#define GATHER_CHECK_OPTIONS_INIT \
  { sizeof(gather_check_options), NULL, 0, NULL, 0, NULL, 0 }

/* ---- 3 what it finds -------------------------------------------------------------------------------------------------- */

/* Where a value comes from. */
typedef enum gather_source {
  GATHER_SOURCE_NONE = 0,    /* the node has no such operand */
  GATHER_SOURCE_INITIALIZER, /* in the file */
  GATHER_SOURCE_CONSTANT,    /* in a Constant node */
  GATHER_SOURCE_INPUT,       /* an input of the model */
  GATHER_SOURCE_COMPUTED     /* another node's output, or an input of a subgraph or function */
} gather_source;

/* The name in JSON ("initializer"), or "none" for 0. */
GATHER_API const char *gather_source_name(gather_source source);

typedef struct gather_operand {
  const char *name;
  gather_type type; /* GATHER_TYPE_NONE = not known */
  gather_source source;
  int32_t rank; /* -1 = not known */
  const gather_dim *dims;
  const gather_tensor *value; /* its elements if they are known; else NULL */
  /* The tensor of the model whose elements are needed but cannot be read, because its file is missing or too short:
   * gather_file_tensor_check returns the reason. NULL if `value` is NULL for another reason. */
  const gather_file_tensor *unreadable;
} gather_operand;

typedef enum gather_verdict {
  GATHER_VERDICT_UNKNOWN = 0, /* not checked: see `reason` */
  GATHER_VERDICT_OK,          /* every index was checked against the length of its axis */
  GATHER_VERDICT_BAD          /* an index is out of range, or the operands are invalid: see `error` */
} gather_verdict;

/* The name in JSON ("ok"). */
GATHER_API const char *gather_verdict_name(gather_verdict verdict);

/* One number of an index, with its own axis. If the indices are tuples (GatherND): one component of the tuple, else the index itself. */
typedef struct gather_model_component {
  int64_t axis;     /* of data, counted from 0 */
  int64_t len;      /* of that axis; -1 = not known */
  int64_t min, max; /* of all indices; set as gather_model_node.min is */
} gather_model_component;

/* One gather node. All pointers are valid as long as the check and the model. */
typedef struct gather_model_node {
  const char *name;       /* "" if it has none */
  const char *op;         /* "Gather", "ScatterND" ...: as in the table of operators */
  const char *domain;     /* ONNX: "" or "com.microsoft"; IR: "opset8" */
  int64_t opset;          /* 0 = not known */
  const char *graph;      /* "main", "main/if_3/then_branch", "main/CALL/function:NAME", "function:NAME" (nothing calls it) */
  int64_t number;         /* of the node in its graph, in the file's order */
  const gather_op *rules; /* NULL: an unknown version */
  bool axis_known;
  /* Counted from 0 if the rank of data is known and the axis fits it, else as in the file. For GatherND: batch_dims, the first axis that
   * tuples select on. It is known if batch_dims is. */
  int64_t axis;
  const char *axis_name;                     /* of the value with the axis, if it is an input; else "" */
  const gather_file_tensor *axis_unreadable; /* as gather_operand.unreadable, for the axis */
  int64_t batch_dims;
  gather_operand data, indices, output;
  bool data_dequantized; /* other nodes dequantise data from constants of 4 or 8 bits */
  bool type_listed;      /* the operator version lists the types of data and indices (true if they are not known) */
  bool indices_known;    /* true: min and max are set, unless there are no indices */
  int64_t index_count;   /* if indices_known; of GatherND all numbers of the tuples */
  int64_t min, max;
  bool value_is_unsigned; /* read min and max as uint64_t */
  bool bad_known;         /* true: the indices were validated, and `bad` is set */
  int64_t bad;            /* indices outside the valid range, also under rules that fill with zeros */
  gather_verdict verdict;
  /* The node is in a graph that does not run: a branch that a known condition does not take, a loop without an iteration, a function that
   * nothing calls. It has no verdict, see `reason`. */
  bool not_executed;
  const char *reason;                       /* one sentence; "" if the verdict needs none */
  const char *cause;                        /* the likely cause of indices out of range, one sentence; "" */
  const gather_error *error;                /* GATHER_VERDICT_BAD; else NULL */
  const gather_model_component *components; /* component_count of them: one; of GatherND one for each number of a tuple */
  int32_t component_count;                  /* -1: the axis, the rank of data or the length of the tuples is not known or does not fit */
  const char *reduction;                    /* "add" ...: of operators that write, and of bags; "" for others, and if it is not known */
  gather_operand updates;                   /* of operators that write; its name is "" for others, and if it is missing */
  /* For an operator that replaces, if an index selects the same place as an earlier one: GATHER_INDEX_REPEATED with both positions.
   * Documents forbid that or leave the order open, but runtimes accept it, so the verdict stays ok. NULL: none, or not known. */
  const gather_error *repeated;
} gather_model_node;

/* Writes the path of a node, as snprintf does: "main/embed". For a node without a name: its operator and number ("main/Gather_5"). Slashes
 * at the start of a name are dropped: "main/words/Gather". Every `node` argument of this header accepts it. Returns the length without
 * truncation. */
GATHER_API size_t gather_model_node_path(const gather_model_node *node, char *text, size_t bytes);

/* The result of a check. */
typedef struct gather_check gather_check;

/* Infers shapes and constant values as far as possible, and checks every gather node whose indices and axis length are then
 * known. options: what is known in addition to the file. A bad node is not a failure of this call: see the verdicts.
 * Returns GATHER_NAME_NOT_FOUND (no such input or dimension), GATHER_TYPE_MISMATCH, GATHER_RANK_MISMATCH,
 * GATHER_SHAPE_MISMATCH (a given input does not fit its declaration; its type must be the declared one), GATHER_USAGE (an input is given
 * twice, without a name or without its elements), GATHER_OUT_OF_MEMORY.
 * Memory: freed by gather_check_destroy. The model must outlive the check. */
GATHER_API GATHER_CHECKED gather_status gather_model_check(const gather_model *model, const gather_check_options *options,
                                                           gather_check **check, gather_error *error);
/* Frees a check. NULL does nothing. */
GATHER_API void gather_check_destroy(gather_check *check);
/* Gather node number i, or NULL for any other i. The nodes of a graph are in the order in which they run (the file's, unless a node is
 * before one that it needs). Those of a subgraph or of a called function are at the place of its node. Functions that nothing calls are
 * last. There are at least gather_model_info.node_count. Valid as long as the check. */
GATHER_API const gather_model_node *gather_check_at(const gather_check *check, int64_t i);

/* The numbers of a check. All pointers are valid as long as it. */
typedef struct gather_check_info {
  int64_t count;            /* of nodes */
  int64_t ok, unknown, bad; /* nodes with each verdict */
  /* Values whose declared shape (value_info, an output, the input of a body) contradicts their actual shape: one sentence for each of the
   * first 64. Declared shapes are shown, but no verdict depends on them: runtimes enforce only those of the inputs of the model. */
  const char *const *contradictions;
  int64_t contradiction_count;
} gather_check_info;

GATHER_API const gather_check_info *gather_check_describe(const gather_check *check);
/* The gather node of a name, with or without the path of its graph. Returns GATHER_NAME_NOT_FOUND with the nearest names, GATHER_USAGE if
 * several have it. NULL is the only gather node of a model with one. For other models it is GATHER_NAME_NOT_FOUND. */
GATHER_API GATHER_CHECKED gather_status gather_check_find(const gather_check *check, const char *name, const gather_model_node **node,
                                                          gather_error *error);

/* ---- 4 one gather node ------------------------------------------------------------------------------------------------ */

/* One gather node and its operands, as far as they are known. */
typedef struct gather_model_operands gather_model_operands;

/* Finds a gather node and its operands: what gather_model_check infers, and what the operators of gather_model_run compute.
 * node: its name, with or without the path of its graph ("main/if_3/then_branch/g"). For a node without a name: its output's name, or
 * operator and number ("main/Gather_5"). NULL is the only gather node of a model with one.
 * options: as for gather_model_check. An input may also be any value of the node's graph, by name. Then it is not computed.
 * Returns GATHER_NAME_NOT_FOUND (no such node, with the nodes there are; no such input or dimension), GATHER_USAGE (several nodes
 * match; lists them), GATHER_TYPE_MISMATCH, GATHER_RANK_MISMATCH, GATHER_SHAPE_MISMATCH (a given input does
 * not fit), GATHER_OUT_OF_MEMORY, and the returns of gather_apply if the indices come from a gather that fails. Values above
 * options->memory_bytes are not a failure: they are not known.
 * Memory: freed by gather_model_operands_destroy. The model and the inputs' memory must be valid as long. */
GATHER_API GATHER_CHECKED gather_status gather_model_operands_find(const gather_model *model, const char *node,
                                                                   const gather_check_options *options, gather_model_operands **operands,
                                                                   gather_error *error);
/* The node and its operands. All pointers are valid as long as the operands. */
typedef struct gather_model_operands_info {
  /* data.value and indices.value are its tensors if they are known, else NULL. Then data.dims and indices.dims are their shapes as far as
   * known. rules, axis and batch_dims define the gather. */
  const gather_model_node *node;
  /* If the indices, or an axis that is an input, are not known: the names of the values to give as inputs to make them known. */
  const char *const *missing;
  int64_t missing_count;
} gather_model_operands_info;

GATHER_API const gather_model_operands_info *gather_model_operands_describe(const gather_model_operands *operands);
/* Frees operands. NULL does nothing. */
GATHER_API void gather_model_operands_destroy(gather_model_operands *operands);

/* ---- 5 runtimes ------------------------------------------------------------------------------------------------------- */

/* The name of runtime number i ("onnxruntime", "openvino", "tensorrt", "directml"), or NULL after the last. */
GATHER_API const char *gather_runtime_name(size_t i);
/* What runtime number i does with a bad node, or with indices out of range that the rules repair: one sentence, or "" for any other node.
 * Static memory. */
GATHER_API const char *gather_runtime_behaviour(size_t i, const gather_model_node *node);

/* ---- 6 running -------------------------------------------------------------------------------------------------------- */

/* Options of a run. Initialise with GATHER_MODEL_RUN_OPTIONS_INIT. NULL in a call means the defaults. */
typedef struct gather_model_run_options {
  size_t size; /* sizeof(gather_model_run_options) */
  /* Run only this node: its name, also after the path of its graph ("main/if_3/then_branch/g", "main/CALL/function:NAME/g"). A node without
   * a name: its first output's name, or operator and number ("main/Gather_5"). In the function of a call it has the arguments and
   * attributes of that call. After "function:NAME" it has those of no call. NULL = the whole main graph. */
  const char *node;
  const gather_executor *executor; /* NULL = the calling thread */
  const char **failed_node;        /* receives the name of the node that failed, in the model's memory; "" = none; may be NULL */
  /* The most bytes of the values that nodes compute for other nodes. 0 = an eighth of gather_machine.usable_memory, at most 512 MiB.
   * Outputs do not count: they and these values together may take gather_machine.usable_memory, or memory_bytes if that is more. */
  int64_t memory_bytes;
} gather_model_run_options;

#define GATHER_MODEL_RUN_OPTIONS_INIT \
  { sizeof(gather_model_run_options), NULL, NULL, NULL, 0 }

/* The outputs of a run. */
typedef struct gather_model_result gather_model_result;

/* Runs one gather node of any model, or a model of gather nodes and these operators: Constant, Identity, Cast (Convert) between integers,
 * Shape (ShapeOf), Reshape, Squeeze, Unsqueeze, Transpose, Concat, Mod of integers. Nodes that dequantise constants (DequantizeLinear; in
 * IR Convert to a float type, Subtract, Multiply) are computed with the gather. It decodes only the rows that it takes, in float32, rounded
 * once to the type of data.
 * inputs: one for each input of the model without an initializer (others are optional). For one node: any values of its graph,
 * or of the graphs around it, by name. (In a called function, an input of the model takes precedence over a value of the function.)
 * Constants of the model, and values that these operators compute, are optional. Elements that no operator changes are not copied.
 * options: NULL = the whole main graph on the calling thread.
 * Returns GATHER_UNSUPPORTED for another operator, before any work; GATHER_USAGE if inputs are missing or given twice, with
 * their names; GATHER_NAME_NOT_FOUND (no such input or node); GATHER_TYPE_MISMATCH, GATHER_RANK_MISMATCH,
 * GATHER_SHAPE_MISMATCH (an input does not fit its declaration, or dimensions of one name differ); GATHER_FILE_MALFORMED (a
 * value that no node computes, a cycle of nodes); GATHER_OUT_OF_MEMORY (also for values above options->memory_bytes, before their
 * memory is taken); the returns of gather_apply, with the node in the message.
 * Threads: options->executor, else the calling thread. Several threads may run one model at once.
 * Memory: freed by gather_model_result_destroy. The model and the inputs' memory must be valid as long: outputs may be
 * views of them. */
GATHER_API GATHER_CHECKED gather_status gather_model_run(const gather_model *model, const gather_model_input *inputs, int64_t input_count,
                                                         const gather_model_run_options *options, gather_model_result **result,
                                                         gather_error *error);
/* The number of the main graph's output of a name. In OpenVINO IR also by its layer or Result. Returns GATHER_NAME_NOT_FOUND with the names
 * of the outputs. */
GATHER_API GATHER_CHECKED gather_status gather_model_output_find(const gather_model *model, const char *name, int64_t *i,
                                                                 gather_error *error);
/* Frees a result and the tensors that are not views of the model or the inputs. NULL does nothing. */
GATHER_API void gather_model_result_destroy(gather_model_result *result);
/* Output number i with its name, in the order of the graph (or the node), or NULL for any other i. It is read-only and row-major without
 * gaps. */
GATHER_API const gather_model_input *gather_model_result_at(const gather_model_result *result, int64_t i);

/* ---- 7 advice, and a check as text ------------------------------------------------------------------------------------ */

typedef enum gather_advice_kind {
  GATHER_ADVICE_NONE = 0,
  GATHER_ADVICE_INPUTS, /* a tensor for each name: inputs of the model */
  GATHER_ADVICE_DIMS,   /* a length for each name: dimensions of the model */
  GATHER_ADVICE_NODE    /* a tensor for each name: values of the node's graph. Not for a check; for gather_model_operands_find and a
                      * run of the node */
} gather_advice_kind;

/* The inputs, lengths or values to give so that an unknown node can be checked. */
typedef struct gather_advice {
  gather_advice_kind kind;
  const char *node; /* the path of the node */
  const char *const *names;
  int64_t count; /* of names */
} gather_advice;

/* Writes advice in the terms of a program's own users (options of a command line, arguments of a call) into `text`: at most `bytes`
 * with the terminator, truncated if necessary. advice->kind is never GATHER_ADVICE_NONE, and there is at least one name. */
typedef void (*gather_advice_writer)(void *context, const gather_advice *advice, char *text, size_t bytes);

/* The advice for all nodes of a check. */
typedef struct gather_check_advice gather_check_advice;

/* Finds what to give. It checks the model again for each of the first 64 unknown nodes, in models of up to 2000 gather nodes. Other nodes
 * get no advice. Names that the check was given are not advised.
 * Memory: freed by gather_check_advice_destroy. The check and the model must outlive it. Returns GATHER_OUT_OF_MEMORY. */
GATHER_API GATHER_CHECKED gather_status gather_check_advise(const gather_check *check, gather_check_advice **advice, gather_error *error);
/* The advice for node number i of the check. Its kind is GATHER_ADVICE_NONE, without names, if nothing helps. NULL for any other i. Valid
 * as long as the advice. */
GATHER_API const gather_advice *gather_check_advice_at(const gather_check_advice *advice, int64_t i);
/* Frees advice. NULL does nothing. */
GATHER_API void gather_check_advice_destroy(gather_check_advice *advice);

/* For gather_check_text_options.node. */
enum {
  GATHER_CHECK_TEXT_ALL = -1, /* the whole text */
  GATHER_CHECK_TEXT_HEAD = -2 /* the lines about the whole model, without any node */
};

/* Options of a check's text. Initialise with GATHER_CHECK_TEXT_OPTIONS_INIT. NULL in a call means the defaults. */
typedef struct gather_check_text_options {
  size_t size;                       /* sizeof(gather_check_text_options) */
  const char *name;                  /* what the first line calls the model; NULL = "model" */
  const gather_check_advice *advice; /* of this check; NULL = no advice is shown */
  gather_advice_writer writer;       /* words the advice; NULL = neutral words */
  void *context;                     /* for writer */
  int64_t node;                      /* a node number: only this node, without the first lines; or one of GATHER_CHECK_TEXT_... */
  bool only_bad;                     /* only nodes with indices out of range or invalid operands; empty if no node is bad */
  bool compact;                      /* without the empty line before the nodes */
  /* If more than four files cannot be read: where to see them all. It ends the line with the number of further files. NULL = nothing. */
  const char *unreadable_all;
} gather_check_text_options;

#define GATHER_CHECK_TEXT_OPTIONS_INIT \
  { sizeof(gather_check_text_options), NULL, NULL, NULL, NULL, GATHER_CHECK_TEXT_ALL, false, false, NULL }

/* Writes a check as text: a line for the whole check, a line for each file that cannot be read, then a line for each node with its
 * verdict. Below a bad or unknown node are operands, reason, advice, cause, and what each runtime does.
 * Lines end with '\n'. Names from the model are escaped (gather_text_visible), so they cannot control a terminal. The wording may change.
 * Programs use gather_check_at.
 * text: receives the text, zero-terminated. bytes: its length without the zero, or NULL.
 * Returns GATHER_OUT_OF_MEMORY, GATHER_USAGE (invalid options, no such node). Threads: any. Memory: freed by gather_text_free. */
GATHER_API GATHER_CHECKED gather_status gather_check_text(const gather_check *check, const gather_check_text_options *options, char **text,
                                                          size_t *bytes, gather_error *error);
/* A part of this text, of any file, allocated and freed in the same way: a line for each file that is missing or too short, with the number
 * of tensors that need it. all: as unreadable_all. */
GATHER_API GATHER_CHECKED gather_status gather_file_unreadable_text(const gather_file *file, const char *all, char **text,
                                                                    gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
