/* SPDX-License-Identifier: MIT
 *
 * sweep.c: the sweep over a chunk of indices, in order: copies resident and cached rows, notes the others.
 */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <string.h>

#include "core/kernel/copy.h"
#include "core/plan/plan.h"
#include "core/plan/tasks.h"
#include "core/system/clock.h"
#include "table/ids.h"
#include "table/table_internal.h"

/* Indices per block: 8 KiB of row numbers. */
enum { BLOCK = 1024, LINES_FETCHED = 4 };
/* With so many rows per region, querying and mapping whole regions pays off. */
enum { ROWS_PER_REGION = 16, ROWS_PER_QUESTION = 256 };
/* Ways of copying are timed on blocks of so many rows; the slower one is tried on one block of so many. */
enum { TIMED_ROWS = 64, OTHER_EVERY = 16 };
enum { DONE = -2 /* a finished row */ };

typedef struct block {
  int64_t rows[BLOCK];
  const char *from[BLOCK]; /* NULL = not mapped */
  int64_t resident, cached;
  /* Of a table of elements: the page that was read last, since its next element is often in the same one. */
  const gather_residency *page_of; /* NULL = none */
  int64_t page;
  char bytes[GATHER_PAGE_BYTES];
} block;

static char *out_at(const gather_sweep *s, int64_t position) {
  return s->taking->out + position * s->taking->row_bytes;
}

/* ---- where rows are */

/* Reads an element that is probably resident: with its page, which costs as much as the element alone. */
static bool try_element(block *b, gather_residency *residency, int64_t offset, int64_t bytes, char *out) {
  const int64_t page = offset / GATHER_PAGE_BYTES, at = offset % GATHER_PAGE_BYTES;
  const int64_t left = residency->source->size - page * GATHER_PAGE_BYTES;
  if (residency->pages || at + bytes > GATHER_PAGE_BYTES) return gather_residency_try(residency, offset, bytes, out);
  if (b->page_of != residency || b->page != page) {
    b->page_of = NULL;
    if (!gather_residency_try(residency, page * GATHER_PAGE_BYTES, left < GATHER_PAGE_BYTES ? left : GATHER_PAGE_BYTES,
                              b->bytes))
      return false;
    b->page_of = residency;
    b->page = page;
  }
  memcpy(out, b->bytes + at, (size_t)bytes);
  return true;
}

static bool try_row(const gather_table *table, block *b, gather_residency *residency, int64_t offset, int64_t bytes,
                    char *out) {
  return table->rows_around > 1 ? try_element(b, residency, offset, bytes, out)
                                : gather_residency_try(residency, offset, bytes, out);
}

/* The address of a mapped row; else NULL, and its entry is DONE if it was already copied. */
static const char *find_row(const gather_sweep *s, block *b, int64_t j, char *out) {
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
    if (gather_taking_cache(s->taking) && !residency->pages) gather_table_keep_row(table, row, out, false);
  }
  return NULL;
}

