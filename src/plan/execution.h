/* SPDX-License-Identifier: MIT
 *
 * execution.h: one run of a plan, as its tasks share it.
 */
#ifndef GATHER_PLAN_EXECUTION_H
#define GATHER_PLAN_EXECUTION_H

#include "plan/plan.h"
#include "plan/shared.h"
#include "plan/walk.h"

/* What has to be done to indices before kernels can read them. */
typedef enum gather_form {
  GATHER_FORM_PLAIN = 0, /* nothing */
  GATHER_FORM_WIDENED,   /* they become rows of 8 bytes: narrow types, negative ones, and tuples */
  GATHER_FORM_REPAIRED   /* some are out of range, or in the other byte order */
} gather_form;

typedef struct gather_execution {
  const gather_plan *plan;
  const char *data, *indices;
  char *out;
  gather_form form;
  gather_widen_fn widen; /* NULL where indices are not dense in the innermost loop */
  /* NULL: all indices were validated before the first row moved. Else each block of them is just before it moves, `form` is
   * ignored, and the bad ones are counted here; their rows are repaired whatever the policy. */
  gather_bad *bad;
  bool shared; /* `indices` may be written by others: each block is copied before it is validated; there is `bad` */
  atomic_int variant; /* number of the way that won the race; -1 before */
  int64_t moved;      /* rows that are done before tasks begin */
  gather_order order; /* of large gathers' indices, as a sample says */
  int64_t fastest_ps; /* what a row costs in the way that won, in picoseconds; 0 before */
} gather_execution;

/* Indices that are resolved at a time: 2 KiB on the stack, well inside the first cache. */
enum { GATHER_BLOCK = 256 };

/* What indices in this state have to go through. */
gather_form gather_form_of(const gather_plan *plan, gather_index_state state);

/* Moves the next `count` rows of the walk in one of the plan's ways. */
void gather_move(const gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t count);
/* The whole of a nest of one or two loops by plain indices, in the first way, which stores to ordinary memory. */
void gather_move_all(const gather_execution *e);
/* The same as gather_move of packed elements. */
void gather_move_packed(const gather_execution *e, gather_walk *walk, int64_t count);

/* Moves rows of the walk in each way in turn and notes which was fastest in e->way; returns how many rows were moved, at most
 * `count`. */
int64_t gather_calibrate(gather_execution *e, gather_walk *walk, int64_t count);

#endif
