/* SPDX-License-Identifier: MIT
 *
 * take.c: one take. What is in memory is copied in the order of the indices; what is not is noted, and read by miss.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "kernel/copy.h"
#include "plan/measure.h"
#include "plan/plan.h"
#include "plan/tasks.h"
#include "table/ids.h"
#include "table/table.h"

enum { BLOCK = 256, LINES_FETCHED = 4, WHOLE_ROWS = 4096, ASKS_PER_REGION = 16 };

/* ---- before anything is read */

static gather_status read_options(const gather_table_take_options *given, gather_table_take_options *options,
                                  gather_error *error) {
  *options = given ? *given : (gather_table_take_options)GATHER_TABLE_TAKE_INIT;
  if (options->size < sizeof *options)
    return gather_fail(error, GATHER_USAGE, "options.size is %zu; start from GATHER_TABLE_TAKE_INIT", options->size);
  if (!options->op) options->op = gather_op_find("Gather", "onnx-13");
  if (options->op->family != GATHER_FAMILY_GATHER)
    return gather_fail(error, GATHER_USAGE, "rows of a table are taken by a version of Gather, not of %s",
                       options->op->name);
  return gather_executor_check(options->executor, error);
}

static gather_status check_memory(const gather_plan *plan, const gather_tensor *indices, const gather_tensor *out,
                                  gather_error *error) {
  if (!gather_tensor_is_row_major(out))
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "rows of a table go to an output without gaps");
  if (gather_tensor_bytes(out) == 0) return GATHER_OK;
  if (!out->data) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!indices->data) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->data, run.out = out->data;
  return gather_plan_check_apart(plan, &run, error);
}

gather_status gather_taking_prepare(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                    const gather_table_take_options *given, gather_plan **plan, int64_t *bad,
                                    gather_error *error) {
  gather_table_take_options options;
  gather_options attributes = GATHER_OPTIONS_INIT;
  if (!indices || !out) return gather_fail(error, GATHER_USAGE, "gather_table_take: indices or out is NULL");
  GATHER_TRY(read_options(given, &options, error));
  attributes.on_bad = options.on_bad, attributes.negative = options.negative, attributes.fill = options.fill;
  GATHER_TRY(gather_plan_create(options.op, &table->info.tensor, indices, out, &attributes, plan, error));
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->data, run.executor = options.executor, run.bad_count = bad;
  gather_status status = check_memory(*plan, indices, out, error);
  if (status == GATHER_OK) status = gather_plan_check(*plan, &run, error);
  if (status == GATHER_OK) return GATHER_OK;
  gather_plan_destroy(*plan);
  *plan = NULL;
  return status;
}

/* ---- copying what is there */

/* One chunk of the indices. */
typedef struct sweep {
  const gather_taking *taking;
  gather_worker *worker;
  int64_t first; /* number of the chunk's first index */
  _Atomic int64_t misses, resident, cached;
  /* The first mapped byte that could not be had. */
  atomic_bool broken;
  int32_t source;
  int64_t offset;
} sweep;

typedef struct block {
  int64_t rows[BLOCK];
  const char *from[BLOCK]; /* NULL: it is not mapped */
  int64_t resident, cached;
} block;

static char *out_at(const sweep *s, int64_t position) {
  return s->taking->out + position * s->taking->table->info.row_bytes;
}

static void fill(const sweep *s, char *out) {
  const gather_plan *plan = s->taking->plan;
  const int64_t row_bytes = s->taking->table->info.row_bytes;
  if (!plan->fill) memset(out, 0, (size_t)row_bytes);
  for (int64_t at = 0; plan->fill && at < row_bytes; at += plan->fill_bytes)
    memcpy(out + at, plan->fill, (size_t)plan->fill_bytes);
}

/* A row that is in memory: its address; else NULL. *done: it was read without waiting. */
static const char *find_row(gather_table *table, int64_t row, char *out, bool *done) {
  const gather_part *part = table->part_count == 1 ? table->parts : gather_table_find_part(table, row);
  const int64_t row_bytes = table->info.row_bytes;
  const int64_t at = (row - part->first) * row_bytes, offset = part->offset + at;
  if (part->memory) return part->memory + at;
  if (!table->residency) return NULL;
  gather_residency *residency = &table->residency[part->source];
  switch (gather_residency_ask(residency, offset, row_bytes)) {
    case GATHER_WHERE_MAPPED:
      return residency->source->map + offset;
    case GATHER_WHERE_PERHAPS:
      *done = gather_residency_try(residency, offset, row_bytes, out);
      return NULL;
    default:
      return NULL;
  }
}

enum { DONE = -2 /* a row that needs nothing more */ };

