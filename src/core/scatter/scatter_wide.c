/* SPDX-License-Identifier: MIT
 *
 * scatter_wide.c: sums that are rounded once, in a copy of the whole destination in the wider type: where there are many updates for its
 * size, this is faster than sorting them. Elements whose number has not changed are not written back.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/kernel/tuning.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

enum {
  CHUNK = 1024, /* numbers that are converted at a time, 8 KiB on the stack */
  NUMBERS = 8   /* of rows that are not worth a call each */
};

/* The copy: a row of numbers for each place. */
typedef struct {
  const gather_scattering *s;
  char *numbers;
  gather_combine_fn combine;
  int64_t share; /* places for a task */
} wide_copy;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

bool gather_scatter_wide_pays(const gather_scatter_plan *plan, int64_t *bytes) {
  int64_t numbers;
  if (!plan->wide || plan->len > CHUNK || plan->divide || plan->options.neutral) return false;
  if (!gather_mul(plan->places, plan->len, &numbers) || !gather_mul(numbers, plan->wide->acc_bytes, bytes)) return false;
  if (*bytes > gather_tuned(GATHER_TUNING_scratch_bytes)) return false;
  /* Fewer updates are sorted faster: than places, or, of short rows, than an eighth of the numbers. */
  return (plan->len < NUMBERS ? numbers / NUMBERS : plan->places) <= plan->nest.row_count;
}

/* Places [first, last); where rows have no gaps, numbers instead. */
static void load_numbers(void *argument, int64_t first, int64_t last) {
  const wide_copy *w = argument;
  const gather_scatter_plan *plan = w->s->plan;
  const char *out = w->s->out + plan->place_low;
  for (int64_t place = first; place < last; place++)
    plan->wide->load(w->numbers + place * plan->len * plan->wide->acc_bytes, out + place * plan->place_step, plan->len);
}

static void load_dense(void *argument, int64_t first, int64_t last) {
  const wide_copy *w = argument;
  const gather_scatter_plan *plan = w->s->plan;
  plan->wide->load(w->numbers + first * plan->wide->acc_bytes, w->s->out + plan->place_low + first * plan->item_bytes, last - first);
}

/* The elements whose numbers have changed, without branches: which have is random. */
#define STORE_CHANGED(name, number, element)                                                                                    \
  static void name(const char *restrict before, const char *restrict numbers, const char *restrict rounded, char *restrict row, \
                   int64_t len) {                                                                                               \
    for (int64_t k = 0; k < len; k++) {                                                                                         \
      number was, is;                                                                                                           \
      element old, now;                                                                                                         \
      memcpy(&was, before + k * (int64_t)sizeof was, sizeof was);                                                               \
      memcpy(&is, numbers + k * (int64_t)sizeof is, sizeof is);                                                                 \
      memcpy(&old, row + k * (int64_t)sizeof old, sizeof old);                                                                  \
      memcpy(&now, rounded + k * (int64_t)sizeof now, sizeof now);                                                              \
      old = was != is ? now : old;                                                                                              \
      memcpy(row + k * (int64_t)sizeof old, &old, sizeof old);                                                                  \
    }                                                                                                                           \
  }
STORE_CHANGED(store_changed_2, uint32_t, uint16_t)
STORE_CHANGED(store_changed_4, uint64_t, uint32_t)

/* Writes the elements of a run whose numbers have changed. */
static void store_run(const gather_scatter_plan *plan, const char *numbers, char *row, int64_t len) {
  double before[CHUNK], rounded[CHUNK];
  const int64_t wide = plan->wide->acc_bytes, item = plan->item_bytes; /* 4 and 2, or 8 and 4 */
  plan->wide->load(before, row, len);
  if (memcmp(before, numbers, (size_t)(len * wide)) == 0) return;
  plan->wide->store(numbers, (char *)rounded, len);
  (item == 2 ? store_changed_2 : store_changed_4)((const char *)before, numbers, (const char *)rounded, row, len);
}

static void store_numbers(void *argument, int64_t first, int64_t last) {
  const wide_copy *w = argument;
  const gather_scatter_plan *plan = w->s->plan;
  for (int64_t place = first; place < last; place++)
    for (int64_t k = 0; k < plan->len; k += CHUNK)
      store_run(plan, w->numbers + (place * plan->len + k) * plan->wide->acc_bytes,
                w->s->out + plan->place_low + place * plan->place_step + k * plan->item_bytes, least(CHUNK, plan->len - k));
}

