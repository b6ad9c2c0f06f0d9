/* SPDX-License-Identifier: MIT
 *
 * infer.h: what is known of the values of a graph, and how a node's outputs follow from its inputs. The operators are the
 * rows of infer.def.
 */
#ifndef GATHER_MODEL_INFER_H
#define GATHER_MODEL_INFER_H

#include "gather/codec.h"
#include "model/model_internal.h"

/* ---- the values of one graph, by name (scope.c). A subgraph sees the values of the graphs around it */

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
  const gather_dim *bounds;             /* of an integer tensor that is not known: the interval of all its elements; NULL */
  const gather_node *maker;             /* the node it comes from; NULL */
  bool declared_input;                  /* of the graph */
  const char *origin;                   /* a body's input: the input of the model that it is; NULL */
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
GATHER_CHECKED gather_status gather_scope_open(gather_arena *arena, const gather_graph *graph, const gather_scope *parent, const char *path,
                                               gather_scope *scope, gather_error *error);
/* The value of that name in this graph, added if missing. NULL for "". */
gather_known *gather_scope_make(gather_scope *scope, const char *name);
/* The value of that name, in this graph or an enclosing one; NULL. */
const gather_known *gather_scope_find(const gather_scope *scope, const char *name);

/* Fails with GATHER_FILE_MALFORMED, as runtimes do, where a name of an ONNX model is that of two values: outputs of nodes, an input or
 * an initializer and an output, an input and an initializer of a body. */
GATHER_CHECKED gather_status gather_model_check_names(const gather_model *model, gather_error *error);

/* Whether an output of a graph is its input i, through Identity nodes or none. */
bool gather_graph_passes_on(const gather_graph *graph, int64_t output, int64_t i);

/* The order in which the nodes of a graph run; NULL: that of the file. Records the producer of each value. */
GATHER_CHECKED gather_status gather_scope_order(gather_arena *arena, gather_scope *scope, const int64_t **order, gather_error *error);

/* ---- one node */

typedef struct gather_step gather_step;

typedef void (*gather_infer_fn)(gather_step *step);

/* One element of an output from count elements of the inputs. False where runtimes may compute something else, or fail. */
typedef bool (*gather_element_fn)(const gather_step *step, const int64_t *in, int32_t count, int64_t *value);
/* The same for elements of which only intervals or names are known; gather_any_number where nothing follows from them. */
typedef gather_dim (*gather_interval_fn)(const gather_dim *in, int32_t count);

/* The types that an element-wise operator requires of its inputs. */
typedef enum gather_demand {
  GATHER_NUMBERS, /* one type, also of the output */
  GATHER_COMPARE, /* one type; the output is bool */
  GATHER_LOGIC,   /* bool, also the output */
  GATHER_SELECT,  /* bool, then two of one type, also of the output */
  GATHER_CONVERT  /* any */
} gather_demand;

/* How the elements of an output are computed. follow runs on the whole step, where the shape rule left them unknown; NULL: the
 * operator has no such rule. */
typedef struct gather_exact {
  gather_infer_fn follow;
  gather_element_fn element;
  int32_t inputs; /* that element takes; 0: all inputs of the node */
  gather_demand types;
} gather_exact;

/* The same for intervals; of: NULL where the operator has no such rule. */
typedef struct gather_interval {
  gather_interval_fn of;
} gather_interval;

/* A row of infer.def. */
typedef struct gather_operator {
  const char *name;
  int dialect;
  const gather_infer_fn *shape;
  const gather_exact *exact;
  const gather_interval *interval;
} gather_operator;

/* What is known of the outputs of a node's graphs: 0 "then_branch", "then_body" or "body", 1 "else_branch" or "else_body", in the
 * order of the node's outputs. results NULL: none. */
typedef struct gather_bodies {
  gather_known *results[2];
  int64_t counts[2];
} gather_bodies;

/* One node being inferred. The functions fill in `out`, the output number `at`; they leave what they do not know. */
struct gather_step {
  gather_arena *arena;
  const gather_model *model;
  const gather_scope *scope;
  const gather_node *node;
  const gather_operator *row; /* NULL: the operator has no row in infer.def */
  const gather_bodies *bodies;
  bool openvino;
  int64_t *parts_left; /* how many more elements may be followed, so that no file can exhaust the memory */
  gather_known out;
  int32_t at;
  gather_known *outs; /* all outputs, node->output_count of them; the current one is in `out` */
  bool no_memory;
};

