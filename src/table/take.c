/* SPDX-License-Identifier: MIT
 *
 * take.c: one take: checked; then done at once if all rows are resident, by the plan's kernels; else chunk by chunk: a sweep copies
 * resident and cached rows in the order of the indices and notes the others, which a worker reads (worker.c).
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/plan/plan.h"
#include "core/plan/tasks.h"
#include "core/system/clock.h"
#include "table/system/table_system.h"
#include "table/table_internal.h"

/* ---- before anything is read */

static gather_status read_options(const gather_table_take_options *given, gather_table_take_options *options, gather_error *error) {
  *options = (gather_table_take_options)GATHER_TABLE_TAKE_INIT;
  GATHER_TRY(gather_struct_read(options, sizeof *options, given, "gather_table_take_options", "GATHER_TABLE_TAKE_INIT", error));
  if (!options->op) options->op = gather_op_find("Gather", "onnx-13");
  const gather_family_info *family = gather_family_get(options->op->family);
  if (!family || (!family->whole_rows && options->op->tuples == GATHER_TUPLES_NONE))
    return gather_fail(error, GATHER_USAGE, "rows of a table are taken by a version of Gather or GatherND, not by %s", options->op->name);
  return gather_executor_check(options->executor, error);
}

static gather_status check_memory(const gather_plan *plan, const gather_tensor *indices, const gather_tensor *out, gather_error *error) {
  if (!gather_tensor_is_row_major(out))
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "the output for rows of a table must be dense");
  if (gather_tensor_bytes(out) == 0) return GATHER_OK;
  if (!out->data) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!indices->data) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->data, run.out = out->data;
  return gather_plan_check_overlap(plan, &run, error);
}

/* Rows that tuples select must be bytes of the file, like those of the table. */
static gather_status check_tuples(const gather_table *table, const gather_op *op, const gather_tensor *indices, gather_error *error) {
  const gather_tensor *tensor = &table->info.tensor;
  const gather_type_info *type = gather_type_row(tensor->type);
  if (op->tuples == GATHER_TUPLES_NONE) return GATHER_OK;
  const int64_t components = indices->shape[indices->rank - 1];
  if (components == 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "indices", "each tuple without numbers would select the whole table");
  if (components > 1 && table->info.codec)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "indices",
                             "tuples of %" PRId64 " numbers select parts of decoded rows; take the rows by one number each", components);
  int64_t len = 1;
  for (int32_t d = (int32_t)components; d < tensor->rank; d++) len *= tensor->shape[d]; /* at most a row */
  if (!gather_type_is_packed(type) || (len * type->bits % 8 == 0 && len % type->group_len == 0)) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "indices",
                           "rows of %" PRId64 " elements of %s, as tuples of %" PRId64 " numbers select, do not end on a whole byte", len,
                           type->name, components);
}

static gather_status check_part(const gather_table *table, const gather_table_take_options *options, gather_error *error) {
  const int64_t from = options->part_from, bytes = options->part_bytes;
  if (from == 0 && bytes == 0) return GATHER_OK;
  if (from < 0 || bytes < 1 || from > table->info.row_bytes || bytes > table->info.row_bytes - from)
    return gather_fail(error, GATHER_USAGE, "part_from %" PRId64 " and part_bytes %" PRId64 " do not fit a row of %" PRId64 " bytes", from,
                       bytes, table->info.row_bytes);
  return options->op->tuples == GATHER_TUPLES_NONE
             ? GATHER_OK
             : gather_fail(error, GATHER_USAGE, "a part of a row is taken by row numbers, not by tuples");
}

