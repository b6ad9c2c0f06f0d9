/* SPDX-License-Identifier: MIT
 *
 * infer_arith.c: the types and shapes of element-wise operators, and which integers fit a type.
 */
#include "base/tensor.h"
#include "model/infer.h"

int32_t gather_integer_bits(gather_type type) {
  if (type == GATHER_TYPE_BOOL) return 1;
  return gather_type_is_index(type) ? gather_type_get(type)->bits : 0;
}

bool gather_parts_fit(const gather_dim *parts, int64_t count, gather_type to) {
  int32_t bits = gather_integer_bits(to);
  if (bits < 8) return false;
  bool is_signed = gather_type_get(to)->kind == GATHER_KIND_INT;
  int64_t high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  int64_t low = !is_signed ? 0 : bits == 64 ? INT64_MIN : -high - 1;
  for (int64_t i = 0; i < count; i++)
    if (parts[i].min < low || (parts[i].min == parts[i].max && parts[i].max > high)) return false;
  return true;
}

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
