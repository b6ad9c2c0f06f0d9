/* SPDX-License-Identifier: MIT
 *
 * race.c: which way is fastest is asked where it counts: on the first rows of the very gather that is to be run. CPUs want
 * opposite things, and whether an output's lines are in a cache cannot be known beforehand. All ways give the same bytes.
 */
#include "plan/execution.h"
#include "plan/measure.h"

enum { HEATS = 2, SHARE = 16 /* of the work is the most that races take */ };

int64_t gather_race(gather_execution *e, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  int64_t best[GATHER_MOST_WAYS], slice = plan->row_count / (SHARE * HEATS * plan->way_count), moved = 0;
  if (slice > count / (HEATS * plan->way_count + 1)) slice = count / (HEATS * plan->way_count + 1);
  if (slice > 16 && slice % 16) slice -= slice % 16; /* whole lines, as far as rows allow it */
  if (slice == 0) slice = 1;
  /* The first rows of all pay for pages and lines that nobody has touched. */
  int64_t warm = slice < count ? slice / 4 + 1 : 0;
  gather_move_in_way(e, &plan->ways[0], walk, warm);
  moved += warm;
  for (int heat = 0; heat < HEATS; heat++)
    for (int32_t w = 0; w < plan->way_count && moved + slice <= count; w++) {
      int64_t start = gather_clock();
      gather_move_in_way(e, &plan->ways[w], walk, slice);
      int64_t took = gather_clock() - start;
      if (heat == 0 || took < best[w]) best[w] = took;
      moved += slice;
    }
  int winner = 0;
  if (moved >= warm + HEATS * plan->way_count * slice)
    for (int32_t w = 1; w < plan->way_count; w++)
      if (best[w] < best[winner]) winner = w;
  atomic_store_explicit(&e->way, winner, memory_order_relaxed);
  return moved;
}
