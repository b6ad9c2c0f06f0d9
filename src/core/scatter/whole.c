/* SPDX-License-Identifier: MIT
 *
 * whole.c: copies of whole tensors: data to the destination of a scatter, gradients to memory without gaps, blocks of a cache. Strided and
 * packed ones are copied by a gather that selects the whole: by a tuple without numbers.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/op/op.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

static const int64_t ZERO = 0;

gather_status gather_whole_lower(const gather_tensor *from, const gather_tensor *to, gather_plan *plan, gather_error *error) {
  static const int64_t NO_NUMBERS[1] = {0};
  const gather_tensor none = {.data = (void *)(uintptr_t)&ZERO, .type = GATHER_TYPE_INT64, .rank = 1, .shape = NO_NUMBERS};
  const gather_options options = GATHER_OPTIONS_INIT;
  return gather_lower(&gather_op_table[GATHER_OP_MICROSOFT_ND_1], from, &none, to, &options, plan, error);
}

gather_status gather_whole_run(const gather_plan *plan, const gather_tensor *from, const gather_tensor *to, const gather_executor *executor,
                               gather_error *error) {
  gather_run run = GATHER_RUN_INIT;
  run.data = from->data, run.indices = &ZERO, run.out = to->data, run.executor = executor;
  return gather_plan_execute(plan, &run, error);
}

typedef struct byte_range {
  const char *from;
  char *to;
} byte_range;

enum { LINE = 64 };

static void copy_bytes(void *argument, int64_t first, int64_t last) {
  const byte_range *b = argument;
  memcpy(b->to + first, b->from + first, (size_t)(last - first));
}

static bool is_dense(const gather_tensor *tensor) { return gather_tensor_is_row_major(tensor) && tensor->packed_offset == 0; }

gather_status gather_whole_copy(const gather_tensor *from, const gather_tensor *to, const gather_executor *executor, gather_error *error) {
  if (!is_dense(from) || !is_dense(to)) {
    gather_plan plan;
    GATHER_TRY(gather_whole_lower(from, to, &plan, error));
    return gather_whole_run(&plan, from, to, executor, error);
  }
  byte_range b = {from->data, to->data};
  gather_split(executor, gather_tensor_bytes(from), 1, LINE, copy_bytes, &b);
  return GATHER_OK;
}

static void clear_bytes(void *argument, int64_t first, int64_t last) { memset((char *)argument + first, 0, (size_t)(last - first)); }

void gather_whole_clear(void *memory, int64_t bytes, const gather_executor *executor) {
  gather_split(executor, bytes, 1, LINE, clear_bytes, memory);
}
