/* SPDX-License-Identifier: MIT
 *
 * winners.h: what the calibration runs of a kept plan found, by the order of the indices: the only part of a plan that
 * changes. Other runs use the winner without a calibration run. It decides how a gather runs, never its result, so
 * threads that run one plan at once need no more than atomic numbers.
 */
#ifndef GATHER_PLAN_WINNERS_H
#define GATHER_PLAN_WINNERS_H

#include <stdatomic.h>

#include "core/plan/plan.h"

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

/* Whether a run by indices in this order should repeat the calibration run; counts the run. Always where nothing is
 * kept. */
bool gather_winners_due(const gather_plan *plan, gather_order order);
/* The last result; false: there is none. */
bool gather_winners_get(const gather_plan *plan, gather_order order, gather_winner *winner);
/* Keeps a result. The times are in any unit. */
void gather_winners_keep(const gather_plan *plan, gather_order order, int32_t variant, int64_t took, int32_t next,
                         int64_t next_took);

#endif
