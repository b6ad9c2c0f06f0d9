/* SPDX-License-Identifier: MIT
 *
 * variants.c: chooses the kernels of a plan: lists its variants, most promising first. Sizes decide here; the rest is decided by the
 * calibration run (calibrate.c).
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "core/kernel/radix.h"
#include "core/kernel/tuning.h"
#include "core/plan/execution.h"
#include "core/system/clock.h"

/* ---- whether the CPU's gather instruction is faster, measured once. CPUs of one instruction set differ: on some it is slower than plain
 * loads, on others a third faster, and in a virtual machine the name of the CPU does not tell. */

/* Table, indices and output fit L1 together. A trial of four times 512 elements is about a microsecond, long enough for
 * the clock; an interruption of the thread does not hit twelve of them. */
enum { TABLE_BYTES = 8192, INDICES = 512, TRIALS = 12, REPEATS = 4 };

typedef struct {
  _Alignas(64) char table[TABLE_BYTES];
  _Alignas(64) uint32_t indices[INDICES];
  _Alignas(64) char out[INDICES * 8];
} scratch;

static int64_t run(gather_rows_fn rows, const gather_span *span) {
  int64_t start = gather_clock();
  for (int i = 0; i < REPEATS; i++) rows(span);
  return gather_clock() - start;
}

/* The best of several alternating trials; about ten microseconds in all. What another virtual machine does on the core disturbs one
 * kernel more than the other, so an eighth is the least gain that counts. */
static bool is_faster(gather_rows_fn plain, gather_rows_fn vector, int64_t bytes) {
  scratch s;
  memset(s.table, 1, sizeof s.table);
  uint32_t state = 1;
  for (int i = 0; i < INDICES; i++) {
    state = state * 1664525u + 1013904223u;
    s.indices[i] = (state >> 16) % (uint32_t)(TABLE_BYTES / bytes);
  }
  gather_span span = {.data = s.table,
                      .indices = (const char *)s.indices,
                      .out = s.out,
                      .count = INDICES,
                      .rounds = 1,
                      .index_step = 4,
                      .out_step = bytes,
                      .axis_step = bytes,
                      .row_bytes = bytes};
  int64_t best_plain = INT64_MAX, best_vector = INT64_MAX;
  for (int trial = 0; trial < TRIALS; trial++) {
    int64_t took = run(plain, &span);
    if (took < best_plain) best_plain = took;
    took = run(vector, &span);
    if (took < best_vector) best_vector = took;
  }
  return best_vector < best_plain - best_plain / 8;
}

/* Whether it is faster for elements of 4 or 8 bytes from a table in L1. Measured at the first call, unless a tuning parameter sets it. */
static bool instruction_pays(int64_t row_bytes) {
  const int which = row_bytes == 4 ? GATHER_TUNING_gather_instruction_4 : GATHER_TUNING_gather_instruction_8;
  const int64_t tuned = gather_tuned(which);
  int64_t answer = tuned;
  if (answer < 0) {
    const char *isa;
    gather_rows_fn plain = gather_kernel_rows(GATHER_WIDTH_4, row_bytes, &isa);
    gather_rows_fn vector = gather_kernel_instruction(GATHER_WIDTH_4, row_bytes, &isa);
    /* Twice: a wrong answer would last as long as the process, and costs more than this. */
    const bool pays = vector && is_faster(plain, vector, row_bytes) && is_faster(plain, vector, row_bytes);
    answer = gather_tuned_keep(which, tuned, pays);
    if (answer < 0) answer = pays;
  }
  return answer > 0;
}

/* ---- kernels that only variants use. isa: receives the name of the instruction set. */

static gather_rows_fn find_instruction_rounds(int width, int64_t row_bytes, const char **isa) {
  const int size = row_bytes == 8;
  if (row_bytes != 4 && row_bytes != 8) return NULL;
  GATHER_RETURN_KERNEL(gather_instruction_rounds[width][size]);
}

/* Those for tables of this size; most: the slot with the sizes. */
#define RETURN_TABLE(slot, most, width)                                              \
  const int size = row_bytes == 1 ? 0 : row_bytes == 2 ? 1 : row_bytes == 4 ? 2 : 3; \
  if (row_bytes != (int64_t)1 << size) return NULL;                                  \
  GATHER_RETURN_KERNEL_IF(bytes <= gather_isa_rows[row].isa->most[size], slot[width][size])

