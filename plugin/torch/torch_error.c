/* SPDX-License-Identifier: MIT
 *
 * torch_error.c: errors: as C++ exceptions for PyTorch, and with every field for whoever asks afterwards.
 */
#include <stdlib.h>

#include "torch_operator.h"

/* The last error of this thread. PyTorch passes on the message only. */
static _Thread_local gather_error last;
static _Thread_local bool any;

_Noreturn void gather_torch_throw(const gather_error *error) {
  last = *error;
  any = true;
  aoti_torch_check(false, error->op ? error->op : "libgather", "libgather_torch", 0, last.message);
  abort(); /* not reached: it throws */
}

bool gather_torch_last_error(int64_t *numbers, int64_t *position, const char **texts) {
  if (!any) return false;
  any = false;
  const int64_t fields[] = {last.status, last.file_offset,       last.row,      last.axis, last.position_rank, last.value, last.low,
                            last.high,   last.value_is_unsigned, last.bad_count};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) numbers[i] = fields[i];
  for (int32_t i = 0; i < last.position_rank; i++) position[i] = last.position[i];
  texts[0] = last.message;
  texts[1] = gather_status_name(last.status);
  texts[2] = last.op;
  texts[3] = last.rules;
  texts[4] = last.input;
  return true;
}
