/* SPDX-License-Identifier: MIT
 *
 * infer_node.c: the table of operators, and the call of the right function.
 */
#include "model/infer.h"

#include <string.h>

#include "core/base/error.h"
#include "model/bounds.h"
#include "model/values.h"

enum { ONNX = 1, OPENVINO = 2, BOTH = 3, MICROSOFT = 4 };

/* The words of infer.def for operators without such a rule. */
const gather_exact gather_exact_none = {NULL, NULL, 0, GATHER_NUMBERS},
                   gather_exact_shape = {NULL, NULL, 0, GATHER_NUMBERS};
const gather_interval gather_interval_none = {NULL}, gather_interval_shape = {NULL};

static const gather_operator ROWS[] = {
#define GATHER_INFER(dialect, op, shape, exact, interval) \
  {op, dialect, gather_infer_##shape, &gather_exact_##exact, &gather_interval_##interval},
#define GATHER_FLOW(dialect, op, rule) GATHER_INFER(dialect, op, rule, shape, shape)
#include "model/infer.def"
#undef GATHER_FLOW
#undef GATHER_INFER
};

enum { ROW_COUNT = (int)(sizeof ROWS / sizeof *ROWS) };

/* Only operators of the standard domains: a Reshape of another domain may do anything. */
static int dialect_of(const gather_step *step) {
  const char *domain = step->node->domain;
  if (step->openvino) return strncmp(domain, "opset", 5) == 0 ? OPENVINO : 0;
  if (domain[0] == '\0') return ONNX;
  return strcmp(domain, "com.microsoft") == 0 ? MICROSOFT : 0;
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int compare(const char *a, const char *b) {
  int d = 0;
  for (; d == 0 && (*a || *b); a++, b++) d = lower(*a) - lower(*b);
  return d;
}

/* The first row whose operator is not before that one. */
static int find_row(const char *op) {
  int low = 0, high = ROW_COUNT;
  while (low < high) {
    int middle = (low + high) / 2;
    if (compare(ROWS[middle].name, op) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* OpenVINO accepts a layer's type in any case. */
const gather_operator *gather_infer_row(const gather_step *step) {
  const char *op = step->node->op;
  int dialect = dialect_of(step);
  for (int i = find_row(op); i < ROW_COUNT && compare(ROWS[i].name, op) == 0; i++)
    if ((ROWS[i].dialect & dialect) && (step->openvino || strcmp(ROWS[i].name, op) == 0)) return &ROWS[i];
  return NULL;
}

static gather_known nothing(const gather_step *step) {
  return (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = step->node};
}

/* For nodes that depend only on the file, if elements of an input cannot be read: the unknown outputs lack the same
 * elements. If the node also needs an input of the model, its outputs are unknown for that reason. */
static void pass_unreadable(gather_step *step) {
  const gather_file_tensor *unreadable = NULL;
  const gather_operator *row = step->row;
  if (row && (row->shape == gather_infer_shape_of || row->shape == gather_infer_size)) return; /* needs no element */
  for (int32_t i = 0; i < step->node->input_count; i++) {
    if (!gather_step_has(step, i)) continue;
    const gather_known *in = gather_step_in(step, i);
    if (!in->tensor && !in->unreadable) return;
    if (!unreadable) unreadable = in->unreadable;
  }
  for (int32_t k = 0; k < step->node->output_count; k++)
    if (!step->outs[k].tensor && !step->outs[k].unreadable) step->outs[k].unreadable = unreadable;
}

gather_status gather_infer_node(gather_step *step, gather_error *error) {
  int count = step->node->output_count;
  step->out = nothing(step);
  step->at = 0;
  step->no_memory = false;
  step->outs = gather_step_take(step, count, sizeof *step->outs);
  for (int i = 0; step->outs && i < count; i++) step->outs[i] = step->out;
  if (step->row && step->outs && count > 0) {
    step->row->shape(step);
    if (step->row->interval->of) gather_follow_intervals(step);
    if (step->row->exact->follow && !step->out.tensor) step->row->exact->follow(step);
    gather_step_output(step, step->at);
    for (int i = 0; i < count; i++) {
      gather_step_output(step, i);
      gather_infer_bounds(step);
    }
    gather_step_output(step, step->at);
  }
  if (step->outs) pass_unreadable(step);
  if (step->no_memory) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for shapes and constants");
  return GATHER_OK;
}