/* A taking of arguments that were checked. */
static gather_taking describe(gather_table *table, gather_plan *plan, const gather_tensor *indices, const gather_tensor *out, int64_t bad) {
  gather_taking taking = {.table = table,
                          .plan = plan,
                          .row_bytes = table->info.row_bytes,
                          .fold = 1,
                          .count = plan->index_count / plan->column_count,
                          .indices = indices->data,
                          .out = out->data,
                          .bad = bad};
  for (int32_t d = 1; d < plan->column_count; d++) taking.fold *= table->shape[d];
  if (taking.fold > 1) taking.row_bytes /= taking.fold;
  taking.kernel = gather_plan_restrict(plan, taking.row_bytes); /* a guard's jump would leak what a run allocates */
  return taking;
}

gather_status gather_taking_prepare(gather_taking *taking, gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                    const gather_table_take_options *given, gather_table_take_options *full, gather_error *error) {
  gather_options attributes = GATHER_OPTIONS_INIT;
  gather_plan *plan;
  int64_t bad = 0;
  if (!indices || !out) return gather_fail(error, GATHER_USAGE, "gather_table_take: indices or out is NULL");
  GATHER_TRY(read_options(given, full, error));
  attributes.on_bad = full->on_bad, attributes.negative = full->negative, attributes.fill = full->fill;
  GATHER_TRY(gather_plan_create(full->op, &table->info.tensor, indices, out, &attributes, &plan, error));
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->data, run.executor = full->executor, run.bad_count = &bad;
  gather_status status = check_tuples(table, full->op, indices, error);
  if (status == GATHER_OK) status = check_memory(plan, indices, out, error);
  if (status == GATHER_OK) status = gather_plan_check(plan, &run, error);
  if (status == GATHER_OK) status = check_part(table, full, error);
  if (status == GATHER_OK) {
    *taking = describe(table, plan, indices, out, bad);
    taking->part_from = full->part_from;
    taking->part_bytes = full->part_bytes > 0 ? full->part_bytes : taking->row_bytes;
    taking->rows_to_come = full->rows_to_come > 0 ? full->rows_to_come : 0;
    if (full->bad_count) *full->bad_count = bad;
    return GATHER_OK;
  }
  gather_plan_destroy(plan);
  return status;
}

/* ---- unexpected waits, and pages that cannot be read */

/* Asking the system costs as much as some rows, so it needs this many rows to pay off. For fewer, the time decides:
 * resident rows never take this long. */
enum { ROWS_PER_WATCH = 256, SLOW_NANOSECONDS = 2000000 };

/* Major page faults, which waited for a disk: of this thread, or of the process where the system counts no others. (Macros: C libraries
 * differ in the type.) */
#if defined(RUSAGE_THREAD)
#define COUNTED RUSAGE_THREAD
#else
#define COUNTED RUSAGE_SELF
#endif

static int64_t major_faults(void) {
  struct rusage use;
  return getrusage(COUNTED, &use) == 0 ? (int64_t)use.ru_majflt : 0;
}

/* Detects whether this thread waited for a disk, although what it touched was considered resident: the system has evicted it since. */
typedef struct disk_watch {
  int64_t rows, faults, start;
} disk_watch;

/* rows: the number to be copied until has_waited. */
static disk_watch start_watch(int64_t rows) {
  bool ask = rows >= ROWS_PER_WATCH;
  return (disk_watch){rows, ask ? major_faults() : 0, ask ? 0 : gather_clock()};
}

static bool has_waited(const disk_watch *watch) {
  if (watch->rows >= ROWS_PER_WATCH) return major_faults() != watch->faults;
  return gather_clock() - watch->start > SLOW_NANOSECONDS;
}

/* The first mapped byte that could not be read, by any thread of a take. */
typedef struct fault {
  atomic_bool broken;
  int32_t source;
  int64_t offset;
} fault;

/* Calls a function that reads mapped files, and notes if it failed. */
static void run_guarded(const gather_table *table, fault *found, void (*body)(void *argument), void *argument) {
  int32_t source;
  int64_t offset;
  if (!gather_guard_run(table->sources, table->source_count, body, argument, &source, &offset) && !atomic_exchange(&found->broken, true))
    found->source = source, found->offset = offset;
}

