/* SPDX-License-Identifier: MIT
 *
 * chunk_take.c: one take of rows in chunks: a block of indices at a time, its rows are filled, copied from the cache of rows, or sorted;
 * those in one chunk are a job. Jobs are in the order of the file, so that neighbours share a read.
 */
#include <stdlib.h>

#include "core/kernel/tuning.h"
#include "table/chunk/chunk.h"
#include "table/miss.h"

enum { BLOCK = 1024, DONE = -2 };

typedef struct chunk_take {
  const gather_taking *taking;
  gather_worker *worker;
  gather_chunk_worker *own;
  gather_rows_count *rows;
  int64_t entries; /* of the worker: rows that were not found yet */
  /* What the next job is made of: the entries from `entry` on, and the column of chunks in their band. */
  int64_t entry, column;
} chunk_take;

/* ---- which rows are wanted */

static void note_rows(chunk_take *t, const int64_t *ids, int64_t first, int64_t count) {
  const gather_taking *taking = t->taking;
  for (int64_t j = 0; j < count; j++) {
    if (ids[j] == DONE) continue;
    if (ids[j] == GATHER_ROW_FILL)
      gather_taking_fill(taking, taking->out + (first + j) * taking->row_bytes);
    else
      t->worker->entries[t->entries++] = (gather_entry){ids[j], first + j};
  }
}

/* Notes the rows of indices [first, first + count), but for those that are filled or cached. */
static gather_status find_rows(chunk_take *t, int64_t first, int64_t count, gather_error *error) {
  const gather_taking *taking = t->taking;
  gather_cache *cache = gather_taking_cache(taking);
  gather_bad bad;
  int64_t ids[BLOCK];
  gather_bad_init(&bad);
  t->entries = 0;
  for (int64_t done = 0, now; done < count; done += now) {
    now = count - done < BLOCK ? count - done : BLOCK;
    gather_ids_rows(taking->plan, taking->row_bytes, taking->indices, first + done, now, ids, &bad);
    if (cache) t->rows->cached += gather_cache_get(cache, ids, now, taking->out + (first + done) * taking->row_bytes, DONE);
    note_rows(t, ids, first + done, now);
  }
  if (gather_bad_count(&bad) > 0) return gather_plan_blame(taking->plan, error, bad.position, bad.value, bad.count);
  return GATHER_OK;
}

/* ---- jobs */

/* The entry after the last one in the same band of chunks; of chunks without filters: near the entry before. */
static int64_t end_of_group(const chunk_take *t, const gather_part *part, int64_t first, int64_t row_gap) {
  const gather_chunks *chunks = part->chunks;
  const gather_entry *entries = t->worker->entries;
  const int64_t fold = t->taking->fold, each = chunks->chunk[0];
  const int64_t band = (entries[first].row / fold - part->first) / each;
  int64_t end_row = part->first + (band + 1) * each, last = entries[first].row / fold, e = first + 1;
  if (end_row > part->first + part->rows) end_row = part->first + part->rows;
  for (; e < t->entries && entries[e].row / fold < end_row; e++) {
    if (entries[e].row / fold - last > row_gap) break;
    last = entries[e].row / fold;
  }
  return e;
}

/* Rows of a chunk without filters that are farther apart than this are read one by one. */
static int64_t row_gap_of(const gather_chunks *chunks) {
  if (chunks->pipeline.count > 0 || chunks->strides[0] * chunks->chunk[0] != chunks->raw_bytes) return INT64_MAX;
  const int64_t rows = gather_tuned(GATHER_TUNING_table_join_bytes) / chunks->strides[0];
  return rows > 0 ? rows : 1;
}

/* Moves to the next column of chunks, or to the next band. */
static void move_on(chunk_take *t, int64_t across, int64_t end) {
  if (++t->column == across) t->entry = end, t->column = 0;
}