static gather_rows_fn find_table(int table_width, int64_t row_bytes, int64_t bytes, const char **isa) {
  RETURN_TABLE(table, table_bytes, table_width);
}

static gather_rows_fn find_round_table(int width, int64_t row_bytes, int64_t bytes, const char **isa) {
  RETURN_TABLE(round_table, round_table_bytes, width);
}

static gather_rows_fn find_nontemporal(int width, int64_t row_bytes, const char **isa) {
  const int class = gather_row_class(row_bytes);
  GATHER_RETURN_KERNEL(nontemporal[width][class]);
}

static gather_rows_fn find_interleaved(int width, const char **isa) { GATHER_RETURN_KERNEL(interleaved[width]); }

static gather_rows_fn find_plain_runs(int width, const char **isa) { GATHER_RETURN_KERNEL(runs[width]); }

static gather_rows_fn find_nontemporal_runs(int width, const char **isa) { GATHER_RETURN_KERNEL(nontemporal_runs[width]); }

static gather_pick_fn find_pick(int layout, const char **isa) { GATHER_RETURN_KERNEL(pick[layout]); }

/* Kernels that validate, whose names no line of a plan has. */

static gather_checked_fn find_checked(int width, int64_t row_bytes) {
  const char *name, **isa = &name;
  const int class = gather_row_class(row_bytes);
  GATHER_RETURN_KERNEL(checked[width][class]);
}

static gather_checked_fn find_checked_nontemporal(int width, int64_t row_bytes) {
  const char *name, **isa = &name;
  const int class = gather_row_class(row_bytes);
  GATHER_RETURN_KERNEL(checked_nontemporal[width][class]);
}

static gather_checked_fn find_checked_instruction(int width, int64_t row_bytes) {
  const char *name, **isa = &name;
  const int size = row_bytes == 8;
  GATHER_RETURN_KERNEL(checked_instruction[width][size]);
}

static gather_checked_fn find_checked_table(int width, int64_t row_bytes, int64_t bytes) {
  const char *name, **isa = &name;
  RETURN_TABLE(checked_table, table_bytes, width);
}

static gather_checked_fn find_checked_round_table(int width, int64_t row_bytes, int64_t bytes) {
  const char *name, **isa = &name;
  RETURN_TABLE(checked_round_table, round_table_bytes, width);
}

/* ---- the list */

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

/* Whether elements of one table that is out of cache are so near that the CPU waits for them in no order: prefetching them takes as long as
 * it saves. Small tables that are out of cache come from memory. */
static bool is_near(const gather_plan *plan) {
  enum { LONGEST = 8, CACHES = 16 };
  const int64_t bytes = table_bytes(plan);
  return plan->row_bytes <= LONGEST && bytes > plan->cache_bytes && bytes / CACHES <= plan->cache_bytes;
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

/* Whether kernels may validate as they move: dense indices that they read themselves, in rounds of some groups of sixteen, and a dense
 * output. */
static bool has_checked(const gather_plan *plan) {
  enum { SHORTEST_ROUND = 64 };
  if (GATHER_SMALL) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  return plan->column_count == 1 && width >= 4 && inner->index == width && inner->out == plan->row_bytes && inner->len >= SHORTEST_ROUND;
}

static void add_rows(gather_plan *plan, int64_t prefetch_rows, int64_t lines) {
  gather_variant *variant = add(plan);
  variant->rows = variant->rows_resolved = gather_kernel_rows(GATHER_WIDTH_8, plan->row_bytes, &variant->isa);
  if (width_of(plan) != GATHER_WIDTH_8) variant->rows = gather_kernel_rows(width_of(plan), plan->row_bytes, &variant->isa);
  variant->prefetch_rows = prefetch_rows, variant->prefetch_lines = lines;
  variant->kernel = prefetch_rows > 0 ? "prefetched rows" : "rows";
  if (has_checked(plan)) variant->checked = find_checked(width_of(plan), plan->row_bytes);
}

/* Whether the innermost loop is short (up to two vectors of 8 elements) and its rounds follow without a gap. */
static bool has_short_rounds(const gather_plan *plan) {
  if (plan->loop_count < 2) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1], *outer = inner - 1;
  if (inner->len > 16 || outer->index != inner->index * inner->len || outer->out != inner->out * inner->len) return false;
  return outer->len >= 16 && magnitude(outer->data) <= INT32_MAX / 64;
}

