/* SPDX-License-Identifier: MIT
 *
 * family_steps.c: steps that the files of all families share.
 */
#include "core/op/family.h"

const gather_dim gather_len_unknown = {0, GATHER_DIM_UNBOUNDED, NULL};

bool gather_dims_meet(const gather_dim *a, const gather_dim *b, gather_dim *both) {
  both->min = a->min > b->min ? a->min : b->min;
  both->max = a->max < b->max ? a->max : b->max;
  both->symbol = a->symbol ? a->symbol : b->symbol;
  return both->min <= both->max;
}

gather_status gather_infer_push(gather_shape *out, const gather_dim *dim, gather_error *error) {
  if (out->rank >= GATHER_MAX_RANK) return gather_shape_full(error);
  out->dims[out->rank++] = *dim;
  return GATHER_OK;
}

int32_t gather_column_along_axis(const gather_attributes *a, int32_t d) { return d == a->axis ? 0 : -1; }

int32_t gather_column_of_tuple(const gather_attributes *a, int32_t d) {
  return d >= a->axis && d < a->axis + a->tuple_len ? d - a->axis : -1;
}
