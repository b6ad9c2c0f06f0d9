/* SPDX-License-Identifier: MIT
 *
 * writing_node.h: nodes of operators that write by index (gather/scatter.h), and of embedding bags: which input is what, their attributes,
 * and the rules by which their indices select.
 */
#ifndef GATHER_MODEL_WRITING_NODE_H
#define GATHER_MODEL_WRITING_NODE_H

#include "gather/scatter.h"
#include "model/infer.h"

/* Which input of a node is what; -1: it has none. */
typedef struct gather_node_inputs {
  const char *function; /* of the operator's family (family.def); NULL: that of a gather */
  int32_t indices, updates, axis;
  int32_t most;         /* inputs */
  const char *needs[4]; /* what must be given, by number; NULL: may be omitted */
  int64_t default_axis; /* of the attribute */
  gather_family reads;  /* the gather whose rules say what an index selects; 0: none, or that of a family of family.def that it writes */
} gather_node_inputs;

/* Those of a gather for NULL and for an operator of a function that is not known here. */
const gather_node_inputs *gather_inputs_of(const gather_op *op);

/* Whether an operator writes by index, or is an embedding bag: its function is one of gather/scatter.h. */
bool gather_op_writes(const gather_op *op);

/* Whether it writes a run of rows from each index on (TensorScatter), so that an index has a range of its own. */
bool gather_op_is_cache(const gather_op *op);

/* The rules by which an operator's indices select: its own, or, if it writes, those of the gather that reads there, in *room. */
const gather_op *gather_reading_rules(const gather_op *op, gather_op *room);

/* Attributes beyond axis. */
typedef struct gather_node_writing {
  gather_reduction reduction;
  bool neutral;
  bool circular; /* TensorScatter */
} gather_node_writing;

/* Reads them; scope: NULL = none. Returns as gather_node_options, and GATHER_UNSUPPORTED for a word that the document lacks. */
GATHER_CHECKED gather_status gather_node_writing_read(const gather_op *op, const gather_scope *scope, const gather_node *node,
                                                      gather_node_writing *writing, gather_error *error);
/* Whether an operator of ONNX has an attribute of that name. */
bool gather_node_writing_has(const gather_op *op, const char *name);

enum { GATHER_MOST_BAG_INPUTS = 6 };

/* The bags of a node; inputs: its tensors, NULL if omitted. They are not copied. Returns GATHER_FILE_MALFORMED for one that is missing or
 * that is not a number. */
GATHER_CHECKED gather_status gather_node_bags(const gather_op *op, const gather_tensor *const inputs[GATHER_MOST_BAG_INPUTS],
                                              gather_bags *bags, gather_error *error);
/* Its inputs that decide which rows are in which bag, beside the indices, and how many bags there are: their numbers; returns how many.
 * *count: that whose length (or, as_number, value) is the number of bags. */
int32_t gather_bag_inputs(const gather_op *op, int32_t which[3], int32_t *count, bool *as_number);

#endif