/* The row of the node's operator, or NULL. Set `row` to it before gather_infer_node. */
const gather_operator *gather_infer_row(const gather_step *step);
/* Infers the outputs of a node into outs; all are unknown where the node's operator has no row. */
GATHER_CHECKED gather_status gather_infer_node(gather_step *step, gather_error *error);

/* ---- what the rules read and set of a step (step.c) */

extern const gather_dim gather_any_dim;
/* A number of which nothing is known: it may be below 0. */
extern const gather_dim gather_any_number;
GATHER_INLINE gather_dim gather_exact_dim(int64_t len) { return (gather_dim){len, len, NULL}; }
/* Whether a length is known. */
GATHER_INLINE bool gather_is_exact(const gather_dim *dim) { return dim->min == dim->max; }
/* The interval of two intervals and what is between them. */
GATHER_INLINE gather_dim gather_hull(gather_dim a, gather_dim b) {
  return (gather_dim){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max, NULL};
}
/* What is known of a length that is one of the two. */
gather_dim gather_join_dims(const gather_dim *a, const gather_dim *b);

/* Continues with output number i of the node: `out` is that output from now on. */
GATHER_INLINE void gather_step_output(gather_step *step, int32_t i) {
  step->outs[step->at] = step->out;
  step->at = i;
  step->out = step->outs[i];
}

/* Input number i; a value of which nothing is known if it is omitted or its name is undefined. Never NULL. */
const gather_known *gather_step_in(const gather_step *step, int32_t i);
/* Whether input i is given at all. */
GATHER_INLINE bool gather_step_has(const gather_step *step, int32_t i) {
  return i < step->node->input_count && *step->node->inputs[i] != '\0';
}
/* Memory of the step's arena; NULL, with no_memory set, if there is none. */
void *gather_step_take(gather_step *step, int64_t count, size_t bytes);
/* Sets the shape. */
void gather_step_shape(gather_step *step, int32_t rank, const gather_dim *dims);
/* The elements of a small integer tensor; NULL where they are not known or too many. */
const gather_dim *gather_step_elements(gather_step *step, const gather_known *known, int64_t *count);
/* The same if all are known exactly; otherwise NULL. */
const int64_t *gather_step_integers(gather_step *step, const gather_known *known, int64_t *count);
/* Memory for the elements of a small output; NULL also where no more elements may be followed. */
gather_dim *gather_step_new_elements(gather_step *step, int64_t count);
/* Sets the elements of a small output, whose shape is set: count of them. Where all are exact it becomes a tensor. */
void gather_step_set_elements(gather_step *step, const gather_dim *parts, int64_t count);

/* The lengths of a shape; false if one is not known exactly. */
bool gather_known_lengths(const gather_known *known, int64_t lengths[GATHER_MAX_RANK]);
/* The attribute, also one that a function's body has from the node that calls it or from the function's defaults; NULL. Of a function that
 * nothing calls it stays a GATHER_ATTRIBUTE_REFERENCE: its value is unknown. */
const gather_attribute *gather_scope_attribute(const gather_scope *scope, const gather_node *node, const char *name);
GATHER_INLINE const gather_attribute *gather_step_find(const gather_step *step, const char *name) {
  return gather_scope_attribute(step->scope, step->node, name);
}
/* The type that a text attribute of OpenVINO names; the fallback where it is absent. */
gather_type gather_step_named_type(const gather_step *step, const char *name, gather_type fallback);
/* An integer attribute, or the fallback if it is absent; false if it is present but cannot be read. */
bool gather_step_integer(const gather_step *step, const char *name, int64_t fallback, int64_t *value);
/* The same for a boolean attribute: 1, true, True. */
bool gather_step_flag(const gather_step *step, const char *name, bool fallback, bool *value);
/* Whether a text attribute is absent or one of the words, without case; `word` says which, 0 for absent. */
bool gather_step_word(const gather_step *step, const char *name, const char *const *words, int32_t count, int32_t *word);
/* The axes of an operator: input i where it is given, else the attribute. NULL where they are not known; given: whether the
 * node has them at all. */