/* With so many rows per region, querying and mapping whole regions pays off. */
enum { ROWS_PER_REGION = 16 };

/* Announces how many rows a take wants. */
static void expect(gather_table *table, int64_t rows) {
  for (int32_t i = 0; table->residency && i < table->source_count; i++) {
    gather_residency *residency = &table->residency[i];
    bool eager = rows / ROWS_PER_REGION >= residency->region_count;
    atomic_store_explicit(&residency->eager, eager, memory_order_relaxed);
  }
}

/* ---- all rows are resident: the plan's kernels run on the mapping, each task in its thread's guard */

typedef struct whole {
  const gather_taking *taking;
  void (*task)(void *argument, int64_t i); /* of the plan */
  void *argument;
  fault fault;
  atomic_bool stale; /* a task waited for the disk: the others are skipped */
  const gather_run *run;
  gather_status status;
  gather_error *error;
} whole;

typedef struct whole_task {
  whole *all;
  int64_t i;
} whole_task;

static void call_task(void *argument) {
  whole_task *call = argument;
  call->all->task(call->all->argument, call->i);
}

static void run_task(void *argument, int64_t i) {
  whole_task call = {argument, i};
  whole *all = call.all;
  if (atomic_load(&all->stale) || atomic_load(&all->fault.broken) || gather_taking_stopped(all->taking)) return;
  disk_watch watch = start_watch(all->taking->count);
  run_guarded(all->taking->table, &all->fault, call_task, &call);
  if (has_waited(&watch)) atomic_store(&all->stale, true);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  whole *all = context;
  const gather_executor *executor = all->taking->executor;
  all->task = task, all->argument = argument;
  if (executor) {
    executor->parallel_for(executor->context, count, run_task, all);
    return;
  }
  for (int64_t i = 0; i < count; i++) run_task(all, i);
}

static void run_plan(void *argument) {
  whole *all = argument;
  all->status = gather_plan_run(all->taking->plan, all->run, all->error);
}

/* data: the first row. *done: false if rows turn out to be no longer resident; the output is then unspecified. */
static gather_status take_whole(const gather_taking *taking, const char *data, bool *done, gather_error *error) {
  gather_table *table = taking->table;
  whole all = {.taking = taking, .error = error};
  gather_executor executor = {&all, parallel_for, taking->executor ? taking->executor->threads : 1};
  gather_run run = GATHER_RUN_INIT;
  int64_t bad;
  disk_watch watch = start_watch(taking->count);
  run.data = data, run.indices = taking->indices, run.out = taking->out, run.executor = &executor;
  run.bad_count = &bad, run.fresh_output = true; /* the indices were validated */
  all.run = &run;
  run_guarded(table, &all.fault, run_plan, &all);
  if (all.stale || has_waited(&watch)) gather_table_doubt(table);
  *done = !all.stale;
  if (all.fault.broken) return gather_table_fail_mapped(table, all.fault.source, all.fault.offset, error);
  GATHER_TRY(gather_taking_go_on(taking, error));
  return all.status;
}

/* The address of the first row if all rows are resident; NULL. */
static const char *find_whole(const gather_taking *taking) {
  gather_table *table = taking->table;
  const gather_part *part = table->parts;
  if (table->part_count != 1 || table->info.rows == 0) return NULL;
  if (part->memory) return part->memory;
  if (!table->residency || !table->sources[part->source].map) return NULL;
  gather_residency *residency = &table->residency[part->source];
  bool ask = taking->count / ROWS_PER_REGION >= residency->region_count;
  expect(table, taking->count);
  bool all = gather_residency_is_all(residency, part->offset, part->rows * table->info.row_bytes, ask);
  return all ? residency->source->map + part->offset : NULL;
}

/* ---- the sweep over a chunk of indices, in order: copies resident and cached rows, notes the others */

