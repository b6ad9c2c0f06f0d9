/* SPDX-License-Identifier: MIT
 *
 * values_each.c: element-wise operators and reductions on whole tensors of integers, by the exact function of the operator's row.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/values.h"

enum { MOST = 8 };

/* Whether the output can become known here. */
static bool is_open(const gather_step *step) { return step->out.rank >= 0 && gather_integer_bits(step->out.type) > 0; }

/* The types that the model declares for the inputs; their elements may be stored in others. */
static bool types_fit(const gather_step *step, gather_demand types, int32_t count) {
  bool selects = types == GATHER_SELECT;
  gather_type first = gather_step_in(step, selects)->type;
  if (types == GATHER_CONVERT) return gather_integer_bits(first) > 0;
  if (selects && gather_step_in(step, 0)->type != GATHER_TYPE_BOOL) return false;
  for (int32_t i = selects; i < count; i++)
    if (gather_step_in(step, i)->type != first) return false;
  return types == GATHER_LOGIC ? first == GATHER_TYPE_BOOL : gather_integer_bits(first) > 0;
}

/* Given values may exceed the type that the model declares; what a runtime would read is then unknown. */
static bool reads_truly(const gather_step *step, const gather_view *view, gather_type type) {
  char place[8];
  gather_step reading = *step;
  gather_view nowhere = *view;
  if (view->type == type || view->type == GATHER_TYPE_BOOL) return true;
  reading.out.type = type;
  nowhere.data = place;
  nowhere.type = GATHER_TYPE_INT64;
  memset(nowhere.strides, 0, sizeof nowhere.strides);
  return gather_step_each(&reading, view, 1, NULL, &nowhere);
}

/* Before opset 8 some inputs were broadcast differently: only equal shapes are followed. */
static bool stretches(const gather_step *step, gather_view *view, const gather_view *to) {
  return (step->openvino || step->node->opset >= 8 || view->rank == to->rank) &&
         gather_view_stretch(view, to->rank, to->lengths);
}

/* Computes the output from the views; types: the declared type of each. */
static void make(gather_step *step, gather_view *views, const gather_type *types, int32_t count) {
  gather_view to;
  if (!gather_step_new_view(step, &to)) return;
  for (int32_t i = 0; i < count; i++)
    if (!stretches(step, &views[i], &to) || !reads_truly(step, &views[i], types[i])) return;
  if (gather_step_each(step, views, count, step->row->exact->element, &to)) (void)gather_step_set_view(step, &to);
}

/* Clip has bounds that may be left out; Clamp has them as attributes, of which only whole numbers are followed. */
void gather_follow_clip(gather_step *step) {
  gather_view views[3];
  int64_t bounds[2] = {INT64_MIN, INT64_MAX};
  gather_type types[3] = {step->out.type, GATHER_TYPE_INT64, GATHER_TYPE_INT64};
  bool clamp = step->openvino;
  if (!is_open(step) || !gather_step_input_view(step, 0, &views[0])) return;
  if (!clamp && step->node->opset < 11) return;
  if (clamp && (!gather_step_integer(step, "min", INT64_MIN, &bounds[0]) ||
                !gather_step_integer(step, "max", INT64_MAX, &bounds[1])))
    return;
  for (int32_t i = 1; i < 3; i++) {
    views[i] = (gather_view){.data = (const char *)&bounds[i - 1], .type = GATHER_TYPE_INT64};
    if (clamp || !gather_step_has(step, i)) continue;
    types[i] = gather_step_in(step, i)->type;
    if (!gather_step_input_view(step, i, &views[i]) || views[i].rank != 0 || types[i] != types[0]) return;
  }
  make(step, views, types, 3);
}

void gather_follow_elements(gather_step *step) {
  gather_view views[MOST];
  gather_type types[MOST];
  const gather_exact *exact = step->row->exact;
  int32_t count = exact->inputs ? exact->inputs : step->node->input_count;
  if (!is_open(step) || count > MOST || count < 1 || !types_fit(step, exact->types, count)) return;
  for (int32_t i = 0; i < count; i++) {
    types[i] = gather_step_in(step, i)->type;
    if (!gather_step_input_view(step, i, &views[i])) return;
  }
  make(step, views, types, count);
}

/* A short list whose only axis was reduced: to no axis, or to one element. */
void gather_follow_fold(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0), *out = &step->out;
  int64_t count, value;
  bool folded = in->rank == 1 && (out->rank == 0 || (out->rank == 1 && out->dims[0].min == 1 && out->dims[0].max == 1));
  if (!folded || gather_integer_bits(in->type) < 8) return;
  const int64_t *values = gather_step_integers(step, in, &count);
  if (!values || count == 0 || !step->row->exact->element(step, values, (int32_t)count, &value)) return;
  const gather_dim part = gather_exact_dim(value);
  if (gather_parts_fit(&part, 1, in->type)) gather_step_fill(step, part);
}
