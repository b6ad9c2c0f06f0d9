/* SPDX-License-Identifier: MIT
 *
 * infer.c: the table of operators, and the call of the right function.
 */
#include "model/infer.h"

#include <string.h>

#include "base/error.h"

typedef struct {
  const char *op;
  gather_infer_fn infer;
} infer_row;

static const infer_row ROWS[] = {
#define GATHER_INFER(op, function) {op, gather_infer_##function},
#include "model/infer.def"
#undef GATHER_INFER
};

/* Only operators of the documents: a Reshape of somebody's own domain may be anything. */
static bool is_standard(const gather_step *step) {
  return step->openvino ? strncmp(step->node->domain, "opset", 5) == 0 : step->node->domain[0] == '\0';
}

gather_status gather_infer_node(gather_step *step, gather_error *error) {
  step->out = (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = step->node};
  step->no_memory = false;
  for (size_t i = 0; is_standard(step) && i < sizeof ROWS / sizeof *ROWS; i++)
    if (strcmp(ROWS[i].op, step->node->op) == 0) {
      ROWS[i].infer(step);
      break;
    }
  if (step->no_memory) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for shapes and constants");
  return GATHER_OK;
}
