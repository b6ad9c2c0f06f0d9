/* SPDX-License-Identifier: MIT
 *
 * race.c: which way is fastest is asked where it counts: on the first rows of the very gather that is to be run. CPUs want
 * opposite things, and whether an output's lines are in a cache cannot be known beforehand. All ways give the same bytes.
 */
#include "base/clock.h"
#include "plan/execution.h"
#include "plan/order.h"

enum { HEATS = 2, SHARE = 16 /* of the work is the most that races take */ };
/* The most of one heat: enough to be timed well, and too much for a core's first cache. */
enum { MOST_ROWS = 16384, MOST_BYTES = 524288 };

/* The ways that are worth trying; returns how many. */
static int32_t find_runners(const gather_execution *e, int32_t runners[GATHER_MOST_WAYS]) {
  int32_t count = 0;
  for (int32_t w = 0; w < e->plan->way_count; w++)
    if (!e->plan->ways[w].in_parts && gather_order_suits(e, &e->plan->ways[w])) runners[count++] = w;
  return count;
}

/* How many rows of a heat are moved before it is timed: those that the way before has fetched, and those that this one has not. */
static int64_t lead_of(const gather_plan *plan, const int32_t *runners, int32_t count, int64_t slice) {
  int64_t lead = 0;
  for (int32_t r = 0; r < count; r++)
    if (plan->ways[runners[r]].ahead > lead) lead = plan->ways[runners[r]].ahead;
  return lead < slice / 4 ? lead : slice / 4;
}

/* Nanoseconds that the rows behind the first `lead` of a slice take. */
static int64_t run_heat(gather_execution *e, const gather_way *way, gather_walk *walk, int64_t lead, int64_t slice) {
  if (lead > 0) gather_move(e, way, walk, lead);
  int64_t start = gather_thread_clock();
  gather_move(e, way, walk, slice - lead);
  return gather_thread_clock() - start;
}

/* How many rows a heat has. 64 rows are whole lines of the output: what follows a heat begins with one too. */
static int64_t slice_of(const gather_plan *plan, int32_t runner_count, int64_t count) {
  int64_t slice = plan->row_count / (SHARE * HEATS * runner_count);
  if (slice > count / (HEATS * runner_count + 1)) slice = count / (HEATS * runner_count + 1);
  if (slice > MOST_ROWS) slice = MOST_ROWS;
  if (slice > MOST_BYTES / plan->row_bytes) slice = MOST_BYTES / plan->row_bytes;
  slice -= slice % (slice >= 64 ? 64 : slice >= 16 ? 16 : 1);
  return slice > 0 ? slice : 1;
}

int64_t gather_race(gather_execution *e, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  int32_t runners[GATHER_MOST_WAYS], runner_count = find_runners(e, runners), winner = 0;
  int64_t best[GATHER_MOST_WAYS], moved = 0;
  const int64_t slice = slice_of(plan, runner_count, count), lead = lead_of(plan, runners, runner_count, slice);
  /* The first rows of all pay for pages and lines that nobody has touched. */
  const int64_t warm = slice < count ? (slice / 4 / 64 + (slice >= 64)) * 64 : 0;
  gather_move(e, &plan->ways[0], walk, warm);
  moved += warm;
  for (int heat = 0; heat < HEATS; heat++)
    for (int32_t turn = 0; turn < runner_count && moved + slice <= count; turn++) {
      /* Another one begins in each heat: four slices of the most bytes are a huge page, whose first touch one runner pays for. */
      int32_t r = (turn + heat) % runner_count;
      int64_t took = run_heat(e, &plan->ways[runners[r]], walk, lead, slice);
      if (heat == 0 || took < best[r]) best[r] = took;
      moved += slice;
    }
  if (moved >= warm + HEATS * runner_count * slice) {
    for (int32_t r = 1; r < runner_count; r++)
      if (best[r] < best[winner]) winner = r;
    e->winner_ps = best[winner] * 1000 / (slice - lead);
  }
  atomic_store_explicit(&e->way, runners[winner], memory_order_relaxed);
  return moved;
}
