/* SPDX-License-Identifier: MIT
 *
 * tree_internal.h: the steps of gather_tree that have files of their own.
 */
#ifndef GATHER_OP_TREE_INTERNAL_H
#define GATHER_OP_TREE_INTERNAL_H

#include "core/kernel/beams.h"

/* The inputs of a gather_tree. */
typedef struct gather_tree_inputs {
  const gather_tensor *step_ids, *parent_ids, *max_seq_len, *end_token;
} gather_tree_inputs;

/* Validates what a beam search names, before anything is written: the lengths and the parents that sequences follow. *bad: the
 * parents out of range that the policy repairs. */
GATHER_CHECKED gather_status gather_tree_validate(const gather_op *op, const gather_beams *beams,
                                                  const gather_executor *executor, int64_t *bad, gather_error *error);

#endif
