/* SPDX-License-Identifier: MIT
 *
 * chunk_part.c: parts in chunks: added to a table, the files that their chunks are in, and how the memory is divided among reads, decoders
 * and caches.
 */
#include "table/chunk/chunk.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"

/* ---- parts */

static gather_status make_chunked(gather_table *table, gather_error *error) {
  if (table->chunked) return GATHER_OK;
  table->chunked = gather_alloc((int64_t)sizeof *table->chunked);
  if (table->chunked && pthread_mutex_init(&table->chunked->lock, NULL) == 0) return GATHER_OK;
  gather_free(table->chunked);
  table->chunked = NULL;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
}

gather_status gather_chunk_part_add(gather_table *table, gather_part *part, gather_error *error) {
  const gather_chunks *chunks = part->chunks;
  GATHER_TRY(gather_pipeline_check(&chunks->pipeline, error));
  GATHER_TRY(make_chunked(table, error));
  struct gather_chunked *chunked = table->chunked;
  int64_t stored = 0;
  GATHER_TRY(chunks->sizes(chunks, &stored, NULL, error));
  const int64_t unfilter = gather_unfilter_bytes(&chunks->pipeline, chunks->raw_bytes);
  part->first_chunk = chunked->count;
  if (!gather_add(chunked->count, chunks->count, &chunked->count))
    return gather_fail(error, GATHER_OVERFLOW, "the chunks of all parts are too many");
  if (chunked->raw_bytes < chunks->raw_bytes) chunked->raw_bytes = chunks->raw_bytes;
  if (chunked->stored_bytes < stored) chunked->stored_bytes = stored;
  if (chunked->unfilter_bytes < unfilter) chunked->unfilter_bytes = unfilter;
  if (chunked->head_bytes < chunks->head_bytes) chunked->head_bytes = chunks->head_bytes;
  if (table->engine != GATHER_ENGINE_MMAP) return GATHER_OK;
  table->engine = GATHER_ENGINE_PREAD; /* a decoder must not meet a page that cannot be read */
  (void)snprintf(table->why, sizeof table->why, "threads read, because chunks are not decoded from a mapping");
  return GATHER_OK;
}

/* ---- files of stores of many files */

static gather_status make_files(gather_table *table, gather_error *error) {
  struct gather_chunked *chunked = table->chunked;
  if (chunked->first_file) return GATHER_OK;
  int64_t count = 0;
  chunked->first_file = gather_alloc((table->part_count + 1) * (int64_t)sizeof *chunked->first_file);
  for (int32_t p = 0; chunked->first_file && p < table->part_count; p++) {
    chunked->first_file[p] = count;
    if (!gather_add(count, gather_part_chunks(&table->parts[p])->files_most, &count)) count = INT64_MAX / 16;
  }
  chunked->files = gather_alloc((count + 1) * (int64_t)sizeof *chunked->files);
  chunked->file_count = chunked->files ? count : 0;
  if (chunked->files && chunked->first_file) return GATHER_OK;
  gather_free(chunked->first_file);
  chunked->first_file = NULL;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the files of chunks");
}

/* Files that are kept open, two descriptors each: programs may have a thousand or so. */
enum { MOST_OPEN = 128 };

/* Files with one chunk are read by their paths and not kept open; there may be very many of them. */
static bool is_kept_open(const gather_chunk_place *place) {
  return place->file->object || place->offset != 0 || place->bytes != place->file->size;
}

static gather_status open_file(gather_table *table, const gather_chunk_file *file, gather_table_source **source, gather_error *error) {
  const gather_table_source_wishes wishes = {.direct = !table->options.buffered, .object = file->object, .object_bytes = file->size};
  if (*source) return GATHER_OK;
  if (!file->object && table->chunked->files_open >= MOST_OPEN) return GATHER_OK; /* read by its path, as files with one chunk are */
  gather_table_source *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the files of chunks");
  const gather_status status = gather_table_source_open(file->path, &wishes, made, error);
  if (status != GATHER_OK) {
    gather_free(made);
    return status;
  }
  *source = made;
  table->chunked->files_open++;
  if (table->device_count == 0) table->devices[table->device_count++].number = made->device_number; /* reads are counted there */
  return GATHER_OK;
}

