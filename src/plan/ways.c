/* SPDX-License-Identifier: MIT
 *
 * ways.c: how a nest may be run well on this machine. One list in the order of trust; what the sizes decide is decided here,
 * what only the machine knows is left to the race (race.c).
 */
#include "base/checked.h"
#include "base/tensor.h"
#include "kernel/tuning.h"
#include "plan/measure.h"
#include "plan/plan.h"
#include "plan/plan_radix.h"

/* Rows fetched ahead, whatever the tuning says: what kernels look at ahead stays on the stack. */
enum { MOST_AHEAD = 512 };
enum { LINE = 64, WORTH_MEASURING = 256, WORTH_A_TABLE = 32, FEW = 16 /* rows */, FAR_RACE = 8 };

static int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

/* What the indices of one innermost round choose from, in bytes. */
static int64_t table_bytes(const gather_plan *plan) {
  int64_t bytes;
  return gather_mul(magnitude(plan->axis_step), plan->rule.axis_len, &bytes) ? bytes : INT64_MAX;
}

/* Whether rows come from beyond a core's own cache: the table is larger, or all tables are, and each is read too little to
 * stay. */
static bool is_far(const gather_plan *plan) {
  const int64_t cache = plan->cache_bytes;
  int64_t all = plan->data_extent.high - plan->data_extent.low;
  if (table_bytes(plan) > cache) return true;
  int64_t row = plan->row_bytes > LINE ? plan->row_bytes : LINE;
  return all > cache && plan->row_count < 4 * (all / row);
}

static gather_way *add(gather_plan *plan) {
  static const gather_way none;
  gather_way *way = &plan->ways[plan->way_count++];
  *way = none;
  return way;
}

static int width_of(const gather_plan *plan) {
  switch (plan->rule.type) {
    case GATHER_TYPE_INT32:
    case GATHER_TYPE_UINT32:
      return GATHER_WIDTH_4;
    default:
      return GATHER_WIDTH_8;
  }
}

static void add_rows(gather_plan *plan, int64_t ahead, int64_t lines) {
  gather_way *way = add(plan);
  way->rows = way->rows_resolved = gather_kernel_rows(GATHER_WIDTH_8, plan->row_bytes, &way->isa);
  if (width_of(plan) != GATHER_WIDTH_8) way->rows = gather_kernel_rows(width_of(plan), plan->row_bytes, &way->isa);
  way->ahead = ahead, way->lines = lines;
  way->kernel = ahead > 0 ? "rows fetched ahead" : "rows";
}

/* Whether the innermost loop is short and goes on from round to round without a gap. */
static bool has_short_rounds(const gather_plan *plan) {
  if (plan->loop_count < 2) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1], *outer = inner - 1;
  if (inner->len > 16 || outer->index != inner->index * inner->len || outer->out != inner->out * inner->len)
    return false;
  return outer->len >= 16 && magnitude(outer->data) <= INT32_MAX / 64;
}

/* The gather instruction takes 32-bit offsets, from dense indices to a dense output. */
static void add_by_vector(gather_plan *plan) {
  if (plan->column_count > 1) return;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const bool rounds = has_short_rounds(plan);
  gather_rows_fn (*const find)(int, int64_t, const char **) =
      rounds ? gather_kernel_by_rounds : gather_kernel_by_vector;
  const char *isa;
  gather_rows_fn rows = find(width_of(plan), plan->row_bytes, &isa);
  int64_t reach = table_bytes(plan);
  if (!rows || inner->index != gather_type_row(plan->rule.type)->bits / 8 || inner->out != plan->row_bytes) return;
  if (reach > INT32_MAX / 2 || magnitude(inner->data) > INT32_MAX / 64 || (inner->len < 16 && !rounds)) return;
  gather_way *way = add(plan);
  way->rows = rows, way->rows_resolved = find(GATHER_WIDTH_8, plan->row_bytes, &isa);
  way->isa = isa, way->kernel = rounds ? "rounds by vector" : "rows by vector";
}

