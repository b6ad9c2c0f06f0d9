/* SPDX-License-Identifier: MIT
 *
 * tree_shape.c: the shape of a gather_tree where lengths or ranks may be unknown.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/op/family.h"
#include "gather/tree.h"

static gather_status check(const gather_shape *shape, const char *input, int32_t rank, gather_error *error) {
  GATHER_TRY(gather_infer_check(shape, input, error));
  if (shape->rank < 0 || shape->rank == rank) return GATHER_OK;
  return gather_fail_input(error, GATHER_RANK_MISMATCH, input, "%s has rank %" PRId32 "; its rank must be %" PRId32,
                           input, shape->rank, rank);
}

static gather_status meet(gather_dim *known, const gather_dim *more, const char *input, int32_t d,
                          gather_error *error) {
  if (gather_dims_meet(known, more, known)) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input,
                           "dimension %" PRId32 " of %s cannot be equal to that of step_ids", d, input);
}

static gather_status infer(const gather_shape *step_ids, const gather_shape *parent_ids,
                           const gather_shape *max_seq_len, const gather_shape *end_token, gather_shape *out,
                           gather_error *error) {
  gather_dim dims[3] = {gather_len_unknown, gather_len_unknown, gather_len_unknown};
  if (!out) return gather_fail(error, GATHER_USAGE, "out is NULL");
  GATHER_TRY(check(step_ids, "step_ids", 3, error));
  GATHER_TRY(check(parent_ids, "parent_ids", 3, error));
  GATHER_TRY(check(max_seq_len, "max_seq_len", 1, error));
  GATHER_TRY(check(end_token, "end_token", 0, error));
  for (int32_t d = 0; d < 3 && step_ids->rank == 3; d++) dims[d] = step_ids->dims[d];
  for (int32_t d = 0; d < 3 && parent_ids->rank == 3; d++)
    GATHER_TRY(meet(&dims[d], &parent_ids->dims[d], "parent_ids", d, error));
  if (max_seq_len->rank == 1) GATHER_TRY(meet(&dims[1], &max_seq_len->dims[0], "max_seq_len", 0, error));
  out->rank = 3;
  for (int32_t d = 0; d < 3; d++) out->dims[d] = dims[d];
  return GATHER_OK;
}

gather_status gather_tree_infer_shape(const gather_shape *step_ids, const gather_shape *parent_ids,
                                      const gather_shape *max_seq_len, const gather_shape *end_token, gather_shape *out,
                                      gather_error *error) {
  return gather_fail_op(error, gather_op_tree, infer(step_ids, parent_ids, max_seq_len, end_token, out, error));
}
