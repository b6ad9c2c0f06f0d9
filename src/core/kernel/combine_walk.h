/* SPDX-License-Identifier: MIT
 *
 * combine_walk.h: the loops over updates of the kernels that combine (combine.h). What is done with a row is an argument, a function that
 * the compiler sees. There are many kernels: so what they have in common, prefetching, is a function that they call for some rows at a
 * time.
 */
#ifndef GATHER_KERNEL_COMBINE_WALK_H
#define GATHER_KERNEL_COMBINE_WALK_H

#include "core/kernel/combine.h"
#include "core/kernel/copy.h"

/* Prefetches what is due before the updates from number `from` on are combined. Returns up to which update that is enough. */
int64_t gather_combine_prefetch(const gather_combine_span *span, int64_t from);

/* Combines a row of `bytes` bytes, at least one element, with an update. */
typedef void (*gather_combine_row_fn)(char *restrict row, const char *restrict update, int64_t bytes);

/* Rows of any length. Without places the place is always the same 0, and the pointer to the updates moves. */
GATHER_INLINE void gather_combine_rows(const gather_combine_span *s, gather_combine_row_fn combine) {
  static const int64_t NOWHERE = 0;
  const int64_t count = s->count, axis_step = s->axis_step, out_step = s->out_step;
  const int64_t place_step = s->places ? 1 : 0, update_step = s->places ? 0 : s->update_step;
  const int64_t *rows = s->rows, *place = s->places ? s->places : &NOWHERE;
  const char *updates = s->updates;
  char *out = s->out;
  int64_t bytes = s->row_bytes;
  for (int64_t j = 0; j < count;)
    for (const int64_t end = gather_combine_prefetch(s, j); j < end; j++) {
      GATHER_OPAQUE(bytes); /* one loop for all lengths */
      combine(out + rows[j] * axis_step, updates + *place, bytes);
      out += out_step, updates += update_step, place += place_step;
    }
}

/* How many updates are prefetched for: the rows after those at the end are unknown. */
GATHER_INLINE int64_t gather_combine_fetched(const gather_combine_span *s) {
  if (s->prefetch_rows <= 0) return 0;
  return s->more >= s->prefetch_rows ? s->count : s->count + s->more - s->prefetch_rows;
}

/* Rows of one element, or of few bytes: what is asked for each takes as long as they do, so that there is a loop for each case. What
 * needs no prefetching is in cache. */
GATHER_INLINE void gather_combine_elements(const gather_combine_span *s, gather_combine_row_fn combine) {
  const int64_t count = s->count, fetched = gather_combine_fetched(s), axis_step = s->axis_step, out_step = s->out_step;
  const int64_t bytes = s->row_bytes, ahead = s->prefetch_rows, update_step = s->update_step;
  const int64_t *rows = s->rows, *places = s->places;
  const char *updates = s->updates;
  char *out = s->out;
  int64_t j = 0;
  if (places) {
    for (; j < count; j++, out += out_step) combine(out + rows[j] * axis_step, updates + places[j], bytes);
    return;
  }
  for (; j < fetched; j++, out += out_step, updates += update_step) {
    GATHER_PREFETCH(out + ahead * out_step + rows[j + ahead] * axis_step);
    combine(out + rows[j] * axis_step, updates, bytes);
  }
  for (; j < count; j++, out += out_step, updates += update_step) combine(out + rows[j] * axis_step, updates, bytes);
}

#endif
