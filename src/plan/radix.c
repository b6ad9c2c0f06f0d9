/* SPDX-License-Identifier: MIT
 *
 * radix.c: block after block of the indices, each by one thread with memory of its own. A block is small enough to stay in a
 * core's cache while it is put into parts and back in order, and large enough that each part has many of its elements.
 */
#include "plan/radix.h"

#include "base/alloc.h"
#include "base/tensor.h"
#include "kernel/radix.h"
#include "kernel/tuning.h"
#include "plan/measure.h"
#include "plan/order.h"

enum { LINE = 64, ROOM = 4096, FEWEST_BLOCKS = 8, PART_BYTES = 16 << 20, FEW_PARTS = 64 };

typedef struct {
  const gather_execution *e;
  const gather_way *other; /* for rows that are not moved in parts */
  const gather_radix_kernel *kernel;
  int64_t last, block;
  int shift;
  _Atomic int64_t next; /* row that no thread has taken yet */
} job;

static int64_t block_rows(void) {
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
  if (inner->len < FEWEST_BLOCKS * block_rows() || plan->rule.axis_len > UINT32_MAX) return false;
  return plan->rule.axis_len >= gather_tuned(GATHER_TUNING_radix_bytes) / step;
}

/* The number of bits below those that number the parts. */
static int shift_of(const gather_plan *plan) {
  int64_t last = plan->rule.axis_len - 1, parts = last / (PART_BYTES / step_of(plan) + 1);
  if (parts < FEW_PARTS) parts = FEW_PARTS;
  if (parts > GATHER_RADIX_PARTS) parts = GATHER_RADIX_PARTS;
  int shift = 0;
  while (last >> shift >= parts) shift++;
  return shift;
}

/* The elements, in order: whole lines past the caches where the other way stores so too. */
static void join(const job *j, gather_radix *r, char *out) {
  const gather_isa *isa = gather_kernel_stream_copy();
  const int64_t bytes = j->e->plan->row_bytes;
  int64_t done = 0;
  if (isa && j->other->store == GATHER_STREAM_BLOCKS && (uintptr_t)out % (uintptr_t)bytes == 0) {
    _Alignas(LINE) char buffer[ROOM];
    done = (int64_t)(-(uintptr_t)out & (LINE - 1)) / bytes;
    if (done > r->count) done = r->count;
    j->kernel->join(r, 0, done, out);
    for (int64_t rows = ROOM / bytes; done + rows <= r->count; done += rows) {
      j->kernel->join(r, done, rows, buffer);
      isa->stream_copy(out + done * bytes, buffer, ROOM);
    }
    isa->fence();
  }
  j->kernel->join(r, done, r->count - done, out + done * bytes);
}

static void move_in_parts(const job *j, gather_radix *r, const gather_walk *walk, int64_t count) {
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
      move_in_parts(j, r, &walk, run);
      gather_walk_next(&walk, run);
    } else {
      gather_move_in_way(e, j->other, &walk, run);
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

/* How many blocks may be in memory at once. */
static int64_t blocks_allowed(const gather_radix_kernel *kernel) {
  return gather_tuned(GATHER_TUNING_scratch_bytes) / kernel->entry_bytes / block_rows();
}

/* Rows [first, last). */
static void move(const gather_execution *e, const gather_way *other, int64_t first, int64_t last,
                 const gather_executor *executor) {
  const gather_plan *plan = e->plan;
  job j = {.e = e, .other = other, .kernel = gather_kernel_radix(width_of(plan), plan->row_bytes), .last = last};
  j.block = block_rows(), j.shift = shift_of(plan);
  atomic_init(&j.next, first);
  int64_t threads = executor ? executor->threads : 1, most = blocks_allowed(j.kernel);
  if (threads > most) threads = most;
  if (threads > 1)
    executor->parallel_for(executor->context, threads, work, &j);
  else
    work(&j, 0);
}

/* The other ways race, then two blocks are moved in parts, of which the first pays for memory that nobody has touched.
 * Returns how many rows that were; e->way is the fastest, *winner the fastest of the others. */
static int64_t decide(gather_execution *e, int parts, const gather_way **winner) {
  enum { MOST = 1 << 20 };
  const gather_plan *plan = e->plan;
  const int64_t block = block_rows(), share = plan->row_count / FEWEST_BLOCKS;
  gather_walk walk;
  gather_walk_start(&walk, plan->loops, plan->loop_count, 0);
  int64_t moved = gather_race(e, &walk, share < MOST ? share : MOST);
  if (e->winner_ps <= gather_tuned(GATHER_TUNING_radix_ps)) return moved;
  *winner = &plan->ways[atomic_load_explicit(&e->way, memory_order_relaxed)];
  move(e, *winner, moved, moved + block, NULL);
  int64_t start = gather_clock();
  move(e, *winner, moved + block, moved + 2 * block, NULL);
  int64_t ps = (gather_clock() - start) * 1000 / block;
  if (ps < e->winner_ps) atomic_store_explicit(&e->way, parts, memory_order_relaxed);
  return moved + 2 * block;
}

int64_t gather_radix_run(gather_execution *e, const gather_executor *executor) {
  const gather_plan *plan = e->plan;
  const int parts = plan->parts_way, way = atomic_load_explicit(&e->way, memory_order_relaxed);
  if (e->form == GATHER_FORM_REPAIRED) return 0;
  if (way >= 0 ? way != parts : !gather_order_suits(e, &plan->ways[parts])) return 0;
  if (blocks_allowed(gather_kernel_radix(width_of(plan), plan->row_bytes)) < 1) return 0;
  const gather_way *other = &plan->ways[parts];
  int64_t moved = way < 0 ? decide(e, parts, &other) : 0;
  if (atomic_load_explicit(&e->way, memory_order_relaxed) != parts) return moved;
  move(e, other, moved, plan->row_count, executor);
  return plan->row_count;
}