/* The gather instruction needs 32-bit offsets, dense indices (those that tuples are resolved to are dense) and a dense output. */
static void add_gather_instruction(gather_plan *plan) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const bool rounds = has_short_rounds(plan);
  gather_rows_fn (*const find)(int, int64_t, const char **) = rounds ? find_instruction_rounds : gather_kernel_instruction;
  const char *isa;
  gather_rows_fn rows = find(width_of(plan), plan->row_bytes, &isa);
  int64_t reach = table_bytes(plan);
  const bool dense = plan->column_count > 1 || inner->index == gather_type_row(plan->rule.type)->bits / 8;
  if (!rows || !dense || inner->out != plan->row_bytes) return;
  if (reach > INT32_MAX / 2 || magnitude(inner->data) > INT32_MAX / 64 || (inner->len < 16 && !rounds)) return;
  gather_variant *variant = add(plan);
  variant->rows = rows, variant->rows_resolved = find(GATHER_WIDTH_8, plan->row_bytes, &isa);
  variant->isa = isa, variant->kernel = rounds ? "gather instruction in rounds" : "gather instruction";
  if (has_checked(plan) && !rounds) variant->checked = find_checked_instruction(width_of(plan), plan->row_bytes);
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
  gather_rows_fn rows = find_table(which, plan->row_bytes, bytes, &isa);
  if (!rows) return false;
  gather_variant *variant = add(plan);
  variant->rows = rows, variant->rows_resolved = find_table(GATHER_TABLE_WIDTH_8, plan->row_bytes, bytes, &isa);
  variant->rows_bytes = find_table(GATHER_TABLE_WIDTH_1, plan->row_bytes, bytes, &isa);
  variant->isa = isa, variant->kernel = "register table";
  /* Indices that come from memory are validated in a pass of their own, which reads them faster. */
  if (has_checked(plan) && !plan->rule.many) variant->checked = find_checked_table(width_of(plan), plan->row_bytes, bytes);
  plan->takes_bytes = width == 1;
  return true;
}

/* Whether each round, or each row of the only round, has a table of its own, and indices and output follow without a gap. */
static bool has_round_tables(const gather_plan *plan) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1], *outer = inner - 1;
  if (inner->data != 0) return plan->loop_count == 1;
  return plan->loop_count > 1 && outer->data != 0 && outer->index == inner->index * inner->len && outer->out == inner->out * inner->len;
}

/* Register tables of rounds. */
static bool add_round_table(gather_plan *plan) {
  if (plan->column_count > 1 || plan->axis_step != plan->row_bytes || !has_round_tables(plan)) return false;
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  if (inner->index != gather_type_row(plan->rule.type)->bits / 8 || inner->out != plan->row_bytes) return false;
  const int64_t bytes = table_bytes(plan);
  const char *isa;
  const bool is_byte = inner->index == 1;
  const int which = is_byte ? GATHER_TABLE_WIDTH_1 : width_of(plan) == GATHER_WIDTH_4 ? GATHER_TABLE_WIDTH_4 : GATHER_TABLE_WIDTH_8;
  gather_rows_fn rows = find_round_table(which, plan->row_bytes, bytes, &isa);
  if (!rows) return false;
  gather_variant *variant = add(plan);
  variant->rows = rows, variant->rows_resolved = find_round_table(GATHER_TABLE_WIDTH_8, plan->row_bytes, bytes, &isa);
  variant->rows_bytes = find_round_table(GATHER_TABLE_WIDTH_1, plan->row_bytes, bytes, &isa);
  if (!GATHER_SMALL && inner->index >= 4) variant->checked = find_checked_round_table(width_of(plan), plan->row_bytes, bytes);
  variant->isa = isa, variant->kernel = "register tables of rounds";
  plan->takes_bytes = is_byte;
  return true;
}

/* A copy of another vector variant, with non-temporal stores. */
static void add_vector_nontemporal(gather_plan *plan, int32_t as) {
  const gather_isa *isa = gather_kernel_nontemporal_copy();
  if (!isa || !isa->vectors_nontemporal) return;
  gather_variant *variant = add(plan);
  *variant = plan->variants[as];
  variant->nontemporal = true;
}