static void locate(const sweep *s, block *b, int64_t position, int64_t count) {
  gather_table *table = s->taking->table;
  const int64_t lines = (table->info.row_bytes + 63) / 64;
  for (int64_t j = 0; j < count; j++) {
    bool done = false;
    b->from[j] = NULL;
    if (b->rows[j] == GATHER_ROW_FILL) {
      fill(s, out_at(s, position + j));
      b->rows[j] = DONE;
      continue;
    }
    b->from[j] = find_row(table, b->rows[j], out_at(s, position + j), &done);
    if (b->from[j])
      gather_fetch_row(b->from[j], lines < LINES_FETCHED ? lines : LINES_FETCHED);
    else if (!done && table->cache)
      gather_cache_fetch_keys(table->cache, b->rows[j]);
    if (done) b->rows[j] = DONE, b->resident++;
  }
  for (int64_t j = 0; table->cache && j < count; j++)
    if (!b->from[j] && b->rows[j] != DONE) gather_cache_fetch_row(table->cache, b->rows[j]);
}

static void deliver(sweep *s, block *b, int64_t position, int64_t count) {
  gather_table *table = s->taking->table;
  for (int64_t j = 0; j < count; j++) {
    char *out = out_at(s, position + j);
    if (b->from[j]) {
      gather_copy_row(out, b->from[j], (size_t)table->info.row_bytes);
      b->resident++;
    } else if (b->rows[j] != DONE) {
      if (table->cache && gather_cache_get(table->cache, b->rows[j], out)) {
        b->cached++;
        continue;
      }
      int64_t miss = atomic_fetch_add_explicit(&s->misses, 1, memory_order_relaxed);
      s->worker->entries[miss] = (gather_entry){b->rows[j], position + j};
    }
  }
}

/* Indices [first, last) of the chunk. */
typedef struct sweep_range {
  sweep *s;
  int64_t first, last;
} sweep_range;

static void sweep_blocks(void *argument) {
  const sweep_range *range = argument;
  sweep *s = range->s;
  block b;
  for (int64_t first = range->first; first < range->last; first += BLOCK) {
    int64_t count = range->last - first < BLOCK ? range->last - first : BLOCK, position = s->first + first;
    b.resident = b.cached = 0;
    gather_ids_rows(s->taking->plan, s->taking->indices, position, count, b.rows);
    locate(s, &b, position, count);
    deliver(s, &b, position, count);
    atomic_fetch_add_explicit(&s->resident, b.resident, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->cached, b.cached, memory_order_relaxed);
  }
}

/* What is mapped was resident when it was asked for. A fault that waited tells that the system has taken it away since. */
static void doubt(gather_table *table) {
  for (int32_t i = 0; table->residency && i < table->source_count; i++) gather_residency_doubt(&table->residency[i]);
}

static void sweep_part(void *argument, int64_t first, int64_t last) {
  sweep *s = argument;
  gather_table *table = s->taking->table;
  sweep_range range = {s, first, last};
  int32_t source;
  int64_t offset, faults = table->residency ? gather_major_faults() : 0;
  if (!table->residency ||
      gather_guard_run(table->sources, table->source_count, sweep_blocks, &range, &source, &offset)) {
    if (!table->residency) sweep_blocks(&range);
  } else if (!atomic_exchange(&s->broken, true)) {
    s->source = source, s->offset = offset;
  }
  if (table->residency && gather_major_faults() != faults) doubt(table);
}

gather_status gather_table_fail_mapped(gather_table *table, int32_t source, int64_t offset, gather_error *error) {
  const gather_source *from = &table->sources[source];
  int64_t row = gather_table_row_at(table, source, offset);
  doubt(table);
  gather_status status = gather_source_check(from, error);
  if (status == GATHER_OK)
    status = gather_fail_file(error, GATHER_IO_ERROR, from->path, offset, "the mapped file could not be read there");
  return gather_table_blame_row(table, row, status, error);
}

/* ---- the whole at once */

/* Tasks of a plan that reads a mapping, each in a guard of its own thread. */
typedef struct guarded {
  gather_table *table;
  const gather_executor *inner;
  void (*task)(void *argument, int64_t i);
  void *argument;
  atomic_bool broken;
  int32_t source;
  int64_t offset;
  const gather_plan *plan;
  const gather_run *run;
  gather_status status;
  gather_error *error;
} guarded;

typedef struct guarded_call {
  guarded *all;
  int64_t i;
} guarded_call;

static void call_task(void *argument) {
  guarded_call *call = argument;
  call->all->task(call->all->argument, call->i);
}

static void note_broken(guarded *all, int32_t source, int64_t offset) {
  if (!atomic_exchange(&all->broken, true)) all->source = source, all->offset = offset;
}

static void run_guarded(void *argument, int64_t i) {
  guarded_call call = {argument, i};
  int32_t source;
  int64_t offset;
  gather_table *table = call.all->table;
  if (!gather_guard_run(table->sources, table->source_count, call_task, &call, &source, &offset))
    note_broken(call.all, source, offset);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  guarded *all = context;
  all->task = task, all->argument = argument;
  if (all->inner) {
    all->inner->parallel_for(all->inner->context, count, run_guarded, all);
    return;
  }
  for (int64_t i = 0; i < count; i++) run_guarded(all, i);
}

static void run_plan(void *argument) {
  guarded *all = argument;
  all->status = gather_plan_run(all->plan, all->run, all->error);
}

