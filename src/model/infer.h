/* SPDX-License-Identifier: MIT
 *
 * infer.h: infers a node's outputs from its inputs. The operators are the rows of infer.def.
 */
#ifndef GATHER_MODEL_INFER_H
#define GATHER_MODEL_INFER_H

#include "model/scope.h"

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
  gather_infer_fn shape;
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

/* ---- for the functions (step.c, step_attribute.c, values_move.c) */

extern const gather_dim gather_any_dim;
gather_dim gather_exact_dim(int64_t len);
/* Whether a length is known. */
bool gather_is_exact(const gather_dim *dim);
/* What is known of a length that is one of the two. */
gather_dim gather_join_dims(const gather_dim *a, const gather_dim *b);
gather_dim gather_add_dims(const gather_dim *a, const gather_dim *b);

/* Continues with output number i of the node: `out` is that output from now on. */
void gather_step_output(gather_step *step, int32_t i);

/* Input number i; a value of which nothing is known if it is omitted or its name is undefined. Never NULL. */
const gather_known *gather_step_in(const gather_step *step, int32_t i);
/* Whether input i is given at all. */
bool gather_step_has(const gather_step *step, int32_t i);
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
/* Sets the elements to those of `from` in the shape that is set, where that fits. */
void gather_step_alias(gather_step *step, const gather_known *from);
/* The lengths of a shape; false if one is not known exactly. */
bool gather_known_lengths(const gather_known *known, int64_t lengths[GATHER_MAX_RANK]);
/* The attribute, also one that a function's body has from the node that calls it or from the function's defaults; NULL. Of a function that
 * nothing calls it stays a GATHER_ATTRIBUTE_REFERENCE: its value is unknown. */
const gather_attribute *gather_scope_attribute(const gather_scope *scope, const gather_node *node, const char *name);
const gather_attribute *gather_step_find(const gather_step *step, const char *name);
/* The type that a text attribute of OpenVINO names; the fallback where it is absent. */
gather_type gather_step_named_type(const gather_step *step, const char *name, gather_type fallback);
/* An integer attribute, or the fallback if it is absent; false if it is present but cannot be read. */
bool gather_step_integer(const gather_step *step, const char *name, int64_t fallback, int64_t *value);
/* The same for a boolean attribute: 1, true, True. */
bool gather_step_flag(const gather_step *step, const char *name, bool fallback, bool *value);
/* Whether a text attribute is absent or one of the words, without case; `word` says which, 0 for absent. */
bool gather_step_word(const gather_step *step, const char *name, const char *const *words, int32_t count,
                      int32_t *word);
/* The axes of an operator: input i where it is given, else the attribute. NULL where they are not known; given: whether the
 * node has them at all. */
const int64_t *gather_step_axes(gather_step *step, const char *name, int32_t i, int64_t *count, bool *given);
/* An attribute's integers: ONNX has a list, an IR layer text with commas. NULL where absent. */
const int64_t *gather_step_attribute(gather_step *step, const char *name, int64_t *count);
/* Axis in [0, rank); false outside [-rank, rank-1]. */
bool gather_wrap_axis(int64_t axis, int32_t rank, int32_t *wrapped);
/* Element number i, in row-major order, of an integer or bool tensor: false for other types. */
bool gather_tensor_integer(const gather_tensor *tensor, int64_t i, int64_t *value);
/* The integer at an address; of unsigned ones the bits. False if the type is neither integer nor bool. */
bool gather_integer_load(const char *at, gather_type type, bool swapped, int64_t *value);

/* ---- for the functions that follow values */

/* A number of which nothing is known: it may be below 0. */
extern const gather_dim gather_any_number;

/* Bits of a whole-byte integer type, bool as one; 0 for others. */
int32_t gather_integer_bits(gather_type type);
/* Whether every element fits the type. */
bool gather_parts_fit(const gather_dim *parts, int64_t count, gather_type to);
/* Sets every element of a small output to the same value. */
void gather_step_fill(gather_step *step, gather_dim part);

/* ---- broadcasting (infer_broadcast.c) */

/* Aligns two shapes at their ends, leaving out the last `skip` of each; returns the rank. */
int32_t gather_broadcast_shapes(const gather_known *a, const gather_known *b, int32_t skip, gather_dim *dims);
/* The shape of all inputs, broadcast. since: the opset from which ONNX broadcasts them. */
void gather_step_broadcast(gather_step *step, int64_t since);

/* ---- the rules that infer.def names (infer_*.c, flow.c, elements_*.c) */

#define GATHER_FLOW(dialect, op, rule) void gather_infer_##rule(gather_step *step);
#define GATHER_INFER(dialect, op, shape, exact, interval) \
  void gather_infer_##shape(gather_step *step);           \
  extern const gather_exact gather_exact_##exact;         \
  extern const gather_interval gather_interval_##interval;
#include "model/infer.def"
#undef GATHER_INFER
#undef GATHER_FLOW

/* The attributes of a gather node as far as they are known. An axis that is not is GATHER_AXIS_UNKNOWN, also where
 * batch_dims is not known; with scope NULL, one that is an input. The axis of an operator without one is 0. Returns GATHER_FILE_MALFORMED for an attribute that is not an integer, or is given twice;
 * GATHER_UNSUPPORTED for one that only the caller of a function knows. The attribute at fault is then unknown in the
 * options. */
GATHER_CHECKED gather_status gather_node_options(const gather_model *model, const gather_scope *scope,
                                                 const gather_node *node, gather_options *options, gather_error *error);

#endif
