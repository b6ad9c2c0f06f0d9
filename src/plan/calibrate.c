/* SPDX-License-Identifier: MIT
 *
 * calibrate.c: the calibration run. It times the variants on the first rows of the gather itself, because CPUs differ,
 * and because it is not known in advance whether the lines of the output are in a cache. All variants give the same
 * bytes.
 */
#include "base/clock.h"
#include "plan/execution.h"
#include "plan/order.h"

enum { TRIALS = 2, SHARE = 16 /* the calibration run takes at most this share of the work */ };
/* The largest trial: long enough for the clock, and larger than L1. */
enum { MOST_ROWS = 16384, MOST_BYTES = 524288 };

/* The variants to try; returns how many. */
static int32_t find_candidates(const gather_execution *e, int32_t candidates[GATHER_MAX_VARIANTS]) {
  int32_t count = 0;
  for (int32_t w = 0; w < e->plan->variant_count; w++)
    if (!e->plan->variants[w].radix && gather_order_suits(e, &e->plan->variants[w])) candidates[count++] = w;
  return count;
}

/* How many rows of a trial are moved before the timing: rows that the previous variant has prefetched, and this one has
 * not. */
static int64_t warm_up_rows(const gather_plan *plan, const int32_t *candidates, int32_t count, int64_t slice) {
  int64_t warm_up = 0;
  for (int32_t r = 0; r < count; r++)
    if (plan->variants[candidates[r]].prefetch_rows > warm_up) warm_up = plan->variants[candidates[r]].prefetch_rows;
  return warm_up < slice / 4 ? warm_up : slice / 4;
}

/* Nanoseconds for the rows of a slice after the first `warm_up`. */
static int64_t run_trial(gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t warm_up,
                         int64_t slice) {
  if (warm_up > 0) gather_move(e, variant, walk, warm_up);
  int64_t start = gather_thread_clock();
  gather_move(e, variant, walk, slice - warm_up);
  return gather_thread_clock() - start;
}

/* The rows of a trial. 64 rows are whole lines of the output: the next trial starts on a line, too. */
static int64_t slice_of(const gather_plan *plan, int32_t candidate_count, int64_t count) {
  int64_t slice = plan->row_count / (SHARE * TRIALS * candidate_count);
  if (slice > count / (TRIALS * candidate_count + 1)) slice = count / (TRIALS * candidate_count + 1);
  if (slice > MOST_ROWS) slice = MOST_ROWS;
  if (slice > MOST_BYTES / plan->row_bytes) slice = MOST_BYTES / plan->row_bytes;
  slice -= slice % (slice >= 64 ? 64 : slice >= 16 ? 16 : 1);
  return slice > 0 ? slice : 1;
}

int64_t gather_calibrate(gather_execution *e, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  int32_t candidates[GATHER_MAX_VARIANTS], candidate_count = find_candidates(e, candidates), fastest = 0;
  int64_t best[GATHER_MAX_VARIANTS], moved = 0;
  const int64_t slice = slice_of(plan, candidate_count, count),
                warm_up = warm_up_rows(plan, candidates, candidate_count, slice);
  /* The first rows are not timed: they are the first access to pages and lines. */
  const int64_t untimed = slice < count ? (slice / 4 / 64 + (slice >= 64)) * 64 : 0;
  gather_move(e, &plan->variants[0], walk, untimed);
  moved += untimed;
  for (int trial = 0; trial < TRIALS; trial++)
    for (int32_t turn = 0; turn < candidate_count && moved + slice <= count; turn++) {
      /* Each trial starts with another variant: four slices of MOST_BYTES are a huge page, and one variant pays for its
       * first access. */
      int32_t r = (turn + trial) % candidate_count;
      int64_t took = run_trial(e, &plan->variants[candidates[r]], walk, warm_up, slice);
      if (trial == 0 || took < best[r]) best[r] = took;
      moved += slice;
    }
  if (moved >= untimed + TRIALS * candidate_count * slice) {
    for (int32_t r = 1; r < candidate_count; r++)
      if (best[r] < best[fastest]) fastest = r;
    e->fastest_ps = best[fastest] * 1000 / (slice - warm_up);
  }
  atomic_store_explicit(&e->variant, candidates[fastest], memory_order_relaxed);
  return moved;
}
