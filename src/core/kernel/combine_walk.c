/* SPDX-License-Identifier: MIT
 *
 * combine_walk.c: prefetching for the kernels that combine.
 */
#include "core/kernel/combine_walk.h"

enum { AT_A_TIME = 8 };

/* The rows that come later, one for one. */
int64_t gather_combine_prefetch(const gather_combine_span *span, int64_t from) {
  const int64_t count = span->count, ahead = span->prefetch_rows, lines = span->row_bytes > 64 ? span->prefetch_lines : 1;
  if (ahead <= 0 || span->places) return count;
  const int64_t end = from + AT_A_TIME < count ? from + AT_A_TIME : count, known = count + span->more;
  const int64_t first = from + ahead, last = end + ahead < known ? end + ahead : known;
  for (int64_t j = first; j < last; j++) gather_prefetch_row(span->out + j * span->out_step + span->rows[j] * span->axis_step, lines);
  return end;
}

void gather_combine_fetch(const gather_combine_span *span, bool updates) {
  const int64_t lines = span->prefetch_lines;
  if (lines <= 0) return;
  for (int64_t j = 0; j < span->count; j++) gather_prefetch_row(span->out + span->rows[j] * span->axis_step, lines);
  for (int64_t j = 0; updates && j < span->count; j++) gather_prefetch_row(span->updates + span->places[j], lines);
}
