/* SPDX-License-Identifier: MIT
 *
 * variants.c: lists the variants of a plan, most promising first. Sizes decide here; the rest is decided by the
 * calibration run (calibrate.c).
 */
#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "core/kernel/tuning.h"
#include "core/plan/measure.h"
#include "core/plan/plan.h"
#include "core/plan/plan_radix.h"

/* Upper bound of the prefetch distance for every tuning: the row numbers are on the stack. */
enum { MAX_PREFETCH_ROWS = 512 };
enum { LINE = 64, MAX_PREFETCH_LINES = 64 /* a page: the CPU's own prefetching starts anew at each */ };
enum {
  WORTH_MEASURING = 256, /* rows of a gather that repay the first look at which instruction is faster */
  WORTH_A_TABLE = 32,    /* rows that repay loading a table into registers */
  FEW = 16               /* rows below which no variant but the first repays being listed */
};

static int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

/* The bytes of the table that the indices of one innermost round select from. */
static int64_t table_bytes(const gather_plan *plan) {
  int64_t bytes;
  return gather_mul(magnitude(plan->axis_step), plan->rule.axis_len, &bytes) ? bytes : INT64_MAX;
}

/* Whether rows are out of a core's private cache: the table is larger, or all tables together are, and each is read too
 * little to stay in it: fewer than four times per line, so that a miss is a large share of the reads. */
static bool is_out_of_cache(const gather_plan *plan) {
  const int64_t cache = plan->cache_bytes;
  int64_t all = plan->data_extent.high - plan->data_extent.low;
  if (table_bytes(plan) > cache) return true;
  int64_t row = plan->row_bytes > LINE ? plan->row_bytes : LINE;
  return all > cache && plan->row_count < 4 * (all / row);
}

static gather_variant *add(gather_plan *plan) {
  static const gather_variant none;
  gather_variant *variant = &plan->variants[plan->variant_count++];
  *variant = none;
  return variant;
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

static void add_rows(gather_plan *plan, int64_t prefetch_rows, int64_t lines) {
  gather_variant *variant = add(plan);
  variant->rows = variant->rows_resolved = gather_kernel_rows(GATHER_WIDTH_8, plan->row_bytes, &variant->isa);
  if (width_of(plan) != GATHER_WIDTH_8)
    variant->rows = gather_kernel_rows(width_of(plan), plan->row_bytes, &variant->isa);
  variant->prefetch_rows = prefetch_rows, variant->prefetch_lines = lines;
  variant->kernel = prefetch_rows > 0 ? "prefetched rows" : "rows";
}

/* Whether the innermost loop is short (up to two vectors of 8 elements) and its rounds follow without a gap. */
static bool has_short_rounds(const gather_plan *plan) {
  if (plan->loop_count < 2) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1], *outer = inner - 1;
  if (inner->len > 16 || outer->index != inner->index * inner->len || outer->out != inner->out * inner->len)
    return false;
  return outer->len >= 16 && magnitude(outer->data) <= INT32_MAX / 64;
}

/* The gather instruction needs 32-bit offsets, dense indices (those that tuples are resolved to are dense) and a dense output. */
static void add_gather_instruction(gather_plan *plan) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const bool rounds = has_short_rounds(plan);
  gather_rows_fn (*const find)(int, int64_t, const char **) =
      rounds ? gather_kernel_instruction_rounds : gather_kernel_instruction;
  const char *isa;
  gather_rows_fn rows = find(width_of(plan), plan->row_bytes, &isa);
  int64_t reach = table_bytes(plan);
  const bool dense = plan->column_count > 1 || inner->index == gather_type_row(plan->rule.type)->bits / 8;
  if (!rows || !dense || inner->out != plan->row_bytes) return;
  if (reach > INT32_MAX / 2 || magnitude(inner->data) > INT32_MAX / 64 || (inner->len < 16 && !rounds)) return;
  gather_variant *variant = add(plan);
  variant->rows = rows, variant->rows_resolved = find(GATHER_WIDTH_8, plan->row_bytes, &isa);
  variant->isa = isa, variant->kernel = rounds ? "gather instruction in rounds" : "gather instruction";
}

/* A register table: one table for all rounds; everything is dense. */
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
  gather_variant *variant = add(plan);
  variant->rows = rows,
  variant->rows_resolved = gather_kernel_table(GATHER_TABLE_WIDTH_8, plan->row_bytes, bytes, &isa);
  variant->isa = isa, variant->kernel = "register table";
  plan->takes_bytes = width == 1;
  return true;
}

/* Whether each round, or each row of the only round, has a table of its own, and indices and output follow without a gap. */
static bool has_round_tables(const gather_plan *plan) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1], *outer = inner - 1;
  if (inner->data != 0) return plan->loop_count == 1;
  return plan->loop_count > 1 && outer->data != 0 && outer->index == inner->index * inner->len &&
         outer->out == inner->out * inner->len;
}

