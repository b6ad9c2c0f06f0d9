/* SPDX-License-Identifier: MIT
 *
 * op.h: what operators mean: resolved attributes, shapes, and the nest that a plan runs. No loop over elements here.
 */
#ifndef GATHER_OP_OP_H
#define GATHER_OP_OP_H

#include "core/plan/plan.h"
#include "gather/gather.h"

/* Resolved attributes; -1 = unknown. */
typedef struct gather_attributes {
  int32_t axis;                     /* counted from 0; the first dimension of data on which an index selects */
  int32_t batch_dims;               /* at least 0 */
  int32_t tuple_len;                /* operators with tuples: the numbers of an index */
  gather_dimension_numbers numbers; /* StableHLO only: checked, with every field */
} gather_attributes;

typedef struct gather_family_rules gather_family_rules;

/* Attributes and shapes after the checks. */
typedef struct gather_geometry {
  gather_attributes at;
  bool negative;
  gather_on_bad on_bad; /* not the default */
  int32_t
      tuple_dim; /* the dimension of indices with the numbers of the tuples, if it is not the last; else -1; see plan.h */
  int32_t rank; /* of the output */
  int64_t shape[GATHER_MAX_RANK];
} gather_geometry;

/* The operator versions of gather_take, gather_elements, gather_nd and gather_tree. */
extern const gather_op *const gather_op_take, *const gather_op_elements, *const gather_op_nd, *const gather_op_tree;

/* options with every field set, also those that an older header does not have. NULL gives the defaults. */
GATHER_CHECKED gather_status gather_options_read(const gather_options *options, gather_options *full,
                                                 gather_error *error);

/* The axis in [0, rank), from an attribute in [-rank, rank - 1]. */
GATHER_CHECKED gather_status gather_axis_resolve(const gather_op *op, int64_t axis, int32_t rank, int32_t *resolved,
                                                 gather_error *error);

/* batch_dims in [0, min(ranks)], from an attribute that counts from the rank of indices where it is negative, and not above
 * the axis (-1 = the axis is not known). */
GATHER_CHECKED gather_status gather_batch_dims_resolve(const gather_op *op, int64_t batch_dims, int32_t data_rank,
                                                       int32_t indices_rank, int32_t axis, int32_t *resolved,
                                                       gather_error *error);

/* Everything about a gather except for its output. rules: of the operator's family (family.h). The tensors were
 * checked. */
GATHER_CHECKED gather_status gather_geometry_find(const gather_op *op, const gather_family_rules *rules,
                                                  const gather_tensor *data, const gather_tensor *indices,
                                                  const gather_options *options, gather_geometry *geometry,
                                                  gather_error *error);

/* gather_geometry_find without its last step: whether the size of the output fits in memory. */
GATHER_CHECKED gather_status gather_geometry_resolve(const gather_op *op, const gather_family_rules *rules,
                                                     const gather_tensor *data, const gather_tensor *indices,
                                                     const gather_options *options, gather_geometry *geometry,
                                                     gather_error *error);
/* This last step. */
GATHER_CHECKED gather_status gather_geometry_check_size(const gather_geometry *geometry, const gather_tensor *data,
                                                        gather_error *error);

/* Checks all arguments and writes the plan without its kernels: gather_plan_choose is still to be called, unless few.c
 * runs it. out == NULL: row-major. options: full. The plan keeps the pointers op and options->fill. */
GATHER_CHECKED gather_status gather_lower_nest(const gather_op *op, const gather_tensor *data,
                                               const gather_tensor *indices, const gather_tensor *out,
                                               const gather_options *options, gather_plan *plan, gather_error *error);
/* The same, and writes the whole plan. */
GATHER_CHECKED gather_status gather_lower(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                          const gather_tensor *out, const gather_options *options, gather_plan *plan,
                                          gather_error *error);

/* Whether the order of an element's bytes has a meaning. */
bool gather_order_matters(const gather_tensor *tensor);
/* Whether `out` has the type and the byte order of an input, whose name is for errors, and may be written. */
GATHER_CHECKED gather_status gather_output_check_type(const gather_tensor *data, const char *name,
                                                      const gather_tensor *out, gather_error *error);
/* Whether the strides of an output keep its elements apart. */
GATHER_CHECKED gather_status gather_output_check_strides(const gather_tensor *out, gather_error *error);

/* Names the operator in an error and returns its status. */
gather_status gather_fail_op(gather_error *error, const gather_op *op, gather_status status);

#endif
