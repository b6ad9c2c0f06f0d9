/* SPDX-License-Identifier: MIT
 *
 * infer_tree.c: GatherTree: the output is like step_ids.
 */
#include <string.h>

#include "gather/tree.h"
#include "model/infer.h"

static void shape_of(const gather_known *known, gather_shape *shape) {
  shape->rank = known->rank;
  if (known->rank > 0) memcpy(shape->dims, known->dims, (size_t)known->rank * sizeof *known->dims);
}

void gather_infer_gather_tree(gather_step *step) {
  gather_shape shapes[4], out;
  for (int32_t i = 0; i < 4; i++) shape_of(gather_step_in(step, i), &shapes[i]);
  step->out.type = gather_step_in(step, 0)->type;
  if (gather_tree_infer_shape(&shapes[0], &shapes[1], &shapes[2], &shapes[3], &out, NULL) == GATHER_OK)
    gather_step_shape(step, out.rank, out.dims);
}