static void add_nontemporal(gather_plan *plan, int64_t prefetch_rows, int64_t lines) {
  gather_variant *variant = add(plan);
  variant->rows = find_nontemporal(width_of(plan), plan->row_bytes, &variant->isa);
  variant->rows_resolved = find_nontemporal(GATHER_WIDTH_8, plan->row_bytes, &variant->isa);
  variant->prefetch_rows = prefetch_rows, variant->prefetch_lines = lines, variant->nontemporal = true;
  variant->kernel = prefetch_rows > 0 ? "prefetched rows" : "rows";
  if (has_checked(plan)) variant->checked = find_checked_nontemporal(width_of(plan), plan->row_bytes);
}

static void add_interleaved(gather_plan *plan) {
  gather_variant *variant = add(plan);
  variant->rows = find_interleaved(width_of(plan), &variant->isa);
  variant->rows_resolved = find_interleaved(GATHER_WIDTH_8, &variant->isa);
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
    gather_rows_fn (*const find)(int, const char **) = stores ? find_nontemporal_runs : find_plain_runs;
    const char *isa = NULL;
    gather_rows_fn rows = find(width_of(plan), &isa);
    if (!rows) return;
    gather_variant *variant = add(plan);
    variant->rows = rows, variant->rows_resolved = find(GATHER_WIDTH_8, &isa);
    variant->isa = isa, variant->when = GATHER_ORDER_RUNS;
    variant->kernel = "runs of rows";
    variant->nontemporal = stores;
  }
}

/* Whether the plan can use radix partitioning: short elements of one large table, many indices. */
static bool suits_radix(const gather_plan *plan) {
  const gather_loop *inner = &plan->loops[plan->loop_count - 1];
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8, step = magnitude(plan->axis_step);
  if (width < 4 || !gather_kernel_radix(width_of(plan) == GATHER_WIDTH_8, plan->row_bytes)) return false;
  if (inner->data != 0 || inner->index != width || inner->out != plan->row_bytes) return false;
  if (inner->len < gather_radix_rows() || plan->rule.axis_len > UINT32_MAX) return false;
  return plan->rule.axis_len >= gather_tuned(GATHER_TUNING_radix_bytes) / (step > 0 ? step : 1);
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
  if (!suits_radix(plan)) return;
  plan->radix_variant = plan->variant_count;
  gather_variant *variant = add(plan);
  *variant = plan->variants[0];
  variant->kernel = "radix partitioning", variant->isa = "portable", variant->when = GATHER_ORDER_RANDOM, variant->radix = true;
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
    if (is_near(plan)) swap(&plan->variants[0], &plan->variants[1]);
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
  if (instruction && plan->row_count >= WORTH_MEASURING && instruction_pays(plan->row_bytes))
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
  if (plan->row_bytes >= gather_tuned(GATHER_TUNING_interleaved_bytes) && plan->row_bytes % LINE == 0) add_interleaved(plan);
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
  variant->pick = find_pick(gather_bit_layout_number(&plan->layout), &variant->isa);
  variant->kernel = plan->out_of_cache ? "prefetched packed elements" : "packed elements";
}

static void find_variants(gather_plan *plan) {
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

/* Whether the rows of the output, and their indices, are dense in the order of the nest. */
static void find_order(gather_plan *plan) {
  const int64_t width = gather_type_row(plan->rule.type)->bits / 8;
  int64_t out = plan->row_bytes, index = width * plan->column_count;
  /* Permuted indices may be dense in the order of the nest: but their positions are counted in row-major order. */
  plan->linear = true, plan->in_order = plan->index_dense;
  for (int32_t i = plan->loop_count - 1; i >= 0; i--) {
    const gather_loop *loop = &plan->loops[i];
    if (loop->len > 1 && loop->out != out) plan->linear = false;
    if (loop->len > 1 && loop->index != index) plan->in_order = false;
    out *= loop->len; /* at most the output */
    /* Repeated indices can be more than INT64_MAX bytes: no step equals this length. */
    if (!gather_mul(index, loop->len, &index)) index = INT64_MAX;
  }
}

void gather_plan_choose(gather_plan *plan) {
  plan->variant_count = 0, plan->radix_variant = -1;
  plan->takes_bytes = plan->out_of_cache = plan->linear = plan->in_order = false;
  plan->cache_bytes = 0, plan->calibration_rows = INT64_MAX;
  plan->winners = NULL;
  plan->rule.within = gather_kernel_within(plan->rule.type), plan->rule.fold = gather_kernel_fold(plan->rule.type);
  if (plan->row_count == 0) return;
  find_order(plan);
  if (!plan->writes) find_variants(plan);
}
