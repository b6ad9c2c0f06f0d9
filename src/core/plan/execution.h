/* SPDX-License-Identifier: MIT
 *
 * execution.h: one run of a plan, shared by its tasks: where it is in the nest, what is known of the variants.
 */
#ifndef GATHER_PLAN_EXECUTION_H
#define GATHER_PLAN_EXECUTION_H

#include <stdatomic.h>

#include "core/base/tensor.h"
#include "core/kernel/tuning.h"
#include "core/plan/plan.h"
#include "core/plan/plan_indices.h"

/* ---- walks: advancing through a nest of loops from any position, so that tasks can share it */

/* A position in the nest: the coordinates, and the offset of each tensor. */
typedef struct gather_walk {
  const gather_loop *loops;
  int32_t count;
  int64_t at[GATHER_MAX_RANK];
  int64_t data, index, out;
} gather_walk;

GATHER_INLINE void gather_walk_move(gather_walk *walk, int32_t loop, int64_t steps) {
  walk->at[loop] += steps;
  walk->data += steps * walk->loops[loop].data;
  walk->index += steps * walk->loops[loop].index;
  walk->out += steps * walk->loops[loop].out;
}

/* Starts at iteration number `start`, counted with the last loop fastest. */
GATHER_INLINE void gather_walk_start(gather_walk *walk, const gather_loop *loops, int32_t count, int64_t start) {
  walk->loops = loops, walk->count = count;
  walk->data = walk->index = walk->out = 0;
  for (int32_t i = 0; i < count; i++) walk->at[i] = 0;
  for (int32_t i = count - 1; i >= 0 && start > 0; i--) {
    gather_walk_move(walk, i, start % loops[i].len);
    start /= loops[i].len;
  }
}

/* How many iterations of the innermost loop are left in its current round. */
GATHER_INLINE int64_t gather_walk_left(const gather_walk *walk) { return walk->loops[walk->count - 1].len - walk->at[walk->count - 1]; }

/* Advances by `steps`, at most to the end of the round; then the outer loops advance. */
GATHER_INLINE void gather_walk_next(gather_walk *walk, int64_t steps) {
  int32_t i = walk->count - 1;
  gather_walk_move(walk, i, steps);
  while (i > 0 && walk->at[i] == walk->loops[i].len) {
    gather_walk_move(walk, i, -walk->loops[i].len);
    gather_walk_move(walk, --i, 1);
  }
}

/* Whole rounds of the innermost loop that its outer loop has left; 0 within a round, and if there is no outer loop. */
GATHER_INLINE int64_t gather_walk_rounds_left(const gather_walk *walk) {
  if (walk->count < 2 || walk->at[walk->count - 1] != 0) return 0;
  return walk->loops[walk->count - 2].len - walk->at[walk->count - 2];
}

/* Advances by whole rounds, at most as many as are left. */
GATHER_INLINE void gather_walk_next_rounds(gather_walk *walk, int64_t rounds) {
  int32_t i = walk->count - 2;
  gather_walk_move(walk, i, rounds);
  while (i > 0 && walk->at[i] == walk->loops[i].len) {
    gather_walk_move(walk, i, -walk->loops[i].len);
    gather_walk_move(walk, --i, 1);
  }
}

/* ---- a run */

/* The conversion that indices need before kernels can read them. */
typedef enum gather_form {
  GATHER_FORM_PLAIN = 0, /* nothing */
  GATHER_FORM_WIDENED,   /* to row numbers of 8 bytes: narrow types, negative indices, and tuples */
  GATHER_FORM_REPAIRED   /* some are out of range, or byte-swapped */
} gather_form;

typedef struct gather_execution {
  const gather_plan *plan;
  const char *data, *indices;
  char *out;
  gather_form form;
  gather_widen_fn widen; /* NULL if indices are not dense in the innermost loop */
  /* Tuples that are dense: NULL if a block of them is resolved column by column. */
  gather_tuples_fold_fn fold;
  gather_tuple_axes axes;
  /* NULL: all indices were validated before the first row moved. Else (deferred validation) each block is validated
   * just before it moves, `form` is ignored, and indices out of range are counted here; their rows are repaired under
   * every policy. */
  gather_bad *bad;
  bool shared;        /* others may write `indices`: each block is copied before it is validated; `bad` is set */
  bool staged;        /* `out` is memory of the library, which is in a cache: the first variant is used */
  atomic_int variant; /* number of the fastest variant; -1 before the calibration run */
  int64_t moved;      /* rows moved before the tasks start */
  gather_order order; /* order of the indices of large gathers, from a sample */
  int64_t fastest_ps; /* cost of a row in the fastest variant, in picoseconds; 0 before */
} gather_execution;

/* Indices resolved at a time: 2 KiB on the stack, which fit L1. */
enum { GATHER_BLOCK = 256 };