/* Indices per block: 8 KiB of row numbers. Ways of copying are timed on blocks of so many rows; the slower one is tried on one block of so
 * many. DONE: a finished row. */
enum { BLOCK = 1024, LINES_FETCHED = 4, TIMED_ROWS = 64, OTHER_EVERY = 16, DONE = -2 };

/* State of a sweep's worker: not needed yet, being obtained, present, all busy, cannot be created. */
enum { WORKER_NONE = 0, WORKER_COMING, WORKER_THERE, WORKER_BUSY, WORKER_REFUSED };

/* One chunk of a take's indices. */
typedef struct sweep {
  const gather_taking *taking;
  gather_worker *worker; /* its entries are the rows to read; see state */
  atomic_int state;      /* WORKER_... */
  gather_error why;      /* of WORKER_REFUSED */
  int64_t first;         /* number of the chunk's first index */
  _Atomic int64_t misses, resident, cached;
  gather_bad bad; /* indices that became bad after validation */
  fault fault;
} sweep;

typedef struct block {
  int64_t rows[BLOCK];
  const char *from[BLOCK]; /* NULL = not mapped */
  int64_t resident, cached;
  /* Of a table of elements: the page that was read last, since its next element is often in the same one. */
  const gather_residency *page_of; /* NULL = none */
  int64_t page;
  char bytes[GATHER_PAGE_BYTES];
} block;

static char *out_at(const sweep *s, int64_t position) { return s->taking->out + position * s->taking->row_bytes; }

/* Reads an element that is probably resident: with its page, which costs as much as the element alone. */
static bool try_element(block *b, gather_residency *residency, int64_t offset, int64_t bytes, char *out) {
  const int64_t page = offset / GATHER_PAGE_BYTES, at = offset % GATHER_PAGE_BYTES;
  const int64_t left = residency->source->size - page * GATHER_PAGE_BYTES;
  if (residency->pages || at + bytes > GATHER_PAGE_BYTES) return gather_residency_try(residency, offset, bytes, out);
  if (b->page_of != residency || b->page != page) {
    b->page_of = NULL;
    if (!gather_residency_try(residency, page * GATHER_PAGE_BYTES, left < GATHER_PAGE_BYTES ? left : GATHER_PAGE_BYTES, b->bytes))
      return false;
    b->page_of = residency;
    b->page = page;
  }
  memcpy(out, b->bytes + at, (size_t)bytes);
  return true;
}

static bool try_row(const gather_table *table, block *b, gather_residency *residency, int64_t offset, int64_t bytes, char *out) {
  return table->rows_around > 1 ? try_element(b, residency, offset, bytes, out) : gather_residency_try(residency, offset, bytes, out);
}

/* The address of a mapped row; else NULL, and its entry is DONE if it was already copied. */
static const char *find_row(const sweep *s, block *b, int64_t j, char *out) {
  gather_table *table = s->taking->table;
  const int64_t row = b->rows[j], row_bytes = s->taking->row_bytes;
  const gather_part *part = gather_taking_find_part(s->taking, row);
  const int64_t at = gather_taking_offset(s->taking, part, row), offset = part->offset + at;
  if (part->memory) return part->memory + at;
  if (!table->residency) return NULL;
  gather_residency *residency = &table->residency[part->source];
  gather_where where = gather_residency_ask(residency, offset, row_bytes);
  if (where == GATHER_WHERE_MAPPED) return residency->source->map + offset;
  if (where == GATHER_WHERE_PERHAPS && try_row(table, b, residency, offset, row_bytes, out)) {
    b->rows[j] = DONE, b->resident++;
    /* Unless its page was noted, it cannot be copied from the mapping the next time. */
    if (gather_taking_cache(s->taking) && !residency->pages) gather_taking_keep(s->taking, row, out, false);
  }
  return NULL;
}

