/* SPDX-License-Identifier: MIT
 *
 * arrow_take.c: memory that an open Arrow file owns.
 */
#include <string.h>

#include "io/format/arrow/arrow.h"

gather_status gather_arrow_no_memory(const gather_arrow *arrow) {
  return gather_fail_file(arrow->error, GATHER_OUT_OF_MEMORY, arrow->file->name, -1, "no memory for its columns");
}

gather_status gather_arrow_take(gather_arrow *arrow, int64_t count, size_t bytes, void *memory) {
  void *taken = gather_arena_take(&arrow->file->arena, count, (int64_t)bytes);
  if (!taken) return gather_arrow_no_memory(arrow);
  memcpy(memory, &taken, sizeof taken);
  return GATHER_OK;
}
