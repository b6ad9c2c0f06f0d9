/* SPDX-License-Identifier: MIT
 *
 * plan_radix.c: partitions block after block of the indices, each in one thread with its own memory. A block fits a
 * core's cache while it is partitioned and written back in order, and is so large that each partition has many of its
 * elements.
 */
#include "core/plan/plan_radix.h"

#include "core/base/alloc.h"
#include "core/base/tensor.h"
#include "core/kernel/radix.h"
#include "core/kernel/tuning.h"
#include "core/plan/order.h"
#include "core/plan/winners.h"
#include "core/system/clock.h"

enum { LINE = 64, ROOM = 4096 /* for elements on the way to non-temporal stores: they stay in L1 */ };

typedef struct {
  const gather_execution *e;
  const gather_variant *other; /* for rows without radix partitioning */
  const gather_radix_kernel *kernel;
  int64_t last, block;
  int shift;
  _Atomic int64_t next; /* first row that no thread has taken */
} job;

/* The most indices of a block. */
static int64_t most_rows(void) {
  int64_t rows = gather_tuned(GATHER_TUNING_radix_block);
  return rows < 1 ? 1 : rows > INT32_MAX ? INT32_MAX : rows;
}

/* From one row to the next. */
static int64_t step_of(const gather_plan *plan) {
  int64_t step = plan->axis_step < 0 ? -plan->axis_step : plan->axis_step;
  return step > 0 ? step : 1;
}

static int width_of(const gather_plan *plan) { return gather_type_row(plan->rule.type)->bits == 64; }

bool gather_radix_suits(const gather_plan *plan) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8, step = step_of(plan);
  if (width < 4 || !gather_kernel_radix(width_of(plan), plan->row_bytes)) return false;
  if (inner->data != 0 || inner->index != width || inner->out != plan->row_bytes) return false;
  if (inner->len < most_rows() || plan->rule.axis_len > UINT32_MAX) return false;
  return plan->rule.axis_len >= gather_tuned(GATHER_TUNING_radix_bytes) / step;
}

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
  int64_t most = most_rows(), allowed = gather_tuned(GATHER_TUNING_scratch_bytes) / kernel->entry_bytes / threads;
  if (allowed < most) most = allowed;
  if (most < 1 || most < most_rows() / TOO_SMALL) return 0;
  int64_t blocks = ((rows - 1) / most / threads + 1) * threads;
  return (rows - 1) / blocks + 1;
}

/* Moves rows [first, last). false: too little memory, and nothing was moved. */
static bool move(const gather_execution *e, const gather_variant *other, int64_t first, int64_t last,
                 const gather_executor *executor) {
  const gather_plan *plan = e->plan;
  const int64_t threads = executor ? executor->threads : 1;
  job j = {.e = e, .other = other, .kernel = gather_kernel_radix(width_of(plan), plan->row_bytes), .last = last};
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
  if (block > most_rows()) block = most_rows();
  gather_walk walk;
  gather_walk_start(&walk, plan->loops, plan->loop_count, 0);
  int64_t moved = gather_calibrate(e, &walk, calibration < MOST ? calibration : MOST);
  *fastest = &plan->variants[atomic_load_explicit(&e->variant, memory_order_relaxed)];
  if (e->fastest_ps <= gather_tuned(GATHER_TUNING_radix_ps) || moved + block > plan->row_count) return moved;
  int64_t start = gather_thread_clock();
  if (!move(e, *fastest, moved, moved + block, NULL)) return moved;
  const int64_t ps = (gather_thread_clock() - start) * 1000 / block;
  if (ps < e->fastest_ps) {
    gather_winners_keep(plan, e->order, plan->radix_variant, ps,
                        atomic_load_explicit(&e->variant, memory_order_relaxed), e->fastest_ps);
    atomic_store_explicit(&e->variant, plan->radix_variant, memory_order_relaxed);
  }
  return moved + block;
}

int64_t gather_radix_run(gather_execution *e, const gather_executor *executor) {
  const gather_plan *plan = e->plan;
  const int parts = plan->radix_variant, variant = atomic_load_explicit(&e->variant, memory_order_relaxed);
  const gather_variant *other = &plan->variants[parts];
  if (e->form == GATHER_FORM_REPAIRED) return 0;
  if (variant >= 0 ? variant != parts : !gather_order_suits(e, other)) return 0;
  const gather_radix_kernel *kernel = gather_kernel_radix(width_of(plan), plan->row_bytes);
  if (!block_of(kernel, plan->row_count, executor ? executor->threads : 1)) return 0;
  int64_t moved = variant < 0 ? decide(e, &other) : 0;
  if (atomic_load_explicit(&e->variant, memory_order_relaxed) != parts || moved == plan->row_count) return moved;
  return move(e, other, moved, plan->row_count, executor) ? plan->row_count : moved;
}