static void locate_row(const sweep *s, block *b, int64_t position, int64_t j) {
  const int64_t lines = (s->taking->row_bytes + 63) / 64;
  b->from[j] = NULL;
  if (b->rows[j] == DONE) return;
  if (b->rows[j] == GATHER_ROW_FILL) {
    gather_taking_fill(s->taking, out_at(s, position + j));
    b->rows[j] = DONE;
    return;
  }
  b->from[j] = find_row(s, b, j, out_at(s, position + j));
  if (!b->from[j]) return;
  b->resident++;
  gather_prefetch_row(b->from[j], lines < LINES_FETCHED ? lines : LINES_FETCHED);
}

/* The worker whose entries note the rows to be read, obtained for the first such row; NULL if none is free or none
 * can be created. One of several threads gets it. No waiting here: its owner may be waiting for these threads. */
static gather_worker *get_worker(sweep *s) {
  int state = WORKER_NONE;
  if (atomic_compare_exchange_strong(&s->state, &state, WORKER_COMING)) {
    gather_status status = gather_worker_get(s->taking, false, &s->worker, &s->why);
    state = status != GATHER_OK ? WORKER_REFUSED : s->worker ? WORKER_THERE : WORKER_BUSY;
    atomic_store_explicit(&s->state, state, memory_order_release);
  }
  while (state == WORKER_COMING) {
    (void)sched_yield();
    state = atomic_load_explicit(&s->state, memory_order_acquire);
  }
  return state == WORKER_THERE ? s->worker : NULL;
}

static void note_miss(sweep *s, int64_t row, int64_t position) {
  gather_worker *worker = get_worker(s);
  if (!worker) return;
  int64_t miss = atomic_fetch_add_explicit(&s->misses, 1, memory_order_relaxed);
  worker->entries[miss] = (gather_entry){row, position};
}

static void sweep_block(sweep *s, block *b, int64_t position, int64_t count) {
  gather_cache *cache = gather_taking_cache(s->taking);
  if (cache) b->cached = gather_cache_get(cache, b->rows, count, out_at(s, position), DONE);
  for (int64_t j = 0; j < count; j++) locate_row(s, b, position, j);
  for (int64_t j = 0; j < count; j++)
    if (b->from[j])
      gather_copy_row(out_at(s, position + j), b->from[j], (size_t)s->taking->row_bytes);
    else if (b->rows[j] != DONE)
      note_miss(s, b->rows[j], position + j);
}

/* Whether a table is one part of a mapped file. */
static bool is_simple(const gather_table *table) {
  const gather_part *part = table->parts;
  return table->part_count == 1 && table->residency && !part->memory && table->sources[part->source].map;
}

/* Whether all rows are known to be mapped. */
static bool is_mapped(const gather_taking *taking, const int64_t *rows, int64_t count) {
  const gather_table *table = taking->table;
  const gather_part *part = table->parts;
  const gather_residency *residency = &table->residency[part->source];
  const uint32_t now = atomic_load_explicit(&residency->generation, memory_order_relaxed);
  const int64_t row_bytes = taking->row_bytes;
  for (int64_t j = 0; j < count; j++)
    if (rows[j] < 0 || !gather_residency_has(residency, now, part->offset + rows[j] * row_bytes, row_bytes)) return false;
  return true;
}

/* A fully mapped table is a tensor. */
static void move_by_kernel(const sweep *s, const block *b, int64_t position, int64_t count) {
  const gather_variant *kernel = s->taking->kernel;
  const gather_table *table = s->taking->table;
  const gather_part *part = table->parts;
  const int64_t row_bytes = s->taking->row_bytes;
  gather_span span = {.data = table->sources[part->source].map + part->offset,
                      .indices = (const char *)b->rows,
                      .out = out_at(s, position),
                      .count = count,
                      .rounds = 1,
                      .index_step = sizeof *b->rows,
                      .out_step = row_bytes,
                      .axis_step = row_bytes,
                      .row_bytes = row_bytes,
                      .prefetch_rows = kernel->prefetch_rows,
                      .prefetch_lines = kernel->prefetch_lines,
                      .table_bytes = part->rows * table->info.row_bytes};
  kernel->rows_resolved(&span);
}

