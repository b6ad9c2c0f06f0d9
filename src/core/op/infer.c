/* SPDX-License-Identifier: MIT
 *
 * infer.c: shapes that are not fully known. A length is an interval; a rank may be unknown; the family has the rules.
 * An error means that no input of these shapes is valid.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/op/family.h"

gather_status gather_infer_check(const gather_shape *shape, const char *input, gather_error *error) {
  if (!shape) return gather_fail_input(error, GATHER_USAGE, input, "%s: the shape is NULL", input);
  if (shape->rank < -1 || shape->rank > GATHER_MAX_RANK)
    return gather_fail_input(error, GATHER_UNSUPPORTED, input, "%s has rank %" PRId32, input, shape->rank);
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dims[d].min < 0 || shape->dims[d].min > shape->dims[d].max)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s: dimension %" PRId32 " is not a valid interval",
                               input, d);
  return GATHER_OK;
}

gather_status gather_infer_shape(const gather_op *op, const gather_shape *data, const gather_shape *indices,
                                 const gather_options *options, gather_shape *out, gather_error *error) {
  gather_options full;
  gather_attributes a;
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  if (!out) return gather_fail(error, GATHER_USAGE, "out is NULL");
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(gather_infer_check(data, "data", error));
  GATHER_TRY(gather_infer_check(indices, "indices", error));
  const gather_family_rules *rules;
  gather_status status = gather_family_find(op, &rules, error);
  if (status == GATHER_OK) status = rules->attributes(op, data->rank, indices->rank, -1, &full, false, &a, error);
  gather_shape result; /* out may be data or indices */
  result.rank = -1;
  if (status == GATHER_OK) status = rules->infer(op, data, indices, &a, &result, error);
  if (status != GATHER_OK) return gather_fail_op(error, op, status);
  out->rank = result.rank;
  if (result.rank > 0) memcpy(out->dims, result.dims, (size_t)result.rank * sizeof *result.dims);
  return GATHER_OK;
}
