/* SPDX-License-Identifier: MIT
 *
 * infer_node.c: the table of operators, and the call of the right function.
 */
#include "model/infer.h"

#include <string.h>

#include "base/error.h"
#include "model/values.h"

enum { ONNX = 1, OPENVINO = 2, BOTH = 3, MICROSOFT = 4 };

typedef struct {
  const char *op;
  int dialect;
  gather_infer_fn infer;
} infer_row;

static const infer_row ROWS[] = {
#define GATHER_INFER(dialect, op, function) {op, dialect, gather_infer_##function},
#include "model/infer.def"
#undef GATHER_INFER
};

enum { ROW_COUNT = (int)(sizeof ROWS / sizeof *ROWS) };

/* Only operators of the documents: a Reshape of somebody's own domain may be anything. */
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
    if (compare(ROWS[middle].op, op) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The node's row; OpenVINO reads the types of layers in any case. NULL where there is none. */
static const infer_row *row_of(const gather_step *step) {
  const char *op = step->node->op;
  int dialect = dialect_of(step);
  for (int i = find_row(op); i < ROW_COUNT && compare(ROWS[i].op, op) == 0; i++)
    if ((ROWS[i].dialect & dialect) && (step->openvino || strcmp(ROWS[i].op, op) == 0)) return &ROWS[i];
  return NULL;
}

static gather_known nothing(const gather_step *step) {
  return (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = step->node};
}

/* Values that the file alone gives, but for elements that cannot be read: the outputs that are not known lack the same ones. What
 * also needs an input of the model is not known for that reason. */
static void pass_unreadable(gather_step *step, const infer_row *row) {
  const gather_file_tensor *unreadable = NULL;
  if (row && (row->infer == gather_infer_shape_of || row->infer == gather_infer_size)) return; /* needs no element */
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
  const infer_row *row = step->outs && count > 0 ? row_of(step) : NULL;
  if (row) {
    step->op = row->op;
    row->infer(step);
    gather_follow_elements(step);
    gather_step_output(step, step->at);
  }
  if (step->outs) pass_unreadable(step, row);
  if (step->no_memory) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for shapes and constants");
  return GATHER_OK;
}
