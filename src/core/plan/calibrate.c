/* SPDX-License-Identifier: MIT
 *
 * calibrate.c: the calibration run. It times the variants on the first rows of the gather itself, because CPUs differ,
 * and because it is not known in advance whether the lines of the output are in a cache. All variants give the same
 * bytes.
 */
#include "core/kernel/tuning.h"
#include "core/plan/execution.h"
#include "core/plan/order.h"
#include "core/plan/winners.h"
#include "core/system/clock.h"

/* Each variant is timed twice, and the shorter time counts: an interruption of the thread seldom hits both. */
enum { TRIALS = 2 };
/* Most of a kept plan's runs have no calibration run: in the others it may take half of the work, for longer trials. */
enum { KEPT_SHARE = 2 };
/* The rows of the largest trial, if they are shorter than a line: indices and lines of the table are larger than L1. */
enum { MOST_ROWS = 16384 };
/* Trials that cost as much as copying this many bytes (some 30 us) are timed by the thread's own time, which other
 * programs do not prolong. It takes a system call, of a microsecond on some machines. */
enum { THREAD_CLOCK_BYTES = 262144 };
/* The remembered winner remains unless another variant is faster by more than this share: about the noise. */
enum { NOISE_SHARE = 16 };

typedef struct {
  int32_t variants[GATHER_MAX_VARIANTS], count;
  int64_t best[GATHER_MAX_VARIANTS]; /* nanoseconds */
} candidates;

/* The variants to try. */
static void find_candidates(const gather_execution *e, candidates *c) {
  c->count = 0;
  for (int32_t w = 0; w < e->plan->variant_count; w++)
    if (!e->plan->variants[w].radix && gather_order_suits(e, &e->plan->variants[w])) c->variants[c->count++] = w;
}

/* How many rows of a trial are moved before the timing: rows that the previous variant has prefetched, and this one has
 * not. */
static int64_t warm_up_rows(const gather_plan *plan, const candidates *c, int64_t slice) {
  int64_t warm_up = 0;
  for (int32_t r = 0; r < c->count; r++)
    if (plan->variants[c->variants[r]].prefetch_rows > warm_up) warm_up = plan->variants[c->variants[r]].prefetch_rows;
  return warm_up < slice / 4 ? warm_up : slice / 4;
}

/* Nanoseconds for the rows of a slice after the first `warm_up`. */
static int64_t run_trial(gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t warm_up,
                         int64_t slice) {
  int64_t (*const clock)(void) = slice >= THREAD_CLOCK_BYTES / e->plan->row_cost ? gather_thread_clock : gather_clock;
  if (warm_up > 0) gather_move(e, variant, walk, warm_up);
  int64_t start = clock();
  gather_move(e, variant, walk, slice - warm_up);
  return clock() - start;
}

/* The rows of a trial. 64 rows are whole lines of the output: the next trial starts on a line, too. */
static int64_t slice_of(const gather_plan *plan, int32_t candidate_count, int64_t count) {
  const int64_t share = plan->winners ? KEPT_SHARE : gather_tuned(GATHER_TUNING_calibration_share);
  const int64_t most_bytes = gather_tuned(GATHER_TUNING_trial_bytes);
  int64_t slice = plan->row_count / (TRIALS * candidate_count);
  if (share > 1) slice /= share;
  if (slice > count / (TRIALS * candidate_count + 1)) slice = count / (TRIALS * candidate_count + 1);
  if (slice > MOST_ROWS) slice = MOST_ROWS;
  if (slice > most_bytes / plan->row_bytes) slice = most_bytes / plan->row_bytes;
  slice -= slice % (slice >= 64 ? 64 : slice >= 16 ? 16 : 1);
  return slice > 0 ? slice : 1;
}

/* Picks the fastest, or the remembered winner where the difference is noise, and remembers it. */
static int32_t pick(gather_execution *e, const candidates *c) {
  int32_t fastest = 0, next = -1;
  gather_winner before;
  for (int32_t r = 1; r < c->count; r++)
    if (c->best[r] < c->best[fastest]) fastest = r;
  if (gather_winners_get(e->plan, e->order, &before))
    for (int32_t r = 0; r < c->count; r++)
      if (c->variants[r] == before.variant && c->best[r] - c->best[r] / NOISE_SHARE <= c->best[fastest]) fastest = r;
  for (int32_t r = 0; r < c->count; r++)
    if (r != fastest && (next < 0 || c->best[r] < c->best[next])) next = r;
  if (next >= 0)
    gather_winners_keep(e->plan, e->order, c->variants[fastest], c->best[fastest], c->variants[next], c->best[next]);
  return fastest;
}

int64_t gather_calibrate(gather_execution *e, gather_walk *walk, int64_t count) {
  const gather_plan *plan = e->plan;
  candidates c = {.count = 0};
  find_candidates(e, &c);
  const int64_t slice = slice_of(plan, c.count, count), warm_up = warm_up_rows(plan, &c, slice);
  /* The first rows are not timed: they are the first access to pages and lines. */
  const int64_t untimed = slice < count ? (slice / 4 / 64 + (slice >= 64)) * 64 : 0;
  int32_t fastest = 0;
  gather_move(e, &plan->variants[0], walk, untimed);
  int64_t moved = untimed;
  for (int trial = 0; trial < TRIALS; trial++)
    for (int32_t turn = 0; turn < c.count && moved + slice <= count; turn++) {
      /* Each trial starts with another variant: four of the largest trials are a huge page, and one variant pays for its
       * first access. */
      int32_t r = (turn + trial) % c.count;
      int64_t took = run_trial(e, &plan->variants[c.variants[r]], walk, warm_up, slice);
      if (trial == 0 || took < c.best[r]) c.best[r] = took;
      moved += slice;
    }
  if (moved >= untimed + TRIALS * c.count * slice) {
    fastest = pick(e, &c);
    e->fastest_ps = c.best[fastest] * 1000 / (slice - warm_up);
  }
  atomic_store_explicit(&e->variant, c.variants[fastest], memory_order_relaxed);
  return moved;
}