const int64_t *gather_step_axes(gather_step *step, const char *name, int32_t i, int64_t *count, bool *given);
/* An attribute's integers: ONNX has a list, an IR layer text with commas. NULL where absent. */
const int64_t *gather_step_attribute(gather_step *step, const char *name, int64_t *count);
/* Axis in [0, rank); false outside [-rank, rank-1]. */
GATHER_INLINE bool gather_wrap_axis(int64_t axis, int32_t rank, int32_t *wrapped) {
  if (axis < -rank || axis >= rank) return false;
  *wrapped = (int32_t)(axis < 0 ? axis + rank : axis);
  return true;
}
/* Element number i, in row-major order, of an integer or bool tensor: false for other types. */
bool gather_tensor_integer(const gather_tensor *tensor, int64_t i, int64_t *value);
/* The integer at an address; of unsigned ones the bits. False if the type is neither integer nor bool. */
bool gather_integer_load(const char *at, gather_type type, bool swapped, int64_t *value);

/* Bits of a whole-byte integer type, bool as one; 0 for others. */
int32_t gather_integer_bits(gather_type type);
/* Whether every element fits the type. */
bool gather_parts_fit(const gather_dim *parts, int64_t count, gather_type to);
/* Sets every element of a small output to the same value. */
void gather_step_fill(gather_step *step, gather_dim part);

/* Aligns two shapes at their ends, leaving out the last `skip` of each; returns the rank. */
int32_t gather_broadcast_shapes(const gather_known *a, const gather_known *b, int32_t skip, gather_dim *dims);

/* An interval that every element of an integer value is in; gather_any_number where nothing is known. */
gather_dim gather_bounds_of(const gather_known *known);

/* ---- whole tensors of integers and bools (values.c), followed from node to node: exactly what a runtime computes, or unknown. If elements
 * only move, the output is another view of the same memory where strides allow it */

/* A strided view of elements, with a shape of its own. */
typedef struct gather_view {
  const char *data;
  gather_type type; /* as they are stored */
  bool swapped;
  int32_t rank;
  int64_t lengths[GATHER_MAX_RANK], strides[GATHER_MAX_RANK]; /* strides in bytes */
} gather_view;

/* Input i as a view; false where it is not known whole, or holds no integers. */
bool gather_step_input_view(const gather_step *step, int32_t i, gather_view *view);
bool gather_tensor_view(const gather_tensor *tensor, gather_view *view);
/* Whether the output can become known; its lengths. */
GATHER_INLINE bool gather_step_is_open(const gather_step *step, int64_t lengths[GATHER_MAX_RANK]) {
  return !step->out.tensor && gather_known_lengths(&step->out, lengths);
}
/* Makes the output, whose shape is set, that view: false where the shapes differ. */
bool gather_step_set_view(gather_step *step, const gather_view *view);
/* Room for all elements of the output, whose shape is set, of a type that holds the output's. The view covers it; `data` may be
 * written. False where a length is not known, or no more elements may be followed. Gives the output no tensor yet. */
bool gather_step_new_view(gather_step *step, gather_view *view);
/* The output's elements become those of the view, in row-major order, whatever its shape. */
void gather_step_copy_view(gather_step *step, const gather_view *from);

/* Computes each element of `to` from those of count views of the same shape; false if one is uncertain, or does not fit
 * the type of the output. function NULL: copies. */
bool gather_step_each(const gather_step *step, const gather_view *from, int32_t count, gather_element_fn function, const gather_view *to);

/* Writes element i of a new view of rank 1. */
void gather_view_put(const gather_view *view, int64_t i, int64_t value);

/* Stretches a view to the lengths of the output as numpy does; false where it does not fit. */
bool gather_view_stretch(gather_view *view, int32_t rank, const int64_t *lengths);

/* ---- the rules that infer.def names: one table for each file, whose rules are static */