gather_status gather_chunk_source(gather_table *table, int32_t part, const gather_chunk_place *place, gather_table_source **source,
                                  gather_error *error) {
  struct gather_chunked *chunked = table->chunked;
  *source = place->file ? NULL : &table->sources[table->parts[part].source];
  if (!place->file || !is_kept_open(place)) return GATHER_OK;
  (void)pthread_mutex_lock(&chunked->lock);
  gather_status status = make_files(table, error);
  if (status == GATHER_OK) {
    gather_table_source **slot = &chunked->files[chunked->first_file[part] + place->file->number];
    status = open_file(table, place->file, slot, error);
    *source = *slot;
  }
  (void)pthread_mutex_unlock(&chunked->lock);
  return status;
}

/* ---- memory */

enum {
  KIB = 1 << 10,
  MIB = 1 << 20,
  LEAST_SLOT = 64 * KIB,
  MOST_SLOT = MIB,
  MOST_DECODERS = 16,
  MOST_WORKERS = 4,
  MOST_ENTRIES = 16 * MIB,
  DEPTH = 64,
  TOGETHER = 256 * KIB,
  BLOCK = 4 * KIB
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* For a decoder, with so much room for stored bytes at least. */
static int64_t decoder_bytes(const struct gather_chunked *chunked, int64_t room) {
  int64_t bytes;
  return gather_add(chunked->unfilter_bytes, most(chunked->stored_bytes, room), &bytes) ? bytes : INT64_MAX;
}

static gather_status fail_memory(const gather_table *table, int64_t each, gather_error *error) {
  const int64_t needed = each < INT64_MAX / 8 ? 4 * each + GATHER_TABLE_LEAST_MEMORY : INT64_MAX;
  return gather_fail(error, GATHER_USAGE,
                     "a memory limit of %" PRId64 " bytes is too small; chunks of %" PRId64 " bytes need at least %" PRId64,
                     table->budget.ceiling, table->chunked->raw_bytes, needed);
}

/* From other machines, too, reads are as long as chunks: fewer at once, but no chunk is waited for alone. */
static void fit_remote(const struct gather_chunked *chunked, gather_budget *budget) {
  enum { LEAST_DEPTH = 4 };
  const int64_t all = budget->slot_bytes * budget->depth, wanted = (chunked->stored_bytes + BLOCK - 1) / BLOCK * BLOCK;
  if (budget->slot_bytes >= wanted || all / wanted < LEAST_DEPTH) return;
  budget->slot_bytes = wanted;
  budget->depth = (int32_t)(all / wanted);
}

/* What finding chunks on other machines brings is kept until they are read: it gets an eighth of the memory, which the cache does not. */
static void limit_jobs(struct gather_chunked *chunked, gather_budget *budget, int64_t bytes) {
  enum { LEAST_JOBS = 4, SHARE = 8 };
  chunked->jobs_most = GATHER_CHUNK_JOBS;
  if (chunked->head_bytes == 0) return;
  chunked->jobs_most = most(LEAST_JOBS, least(GATHER_CHUNK_JOBS, bytes / SHARE / budget->workers / chunked->head_bytes));
  budget->cache_bytes = most(0, budget->cache_bytes - chunked->jobs_most * budget->workers * chunked->head_bytes);
}

/* Reads that are as long as chunks, as far as a quarter of the memory goes; decoders for another quarter. What is left of the half is the
 * cache of chunks, if it holds a quarter of the table; else that of rows, but for a few chunks. */
gather_status gather_chunks_divide(gather_table *table, int64_t bytes, gather_error *error) {
  struct gather_chunked *chunked = table->chunked;
  gather_budget *budget = &table->budget;
  int64_t each = decoder_bytes(chunked, 0);
  budget->workers = (int32_t)least(budget->workers, MOST_WORKERS);
  while (budget->workers > 1 && 2 * each > bytes / 4 / budget->workers) budget->workers--;
  /* A take that is longer decodes chunks again for each block of its rows. */
  budget->entries = most(1024, least(MOST_ENTRIES, bytes / 8 / budget->workers / (2 * (int64_t)sizeof(gather_entry))));
  const int64_t share = bytes / 4 / budget->workers;
  if (table->budget.ceiling > 0 && each > share) return fail_memory(table, each, error);
  if (decoder_bytes(chunked, TOGETHER) * 2 <= share) each = decoder_bytes(chunked, TOGETHER);
  chunked->stored_room = each - chunked->unfilter_bytes;
  chunked->decoders = (int32_t)most(1, least(MOST_DECODERS, share / most(each, 1)));
  limit_jobs(chunked, budget, bytes);
  if (table->client) {
    fit_remote(chunked, budget);
  } else {
    const int64_t wanted = (chunked->stored_bytes + 2 * BLOCK - 1) / BLOCK * BLOCK + BLOCK;
    budget->slot_bytes = most(LEAST_SLOT, least(MOST_SLOT, wanted));
    while (budget->slot_bytes > BLOCK && budget->slot_bytes > share) budget->slot_bytes /= 2;
    budget->slot_bytes = most(BLOCK, budget->slot_bytes / BLOCK * BLOCK);
    budget->depth = (int32_t)most(
        1, least(budget->depth < DEPTH || table->options.depth > 0 ? budget->depth : DEPTH, share / budget->slot_bytes / budget->queues));
  }
  const int64_t all = chunked->count < INT64_MAX / most(chunked->raw_bytes, 1) ? chunked->count * chunked->raw_bytes : INT64_MAX;
  int64_t kept =
      budget->cache_bytes >= all / 4 ? budget->cache_bytes : least(GATHER_CHUNKS_FEW * chunked->raw_bytes, budget->cache_bytes / 2);
  budget->cache_bytes -= kept;
  gather_chunk_cache_destroy(chunked->cache);
  chunked->cache = gather_chunk_cache_create(chunked->raw_bytes, chunked->count, kept);
  return GATHER_OK;
}

/* ---- workers */

static int64_t worker_bytes(const gather_table *table) {
  return (int64_t)sizeof(gather_chunk_worker) + table->chunked->decoders * (int64_t)sizeof(gather_chunk_decoder);
}

void gather_chunk_worker_destroy(gather_table *table, gather_chunk_worker *worker) {
  if (!worker) return;
  for (int32_t i = 0; worker->decoders && i < table->chunked->decoders; i++) {
    gather_chunk_decoder *decoder = &worker->decoders[i];
    if (decoder->stored) gather_table_count_memory(table, -table->chunked->stored_room);
    gather_table_count_memory(table, -decoder->counted);
    gather_unfilter_destroy(decoder->unfilter);
    gather_free(decoder->stored);
  }
  gather_table_count_memory(table, -worker_bytes(table));
  gather_free(worker->decoders);
  gather_free(worker);
}

gather_chunk_worker *gather_chunk_worker_create(gather_table *table) {
  gather_chunk_worker *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return NULL;
  gather_table_count_memory(table, worker_bytes(table));
  made->decoders = gather_alloc(table->chunked->decoders * (int64_t)sizeof *made->decoders);
  if (made->decoders) return made;
  gather_chunk_worker_destroy(table, made);
  return NULL;
}

/* ---- the end */

void gather_chunks_reset(gather_table *table) {
  (void)pthread_mutex_init(&table->chunked->lock, NULL);
  for (int32_t p = 0; p < table->part_count; p++) {
    const gather_chunks *chunks = table->parts[p].chunks;
    if (chunks && chunks->enter) chunks->enter(chunks);
  }
  if (table->chunked->cache) gather_chunk_cache_reset(table->chunked->cache);
}

void gather_chunks_close(gather_table *table) {
  struct gather_chunked *chunked = table->chunked;
  for (int64_t i = 0; i < chunked->file_count; i++) {
    if (chunked->files[i]) gather_table_source_close(chunked->files[i]);
    gather_free(chunked->files[i]);
  }
  gather_free((void *)chunked->files);
  gather_free(chunked->first_file);
  gather_chunk_cache_destroy(chunked->cache);
  (void)pthread_mutex_destroy(&chunked->lock);
  gather_free(chunked);
  table->chunked = NULL;
}