static void locate_row(const gather_sweep *s, block *b, int64_t position, int64_t j) {
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

/* ---- copying them */

/* The worker whose entries note the rows to be read, obtained for the first such row; NULL if none is free or none
 * can be created. One of several threads gets it. No waiting here: its owner may be waiting for these threads. */
static gather_worker *get_worker(gather_sweep *s) {
  int state = GATHER_WORKER_NONE;
  if (atomic_compare_exchange_strong(&s->state, &state, GATHER_WORKER_COMING)) {
    gather_status status = gather_worker_get(s->taking, false, &s->worker, &s->why);
    state = status != GATHER_OK ? GATHER_WORKER_REFUSED : s->worker ? GATHER_WORKER_THERE : GATHER_WORKER_BUSY;
    atomic_store_explicit(&s->state, state, memory_order_release);
  }
  while (state == GATHER_WORKER_COMING) {
    (void)sched_yield();
    state = atomic_load_explicit(&s->state, memory_order_acquire);
  }
  return state == GATHER_WORKER_THERE ? s->worker : NULL;
}

static void note_miss(gather_sweep *s, int64_t row, int64_t position) {
  gather_worker *worker = get_worker(s);
  if (!worker) return;
  int64_t miss = atomic_fetch_add_explicit(&s->misses, 1, memory_order_relaxed);
  worker->entries[miss] = (gather_entry){row, position};
}

static void sweep_block(gather_sweep *s, block *b, int64_t position, int64_t count) {
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
    if (rows[j] < 0 || !gather_residency_has(residency, now, part->offset + rows[j] * row_bytes, row_bytes))
      return false;
  return true;
}

/* A kernel of the plan that copies rows of the table to ordinary memory; NULL. */
static const gather_variant *find_kernel(const gather_sweep *s) {
  const gather_plan *plan = s->taking->plan;
  if (plan->packed || plan->row_bytes != s->taking->row_bytes) return NULL;
  for (int32_t i = 0; i < plan->variant_count; i++)
    if (!plan->variants[i].nontemporal && !plan->variants[i].radix && plan->variants[i].when == GATHER_ORDER_UNKNOWN)
      return &plan->variants[i];
  return NULL;
}

/* A fully mapped table is a tensor. */
static void move_by_kernel(const gather_sweep *s, const gather_variant *variant, const block *b, int64_t position,
                           int64_t count) {
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
                      .prefetch_rows = variant->prefetch_rows,
                      .prefetch_lines = variant->prefetch_lines,
                      .table_bytes = part->rows * table->info.row_bytes};
  variant->rows_resolved(&span);
}