/* The conversion for indices in this state. */
GATHER_INLINE gather_form gather_form_of(const gather_plan *plan, gather_index_state state) {
  if (state == GATHER_INDICES_BAD || plan->rule.swapped) return GATHER_FORM_REPAIRED;
  bool narrow = gather_type_row(plan->rule.type)->bits < 32 && !plan->takes_bytes;
  return narrow || plan->column_count > 1 || state != GATHER_INDICES_PLAIN ? GATHER_FORM_WIDENED : GATHER_FORM_PLAIN;
}

/* Moves the next `count` rows of the walk with one of the plan's variants. */
void gather_move(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count);
/* Bytes of an index that selects one row, plain or a tuple, where indices are dense. */
GATHER_INLINE int64_t gather_index_bytes(const gather_plan *plan) {
  return gather_type_row(plan->rule.type)->bits / 8 * plan->column_count;
}

/* Sets the steps of the innermost loops. Field by field: copying a complete struct would wait for each store. */
GATHER_INLINE void gather_span_set(gather_span *span, const gather_execution *e, const gather_variant *variant) {
  const gather_plan *plan = e->plan;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const gather_loop *outer = plan->loop_count > 1 ? inner - 1 : NULL;
  span->count = inner->len, span->rounds = 1, span->more = 0;
  span->data_step = inner->data, span->index_step = inner->index, span->out_step = inner->out;
  span->data_round = outer ? outer->data : 0, span->index_round = outer ? outer->index : 0;
  span->out_round = outer ? outer->out : 0;
  span->axis_step = plan->axis_step, span->row_bytes = plan->row_bytes;
  /* Kernels of dense tables read it. The product may wrap for tuples, whose offsets are large. */
  span->table_bytes = (int64_t)((uint64_t)plan->rule.axis_len * (uint64_t)plan->row_bytes);
  span->prefetch_rows = variant->prefetch_rows, span->prefetch_lines = variant->prefetch_lines;
  span->many = plan->rule.many, span->nontemporal = variant->nontemporal;
}

/* The rows of `count` indices in range. */
GATHER_INLINE void gather_resolve_rows(const gather_execution *e, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  if (e->widen)
    e->widen(indices, count, e->plan->rule.negative ? e->plan->rule.axis_len : 0, rows);
  else if (e->fold && step == gather_column(e->plan, 1)->index * e->plan->column_count)
    e->fold(&e->axes, indices, count, rows);
  else
    gather_columns_resolve(e->plan, indices, step, count, rows);
}

/* ---- what the calibration runs of a kept plan found, by the order of the indices: the only part of a plan that changes. Other runs use
 * the winner without a calibration run. It decides how a gather runs, never its result, so threads that run one plan at once need no more
 * than atomic numbers. */

/* All zero: nothing is known. */
struct gather_winners {
  struct {
    _Atomic uint32_t runs;   /* that had this order */
    _Atomic uint32_t result; /* a packed gather_winner; 0 = none yet */
  } of[GATHER_ORDERS];
};

typedef struct gather_winner {
  int32_t variant, next; /* the fastest and the second fastest, by number */
  int32_t percent;       /* time of the second in hundredths of that of the first */
} gather_winner;

/* The last result; false: there is none. Numbers of variants take 8 bits each, the percentage 16. It is at least 100, so that no result
 * is 0. */
GATHER_INLINE bool gather_winners_get(const gather_plan *plan, gather_order order, gather_winner *winner) {
  if (!plan->winners) return false;
  const uint32_t result = atomic_load_explicit(&plan->winners->of[order].result, memory_order_relaxed);
  *winner = (gather_winner){(int32_t)(result & 0xff), (int32_t)(result >> 8 & 0xff), (int32_t)(result >> 16)};
  return result != 0;
}

/* ---- calibrate.c */

/* Samples 64 adjacent pairs of the indices of a large gather, spread over all of them: about one microsecond. The order decides which
 * variants are tried, never the result. */
gather_order gather_order_sample(const gather_execution *e);
/* Before the tasks: samples the order, finds the winner that a kept plan remembers for it, and tries radix partitioning; e->moved: the rows
 * that it moved. */
void gather_calibrate_before(gather_execution *e, const gather_executor *executor);
/* Does the calibration run on the next rows of the walk and sets e->variant to the fastest. Returns how many rows were
 * moved, at most `count`. */
int64_t gather_calibrate(gather_execution *e, gather_walk *walk, int64_t count);

/* The most indices of a block of radix partitioning. */
GATHER_INLINE int64_t gather_radix_rows(void) {
  const int64_t rows = gather_tuned(GATHER_TUNING_radix_block);
  return rows < 1 ? 1 : rows > INT32_MAX ? INT32_MAX : rows;
}

#endif