/* A table that fits in registers: one table for all rounds, dense all through. */
static bool add_table(gather_plan *plan) {
  if (plan->column_count > 1) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8, bytes = table_bytes(plan);
  if (width == 2 || inner->index != width || inner->out != plan->row_bytes || inner->data != 0) return false;
  if (plan->axis_step != plan->row_bytes || inner->len < WORTH_A_TABLE) return false;
  for (int32_t i = 0; i + 1 < plan->loop_count; i++)
    if (plan->loops[i].data != 0) return false;
  const char *isa;
  int which = width == 1 ? GATHER_TABLE_WIDTH_1 : width == 4 ? GATHER_TABLE_WIDTH_4 : GATHER_TABLE_WIDTH_8;
  gather_rows_fn rows = gather_kernel_table(which, plan->row_bytes, bytes, &isa);
  if (!rows) return false;
  gather_way *way = add(plan);
  way->rows = rows, way->rows_resolved = gather_kernel_table(GATHER_TABLE_WIDTH_8, plan->row_bytes, bytes, &isa);
  way->isa = isa, way->kernel = "table in registers";
  plan->takes_bytes = width == 1;
  return true;
}

/* The same way of vectors as another, with an output that goes past the caches. */
static void add_streamed(gather_plan *plan, int32_t as) {
  if (!gather_kernel_vectors_stream()) return;
  gather_way *way = add(plan);
  *way = plan->ways[as];
  way->stream = true;
}

static void add_stream(gather_plan *plan, int64_t ahead, int64_t lines) {
  gather_way *way = add(plan);
  way->rows = gather_kernel_stream(width_of(plan), plan->row_bytes, &way->isa);
  way->rows_resolved = gather_kernel_stream(GATHER_WIDTH_8, plan->row_bytes, &way->isa);
  way->ahead = ahead, way->lines = lines, way->stream = true;
  way->kernel = ahead > 0 ? "rows fetched ahead" : "rows";
}

static void add_together(gather_plan *plan) {
  gather_way *way = add(plan);
  way->rows = gather_kernel_together(width_of(plan), &way->isa);
  way->rows_resolved = gather_kernel_together(GATHER_WIDTH_8, &way->isa);
  way->stream = true;
  way->kernel = "rows, four together";
}

/* Rows that follow one another in the table, from dense indices to a dense output. Elements one by one are as fast. */
static void add_runs(gather_plan *plan, bool stream) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  if (inner->data != 0 || plan->axis_step != plan->row_bytes || inner->out != plan->row_bytes) return;
  if (width < 4 || inner->index != width || plan->row_bytes < 16) return;
  for (int past = 0; past < 1 + stream; past++) {
    const char *isa = NULL;
    gather_rows_fn rows = gather_kernel_runs(width_of(plan), past, &isa);
    if (!rows) return;
    gather_way *way = add(plan);
    way->rows = rows, way->rows_resolved = gather_kernel_runs(GATHER_WIDTH_8, past, &isa);
    way->isa = isa, way->when = GATHER_ORDER_RUNS;
    way->kernel = "runs of rows";
    way->stream = past;
  }
}

/* Ways for indices in one order, which is seen when they are there. */
static void add_for_order(gather_plan *plan, bool far, bool stream) {
  if (plan->column_count > 1) return;
  add_runs(plan, stream);
  if (plan->row_bytes > LINE) return;
  const int32_t before = plan->way_count;
  if (far) add_by_vector(plan);
  if (far && stream && plan->way_count > before) add_streamed(plan, before);
  for (int32_t w = before; w < plan->way_count; w++) plan->ways[w].when = GATHER_ORDER_NEAR;
  if (!gather_radix_suits(plan)) return;
  plan->parts_way = plan->way_count;
  gather_way *way = add(plan);
  *way = plan->ways[0];
  way->kernel = "elements in parts", way->isa = "portable", way->when = GATHER_ORDER_RANDOM, way->in_parts = true;
}

