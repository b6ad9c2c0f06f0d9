/* SPDX-License-Identifier: MIT
 *
 * order.c: samples the indices. Runs of rows are copied as one. Rows near each other are already in a cache, where
 * prefetching costs more than it gains. Sorted rows gain nothing from radix partitioning.
 */
#include "core/plan/order.h"

#include "core/base/tensor.h"
#include "core/kernel/copy.h"

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

bool gather_order_suits(const gather_execution *e, const gather_variant *variant) {
  return variant->when == GATHER_ORDER_UNKNOWN || variant->when == e->order;
}