/* Register tables of rounds. */
static bool add_round_table(gather_plan *plan) {
  if (plan->column_count > 1 || plan->axis_step != plan->row_bytes || !has_round_tables(plan)) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  if (inner->index != gather_type_row(plan->rule.type)->bits / 8 || inner->out != plan->row_bytes) return false;
  const int64_t bytes = table_bytes(plan);
  const char *isa;
  gather_rows_fn rows = gather_kernel_round_table(width_of(plan), plan->row_bytes, bytes, &isa);
  if (!rows) return false;
  gather_variant *variant = add(plan);
  variant->rows = rows,
  variant->rows_resolved = gather_kernel_round_table(GATHER_WIDTH_8, plan->row_bytes, bytes, &isa);
  variant->isa = isa, variant->kernel = "register tables of rounds";
  return true;
}

/* A copy of another vector variant, with non-temporal stores. */
static void add_vector_nontemporal(gather_plan *plan, int32_t as) {
  if (!gather_kernel_vectors_nontemporal()) return;
  gather_variant *variant = add(plan);
  *variant = plan->variants[as];
  variant->nontemporal = true;
}

static void add_nontemporal(gather_plan *plan, int64_t prefetch_rows, int64_t lines) {
  gather_variant *variant = add(plan);
  variant->rows = gather_kernel_nontemporal(width_of(plan), plan->row_bytes, &variant->isa);
  variant->rows_resolved = gather_kernel_nontemporal(GATHER_WIDTH_8, plan->row_bytes, &variant->isa);
  variant->prefetch_rows = prefetch_rows, variant->prefetch_lines = lines, variant->nontemporal = true;
  variant->kernel = prefetch_rows > 0 ? "prefetched rows" : "rows";
}

static void add_interleaved(gather_plan *plan) {
  gather_variant *variant = add(plan);
  variant->rows = gather_kernel_interleaved(width_of(plan), &variant->isa);
  variant->rows_resolved = gather_kernel_interleaved(GATHER_WIDTH_8, &variant->isa);
  variant->nontemporal = true;
  variant->kernel = "rows interleaved by four";
}

/* Runs of rows, from dense indices to a dense output. Single elements are as fast without. */
static void add_runs(gather_plan *plan, bool nontemporal) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  if (inner->data != 0 || plan->axis_step != plan->row_bytes || inner->out != plan->row_bytes) return;
  if (width < 4 || inner->index != width || plan->row_bytes < 16) return;
  for (int stores = 0; stores < 1 + nontemporal; stores++) {
    const char *isa = NULL;
    gather_rows_fn rows = gather_kernel_runs(width_of(plan), stores, &isa);
    if (!rows) return;
    gather_variant *variant = add(plan);
    variant->rows = rows, variant->rows_resolved = gather_kernel_runs(GATHER_WIDTH_8, stores, &isa);
    variant->isa = isa, variant->when = GATHER_ORDER_RUNS;
    variant->kernel = "runs of rows";
    variant->nontemporal = stores;
  }
}

/* Variants for indices in a certain order, which is sampled at run time. */
static void add_for_order(gather_plan *plan, bool out_of_cache, bool nontemporal) {
  if (plan->column_count > 1) return;
  add_runs(plan, nontemporal);
  if (plan->row_bytes > LINE) return;
  const int32_t before = plan->variant_count;
  if (out_of_cache) add_gather_instruction(plan);
  if (out_of_cache && nontemporal && plan->variant_count > before) add_vector_nontemporal(plan, before);
  for (int32_t w = before; w < plan->variant_count; w++) plan->variants[w].when = GATHER_ORDER_NEAR;
  if (!gather_radix_suits(plan)) return;
  plan->radix_variant = plan->variant_count;
  gather_variant *variant = add(plan);
  *variant = plan->variants[0];
  variant->kernel = "radix partitioning", variant->isa = "portable", variant->when = GATHER_ORDER_RANDOM,
  variant->radix = true;
}

static void swap(gather_variant *a, gather_variant *b) {
  gather_variant kept = *a;
  *a = *b, *b = kept;
}

static void find_short(gather_plan *plan, bool out_of_cache, bool nontemporal) {
  int64_t prefetch_rows = gather_tuned(GATHER_TUNING_prefetch_rows);
  prefetch_rows = prefetch_rows < 0 ? 0 : prefetch_rows > MAX_PREFETCH_ROWS ? MAX_PREFETCH_ROWS : prefetch_rows;
  if (add_table(plan) || add_round_table(plan)) {
    if (nontemporal) add_vector_nontemporal(plan, 0);
    return;
  }
  if (out_of_cache) {
    add_rows(plan, prefetch_rows, 1);
    add_rows(plan, 0, 0); /* sorted indices need no prefetching */
    if (nontemporal) add_nontemporal(plan, prefetch_rows, 1);
    if (nontemporal) add_nontemporal(plan, 0, 0);
    add_for_order(plan, out_of_cache, nontemporal);
    return;
  }
  add_rows(plan, 0, 0);
  if (nontemporal) add_nontemporal(plan, 0, 0);
  int32_t plain = plan->variant_count;
  add_gather_instruction(plan);
  const bool instruction = plan->variant_count > plain;
  if (instruction && nontemporal) add_vector_nontemporal(plan, plain);
  add_for_order(plan, out_of_cache, nontemporal);
  /* Without a calibration run the first variant is used. */
  if (instruction && plan->row_count >= WORTH_MEASURING && gather_instruction_pays(plan->row_bytes))
    swap(&plan->variants[0], &plan->variants[plain]);
}

