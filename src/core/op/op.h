/* SPDX-License-Identifier: MIT
 *
 * op.h: what operators mean: resolved attributes, shapes, and the nest that a plan runs. No loop over elements here, but in tree.c.
 */
#ifndef GATHER_OP_OP_H
#define GATHER_OP_OP_H

#include "core/plan/plan.h"
#include "gather/gather.h"

/* Resolved attributes; -1 = unknown. */
typedef struct gather_attributes {
  int32_t axis;                     /* counted from 0; the first dimension of data that an index selects on */
  int32_t batch_dims;               /* at least 0 */
  int32_t tuple_len;                /* operators with tuples: the numbers of an index */
  gather_dimension_numbers numbers; /* StableHLO only: checked, with every field */
} gather_attributes;

typedef struct gather_family_rules gather_family_rules;

/* Attributes and shapes after the checks. */
typedef struct gather_geometry {
  gather_attributes at;
  bool writes; /* the sides are exchanged: the output is the updates. Set before the shape is found */
  bool negative;
  gather_on_bad on_bad; /* not the default */
  int32_t tuple_dim;    /* dimension of indices with the numbers of the tuples, if not the last; else -1; see plan.h */
  int32_t rank;         /* of the output */
  int64_t shape[GATHER_MAX_RANK];
} gather_geometry;

/* The operator versions, by their row in ops.def. */
enum {
#define GATHER_OP(ENUM, ...) GATHER_OP_##ENUM,
#include "core/op/ops.def"
#undef GATHER_OP
  GATHER_OP_ROWS
};
extern const gather_op gather_op_table[GATHER_OP_ROWS];
/* Those of gather_take, gather_elements, gather_nd and gather_tree. */
#define GATHER_OP_OF_TAKE (&gather_op_table[GATHER_OP_ONNX_GATHER_13])
#define GATHER_OP_OF_ELEMENTS (&gather_op_table[GATHER_OP_ONNX_ELEMENTS_13])
#define GATHER_OP_OF_ND (&gather_op_table[GATHER_OP_ONNX_ND_13])
#define GATHER_OP_OF_TREE (&gather_op_table[GATHER_OP_OPENVINO_TREE_1])

/* options with every field set, also those that an older header does not have. NULL gives the defaults. */
GATHER_CHECKED gather_status gather_options_read(const gather_options *options, gather_options *full, gather_error *error);

/* Checks all arguments and writes the plan without its kernels: the caller must still call gather_plan_choose, unless
 * gather_plan_execute_few runs it. out == NULL: row-major. options: full. The plan keeps the pointers op and options->fill. */
GATHER_CHECKED gather_status gather_lower_nest(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                               const gather_tensor *out, const gather_options *options, gather_plan *plan,
                                               gather_error *error);
/* The same, and writes the whole plan. */
GATHER_INLINE GATHER_CHECKED gather_status gather_lower(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                        const gather_tensor *out, const gather_options *options, gather_plan *plan,
                                                        gather_error *error) {
  const gather_status status = gather_lower_nest(op, data, indices, out, options, plan, error);
  if (status == GATHER_OK) gather_plan_choose(plan);
  return status;
}

#if !defined(GATHER_ONLY_GATHER)
/* The nest of a scatter (plan.h: plans that write). rules: of the family whose sides are exchanged. written: the tensor that is written,
 * of the shape and type of data. updates: NULL = row-major. They are checked as gather_lower_nest checks its tensors. Errors name them
 * "data", "indices", "updates". */
GATHER_CHECKED gather_status gather_lower_written(const gather_op *op, const gather_family_rules *rules, const gather_tensor *written,
                                                  const gather_tensor *indices, const gather_tensor *updates, const gather_options *options,
                                                  gather_plan *plan, gather_error *error);
#endif

/* Whether `out` has the type and the byte order of an input, whose name is for errors, and may be written. */
GATHER_CHECKED gather_status gather_output_check_type(const gather_tensor *data, const char *name, const gather_tensor *out,
                                                      gather_error *error);
/* Whether the strides of an output keep its elements apart. */
GATHER_CHECKED gather_status gather_output_check_strides(const gather_tensor *out, gather_error *error);

/* Names the operator in an error and returns its status. */
GATHER_INLINE gather_status gather_fail_op(gather_error *error, const gather_op *op, gather_status status) {
  if (error && status != GATHER_OK) error->op = op->name, error->rules = op->rules;
  return status;
}

/* gather_output_sources as a formula: "out[i, j] = data[idx[i], j]"; for tuples "out[i, j] = data[idx[i, 0], idx[i, 1], j]"; if dimensions
 * are fused into one "out[(i, j), k] = data[i, j, idx[i, j, k, 0]]"; for windows "out[i, j] = data[idx[i] + j]". text: room for `bytes`, at
 * least 1. A longer formula is truncated, and always zero-terminated. Returns as gather_output_sources. After an error the text is
 * empty. */
GATHER_CHECKED gather_status gather_output_formula(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                                                   const gather_options *options, char *text, size_t bytes, gather_error *error);

#endif
