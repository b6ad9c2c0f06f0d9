/* SPDX-License-Identifier: MIT
 *
 * move.c: moves rows. A walk advances through the nest; the kernel runs the two innermost loops.
 */
#include <string.h>

#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/plan/execution.h"

enum {
  DEFERRED_BYTES = 8192 /* of indices that are validated at a time just before their rows move: they stay in L1 */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Sets the steps of the innermost loops. Field by field: copying a complete struct would wait for each store. */
static void set_span(gather_span *span, const gather_execution *e, const gather_variant *variant) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const gather_loop *outer = plan->loop_count > 1 ? inner - 1 : NULL;
  span->count = inner->len, span->rounds = 1, span->more = 0;
  span->data_step = inner->data, span->index_step = inner->index, span->out_step = inner->out;
  span->data_round = outer ? outer->data : 0, span->index_round = outer ? outer->index : 0;
  span->out_round = outer ? outer->out : 0;
  span->axis_step = plan->axis_step, span->row_bytes = plan->row_bytes;
  /* Only kernels for register tables read it. The product may wrap for tuples, whose offsets are large. */
  span->table_bytes = (int64_t)((uint64_t)plan->rule.axis_len * (uint64_t)plan->row_bytes);
  span->prefetch_rows = variant->prefetch_rows, span->prefetch_lines = variant->prefetch_lines;
  span->many = plan->rule.many, span->nontemporal = variant->nontemporal;
}

static void move_plain(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  gather_span span;
  set_span(&span, e, variant);
  const int64_t len = walk->loops[walk->count - 1].len;
  while (count > 0) {
    span.data = e->data + walk->data, span.indices = e->indices + walk->index, span.out = e->out + walk->out;
    int64_t rounds = count >= 2 * len ? least(gather_walk_rounds_left(walk), count / len) : 0;
    if (rounds > 1) {
      span.count = len, span.rounds = rounds, span.more = 0;
      variant->rows(&span);
      gather_walk_next_rounds(walk, rounds);
      count -= rounds * len;
    } else {
      int64_t left = gather_walk_left(walk);
      span.count = least(left, count), span.rounds = 1, span.more = least(left - span.count, variant->prefetch_rows);
      variant->rows(&span);
      count -= span.count;
      gather_walk_next(walk, span.count);
    }
  }
}

/* Part of a round of the innermost loop; `more` rows of the round follow. With prefetching there are two blocks of row
 * numbers: one is moved, the other is prefetched. */
static void move_widened_run(const gather_execution *e, const gather_variant *variant, gather_walk *walk,
                             gather_span *span, int64_t count, int64_t more) {
  int64_t rows[2 * GATHER_BLOCK], have = 0, moved = 0;
  const int64_t room = variant->prefetch_rows > 0 ? 2 * GATHER_BLOCK : GATHER_BLOCK,
                all = count + least(more, variant->prefetch_rows);
  const int64_t step = walk->loops[walk->count - 1].index;
  span->indices = (const char *)rows, span->index_step = 8, span->rounds = 1;
  while (moved < count) {
    int64_t now = least(all - moved - have, room - have);
    gather_resolve_rows(e, e->indices + walk->index + (moved + have) * step, step, now, rows + have);
    have += now;
    span->count = least(least(have, GATHER_BLOCK), count - moved), span->more = have - span->count;
    variant->rows_resolved(span);
    span->data += span->count * span->data_step, span->out += span->count * span->out_step;
    have -= span->count, moved += span->count;
    if (have > 0) memmove(rows, rows + span->count, (size_t)have * sizeof *rows);
  }
}

/* Several short rounds at a time. */
static void move_widened_rounds(const gather_execution *e, const gather_variant *variant, gather_walk *walk,
                                gather_span *span, int64_t len, int64_t rounds) {
  int64_t rows[GATHER_BLOCK];
  const gather_loop *inner = &walk->loops[walk->count - 1], *outer = &walk->loops[walk->count - 2];
  if (outer->index == inner->index * len)
    gather_resolve_rows(e, e->indices + walk->index, inner->index, len * rounds, rows);
  else
    for (int64_t i = 0; i < rounds; i++)
      gather_resolve_rows(e, e->indices + walk->index + i * outer->index, inner->index, len, rows + i * len);
  gather_span several = *span;
  several.indices = (const char *)rows, several.index_step = 8, several.index_round = len * 8;
  several.count = len, several.rounds = rounds, several.more = 0;
  variant->rows_resolved(&several);
}

static void move_widened(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  gather_span span;
  set_span(&span, e, variant);
  const int64_t len = walk->loops[walk->count - 1].len;
  while (count > 0) {
    span.data = e->data + walk->data, span.out = e->out + walk->out;
    int64_t rounds = least(least(gather_walk_rounds_left(walk), count / len), GATHER_BLOCK / len);
    if (rounds > 1) {
      move_widened_rounds(e, variant, walk, &span, len, rounds);
      gather_walk_next_rounds(walk, rounds);
      count -= rounds * len;
    } else {
      int64_t left = gather_walk_left(walk), run = least(left, count);
      move_widened_run(e, variant, walk, &span, run, left - run);
      gather_walk_next(walk, run);
      count -= run;
    }
  }
}