static void find_long(gather_plan *plan, bool out_of_cache, bool nontemporal) {
  int64_t all = (plan->row_bytes + LINE - 1) / LINE, few = gather_tuned(GATHER_TUNING_prefetch_lines);
  few = few < 1 ? 1 : few > all ? all : few;
  int64_t prefetch_rows = gather_tuned(GATHER_TUNING_prefetch_bytes) / plan->row_bytes;
  /* At most so many rows: each of them has several lines, and a core has some dozens of loads in flight. */
  prefetch_rows = prefetch_rows < 1 ? 1 : prefetch_rows > 64 ? 64 : prefetch_rows;
  if (!out_of_cache) {
    add_rows(plan, 0, 0);
    if (nontemporal) add_nontemporal(plan, 0, 0);
    add_for_order(plan, out_of_cache, nontemporal);
    return;
  }
  add_rows(plan, prefetch_rows, all < MAX_PREFETCH_LINES ? all : MAX_PREFETCH_LINES);
  if (all > few) add_rows(plan, prefetch_rows, few);
  add_for_order(plan, out_of_cache, nontemporal);
  if (!nontemporal) return;
  add_nontemporal(plan, prefetch_rows, all < MAX_PREFETCH_LINES ? all : MAX_PREFETCH_LINES);
  if (all > few) add_nontemporal(plan, prefetch_rows, few);
  if (plan->row_bytes >= gather_tuned(GATHER_TUNING_interleaved_bytes) && plan->row_bytes % LINE == 0)
    add_interleaved(plan);
}

/* Sizes and steps of packed plans are numbers of elements. */
static void find_packed(gather_plan *plan) {
  enum { MOST_PREFETCHED = 256 };
  const int64_t row = (plan->row_bytes - 1) / plan->layout.group_len * plan->layout.group_bytes + 1;
  const int64_t lines = 1 + row / LINE, far = gather_tuned(GATHER_TUNING_prefetch_bytes) / row;
  plan->cache_bytes = gather_cache_bytes();
  plan->out_of_cache = plan->data_extent.high - plan->data_extent.low > plan->cache_bytes;
  plan->row_cost = row + (plan->out_of_cache ? LINE : LINE / 16);
  gather_variant *variant = add(plan);
  variant->isa = "portable", variant->kernel = plan->out_of_cache ? "prefetched rows of bits" : "rows of bits";
  if (plan->out_of_cache) {
    variant->prefetch_rows = far < 1 ? 1 : far > MOST_PREFETCHED ? MOST_PREFETCHED : far;
    variant->prefetch_lines = lines < MAX_PREFETCH_LINES ? lines : MAX_PREFETCH_LINES;
  }
  if (plan->row_bytes > GATHER_PICK_ROW) return;
  variant->pick = gather_kernel_pick(gather_bit_layout_number(&plan->layout), &variant->isa);
  variant->kernel = plan->out_of_cache ? "prefetched packed elements" : "packed elements";
}

void gather_plan_find_variants(gather_plan *plan) {
  if (plan->packed) {
    find_packed(plan);
    return;
  }
  if (plan->row_count < FEW && plan->row_bytes <= LINE && gather_tuned(GATHER_TUNING_variant) < 0) {
    add_rows(plan, 0, 0);
    plan->row_cost = plan->row_bytes;
    return;
  }
  plan->cache_bytes = gather_cache_bytes();
  const bool out_of_cache = plan->out_of_cache = is_out_of_cache(plan);
  /* A cache miss costs about as much as moving a line, and a row in cache, beside its bytes, as 4 of them. */
  plan->row_cost = plan->row_bytes + (out_of_cache ? LINE : LINE / 16);
  plan->calibration_rows = gather_tuned(GATHER_TUNING_calibration_bytes) / plan->row_cost;
  /* For short rows out of cache the first variant is seldom slow: only larger gathers repay a calibration run. */
  if (out_of_cache && plan->row_bytes <= LINE &&
      !gather_mul(plan->calibration_rows, gather_tuned(GATHER_TUNING_far_calibration), &plan->calibration_rows))
    plan->calibration_rows = plan->calibration_rows < 0 ? 0 : INT64_MAX;
  bool nontemporal = plan->linear && gather_kernel_nontemporal_copy() &&
                     plan->row_count >= gather_tuned(GATHER_TUNING_nontemporal_bytes) / plan->row_bytes;
  if (plan->row_bytes > LINE)
    find_long(plan, out_of_cache, nontemporal);
  else
    find_short(plan, out_of_cache, nontemporal);
  int64_t forced = gather_tuned(GATHER_TUNING_variant);
  if (forced < 0) return;
  plan->variants[0] = plan->variants[forced % plan->variant_count];
  plan->variant_count = 1, plan->radix_variant = plan->variants[0].radix ? 0 : -1;
}