/* The next job; false: there is none. */
static bool next_job(chunk_take *t, gather_chunk_job *job) {
  const gather_taking *taking = t->taking;
  while (t->entry < t->entries) {
    const gather_part *part = gather_taking_find_part(taking, t->worker->entries[t->entry].row);
    const gather_chunks *chunks = part->chunks;
    const int64_t across = gather_chunks_across(chunks), end = end_of_group(t, part, t->entry, row_gap_of(chunks));
    const int64_t band = (t->worker->entries[t->entry].row / taking->fold - part->first) / chunks->chunk[0];
    *job = (gather_chunk_job){.first = t->entry, .count = end - t->entry, .part = (int32_t)(part - taking->table->parts)};
    job->number = band * across + t->column;
    move_on(t, across, end);
    if (taking->part_bytes == taking->row_bytes || gather_chunks_has(chunks, job->number, taking->part_from, taking->part_bytes))
      return true;
  }
  return false;
}

/* Of a chunk without filters only the rows from the first wanted one to the last are read. */
static void narrow(const chunk_take *t, gather_chunk_job *job) {
  const gather_part *part = &t->taking->table->parts[job->part];
  const gather_chunks *chunks = part->chunks;
  const uint32_t all = (1u << chunks->pipeline.count) - 1;
  if (job->place.offset < 0 || (~job->place.skipped & all) != 0 || job->place.bytes != chunks->raw_bytes) return;
  if (chunks->strides[0] * chunks->chunk[0] != chunks->raw_bytes) return; /* rows are no ranges of a chunk in Fortran order */
  const gather_entry *entries = &t->worker->entries[job->first];
  const int64_t fold = t->taking->fold, first = (entries->row / fold - part->first) % chunks->chunk[0];
  const int64_t last = (entries[job->count - 1].row / fold - part->first) % chunks->chunk[0];
  job->narrowed = true;
  job->row = first;
  job->place.offset += first * chunks->strides[0];
  job->place.bytes = (last + 1 - first) * chunks->strides[0];
}

/* Names a wanted row of the chunk that was not found, or of the first one. */
static gather_status blame_find(const chunk_take *t, int64_t first, int64_t end, gather_status status, gather_error *error) {
  const gather_chunk_job *jobs = t->own->jobs;
  const gather_chunks *chunks = t->taking->table->parts[jobs[first].part].chunks;
  int64_t i = first;
  while (error && i < end && gather_chunks_first_row(chunks, jobs[i].number) != error->row) i++;
  if (i == end) i = first;
  return gather_table_blame_row(t->taking->table, t->worker->entries[jobs[i].first].row / t->taking->fold, -1, status, error);
}

/* Finds the chunks of jobs [first, end), all of one part. */
static gather_status find_places(chunk_take *t, int64_t first, int64_t end, gather_error *error) {
  gather_table *table = t->taking->table;
  gather_chunk_job *jobs = t->own->jobs;
  const gather_part *part = &table->parts[jobs[first].part];
  const gather_chunks *chunks = part->chunks;
  int64_t count = 0;
  for (int64_t i = first; i < end; i++)
    if (count == 0 || t->own->numbers[count - 1] != jobs[i].number) t->own->numbers[count++] = jobs[i].number;
  gather_status status = chunks->find(chunks, t->own->numbers, count, t->own->places, error);
  if (status != GATHER_OK) return blame_find(t, first, end, status, error);
  for (int64_t i = first, n = 0; i < end; i++) {
    while (t->own->numbers[n] != jobs[i].number) n++;
    jobs[i].place = t->own->places[n];
    if (jobs[i].place.offset >= 0) GATHER_TRY(gather_chunk_source(table, jobs[i].part, &jobs[i].place, &jobs[i].source, error));
    narrow(t, &jobs[i]);
  }
  return GATHER_OK;
}

/* By file, and by place in it; chunks that are not stored come first. */
static int compare(const void *a, const void *b) {
  const gather_chunk_job *one = a, *other = b;
  if (one->source != other->source) return (uintptr_t)one->source < (uintptr_t)other->source ? -1 : 1;
  if (one->place.offset != other->place.offset) return one->place.offset < other->place.offset ? -1 : 1;
  return one->first < other->first ? -1 : one->first > other->first;
}

