/* SPDX-License-Identifier: MIT
 *
 * move.c: moves rows.
 */
#include <string.h>

#include "core/base/tensor.h"
#include "core/kernel/bits_element.h"
#include "core/kernel/copy.h"
#include "core/kernel/dispatch.h"
#include "core/plan/execution.h"

/* ---- rows of packed elements that do not start or end on whole bytes. Indices are resolved to numbers of elements, a block at a time.
 * Where the output is dense, the elements of short rows are picked one by one; long rows move as ranges of bits. */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- row by row: outputs with gaps, long rows, and rows that are filled */

static void move_bits(const gather_execution *e, int64_t to, int64_t from) {
  const gather_plan *plan = e->plan;
  gather_bits_copy(&plan->layout, e->out, to, e->data, from, plan->row_bytes);
}

static void fill_bits(const gather_execution *e, int64_t to) {
  const gather_plan *plan = e->plan;
  gather_bits_fill(&plan->layout, e->out, to, plan->fill ? plan->fill_value : 0, plan->row_bytes);
}

/* The rows of a block that are not filled. Inline: gcc deletes calls of functions that only prefetch. */
GATHER_INLINE void prefetch_rows(const gather_execution *e, const gather_walk *walk, int64_t lines, const int64_t *rows, int64_t count) {
  const gather_plan *plan = e->plan;
  int64_t from = plan->data_offset + walk->data;
  int slot;
  for (int64_t j = 0; j < count; j++, from += walk->loops[walk->count - 1].data)
    if (rows[j] != GATHER_ROW_FILL)
      gather_prefetch_row(e->data + gather_bits_group(&plan->layout, from + rows[j] * plan->axis_step, &slot), lines);
}

static void move_by_row(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t block = variant->prefetch_rows > 0 ? variant->prefetch_rows : GATHER_BLOCK;
  int64_t rows[GATHER_BLOCK];
  for (int64_t run; count > 0; count -= run) {
    run = least(least(gather_walk_left(walk), count), block);
    if (form == GATHER_FORM_REPAIRED)
      gather_columns_resolve(plan, e->indices + walk->index, inner->index, run, rows);
    else
      gather_resolve_rows(e, e->indices + walk->index, inner->index, run, rows);
    if (variant->prefetch_rows > 0) prefetch_rows(e, walk, variant->prefetch_lines, rows, run);
    int64_t to = plan->out_offset + walk->out, from = plan->data_offset + walk->data;
    for (int64_t j = 0; j < run; j++, to += inner->out, from += inner->data)
      if (rows[j] == GATHER_ROW_FILL)
        fill_bits(e, to);
      else
        move_bits(e, to, from + rows[j] * plan->axis_step);
    gather_walk_next(walk, run);
  }
}

/* ---- elements in blocks */

enum { ROWS = 128, MOST_ELEMENTS = ROWS * GATHER_PICK_ROW };

/* The numbers of the elements that are next in the output. */
typedef struct {
  int64_t elements[MOST_ELEMENTS];
  int64_t to, rows, count;
} packed_block;

/* rows[j], from row numbers, becomes the number of the first element of row j. */
static void to_elements(const gather_plan *plan, const gather_walk *walk, int64_t count, int64_t *rows) {
  const int64_t from = plan->data_offset + walk->data, step = walk->loops[walk->count - 1].data, axis = plan->axis_step;
  if (axis != 1 || step != 0)
    for (int64_t j = 0; j < count; j++) rows[j] = from + j * step + rows[j] * axis;
  else if (from != 0)
    for (int64_t j = 0; j < count; j++) rows[j] += from;
}

/* From the last row to the first, so that no number is overwritten before it is read. */
static void spread(int64_t *elements, int64_t rows, int64_t row_len) {
  for (int64_t j = rows - 1; j >= 0; j--) {
    const int64_t first = elements[j];
    for (int64_t k = 0; k < row_len; k++) elements[j * row_len + k] = first + k;
  }
}

/* Fills the block with the elements of as many rows as follow one another in the output, at most `count`. */
static void fill_block(const gather_execution *e, gather_walk *walk, int64_t count, packed_block *b) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t len = plan->row_bytes, most = least(count, len == 1 ? 2 * ROWS : ROWS), to = walk->out;
  const bool at_once = plan->in_order && plan->linear;
  if (at_once) gather_resolve_rows(e, e->indices + walk->index, inner->index, most, b->elements);
  b->to = plan->out_offset + to, b->rows = 0;
  do {
    const int64_t run = least(gather_walk_left(walk), most - b->rows);
    int64_t *rows = b->elements + b->rows;
    if (!at_once) gather_resolve_rows(e, e->indices + walk->index, inner->index, run, rows);
    to_elements(plan, walk, run, rows);
    gather_walk_next(walk, run);
    b->rows += run;
  } while (b->rows < most && walk->out == to + b->rows * len);
  b->count = b->rows * len;
  if (len > 1) spread(b->elements, b->rows, len);
}

