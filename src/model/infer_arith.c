/* SPDX-License-Identifier: MIT
 *
 * infer_arith.c: the types and shapes of element-wise operators.
 */
#include "model/infer.h"

void gather_infer_compare(gather_step *step) {
  step->out.type = GATHER_TYPE_BOOL;
  gather_step_broadcast(step, 7);
}

static void one_type(gather_step *step, int64_t since) {
  const gather_known *first = gather_step_in(step, 0), *second = gather_step_in(step, 1);
  gather_step_broadcast(step, since);
  step->out.type = first->type != GATHER_TYPE_NONE ? first->type : second->type;
}

void gather_infer_binary(gather_step *step) { one_type(step, 7); }

/* Any number of inputs. */
void gather_infer_variadic(gather_step *step) { one_type(step, 8); }

void gather_infer_where(gather_step *step) {
  gather_step_broadcast(step, 7);
  step->out.type = gather_step_in(step, 1)->type;
  if (step->out.type == GATHER_TYPE_NONE) step->out.type = gather_step_in(step, 2)->type;
}