/* Where all of a table's rows are in memory, the gather is one of those that are: the plan's kernels run on the mapping. */
static gather_status take_whole(const gather_taking *taking, const char *data, gather_error *error) {
  gather_table *table = taking->table;
  guarded all = {.table = table, .inner = taking->executor, .plan = taking->plan, .error = error};
  gather_executor executor = {&all, parallel_for, taking->executor ? taking->executor->threads : 1};
  gather_run run = GATHER_RUN_INIT;
  int64_t bad, faults = gather_major_faults();
  run.data = data, run.indices = taking->indices, run.out = taking->out, run.executor = &executor;
  run.bad_count = &bad, run.fresh_output = true; /* the indices were checked */
  all.run = &run;
  int32_t source;
  int64_t offset;
  if (!gather_guard_run(table->sources, table->source_count, run_plan, &all, &source, &offset))
    note_broken(&all, source, offset);
  if (gather_major_faults() != faults) doubt(table);
  if (all.broken) return gather_table_fail_mapped(table, all.source, all.offset, error);
  return all.status;
}

/* Where the rows begin if all of them are in memory; NULL. */
static const char *find_whole(const gather_taking *taking) {
  gather_table *table = taking->table;
  const gather_part *part = table->parts;
  if (table->part_count != 1 || table->info.rows == 0) return NULL;
  if (part->memory) return part->memory;
  if (!table->residency || taking->plan->index_count < WHOLE_ROWS) return NULL;
  gather_residency *residency = &table->residency[part->source];
  bool ask = taking->plan->index_count / ASKS_PER_REGION >= residency->region_count;
  bool all = gather_residency_is_all(residency, part->offset, part->rows * table->info.row_bytes, ask);
  return all ? residency->source->map + part->offset : NULL;
}

/* ---- chunk by chunk */

static void count_chunk(gather_table *table, const sweep *s) {
  gather_table_counts *counts = &table->counts;
  atomic_fetch_add_explicit(&counts->rows_resident, s->resident, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_cached, s->cached, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_read, s->misses, memory_order_relaxed);
}

static gather_status take_chunk(const gather_taking *taking, gather_worker *worker, int64_t first, int64_t count,
                                gather_error *error) {
  sweep s = {.taking = taking, .worker = worker, .first = first};
  const int64_t row_bytes = taking->table->info.row_bytes;
  gather_split(taking->executor, count, row_bytes, BLOCK, sweep_part, &s);
  if (s.broken) return gather_table_fail_mapped(taking->table, s.source, s.offset, error);
  if (s.misses > 0) GATHER_TRY(gather_taking_read(taking, worker, s.misses, error));
  count_chunk(taking->table, &s);
  return GATHER_OK;
}

static gather_status take_chunks(const gather_taking *taking, gather_error *error) {
  gather_table *table = taking->table;
  gather_worker *worker;
  gather_status status = GATHER_OK;
  GATHER_TRY(gather_worker_get(table, &worker, error));
  const int64_t all = taking->plan->index_count, most = table->budget.entries;
  for (int64_t first = 0; first < all && status == GATHER_OK; first += most)
    status = take_chunk(taking, worker, first, all - first < most ? all - first : most, error);
  gather_worker_put(table, worker);
  return status;
}

static gather_status take_rows(const gather_taking *taking, gather_error *error) {
  gather_table_counts *counts = &taking->table->counts;
  const char *whole = find_whole(taking);
  if (!whole) return take_chunks(taking, error);
  GATHER_TRY(take_whole(taking, whole, error));
  bool fills = taking->plan->rule.on_bad == GATHER_ON_BAD_ZERO || taking->plan->rule.on_bad == GATHER_ON_BAD_FILL;
  int64_t filled = fills ? taking->bad : 0;
  atomic_fetch_add_explicit(&counts->rows_resident, taking->plan->index_count - filled, memory_order_relaxed);
  return GATHER_OK;
}

gather_status gather_taking_run(gather_taking *taking, gather_error *error) {
  gather_table_counts *counts = &taking->table->counts;
  const int64_t rows = taking->plan->index_count, row_bytes = taking->table->info.row_bytes, start = gather_clock();
  gather_status status = rows > 0 && row_bytes > 0 ? take_rows(taking, error) : GATHER_OK;
  atomic_fetch_add_explicit(&counts->nanoseconds, gather_clock() - start, memory_order_relaxed);
  if (status != GATHER_OK) return status;
  atomic_fetch_add_explicit(&counts->takes, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows, rows, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->bytes_useful, rows * row_bytes, memory_order_relaxed);
  return GATHER_OK;
}

gather_status gather_table_take(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                const gather_table_take_options *options, gather_error *error) {
  if (!table) return gather_fail(error, GATHER_USAGE, "gather_table_take: table is NULL");
  gather_plan *plan = NULL;
  int64_t bad = 0;
  gather_table_enter(table);
  GATHER_TRY(gather_taking_prepare(table, indices, out, options, &plan, &bad, error));
  if (options && options->bad_count) *options->bad_count = bad;
  gather_taking taking = {.table = table,
                          .plan = plan,
                          .indices = indices->data,
                          .out = out->data,
                          .executor = options ? options->executor : NULL,
                          .bad = bad};
  gather_status status = gather_taking_run(&taking, error);
  gather_plan_destroy(plan);
  return status;
}