static void fill_row(const gather_plan *plan, char *out) {
  if (!plan->fill) {
    memset(out, 0, (size_t)plan->row_bytes);
    return;
  }
  for (int64_t at = 0; at < plan->row_bytes; at += plan->fill_bytes)
    gather_copy_row(out + at, plan->fill, (size_t)plan->fill_bytes);
}

/* One by one: if rows are filled there may be no data. */
static void move_repaired_block(const gather_execution *e, const gather_walk *walk, const int64_t *rows,
                                int64_t count) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &walk->loops[walk->count - 1];
  for (int64_t j = 0; j < count; j++) {
    char *to = e->out + walk->out + j * inner->out;
    if (rows[j] == GATHER_ROW_FILL)
      fill_row(plan, to);
    else
      gather_copy_row(to, e->data + walk->data + j * inner->data + rows[j] * plan->axis_step, (size_t)plan->row_bytes);
  }
}

/* Resolves blocks of indices to row numbers, then moves the rows. */
static void move_repaired(const gather_execution *e, gather_walk *walk, int64_t count) {
  int64_t rows[GATHER_BLOCK];
  while (count > 0) {
    int64_t run = least(least(gather_walk_left(walk), count), GATHER_BLOCK);
    gather_columns_resolve(e->plan, e->indices + walk->index, walk->loops[walk->count - 1].index, run, rows);
    move_repaired_block(e, walk, rows, run);
    gather_walk_next(walk, run);
    count -= run;
  }
}

static void move_in_form(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk,
                         int64_t count) {
  if (e->plan->packed) {
    gather_move_packed(e, form, variant, walk, count);
    return;
  }
  switch (form) {
    case GATHER_FORM_PLAIN:
      move_plain(e, variant, walk, count);
      return;
    case GATHER_FORM_WIDENED:
      move_widened(e, variant, walk, count);
      return;
    case GATHER_FORM_REPAIRED:
      move_repaired(e, walk, count);
      return;
  }
}

/* Validates the indices of `count` rows, and those after them that may be prefetched. Returns the conversion that they
 * need. Counts the indices out of range; number: of the first row. */
static gather_form validate_block(const gather_execution *e, const char *indices, int64_t number, int64_t count,
                                  int64_t with_prefetch) {
  const gather_plan *plan = e->plan;
  if (gather_columns_cannot_fail(plan)) return gather_form_of(plan, gather_indices_unchecked(&plan->rule));
  gather_index_state state = gather_columns_validate(plan, indices, gather_index_bytes(plan), with_prefetch);
  if (state == GATHER_INDICES_BAD)
    gather_bad_find(plan, indices, number * plan->column_count, count * plan->column_count, e->bad);
  return gather_form_of(plan, state);
}

static void move_validating(const gather_execution *e, const gather_variant *variant, gather_walk *walk,
                            int64_t count) {
  const int64_t bytes = gather_index_bytes(e->plan), block = DEFERRED_BYTES / bytes;
  while (count > 0) {
    const int64_t now = least(count, block), number = walk->index / bytes;
    const int64_t with_prefetch = least(e->plan->row_count - number, now + variant->prefetch_rows);
    move_in_form(e, validate_block(e, e->indices + walk->index, number, now, with_prefetch), variant, walk, now);
    count -= now;
  }
}

/* The same with a private copy of each block, which is all that kernels read. */
static void move_copied(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  const int64_t bytes = gather_index_bytes(e->plan), block = DEFERRED_BYTES / bytes, columns = e->plan->column_count;
  char copy[GATHER_COPY_BYTES];
  const gather_execution copied = {.plan = e->plan,
                                   .data = e->data,
                                   .indices = copy,
                                   .out = e->out,
                                   .widen = e->widen,
                                   .fold = e->fold,
                                   .axes = e->axes,
                                   .bad = e->bad};
  while (count > 0) {
    const int64_t now = least(count, block), number = walk->index / bytes, at = walk->index;
    const int64_t with_prefetch =
        least(e->plan->row_count - number, least(now + variant->prefetch_rows, GATHER_COPY_BYTES / bytes));
    gather_shared_copy(e->plan, e->indices, number * columns, with_prefetch * columns, copy);
    walk->index = 0;
    move_in_form(&copied, validate_block(e, copy, number, now, with_prefetch), variant, walk, now);
    walk->index += at;
    count -= now;
  }
}

gather_form gather_form_of(const gather_plan *plan, gather_index_state state) {
  if (state == GATHER_INDICES_BAD || plan->rule.swapped) return GATHER_FORM_REPAIRED;
  bool narrow = gather_type_row(plan->rule.type)->bits < 32 && !plan->takes_bytes;
  return narrow || plan->column_count > 1 || state != GATHER_INDICES_PLAIN ? GATHER_FORM_WIDENED : GATHER_FORM_PLAIN;
}

void gather_move_all(const gather_execution *e) {
  const gather_plan *plan = e->plan;
  const int32_t outer = plan->loop_count - 2;
  gather_span span;
  set_span(&span, e, &plan->variants[0]);
  span.data = e->data, span.indices = e->indices, span.out = e->out;
  if (outer >= 0) span.rounds = plan->loops[outer].len;
  plan->variants[0].rows(&span);
}

void gather_move(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  if (e->shared)
    move_copied(e, variant, walk, count);
  else if (e->bad)
    move_validating(e, variant, walk, count);
  else
    move_in_form(e, e->form, variant, walk, count);
  if (variant->nontemporal) gather_kernel_nontemporal_copy()->fence();
}