/* Checks each row just before copying it, so that the two overlap. False at the first row not known to be mapped. */
static bool move_plainly(const sweep *s, const block *b, int64_t position, int64_t count) {
  const gather_table *table = s->taking->table;
  const gather_part *part = table->parts;
  const gather_residency *residency = &table->residency[part->source];
  const uint32_t now = atomic_load_explicit(&residency->generation, memory_order_relaxed);
  const char *map = residency->source->map;
  const int64_t row_bytes = s->taking->row_bytes;
  char *out = out_at(s, position);
  for (int64_t j = 0; j < count; j++, out += row_bytes) {
    const int64_t offset = part->offset + b->rows[j] * row_bytes;
    if (b->rows[j] < 0 || !gather_residency_has(residency, now, offset, row_bytes)) return false;
    if (row_bytes == 64)
      memcpy(out, map + offset, 64);
    else
      gather_copy_row(out, map + offset, (size_t)row_bytes);
  }
  return true;
}

/* Copies a block whose rows are all known to be mapped: the usual case of a warm table. False if they are not; the
 * output is then unspecified. Prefetched rows are up to twice as fast if they come from memory, and up to a half slower
 * if they are in a CPU cache; the table's size does not tell which, since the wanted rows may be few. So both methods of
 * copying are timed, the slower one now and then. */
static bool move_mapped(const sweep *s, const block *b, int64_t position, int64_t count) {
  const gather_variant *kernel = s->taking->kernel;
  gather_table *table = s->taking->table;
  const int64_t kernel_ps = atomic_load_explicit(&table->copy_ps[0], memory_order_relaxed);
  const int64_t plain_ps = atomic_load_explicit(&table->copy_ps[1], memory_order_relaxed);
  bool plain = !kernel || plain_ps < kernel_ps;
  const bool timed = kernel && count >= TIMED_ROWS;
  if (timed && atomic_fetch_add_explicit(&table->copies, 1, memory_order_relaxed) % OTHER_EVERY == 0) plain = !plain;
  const int64_t start = timed ? gather_clock() : 0;
  if (plain ? !move_plainly(s, b, position, count) : !is_mapped(s->taking, b->rows, count)) return false;
  if (!plain) move_by_kernel(s, b, position, count);
  if (!timed) return true;
  const int64_t ps = (gather_clock() - start) * 1000 / count, before = plain ? plain_ps : kernel_ps;
  atomic_store_explicit(&table->copy_ps[plain], before == 0 ? ps : before + (ps - before) / 4, memory_order_relaxed);
  return true;
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
  gather_table *table = s->taking->table;
  const bool simple = is_simple(table);
  for (int64_t first = range->first; first < range->last; first += BLOCK) {
    int64_t count = range->last - first < BLOCK ? range->last - first : BLOCK, position = s->first + first;
    if (gather_taking_stopped(s->taking)) return;
    disk_watch watch = start_watch(table->residency ? count : 0);
    b.resident = b.cached = 0;
    b.page_of = NULL;
    gather_ids_rows(s->taking->plan, s->taking->row_bytes, s->taking->indices, position, count, b.rows, &s->bad);
    if (simple && move_mapped(s, &b, position, count))
      b.resident = count;
    else
      sweep_block(s, &b, position, count);
    if (b.resident > 0 && has_waited(&watch)) gather_table_doubt(table);
    atomic_fetch_add_explicit(&s->resident, b.resident, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->cached, b.cached, memory_order_relaxed);
  }
}

static void sweep_part(void *argument, int64_t first, int64_t last) {
  sweep *s = argument;
  sweep_range range = {s, first, last};
  if (s->taking->table->residency)
    run_guarded(s->taking->table, &s->fault, sweep_blocks, &range);
  else
    sweep_blocks(&range);
}

