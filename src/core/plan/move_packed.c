/* SPDX-License-Identifier: MIT
 *
 * move_packed.c: moves rows of packed elements that do not start or end on whole bytes. Indices are resolved to numbers of elements, a
 * block at a time. Where the output is dense, the elements of short rows are picked one by one; long rows move as ranges of bits.
 */
#include "core/kernel/bits_element.h"
#include "core/kernel/copy.h"
#include "core/plan/execution.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- row by row: outputs with gaps, long rows, and rows that are filled */

static void move_row(const gather_execution *e, int64_t to, int64_t from) {
  const gather_plan *plan = e->plan;
  gather_bits_copy(&plan->layout, e->out, to, e->data, from, plan->row_bytes);
}

static void fill_row(const gather_execution *e, int64_t to) {
  const gather_plan *plan = e->plan;
  gather_bits_fill(&plan->layout, e->out, to, plan->fill ? plan->fill_value : 0, plan->row_bytes);
}

/* The rows of a block that are not filled. Inline: gcc deletes calls of functions that only prefetch. */
GATHER_INLINE void prefetch_rows(const gather_execution *e, const gather_walk *walk, int64_t lines, const int64_t *rows,
                                 int64_t count) {
  const gather_plan *plan = e->plan;
  int64_t from = plan->data_offset + walk->data;
  int slot;
  for (int64_t j = 0; j < count; j++, from += walk->loops[walk->count - 1].data)
    if (rows[j] != GATHER_ROW_FILL)
      gather_prefetch_row(e->data + gather_bits_group(&plan->layout, from + rows[j] * plan->axis_step, &slot), lines);
}

static void move_rows(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk,
                      int64_t count) {
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
        fill_row(e, to);
      else
        move_row(e, to, from + rows[j] * plan->axis_step);
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

void gather_move_packed(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk,
                        int64_t count) {
  const gather_plan *plan = e->plan;
  if (variant->pick && plan->loops[plan->loop_count - 1].out == plan->row_bytes && form != GATHER_FORM_REPAIRED)
    move_elements(e, variant, walk, count);
  else
    move_rows(e, form, variant, walk, count);
}