static bool is_sorted(const gather_chunk_job *jobs, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (compare(&jobs[i - 1], &jobs[i]) > 0) return false;
  return true;
}

/* Makes jobs until there is no room for more, or no row is left. */
static gather_status make_jobs(chunk_take *t, int64_t *count, gather_error *error) {
  gather_chunk_job *jobs = t->own->jobs;
  *count = 0;
  while (*count < t->taking->table->chunked->jobs_most && next_job(t, &jobs[*count])) ++*count;
  for (int64_t first = 0, end; first < *count; first = end) {
    for (end = first + 1; end < *count && jobs[end].part == jobs[first].part; end++) {
    }
    GATHER_TRY(find_places(t, first, end, error));
  }
  if (!is_sorted(jobs, *count)) qsort(jobs, (size_t)*count, sizeof *jobs, compare);
  return GATHER_OK;
}

/* ---- the whole take */

/* The next jobs, made and read. */
static gather_status take_jobs(chunk_take *t, int64_t *jobs, gather_error *error) {
  gather_table *table = t->taking->table;
  const gather_chunk_cache *cache = table->chunked->cache;
  gather_status status = make_jobs(t, jobs, error);
  const int64_t brought = *jobs * table->chunked->head_bytes;
  if (brought > 0) gather_table_count_memory(table, brought);
  /* A few chunks are worth a place at once: the next take may want their next rows. */
  const bool eager = cache && t->entry == t->entries && *jobs <= gather_chunk_cache_room(cache) / 2 && *jobs <= GATHER_CHUNKS_FEW;
  if (status == GATHER_OK && *jobs > 0) status = gather_chunks_read(t->taking, t->worker, *jobs, eager, t->rows, error);
  /* What a failed or cancelled take did not use is not kept. */
  for (int64_t i = 0; status != GATHER_OK && brought > 0 && i < *jobs; i++) gather_chunks_forget(&t->own->jobs[i].place, 1);
  if (brought > 0) gather_table_count_memory(table, -brought);
  return status;
}

static gather_status take_block(chunk_take *t, int64_t first, int64_t count, gather_error *error) {
  const gather_taking *taking = t->taking;
  const gather_table *table = taking->table;
  int64_t jobs;
  GATHER_TRY(find_rows(t, first, count, error));
  gather_entries_sort(&t->worker->entries, &t->worker->spare, t->entries, table->info.rows * taking->fold);
  t->entry = t->column = 0;
  do {
    GATHER_TRY(gather_taking_go_on(taking, error));
    GATHER_TRY(take_jobs(t, &jobs, error));
  } while (jobs > 0);
  return GATHER_OK;
}

static gather_status run(const gather_taking *taking, gather_rows_count *rows, int64_t *bytes_useful, gather_error *error) {
  gather_table *table = taking->table;
  chunk_take t = {.taking = taking, .rows = rows};
  gather_status status = GATHER_OK;
  const int64_t most = table->budget.entries;
  GATHER_TRY(gather_worker_get(taking, true, &t.worker, error));
  t.own = t.worker->chunks;
  for (int64_t first = 0; first < taking->count && status == GATHER_OK; first += most)
    status = take_block(&t, first, taking->count - first < most ? taking->count - first : most, error);
  gather_worker_put(table, t.worker);
  *bytes_useful = taking->count * taking->row_bytes;
  return status;
}

/* ---- how tables know all this */

static gather_status add(gather_table *table, gather_part *part, gather_error *error) {
  table->run = run;
  table->info.chunked = true;
  return gather_chunk_part_add(table, part, error);
}

const gather_table_chunker gather_table_chunks = {.add = add,
                                                  .divide = gather_chunks_divide,
                                                  .create_worker = gather_chunk_worker_create,
                                                  .destroy_worker = gather_chunk_worker_destroy,
                                                  .reset = gather_chunks_reset,
                                                  .close = gather_chunks_close};
