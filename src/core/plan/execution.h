/* SPDX-License-Identifier: MIT
 *
 * execution.h: one run of a plan, shared by its tasks.
 */
#ifndef GATHER_PLAN_EXECUTION_H
#define GATHER_PLAN_EXECUTION_H

#include "core/base/tensor.h"
#include "core/plan/columns.h"
#include "core/plan/plan.h"
#include "core/plan/shared.h"
#include "core/plan/walk.h"

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
gather_form gather_form_of(const gather_plan *plan, gather_index_state state);

/* Moves the next `count` rows of the walk with one of the plan's variants. */
void gather_move(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count);
/* Moves all rows of a nest of one or two loops by plain indices, with the first variant, which must not use
 * non-temporal stores. */
void gather_move_all(const gather_execution *e);
/* The same for packed elements, whose indices need this conversion. */
void gather_move_packed(const gather_execution *e, gather_form form, const gather_variant *variant, gather_walk *walk,
                        int64_t count);

/* Bytes of an index that selects one row, plain or a tuple, where indices are dense. */
GATHER_INLINE int64_t gather_index_bytes(const gather_plan *plan) {
  return gather_type_row(plan->rule.type)->bits / 8 * plan->column_count;
}

/* The rows of `count` indices in range. */
GATHER_INLINE void gather_resolve_rows(const gather_execution *e, const char *indices, int64_t step, int64_t count,
                                       int64_t *rows) {
  if (e->widen)
    e->widen(indices, count, e->plan->rule.negative ? e->plan->rule.axis_len : 0, rows);
  else if (e->fold && step == gather_column(e->plan, 1)->index * e->plan->column_count)
    e->fold(&e->axes, indices, count, rows);
  else
    gather_columns_resolve(e->plan, indices, step, count, rows);
}

/* Does the calibration run on the next rows of the walk and sets e->variant to the fastest. Returns how many rows were
 * moved, at most `count`. */
int64_t gather_calibrate(gather_execution *e, gather_walk *walk, int64_t count);

#endif
