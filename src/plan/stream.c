/* SPDX-License-Identifier: MIT
 *
 * stream.c: an output that goes past the caches, for rows that are no whole lines. Rows are gathered into a buffer in the first
 * cache; its whole lines are stored to the output, the rest of a line waits for the next rows.
 */
#include <string.h>

#include "plan/execution.h"

enum { LINE = 64, ROOM = 4096 };

typedef struct {
  _Alignas(64) char bytes[LINE + ROOM + LINE];
} buffer;

/* The rows' bytes lie one after the other from `out` on (plan->linear). */
void gather_move_stream(const gather_execution *e, const gather_way *way, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  const gather_isa *isa = gather_kernel_stream_copy();
  const int64_t at_once = ROOM / plan->row_bytes;
  buffer b;
  char *out = e->out + walk->out;
  /* The buffer's lines are the output's: it begins as far into a line as the output does. */
  int64_t begin = (int64_t)((uintptr_t)out & (LINE - 1)), end = begin, head = begin;
  out -= begin;
  while (count > 0) {
    int64_t rows = count < at_once ? count : at_once;
    gather_move(e, way, walk, b.bytes + end - walk->out, rows);
    end += rows * plan->row_bytes, count -= rows;
    int64_t lines = end / LINE * LINE, from = 0;
    if (lines == 0) continue;
    if (head > 0) {
      /* The first line belongs in part to somebody else. */
      memcpy(out + head, b.bytes + head, (size_t)(LINE - head));
      from = LINE, head = 0;
    }
    isa->stream_copy(out + from, b.bytes + from, lines - from);
    memcpy(b.bytes, b.bytes + lines, LINE);
    out += lines, end -= lines;
  }
  if (end > head) memcpy(out + head, b.bytes + head, (size_t)(end - head));
  isa->fence();
}