static void swap(gather_way *a, gather_way *b) {
  gather_way kept = *a;
  *a = *b, *b = kept;
}

static void find_short(gather_plan *plan, bool far, bool stream) {
  int64_t ahead = gather_tuned(GATHER_TUNING_ahead_rows);
  ahead = ahead < 0 ? 0 : ahead > MOST_AHEAD ? MOST_AHEAD : ahead;
  if (add_table(plan)) {
    if (stream) add_streamed(plan, 0);
    return;
  }
  if (far) {
    add_rows(plan, ahead, 1);
    add_rows(plan, 0, 0); /* sorted indices need no help */
    if (stream) add_stream(plan, ahead, 1);
    if (stream) add_stream(plan, 0, 0);
    add_for_order(plan, far, stream);
    return;
  }
  add_rows(plan, 0, 0);
  if (stream) add_stream(plan, 0, 0);
  int32_t plain = plan->way_count;
  add_by_vector(plan);
  const bool by_vector = plan->way_count > plain;
  if (by_vector && stream) add_streamed(plan, plain);
  add_for_order(plan, far, stream);
  /* Too few rows to try them: the order decides. */
  if (by_vector && plan->row_count >= WORTH_MEASURING && gather_by_vector_pays(plan->row_bytes))
    swap(&plan->ways[0], &plan->ways[plain]);
}

static void find_long(gather_plan *plan, bool far, bool stream) {
  int64_t all = (plan->row_bytes + LINE - 1) / LINE, few = all < 4 ? all : 4;
  int64_t ahead = gather_tuned(GATHER_TUNING_ahead_bytes) / plan->row_bytes;
  ahead = ahead < 1 ? 1 : ahead > 64 ? 64 : ahead;
  if (!far) {
    add_rows(plan, 0, 0);
    if (stream) add_stream(plan, 0, 0);
    add_for_order(plan, far, stream);
    return;
  }
  add_rows(plan, ahead, all < 64 ? all : 64);
  if (all > few) add_rows(plan, ahead, few);
  add_for_order(plan, far, stream);
  if (!stream) return;
  add_stream(plan, ahead, all < 64 ? all : 64);
  if (all > few) add_stream(plan, ahead, few);
  if (plan->row_bytes >= 1024 && plan->row_bytes % LINE == 0) add_together(plan);
}

void gather_plan_find_ways(gather_plan *plan) {
  if (plan->packed) {
    if (!gather_mul(plan->row_bytes, 16, &plan->row_cost)) plan->row_cost = GATHER_OFFSET_MAX;
    return;
  }
  if (plan->row_count < FEW && plan->row_bytes <= LINE && gather_tuned(GATHER_TUNING_way) < 0) {
    add_rows(plan, 0, 0);
    plan->row_cost = plan->row_bytes;
    return;
  }
  plan->cache_bytes = gather_cache_bytes();
  const bool far = plan->far = is_far(plan);
  /* A line that is not in the cache costs about what moving this much does. */
  plan->row_cost = plan->row_bytes + (far ? LINE : LINE / 16);
  plan->race_rows = gather_tuned(GATHER_TUNING_race_bytes) / plan->row_cost;
  /* Of short rows from afar the first way is seldom far from the fastest: fewer of them do not repay a race. */
  if (far && plan->row_bytes <= LINE && !gather_mul(plan->race_rows, FAR_RACE, &plan->race_rows))
    plan->race_rows = plan->race_rows < 0 ? 0 : INT64_MAX;
  bool stream = plan->linear && gather_kernel_stream_copy() &&
                plan->row_count >= gather_tuned(GATHER_TUNING_stream_bytes) / plan->row_bytes;
  if (plan->row_bytes > LINE)
    find_long(plan, far, stream);
  else
    find_short(plan, far, stream);
  int64_t forced = gather_tuned(GATHER_TUNING_way);
  if (forced < 0) return;
  plan->ways[0] = plan->ways[forced % plan->way_count];
  plan->way_count = 1, plan->parts_way = plan->ways[0].in_parts ? 0 : -1;
}