extern const struct gather_rules_of_values {
  gather_infer_fn compare, binary, variadic, where, expand, broadcast, constant, constant_of_shape, tile, shape_of, size, cast, range;
} gather_rules_values; /* infer_values.c */
extern const struct gather_rules_of_shape {
  gather_infer_fn like, same, like_bool, like_second, identity, unsqueeze, squeeze, reshape, flatten, transpose, concat, pad, resize,
      depth_to_space, space_to_depth;
} gather_rules_shape;                                                                                          /* infer_shape.c */
extern const struct gather_rules_of_slice { gather_infer_fn slice, strided_slice, split; } gather_rules_slice; /* infer_slice.c */
extern const struct gather_rules_of_reduce {
  gather_infer_fn reduce, arg, top, non_zero, one_hot;
} gather_rules_reduce; /* infer_reduce.c */
extern const struct gather_rules_of_layers {
  gather_infer_fn matmul, gemm, einsum, attention, rnn, sequence, conv, group_conv, pool, max_pool, global_pool, conv_transpose;
} gather_rules_layers; /* infer_layers.c */
extern const struct gather_rules_of_gather {
  gather_infer_fn gather, gather_tree, block_quantized, dequantize_linear;
} gather_rules_gather; /* infer_gather.c */
extern const struct gather_rules_of_writing {
  gather_infer_fn gather_scatter_apply, gather_tensor_scatter, gather_embedding_bag; /* by their functions */
} gather_rules_writing;                                                              /* infer_writing.c */
extern const struct gather_rules_of_flow { gather_infer_fn branch, loop, scan; /* branch: If */ } gather_rules_flow; /* flow.c */
extern const struct gather_exact_of_elements {
  gather_exact none, shape; /* no such rule; the shape rule sets the elements, too */
  gather_exact add, total, fold_add, subtract, multiply, fold_multiply, divide, floor_modulo, modulo, least, fold_least, most, fold_most,
      clip, negate, absolute, convert, equal, not_equal, less, less_equal, greater, greater_equal, both, either, one_of_two, is_not, choose;
} gather_exact_elements;                                                                                          /* elements.c */
extern const struct gather_exact_of_reduce { gather_exact arg_max, arg_min, top, non_zero; } gather_exact_reduce; /* infer_reduce.c */
extern const struct gather_interval_of_elements {
  gather_interval none, shape;
  gather_interval exact_only, add, subtract, multiply, divide, absolute, equal, not_equal, less, less_equal, greater, greater_equal, both,
      either, one_of_two, is_not, choose;
} gather_interval_elements; /* elements.c */

/* infer.def has these two without the name of a file. */
#define gather_exact_none gather_exact_elements.none
#define gather_exact_shape gather_exact_elements.shape
#define gather_interval_none gather_interval_elements.none
#define gather_interval_shape gather_interval_elements.shape

/* ---- gather nodes (infer_gather.c) */

/* The attributes of a gather node as far as they are known. An axis that is not is GATHER_AXIS_UNKNOWN, also where batch_dims is not known;
 * with scope NULL, one that is an input. The axis of an operator without one is 0. Returns GATHER_FILE_MALFORMED for an attribute that is
 * not an integer, or is given twice; GATHER_UNSUPPORTED for one that only the caller of a function knows. The attribute at fault is then
 * unknown in the options. */
GATHER_CHECKED gather_status gather_node_options(const gather_model *model, const gather_scope *scope, const gather_node *node,
                                                 gather_options *options, gather_error *error);

/* The inputs of GatherBlockQuantized. */
enum { GATHER_QUANTIZED_DATA = 0, GATHER_QUANTIZED_INDICES, GATHER_QUANTIZED_SCALES, GATHER_QUANTIZED_ZERO_POINTS };

/* Describes the rows of a node of GatherBlockQuantized with these inputs. What is wrong with its attributes is GATHER_FILE_MALFORMED. */
GATHER_CHECKED gather_status gather_node_describe(const gather_node *node, const gather_tensor *data, const gather_tensor *scales,
                                                  const gather_tensor *zero_points, gather_quantized *quantized, gather_error *error);

/* What is wrong with such a node apart from its indices, as far as types and shapes of its inputs are known; else GATHER_OK. */
GATHER_CHECKED gather_status gather_quantized_fault(const gather_scope *scope, const gather_node *node, gather_error *error);

#endif