static gather_status sweep_once(sweep *s, int64_t count, gather_error *error) {
  const gather_taking *taking = s->taking;
  atomic_store(&s->misses, 0), atomic_store(&s->resident, 0), atomic_store(&s->cached, 0);
  gather_bad_init(&s->bad);
  gather_split(taking->executor, count, taking->row_bytes, BLOCK, sweep_part, s);
  if (s->fault.broken) return gather_table_fail_mapped(taking->table, s->fault.source, s->fault.offset, error);
  GATHER_TRY(gather_taking_go_on(taking, error));
  if (gather_bad_count(&s->bad) > 0) return gather_plan_blame(taking->plan, error, s->bad.position, s->bad.value, s->bad.count);
  if (atomic_load(&s->state) != WORKER_REFUSED) return GATHER_OK;
  if (error) *error = s->why;
  return s->why.status;
}

/* Copies the resident and cached rows of `count` indices, and counts and notes the others. */
static gather_status run_sweep(sweep *s, int64_t count, gather_error *error) {
  expect(s->taking->table, count);
  GATHER_TRY(sweep_once(s, count, error));
  if (atomic_load(&s->state) != WORKER_BUSY) return GATHER_OK;
  /* Rows must be read, and every worker was busy: no thread of the executor is held now, so it can wait for one. */
  GATHER_TRY(gather_worker_get(s->taking, true, &s->worker, error));
  atomic_store(&s->state, WORKER_THERE);
  return sweep_once(s, count, error);
}

/* ---- chunk by chunk */

/* The first row of the indices that is past the current end of its file; -1. */
static int64_t find_cut(const gather_taking *taking, int64_t first, int64_t count, int32_t source, int64_t size) {
  enum { ROWS = 256 };
  int64_t rows[ROWS];
  for (int64_t done = 0; done < count; done += ROWS) {
    int64_t now = count - done < ROWS ? count - done : ROWS;
    gather_ids_rows(taking->plan, taking->row_bytes, taking->indices, first + done, now, rows, NULL);
    for (int64_t j = 0; j < now; j++) {
      if (rows[j] == GATHER_ROW_FILL) continue;
      const gather_part *part = gather_taking_find_part(taking, rows[j]);
      int64_t end = part->offset + gather_taking_offset(taking, part, rows[j]) + taking->row_bytes;
      if (!part->memory && part->source == source && end > size) return rows[j] / taking->fold;
    }
  }
  return -1;
}

/* After rows were copied from a mapping: fails if the files no longer contain those of `count` indices. Between the end of a truncated file
 * and the end of its last page, a mapping reads as zeros without a signal: so the length is checked after the copies. */
static gather_status check_cut(const gather_taking *taking, int64_t first, int64_t count, gather_error *error) {
  const gather_table *table = taking->table;
  for (int32_t i = 0; table->residency && i < table->source_count; i++) {
    gather_error why;
    if (!table->sources[i].map || gather_table_source_check(&table->sources[i], &why) == GATHER_OK) continue;
    int64_t row = find_cut(taking, first, count, i, why.file_offset);
    if (row < 0) continue;
    if (error) *error = why;
    return gather_table_blame_row(table, row, -1, why.status, error);
  }
  return GATHER_OK;
}

static gather_status take_chunk(sweep *s, int64_t count, gather_rows_count *rows, gather_error *error) {
  GATHER_TRY(run_sweep(s, count, error));
  if (s->misses > 0 && gather_scan_some(s->taking, s->worker, count, s->misses)) GATHER_TRY(run_sweep(s, count, error));
  const int64_t misses = s->misses;
  if (misses > 0) GATHER_TRY(gather_worker_read(s->worker, s->taking, misses, error));
  rows->resident += s->resident, rows->cached += s->cached, rows->read += misses;
  return check_cut(s->taking, s->first, count, error);
}