/* Checks each row just before copying it, so that the two overlap. False at the first row not known to be mapped. */
static bool move_plainly(const gather_sweep *s, const block *b, int64_t position, int64_t count) {
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
static bool move_mapped(const gather_sweep *s, const gather_variant *variant, const block *b, int64_t position,
                        int64_t count) {
  gather_table *table = s->taking->table;
  const int64_t kernel_ps = atomic_load_explicit(&table->copy_ps[0], memory_order_relaxed);
  const int64_t plain_ps = atomic_load_explicit(&table->copy_ps[1], memory_order_relaxed);
  bool plain = !variant || plain_ps < kernel_ps;
  const bool timed = variant && count >= TIMED_ROWS;
  if (timed && atomic_fetch_add_explicit(&table->copies, 1, memory_order_relaxed) % OTHER_EVERY == 0) plain = !plain;
  const int64_t start = timed ? gather_clock() : 0;
  if (plain ? !move_plainly(s, b, position, count) : !is_mapped(s->taking, b->rows, count)) return false;
  if (!plain) move_by_kernel(s, variant, b, position, count);
  if (!timed) return true;
  const int64_t ps = (gather_clock() - start) * 1000 / count, before = plain ? plain_ps : kernel_ps;
  atomic_store_explicit(&table->copy_ps[plain], before == 0 ? ps : before + (ps - before) / 4, memory_order_relaxed);
  return true;
}

/* Indices [first, last) of the chunk. */
typedef struct sweep_range {
  gather_sweep *s;
  int64_t first, last;
} sweep_range;

static void sweep_blocks(void *argument) {
  const sweep_range *range = argument;
  gather_sweep *s = range->s;
  block b;
  gather_table *table = s->taking->table;
  const gather_variant *variant = find_kernel(s);
  const bool simple = is_simple(table);
  for (int64_t first = range->first; first < range->last; first += BLOCK) {
    int64_t count = range->last - first < BLOCK ? range->last - first : BLOCK, position = s->first + first;
    if (gather_taking_stopped(s->taking)) return;
    gather_watch watch = gather_watch_start(table->residency ? count : 0);
    b.resident = b.cached = 0;
    b.page_of = NULL;
    gather_ids_rows(s->taking->plan, s->taking->row_bytes, s->taking->indices, position, count, b.rows, &s->bad);
    if (simple && move_mapped(s, variant, &b, position, count))
      b.resident = count;
    else
      sweep_block(s, &b, position, count);
    if (b.resident > 0 && gather_watch_waited(&watch)) gather_table_doubt(table);
    atomic_fetch_add_explicit(&s->resident, b.resident, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->cached, b.cached, memory_order_relaxed);
  }
}

/* ---- the chunk */

void gather_table_expect(gather_table *table, int64_t rows) {
  for (int32_t i = 0; table->residency && i < table->source_count; i++) {
    gather_residency *residency = &table->residency[i];
    bool eager = rows / ROWS_PER_REGION >= residency->region_count;
    atomic_store_explicit(&residency->eager, eager, memory_order_relaxed);
  }
}

static void sweep_part(void *argument, int64_t first, int64_t last) {
  gather_sweep *s = argument;
  gather_table *table = s->taking->table;
  sweep_range range = {s, first, last};
  int32_t source;
  int64_t offset;
  if (!table->residency) {
    sweep_blocks(&range);
    return;
  }
  if (!gather_guard_run(table->sources, table->source_count, sweep_blocks, &range, &source, &offset) &&
      !atomic_exchange(&s->broken, true))
    s->source = source, s->offset = offset;
}

static gather_status sweep_once(gather_sweep *sweep, int64_t count, gather_error *error) {
  gather_table *table = sweep->taking->table;
  atomic_store(&sweep->misses, 0), atomic_store(&sweep->resident, 0), atomic_store(&sweep->cached, 0);
  gather_bad_init(&sweep->bad);
  gather_split(sweep->taking->executor, count, sweep->taking->row_bytes, BLOCK, sweep_part, sweep);
  if (sweep->broken) return gather_table_fail_mapped(table, sweep->source, sweep->offset, error);
  GATHER_TRY(gather_taking_go_on(sweep->taking, error));
  if (gather_bad_count(&sweep->bad) > 0)
    return gather_plan_blame(sweep->taking->plan, error, sweep->bad.position, sweep->bad.value, sweep->bad.count);
  if (atomic_load(&sweep->state) != GATHER_WORKER_REFUSED) return GATHER_OK;
  if (error) *error = sweep->why;
  return sweep->why.status;
}

gather_status gather_sweep_run(gather_sweep *sweep, int64_t count, gather_error *error) {
  gather_table_expect(sweep->taking->table, count);
  GATHER_TRY(sweep_once(sweep, count, error));
  if (atomic_load(&sweep->state) != GATHER_WORKER_BUSY) return GATHER_OK;
  /* Rows must be read, and every worker was busy: no thread of the executor is held now, so it can wait for one. */
  GATHER_TRY(gather_worker_get(sweep->taking, true, &sweep->worker, error));
  atomic_store(&sweep->state, GATHER_WORKER_THERE);
  return sweep_once(sweep, count, error);
}

/* The first row of the indices that is past the current end of its file; -1. */
static int64_t find_cut(const gather_taking *taking, int64_t first, int64_t count, int32_t source, int64_t size) {
  int64_t rows[ROWS_PER_QUESTION];
  for (int64_t done = 0; done < count; done += ROWS_PER_QUESTION) {
    int64_t now = count - done < ROWS_PER_QUESTION ? count - done : ROWS_PER_QUESTION;
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

/* Between the end of a truncated file and the end of its last page, a mapping reads as zeros without a signal: so
 * the length is checked after the copies. */
gather_status gather_table_check_cut(const gather_taking *taking, int64_t first, int64_t count, gather_error *error) {
  const gather_table *table = taking->table;
  for (int32_t i = 0; table->residency && i < table->source_count; i++) {
    gather_error why;
    if (!table->sources[i].map || gather_table_source_check(&table->sources[i], &why) == GATHER_OK) continue;
    int64_t row = find_cut(taking, first, count, i, why.file_offset);
    if (row < 0) continue;
    if (error) *error = why;
    return gather_table_blame_row(table, row, why.status, error);
  }
  return GATHER_OK;
}
