/* SPDX-License-Identifier: MIT
 *
 * combine_walk.h: the loops over updates of the kernels that combine (combine.h). Where rows and updates are, and prefetching, is the same for
 * all kernels: one function says it for some updates at a time. What is left in a kernel is a loop over pairs of pointers.
 */
#ifndef GATHER_KERNEL_COMBINE_WALK_H
#define GATHER_KERNEL_COMBINE_WALK_H

#include "core/kernel/combine.h"
#include "core/kernel/copy.h"

typedef struct gather_combine_pair {
  char *row;
  const char *update;
} gather_combine_pair;

enum { GATHER_COMBINE_PAIRS = 32 };

/* Writes the pairs of the updates from number `from` on, at most GATHER_COMBINE_PAIRS, and prefetches those that are due. Returns how
 * many; 0: that was all. */
int64_t gather_combine_pairs(const gather_combine_span *span, int64_t from, gather_combine_pair *pairs);

/* Combines a row of `bytes` bytes, at least one element, with an update. */
typedef void (*gather_combine_row_fn)(char *restrict row, const char *restrict update, int64_t bytes);

GATHER_INLINE void gather_combine_rows(const gather_combine_span *s, gather_combine_row_fn combine) {
  gather_combine_pair pairs[GATHER_COMBINE_PAIRS];
  const int64_t bytes = s->row_bytes;
  for (int64_t from = 0, some; (some = gather_combine_pairs(s, from, pairs)) > 0; from += some)
    for (int64_t j = 0; j < some; j++) combine(pairs[j].row, pairs[j].update, bytes);
}

/* Rows of one element. What needs no prefetching is in cache: there a loop of its own is faster. */
GATHER_INLINE void gather_combine_elements(const gather_combine_span *s, gather_combine_row_fn combine) {
  if (s->places || s->prefetch_rows > 0 || GATHER_SMALL) {
    gather_combine_rows(s, combine);
    return;
  }
  const int64_t count = s->count, axis_step = s->axis_step, out_step = s->out_step, update_step = s->update_step, bytes = s->row_bytes;
  const int64_t *rows = s->rows;
  const char *update = s->updates;
  char *out = s->out;
  for (int64_t j = 0; j < count; j++, out += out_step, update += update_step) combine(out + rows[j] * axis_step, update, bytes);
}

#endif