static void store_dense(void *argument, int64_t first, int64_t last) {
  const wide_copy *w = argument;
  const gather_scatter_plan *plan = w->s->plan;
  for (; first < last; first += CHUNK)
    store_run(plan, w->numbers + first * plan->wide->acc_bytes, w->s->out + plan->place_low + first * plan->item_bytes,
              least(CHUNK, last - first));
}

/* The updates of a block, widened, from byte `at` of the room on; and what the block says: places of the copy, and these updates. Those of
 * other places than [low, low + count) are left out, before they are widened where they do not follow each other. */
static void widen_block(const wide_copy *w, int64_t low, int64_t count, gather_places *block, char *room, int64_t at) {
  const gather_scatter_plan *plan = w->s->plan;
  const int64_t row = plan->len * plan->wide->acc_bytes, last = block->count - 1;
  const bool dense = last >= 0 && plan->linear && plan->len < NUMBERS && block->from[last] - block->from[0] == last * plan->nest.row_bytes;
  gather_scatter_number_places(plan, block->places, block->count);
  if (dense)
    plan->wide->load(room + at, w->s->updates + block->from[0], block->count * plan->len);
  else if (count < plan->places)
    gather_places_keep(block, low, count);
  for (int32_t j = 0; !dense && j < block->count; j++) plan->wide->load(room + at + j * row, w->s->updates + block->from[j], plan->len);
  for (int32_t j = 0; j < block->count; j++) block->from[j] = at + j * row;
  if (dense && count < plan->places) gather_places_keep(block, low, count);
}

/* Updates in their order: widened, some at a time, and reduced with the copy. Each task takes a range of places. */
static void reduce_places(void *argument, int64_t task) {
  const wide_copy *w = argument;
  const gather_scatter_plan *plan = w->s->plan;
  const gather_plan *nest = &plan->nest;
  const int64_t most = CHUNK / plan->len < GATHER_SCATTER_BLOCK ? CHUNK / plan->len : GATHER_SCATTER_BLOCK;
  double updates[2][CHUNK];
  gather_blocks b;
  gather_walk walk;
  gather_combine_span span = {.out = w->numbers, .len = plan->len, .row_bytes = plan->len * plan->wide->acc_bytes};
  span.axis_step = span.row_bytes, span.updates = (const char *)updates;
  gather_scatter_set_prefetch(&span, plan->places * span.row_bytes);
  gather_walk_start(&walk, nest->loops, nest->loop_count, 0);
  gather_blocks_start(&b, span, w->combine, false);
  for (int64_t left = nest->row_count; left > 0;) {
    left -= gather_places_next(w->s, &walk, least(gather_blocks_most(&b, left), most), 0, &b.blocks[b.at]);
    widen_block(w, task * w->share, w->share, &b.blocks[b.at], (char *)updates, b.at * (int64_t)sizeof updates[0]);
    gather_blocks_put(&b);
  }
  gather_blocks_end(&b);
}

static void reduce_all(wide_copy *w) {
  const gather_executor *executor = w->s->executor;
  const int64_t places = w->s->plan->places, threads = executor ? executor->threads : 1;
  w->share = places;
  if (threads < 2 || w->s->plan->nest.row_count / threads <= gather_tuned(GATHER_TUNING_task_bytes) / w->s->plan->nest.row_bytes) {
    reduce_places(w, 0);
    return;
  }
  w->share = (places - 1) / threads + 1;
  executor->parallel_for(executor->context, (places - 1) / w->share + 1, reduce_places, w);
}

void gather_scatter_widely(const gather_scattering *s, void *memory) {
  const gather_scatter_plan *plan = s->plan;
  const char *isa;
  const gather_type type = plan->wide->acc_bytes == 4 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT64;
  const bool dense = plan->place_step == plan->nest.row_bytes;
  const int64_t count = dense ? plan->places * plan->len : plan->places, bytes = dense ? plan->item_bytes : plan->nest.row_bytes;
  wide_copy w = {s, memory, gather_kernel_combine(plan->options.reduction, type, plan->wide->acc_bytes, plan->len, &isa), 0};
  gather_split(s->executor, count, bytes * 4, CHUNK, dense ? load_dense : load_numbers, &w);
  reduce_all(&w);
  gather_split(s->executor, count, bytes * 4, CHUNK, dense ? store_dense : store_numbers, &w);
}