/* The worker is obtained for the first row that must be read, and kept to the end. */
static gather_status take_chunks(const gather_taking *taking, gather_rows_count *rows, gather_error *error) {
  gather_table *table = taking->table;
  sweep s = {.taking = taking};
  gather_status status = GATHER_OK;
  const int64_t all = taking->count, most = table->budget.entries;
  for (; s.first < all && status == GATHER_OK; s.first += most)
    status = take_chunk(&s, all - s.first < most ? all - s.first : most, rows, error);
  if (s.worker) gather_worker_put(table, s.worker);
  return status;
}

/* ---- the whole take */

/* How many rows are filled. A tuple may have several bad numbers. */
static int64_t count_filled(const gather_taking *taking) {
  enum { ROWS = 256 };
  const gather_on_bad on_bad = taking->plan->rule.on_bad;
  int64_t rows[ROWS], filled = 0;
  if (on_bad != GATHER_ON_BAD_ZERO && on_bad != GATHER_ON_BAD_FILL) return 0;
  if (taking->plan->column_count == 1 || taking->bad <= 1) return taking->bad;
  for (int64_t first = 0, now; first < taking->count; first += now) {
    now = taking->count - first < ROWS ? taking->count - first : ROWS;
    gather_ids_rows(taking->plan, taking->row_bytes, taking->indices, first, now, rows, NULL);
    for (int64_t j = 0; j < now; j++) filled += rows[j] == GATHER_ROW_FILL;
  }
  return filled;
}

static gather_status take_rows(const gather_taking *taking, gather_rows_count *rows, gather_error *error) {
  const char *data = find_whole(taking);
  bool done = false;
  if (data) GATHER_TRY(take_whole(taking, data, &done, error));
  if (!done) return take_chunks(taking, rows, error);
  rows->resident = taking->count - count_filled(taking);
  return check_cut(taking, 0, taking->count, error);
}

static void count_take(const gather_taking *taking, int64_t nanoseconds, gather_status status, const gather_rows_count *rows,
                       int64_t bytes_useful) {
  gather_table_counts *counts = &taking->table->counts;
  atomic_fetch_add_explicit(&counts->nanoseconds, nanoseconds, memory_order_relaxed);
  if (status != GATHER_OK) return;
  atomic_fetch_add_explicit(&counts->takes, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows, taking->count, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_resident, rows->resident, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_cached, rows->cached, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_read, rows->read, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->bytes_useful, bytes_useful, memory_order_relaxed);
}

gather_status gather_taking_run(const gather_taking *taking, gather_rows_count *rows, gather_error *error) {
  const gather_table *table = taking->table;
  const int64_t start = gather_clock();
  int64_t bytes_useful = table->run ? 0 : taking->count * taking->row_bytes;
  *rows = (gather_rows_count){0};
  gather_status status = gather_taking_go_on(taking, error);
  if (status == GATHER_OK && taking->count > 0 && taking->row_bytes > 0)
    status = table->run ? table->run(taking, rows, &bytes_useful, error) : take_rows(taking, rows, error);
  count_take(taking, gather_clock() - start, status, rows, bytes_useful);
  return status;
}

gather_status gather_table_take(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                const gather_table_take_options *options, gather_error *error) {
  if (!table) return gather_fail(error, GATHER_USAGE, "gather_table_take: table is NULL");
  gather_table_take_options full;
  gather_taking taking;
  gather_rows_count rows;
  gather_table_enter(table);
  GATHER_TRY(gather_taking_prepare(&taking, table, indices, out, options, &full, error));
  gather_cancel cancel = {.stop = full.stop, .context = full.stop_context};
  taking.executor = full.executor;
  taking.cancel = cancel.stop ? &cancel : NULL;
  const gather_status status = gather_taking_run(&taking, &rows, error);
  gather_plan_destroy(taking.plan);
  return status;
}
