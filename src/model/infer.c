/* SPDX-License-Identifier: MIT
 *
 * infer.c: the table of operators, and the call of the right function.
 */
#include "model/infer.h"

#include <string.h>

#include "base/error.h"

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

/* The first row whose operator is not before that one. */
static int find_row(const char *op) {
  int low = 0, high = ROW_COUNT;
  while (low < high) {
    int middle = (low + high) / 2;
    if (strcmp(ROWS[middle].op, op) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static gather_known nothing(const gather_step *step) {
  return (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = step->node};
}

void gather_step_output(gather_step *step, int32_t i) {
  step->outs[step->at] = step->out;
  step->at = i;
  step->out = step->outs[i];
}

gather_status gather_infer_node(gather_step *step, gather_error *error) {
  int dialect = dialect_of(step), count = step->node->output_count;
  step->out = nothing(step);
  step->at = 0;
  step->no_memory = false;
  step->outs = gather_step_take(step, count, sizeof *step->outs);
  for (int i = 0; step->outs && i < count; i++) step->outs[i] = step->out;
  if (step->outs && count > 0)
    for (int i = find_row(step->node->op); i < ROW_COUNT && strcmp(ROWS[i].op, step->node->op) == 0; i++)
      if (ROWS[i].dialect & dialect) {
        ROWS[i].infer(step);
        gather_step_output(step, step->at);
        break;
      }
  if (step->no_memory) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for shapes and constants");
  return GATHER_OK;
}