GATHER_INLINE void prefetch_elements(const gather_execution *e, const packed_block *b) {
  const gather_bit_layout *l = &e->plan->layout;
  for (int64_t j = 0; j < b->count; j += e->plan->row_bytes) {
    int slot;
    GATHER_PREFETCH(e->data + gather_bits_group(l, b->elements[j], &slot));
  }
}

static void move_elements(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  packed_block b;
  for (; count > 0; count -= b.rows) {
    fill_block(e, walk, count, &b);
    if (variant->prefetch_rows > 0) prefetch_elements(e, &b);
    gather_bits_pick(&e->plan->layout, variant->pick, e->out, b.to, e->data, b.elements, b.count);
  }
}

static void move_packed(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  if (variant->pick && plan->loops[plan->loop_count - 1].out == plan->row_bytes && form != GATHER_FORM_REPAIRED)
    move_elements(e, variant, walk, count);
  else
    move_by_row(e, form, variant, walk, count);
}

/* ---- rows of bytes. A walk advances through the nest; the kernel runs the two innermost loops. */

enum {
  DEFERRED_BYTES = 8192 /* of indices that are validated at a time just before their rows move: they stay in L1 */
};

static void move_plain(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  gather_span span;
  gather_span_set(&span, e, variant);
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
static void move_widened_run(const gather_execution *e, const gather_variant *variant, gather_walk *walk, gather_span *span, int64_t count,
                             int64_t more) {
  int64_t rows[2 * GATHER_BLOCK], have = 0, moved = 0;
  const int64_t room = variant->prefetch_rows > 0 ? 2 * GATHER_BLOCK : GATHER_BLOCK, all = count + least(more, variant->prefetch_rows);
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
static void move_widened_rounds(const gather_execution *e, const gather_variant *variant, gather_walk *walk, gather_span *span, int64_t len,
                                int64_t rounds) {
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
  gather_span_set(&span, e, variant);
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
  for (int64_t at = 0; at < plan->row_bytes; at += plan->fill_bytes) gather_copy_row(out + at, plan->fill, (size_t)plan->fill_bytes);
}

/* One by one: if rows are filled there may be no data. */
static void move_repaired_block(const gather_execution *e, const gather_walk *walk, const int64_t *rows, int64_t count) {
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

static void move_in_form(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk, int64_t count) {
  if (e->plan->packed) {
    move_packed(e, form, variant, walk, count);
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
static gather_form validate_block(const gather_execution *e, const char *indices, int64_t number, int64_t count, int64_t with_prefetch) {
  const gather_plan *plan = e->plan;
  if (gather_columns_cannot_fail(plan)) return gather_form_of(plan, gather_indices_unchecked(&plan->rule));
  gather_index_state state = gather_columns_validate(plan, indices, gather_index_bytes(plan), with_prefetch);
  if (state == GATHER_INDICES_BAD) gather_bad_find(plan, indices, number * plan->column_count, count * plan->column_count, e->bad);
  return gather_form_of(plan, state);
}

/* Moves rows by a kernel that validates them. Returns how many: it ends before an index that is no row as it stands. */
static int64_t move_checked(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  const uint64_t limit = gather_indices_plain_below(&e->plan->rule);
  const int64_t len = walk->loops[walk->count - 1].len;
  int64_t done = 0, moved, wanted;
  gather_span span;
  if (GATHER_SMALL || !variant->checked || limit == 0 || count == 0) return 0;
  gather_span_set(&span, e, variant);
  do {
    const int64_t left = gather_walk_left(walk);
    const int64_t rounds = count - done >= 2 * len ? least(gather_walk_rounds_left(walk), (count - done) / len) : 0;
    span.data = e->data + walk->data, span.indices = e->indices + walk->index, span.out = e->out + walk->out;
    span.rounds = rounds > 1 ? rounds : 1, span.count = rounds > 1 ? len : least(left, count - done);
    span.more = rounds > 1 ? 0 : least(left - span.count, variant->prefetch_rows);
    wanted = span.rounds * span.count;
    moved = variant->checked(&span, limit);
    if (moved >= len && rounds > 1) gather_walk_next_rounds(walk, moved / len);
    gather_walk_next(walk, rounds > 1 ? moved % len : moved);
    done += moved;
  } while (moved == wanted && done < count);
  return done;
}

static void move_validating(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count) {
  const int64_t bytes = gather_index_bytes(e->plan), block = DEFERRED_BYTES / bytes;
  while ((count -= move_checked(e, variant, walk, count)) > 0) {
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
  const gather_execution copied = {
      .plan = e->plan, .data = e->data, .indices = copy, .out = e->out, .widen = e->widen, .fold = e->fold, .axes = e->axes, .bad = e->bad};
  while (count > 0) {
    const int64_t now = least(count, block), number = walk->index / bytes, at = walk->index;
    const int64_t with_prefetch = least(e->plan->row_count - number, least(now + variant->prefetch_rows, GATHER_COPY_BYTES / bytes));
    gather_shared_copy(e->plan, e->indices, number * columns, with_prefetch * columns, copy);
    walk->index = 0;
    move_in_form(&copied, validate_block(e, copy, number, now, with_prefetch), variant, walk, now);
    walk->index += at;
    count -= now;
  }
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
