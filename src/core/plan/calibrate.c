/* SPDX-License-Identifier: MIT
 *
 * calibrate.c: finds the fastest variant of a plan while it runs: by the order of its indices, by what earlier runs found, and by a
 * calibration run; radix partitioning is tried on an eighth of the work.
 */
#include "core/base/alloc.h"
#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/kernel/dispatch.h"
#include "core/kernel/radix.h"
#include "core/kernel/tuning.h"
#include "core/plan/execution.h"
#include "core/system/clock.h"

/* ---- winners: what the calibration runs of a kept plan found. Other runs use the winner without one. */

/* The first run often pays for new pages of the output, so the second one is calibrated, too. */
enum { FIRST_RUNS = 2 };

/* Whether a run by indices in this order should repeat the calibration run; counts the run. Always where nothing is kept. */
static bool is_due(const gather_plan *plan, gather_order order) {
  if (!plan->winners) return true;
  const int64_t period = gather_tuned(GATHER_TUNING_calibration_runs);
  const uint32_t run = atomic_fetch_add_explicit(&plan->winners->of[order].runs, 1, memory_order_relaxed);
  return run < FIRST_RUNS || (period > 0 && run % period == 0) ||
         atomic_load_explicit(&plan->winners->of[order].result, memory_order_relaxed) == 0;
}

/* Keeps a result. The times are in any unit. */
static void keep_winner(const gather_plan *plan, gather_order order, int32_t variant, int64_t took, int32_t next, int64_t next_took) {
  if (!plan->winners) return;
  int64_t percent = took > 0 ? next_took * 100 / took : 100;
  percent = percent < 100 ? 100 : percent > UINT16_MAX ? UINT16_MAX : percent;
  const uint32_t result = (uint32_t)variant | (uint32_t)next << 8 | (uint32_t)percent << 16;
  atomic_store_explicit(&plan->winners->of[order].result, result, memory_order_relaxed);
}

/* ---- the order of the indices, from a sample. Runs of rows are copied as one. Rows near each other are already in a cache, where
 * prefetching costs more than it gains. Sorted rows gain nothing from radix partitioning. */

/* 64 pairs tell a share of three quarters from one of a half, and reading them takes a microsecond. With four slots for
 * each, two lines seldom share one. A row within a page of the previous one is prefetched by the CPU. */
enum { PAIRS = 64, SLOTS_LOG2 = 8, LINE = 64, NEAR = 4096 };

/* The counts of the sample. */
typedef struct {
  int pairs, runs, rising, near, again;
  int64_t last;                  /* previous row */
  int64_t seen[1 << SLOTS_LOG2]; /* lines of the table plus one; 0 = empty */
} sample;

/* Whether the line of an address was seen before. A slot with another line is not changed. */
static bool is_again(sample *s, int64_t line) {
  int64_t *slot = &s->seen[((uint64_t)line * 0x9E3779B97F4A7C15u) >> (64 - SLOTS_LOG2)];
  const bool again = *slot == line + 1;
  if (*slot == 0) *slot = line + 1;
  return again;
}

static void take_pair(sample *s, const gather_plan *plan, int64_t data, int64_t first, int64_t second) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  int64_t apart = (second - first) * plan->axis_step + inner->data;
  bool again = is_again(s, ((data - plan->data_extent.low) + first * plan->axis_step) / LINE);
  s->again += again;
  s->runs += second - first == 1;
  s->near += apart > -NEAR && apart < NEAR;
  s->rising += second >= first && first >= s->last;
  s->last = second;
  s->pairs++;
}

/* The rows of two neighbours. */
static void read_pair(const gather_execution *e, int64_t index, int64_t step, int64_t rows[2]) {
  const gather_plan *plan = e->plan;
  char pair[16];
  if (!e->shared) {
    gather_indices_resolve(&plan->rule, e->indices + index, step, 2, rows);
    return;
  }
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  for (int k = 0; k < 2; k++) gather_shared_copy(plan, e->indices, (index + k * step) / width, 1, pair + k * width);
  gather_indices_resolve(&plan->rule, pair, width, 2, rows);
}

gather_order gather_order_sample(const gather_execution *e) {
  const gather_plan *plan = e->plan;
  const int64_t step = plan->loops[plan->loop_count - 1].index;
  int64_t data[PAIRS], index[PAIRS];
  int pairs = 0;
  sample s = {.last = INT64_MIN};
  if (plan->column_count > 1) return GATHER_ORDER_UNKNOWN; /* no variant for tuples depends on the order */
  /* Prefetches all pairs before it reads the first. */
  for (int64_t k = 0; k < PAIRS; k++) {
    gather_walk walk;
    gather_walk_start(&walk, plan->loops, plan->loop_count, k * (plan->row_count / PAIRS));
    if (gather_walk_left(&walk) < 2) continue;
    if (!e->shared) GATHER_PREFETCH(e->indices + walk.index);
    data[pairs] = walk.data, index[pairs++] = walk.index;
  }
  for (int k = 0; k < pairs; k++) {
    int64_t rows[2];
    read_pair(e, index[k], step, rows);
    take_pair(&s, plan, data[k], rows[0], rows[1]);
  }
  if (s.pairs < PAIRS / 2) return GATHER_ORDER_UNKNOWN;
  if (s.runs >= s.pairs / 4 * 3) return GATHER_ORDER_RUNS;
  if (s.near >= s.pairs / 4 * 3 || s.again >= s.pairs / 8) return GATHER_ORDER_NEAR;
  return s.rising == s.pairs ? GATHER_ORDER_SORTED : GATHER_ORDER_RANDOM;
}

