/* SPDX-License-Identifier: MIT
 *
 * combine_walk.c: prefetching for the kernels that combine.
 */
#include "core/kernel/combine_walk.h"

enum { AT_A_TIME = 8 };

/* The rows that come later, one for one, and if there are places the updates too. */
int64_t gather_combine_prefetch(const gather_combine_span *span, int64_t from) {
  const int64_t count = span->count, ahead = span->prefetch_rows, lines = span->row_bytes > 64 ? span->prefetch_lines : 1;
  if (ahead <= 0) return count;
  const int64_t end = from + AT_A_TIME < count ? from + AT_A_TIME : count, known = count + span->more;
  const int64_t first = from + ahead, last = end + ahead < known ? end + ahead : known;
  for (int64_t j = first; j < last; j++) {
    gather_prefetch_row(span->out + j * span->out_step + span->rows[j] * span->axis_step, lines);
    if (span->places) gather_prefetch_row(span->updates + span->places[j], lines);
  }
  return end;
}