/* Whether to try a variant on indices in the order that was found. */
static bool suits_order(const gather_execution *e, const gather_variant *variant) {
  return variant->when == GATHER_ORDER_UNKNOWN || variant->when == e->order;
}

/* ---- the calibration run. It times the variants on the first rows of the gather itself, because CPUs differ, and because it is not
 * known in advance whether the lines of the output are in a cache. All variants give the same bytes. */

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
    if (!e->plan->variants[w].radix && suits_order(e, &e->plan->variants[w])) c->variants[c->count++] = w;
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
static int64_t run_trial(gather_execution *e, const gather_variant *variant, gather_walk *walk, int64_t warm_up, int64_t slice) {
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
  if (next >= 0) keep_winner(e->plan, e->order, c->variants[fastest], c->best[fastest], c->variants[next], c->best[next]);
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

/* ---- radix partitioning (kernel/radix.h), the only variant that needs memory: block after block of the indices is partitioned, each in
 * one thread with its own memory. A block fits a core's cache while it is partitioned and written back in order, and is so large that
 * each partition has many of its elements. */

enum { ROOM = 4096 /* for elements on the way to non-temporal stores: they stay in L1 */ };

typedef struct {
  const gather_execution *e;
  const gather_variant *other; /* for rows without radix partitioning */
  const gather_radix_kernel *kernel;
  int64_t last, block;
  int shift;
  _Atomic int64_t next; /* first row that no thread has taken */
} job;

static int radix_width(const gather_plan *plan) { return gather_type_row(plan->rule.type)->bits == 64; }

/* The number of row bits below the partition number. */
static int shift_of(const gather_plan *plan) {
  int shift = 0;
  while ((plan->rule.axis_len - 1) >> shift >= GATHER_RADIX_PARTS) shift++;
  return shift;
}

/* Writes the elements in order, whole lines with non-temporal stores if the other variant uses them. */
static void join(const job *j, gather_radix *r, char *out) {
  const gather_isa *isa = gather_kernel_nontemporal_copy();
  const int64_t bytes = j->e->plan->row_bytes;
  int64_t done = 0;
  if (isa && j->other->nontemporal && (uintptr_t)out % (uintptr_t)bytes == 0) {
    _Alignas(LINE) char buffer[ROOM];
    done = (int64_t)(-(uintptr_t)out & (LINE - 1)) / bytes;
    if (done > r->count) done = r->count;
    j->kernel->join(r, 0, done, out);
    for (int64_t rows = ROOM / bytes; done + rows <= r->count; done += rows) {
      j->kernel->join(r, done, rows, buffer);
      isa->nontemporal_copy(out + done * bytes, buffer, ROOM);
    }
    isa->fence();
  }
  j->kernel->join(r, done, r->count - done, out + done * bytes);
}

static void move_by_radix(const job *j, gather_radix *r, const gather_walk *walk, int64_t count) {
  const gather_execution *e = j->e;
  r->data = e->data + walk->data, r->indices = e->indices + walk->index, r->count = count;
  j->kernel->part(r);
  j->kernel->fetch(r);
  join(j, r, e->out + walk->out);
}

static void move_block(const job *j, gather_radix *r, int64_t first, int64_t count) {
  const gather_execution *e = j->e;
  gather_walk walk;
  gather_walk_start(&walk, e->plan->loops, e->plan->loop_count, first);
  while (count > 0) {
    int64_t run = gather_walk_left(&walk);
    if (run > count) run = count;
    if (r->entries) {
      move_by_radix(j, r, &walk, run);
      gather_walk_next(&walk, run);
    } else {
      gather_move(e, j->other, &walk, run);
    }
    count -= run;
  }
}

/* Takes blocks until none is left. */
static void work(void *argument, int64_t number) {
  job *j = argument;
  const gather_plan *plan = j->e->plan;
  gather_radix r = {.axis_step = plan->axis_step,

                    .axis_len = j->e->form == GATHER_FORM_WIDENED && plan->rule.negative ? plan->rule.axis_len : 0,
                    .shift = j->shift};
  bool asked = false;
  (void)number;
  for (;;) {
    int64_t first = atomic_fetch_add_explicit(&j->next, j->block, memory_order_relaxed), left = j->last - first;
    if (left <= 0) break;
    if (!asked) r.entries = gather_alloc(j->block * j->kernel->entry_bytes);
    asked = true;
    move_block(j, &r, first, left < j->block ? left : j->block);
  }
  gather_free(r.entries);
}

/* The rows of a block for this many threads: equal shares that the memory allows; 0 = too little memory. */
static int64_t block_of(const gather_radix_kernel *kernel, int64_t rows, int64_t threads) {
  enum { TOO_SMALL = 16 /* in blocks of this share of the best size, partitions have too few elements of each page */ };
  int64_t most = gather_radix_rows(), allowed = gather_tuned(GATHER_TUNING_scratch_bytes) / kernel->entry_bytes / threads;
  if (allowed < most) most = allowed;
  if (most < 1 || most < gather_radix_rows() / TOO_SMALL) return 0;
  int64_t blocks = ((rows - 1) / most / threads + 1) * threads;
  return (rows - 1) / blocks + 1;
}

/* Moves rows [first, last). false: too little memory, and nothing was moved. */
static bool move(const gather_execution *e, const gather_variant *other, int64_t first, int64_t last, const gather_executor *executor) {
  const gather_plan *plan = e->plan;
  const int64_t threads = executor ? executor->threads : 1;
  job j = {.e = e, .other = other, .kernel = gather_kernel_radix(radix_width(plan), plan->row_bytes), .last = last};
  j.block = block_of(j.kernel, last - first, threads), j.shift = shift_of(plan);
  if (j.block < 1) return false;
  atomic_init(&j.next, first);
  if (threads > 1)
    executor->parallel_for(executor->context, threads, work, &j);
  else
    work(&j, 0);
  return true;
}

/* Does a calibration run of the other variants, then moves one block by radix partitioning. e->variant becomes the
 * fastest of all, *fastest the fastest of the others. Returns how many rows were moved. */
static int64_t decide(gather_execution *e, const gather_variant **fastest) {
  /* Shares of the work; a trial is larger, because the partitions of a small block have too few elements. More rows than
   * MOST do not make a calibration run more accurate. */
  enum { CALIBRATION = 16, TRIAL = 8, MOST = 1 << 20 };
  const gather_plan *plan = e->plan;
  int64_t calibration = plan->row_count / CALIBRATION + 1, block = plan->row_count / TRIAL + 1;
  if (block > gather_radix_rows()) block = gather_radix_rows();
  gather_walk walk;
  gather_walk_start(&walk, plan->loops, plan->loop_count, 0);
  int64_t moved = gather_calibrate(e, &walk, calibration < MOST ? calibration : MOST);
  *fastest = &plan->variants[atomic_load_explicit(&e->variant, memory_order_relaxed)];
  if (e->fastest_ps <= gather_tuned(GATHER_TUNING_radix_ps) || moved + block > plan->row_count) return moved;
  int64_t start = gather_thread_clock();
  if (!move(e, *fastest, moved, moved + block, NULL)) return moved;
  const int64_t ps = (gather_thread_clock() - start) * 1000 / block;
  if (ps < e->fastest_ps) {
    keep_winner(plan, e->order, plan->radix_variant, ps, atomic_load_explicit(&e->variant, memory_order_relaxed), e->fastest_ps);
    atomic_store_explicit(&e->variant, plan->radix_variant, memory_order_relaxed);
  }
  return moved + block;
}

/* Uses radix partitioning if it is set or turns out to be the fastest. Returns how many rows were moved: all, or those of the calibration
 * run, or none. Without memory, other variants move the rows. */
static int64_t run_radix(gather_execution *e, const gather_executor *executor) {
  const gather_plan *plan = e->plan;
  const int parts = plan->radix_variant, variant = atomic_load_explicit(&e->variant, memory_order_relaxed);
  const gather_variant *other = &plan->variants[parts];
  if (e->form == GATHER_FORM_REPAIRED) return 0;
  if (variant >= 0 ? variant != parts : !suits_order(e, other)) return 0;
  const gather_radix_kernel *kernel = gather_kernel_radix(radix_width(plan), plan->row_bytes);
  if (!block_of(kernel, plan->row_count, executor ? executor->threads : 1)) return 0;
  int64_t moved = variant < 0 ? decide(e, &other) : 0;
  if (atomic_load_explicit(&e->variant, memory_order_relaxed) != parts || moved == plan->row_count) return moved;
  return move(e, other, moved, plan->row_count, executor) ? plan->row_count : moved;
}

/* ---- what comes before the tasks */

/* Samples the order of the indices, which decides which variants are tried, and finds the winner that a kept plan
 * remembers for it. */
static void prepare_calibration(gather_execution *e) {
  gather_winner winner;
  if (e->order == GATHER_ORDER_UNKNOWN) e->order = gather_order_sample(e);
  if (!is_due(e->plan, e->order) && gather_winners_get(e->plan, e->order, &winner))
    atomic_store_explicit(&e->variant, winner.variant, memory_order_relaxed);
}

void gather_calibrate_before(gather_execution *e, const gather_executor *executor) {
  if (atomic_load_explicit(&e->variant, memory_order_relaxed) < 0) prepare_calibration(e);
  if (e->plan->radix_variant >= 0 && !e->shared) e->moved = run_radix(e, executor);
}
