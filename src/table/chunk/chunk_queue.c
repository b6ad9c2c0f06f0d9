/* SPDX-License-Identifier: MIT
 *
 * chunk_queue.c: reads chunks and decodes them. Threads of the take share one reader: whichever has nothing to decode begins reads, until
 * the queue is full, or takes the next finished one, and decodes it while the others go on. So the queue is deep whatever the number of
 * threads, and nobody waits for an order. Chunks that are resident are read at once, those longer than a slot piece by piece, those in
 * small files of their own by their paths.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "table/chunk/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/system/clock.h"
#include "io/remote/remote_client.h"
#include "table/system/table_system.h"

/* The longest wait between two checks for cancellation. Chunks read together at most, and bytes that they may span: more would leave other
 * threads without work. */
enum { WAIT_NANOSECONDS = 20000000, MOST_TOGETHER = 64, TOGETHER_BYTES_REMOTE = 4 << 20 };

/* The jobs of one read. */
typedef struct chunk_run {
  gather_chunk_job *jobs;
  int64_t count;
  int64_t offset, bytes; /* of all of them, in their file */
} chunk_run;

typedef struct chunk_reads {
  const gather_taking *taking;
  gather_table *table;
  struct gather_chunked *chunked;
  gather_worker *worker;
  gather_chunk_worker *own;
  int64_t count;
  bool eager; /* all chunks are worth a place in the cache */
  int64_t gap, most_bytes;
  _Atomic int64_t read, cached, resident; /* rows */
  pthread_mutex_t lock;                   /* protects the reader and what follows */
  int64_t next, advised;                  /* the next job; the next one whose file the system is told of */
  int64_t flying, reserved;               /* reads, and those that are about to begin */
  gather_status status;                   /* of the first failure */
  gather_error error;
  atomic_bool failed;
} chunk_reads;

static void fail(chunk_reads *r, gather_status status, const gather_error *why) {
  (void)pthread_mutex_lock(&r->lock);
  if (r->status == GATHER_OK) r->status = status, r->error = *why;
  (void)pthread_mutex_unlock(&r->lock);
  atomic_store(&r->failed, true);
}

/* A row of the table that a job wants. */
static int64_t row_of(const chunk_reads *r, const gather_chunk_job *job) { return r->worker->entries[job->first].row / r->taking->fold; }

/* Names the chunk and the row of a read that failed; of several chunks the first. */
static gather_status blame_read(const chunk_reads *r, const gather_chunk_job *job, gather_status status, gather_error *why) {
  gather_chunks_name(r->table->parts[job->part].chunks, job->number, why);
  return gather_table_blame_row(r->table, row_of(r, job), -1, status, why);
}

/* How many rows a job counts for: those of a row that is in several chunks count in the first one. */
static int64_t rows_of(const chunk_reads *r, const gather_chunk_job *job) {
  return job->number % gather_chunks_across(r->table->parts[job->part].chunks) == 0 ? job->count : 0;
}

/* ---- a chunk that is in memory */

static void deliver(chunk_reads *r, const gather_chunk_job *job, const gather_plain *plain) {
  const gather_taking *taking = r->taking;
  const gather_part *part = &r->table->parts[job->part];
  const gather_chunks *chunks = part->chunks;
  const int64_t row_bytes = taking->row_bytes, each = chunks->chunk[0];
  const bool whole = gather_chunks_across(chunks) == 1;
  gather_chunk_box box;
  (void)gather_chunk_box_find(chunks, job->number, &box);
  const int64_t bytes = taking->part_bytes;
  gather_cache *cache = whole && bytes == row_bytes ? gather_taking_cache(taking) : NULL;
  for (int64_t e = job->first; e < job->first + job->count; e++) {
    const gather_entry *entry = &r->worker->entries[e];
    char *out = taking->out + entry->position * row_bytes;
    const int64_t row = entry->row / taking->fold, from = entry->row % taking->fold * row_bytes + taking->part_from;
    gather_chunks_copy(chunks, &box, plain, (row - part->first) % each - job->row, from, bytes, out + taking->part_from);
    if (cache) gather_taking_keep(taking, entry->row, out, e > job->first && entry[-1].row == entry->row);
  }
}

static bool is_plain(const gather_chunks *chunks, const gather_chunk_place *place) {
  return (~place->skipped & ((1u << chunks->pipeline.count) - 1)) == 0;
}

static bool serves(const gather_chunks *made_for, const gather_chunks *chunks) {
  return made_for && made_for->raw_bytes >= chunks->raw_bytes &&
         (made_for == chunks || memcmp(&made_for->pipeline, &chunks->pipeline, sizeof chunks->pipeline) == 0);
}

static gather_status make_unfilter(const chunk_reads *r, gather_chunk_decoder *decoder, const gather_chunks *chunks, gather_error *error) {
  if (serves(decoder->made_for, chunks)) return GATHER_OK;
  gather_unfilter_destroy(decoder->unfilter);
  gather_table_count_memory(r->table, -decoder->counted);
  decoder->unfilter = NULL, decoder->made_for = NULL, decoder->counted = 0;
  GATHER_TRY(gather_unfilter_create(&chunks->pipeline, chunks->raw_bytes, &decoder->unfilter, error));
  decoder->made_for = chunks;
  decoder->counted = gather_unfilter_bytes(&chunks->pipeline, chunks->raw_bytes);
  gather_table_count_memory(r->table, decoder->counted);
  return GATHER_OK;
}

static gather_status decode(chunk_reads *r, gather_chunk_decoder *decoder, const gather_chunk_job *job, const char *stored,
                            gather_error *error) {
  const gather_part *part = &r->table->parts[job->part];
  const gather_chunks *chunks = part->chunks;
  gather_plain plain = {.bytes = stored, .raw_bytes = job->place.bytes};
  gather_error why;
  if (is_plain(chunks, &job->place) && (job->narrowed || job->place.bytes == chunks->raw_bytes)) {
    deliver(r, job, &plain);
    return GATHER_OK;
  }
  const int64_t start = gather_clock();
  GATHER_TRY(make_unfilter(r, decoder, chunks, error));
  gather_status status =
      gather_unfilter_run(decoder->unfilter, stored, job->place.bytes, job->place.skipped, chunks->raw_bytes, &plain, &why);
  if (status != GATHER_OK) {
    status = gather_chunks_blame(chunks, job->number, &job->place, -1, &why, error);
    return gather_table_blame_row(r->table, row_of(r, job), -1, status, error);
  }
  deliver(r, job, &plain);
  if (r->chunked->cache) {
    const int64_t grown = gather_chunk_cache_put(r->chunked->cache, part->first_chunk + job->number, &plain, r->eager);
    if (grown > 0) gather_table_count_memory(r->table, grown);
  }
  atomic_fetch_add_explicit(&r->table->counts.nanoseconds_decoding, gather_clock() - start, memory_order_relaxed);
  atomic_fetch_add_explicit(&r->table->counts.bytes_decoded, chunks->raw_bytes, memory_order_relaxed);
  return GATHER_OK;
}

/* ---- ways to get a chunk */

static bool is_cached(chunk_reads *r, const gather_chunk_job *job) {
  gather_plain plain;
  int64_t held;
  gather_chunk_cache *cache = r->chunked->cache;
  if (!cache || job->narrowed) return false;
  if (!gather_chunk_cache_hold(cache, r->table->parts[job->part].first_chunk + job->number, &plain, &held)) return false;
  deliver(r, job, &plain);
  gather_chunk_cache_release(cache, held);
  atomic_fetch_add_explicit(&r->table->counts.chunks_cached, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&r->cached, rows_of(r, job), memory_order_relaxed);
  return true;
}

/* Room for the stored bytes of any chunk of the table. */
static gather_status make_stored(const chunk_reads *r, gather_chunk_decoder *decoder, int64_t bytes, gather_error *error) {
  if (bytes > r->chunked->stored_room)
    return gather_fail(error, GATHER_FILE_MALFORMED, "a chunk has %lld bytes, more than its file said", (long long)bytes);
  if (!decoder->stored) {
    decoder->stored = gather_alloc_unset(r->chunked->stored_room);
    if (!decoder->stored) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a chunk");
    gather_table_count_memory(r->table, r->chunked->stored_room);
  }
  return GATHER_OK;
}

/* Reads a long chunk, or one in a file of its own, and waits for it. */
static gather_status read_by_hand(chunk_reads *r, gather_chunk_decoder *decoder, const gather_chunk_job *job, gather_error *error) {
  enum { PIECE = 1 << 20 };
  const gather_table_source *source = job->source;
  const gather_chunk_place *place = &job->place;
  GATHER_TRY(make_stored(r, decoder, place->bytes, error));
  if (!source) return gather_chunk_read(place, decoder->stored, error);
  if (source->object) return gather_remote_object_read(source->object, place->offset, place->bytes, decoder->stored, error);
  for (int64_t done = 0; done < place->bytes;) {
    GATHER_TRY(gather_taking_go_on(r->taking, error));
    const int64_t left = place->bytes - done, at = place->offset + done;
    const ssize_t got = pread(source->fd, decoder->stored + done, (size_t)(left < PIECE ? left : PIECE), (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return gather_fail_errno(error, GATHER_IO_ERROR, errno, source->path, at, "cannot read %lld bytes", (long long)left);
    if (got == 0)
      return gather_fail_file(error, GATHER_IO_ERROR, source->path, at, "the file ends here: it was truncated while it was open");
    done += got;
  }
  return GATHER_OK;
}

#if defined(POSIX_FADV_WILLNEED)
/* The system begins to read a file of its own. */
static void advise(const gather_chunk_job *job) {
  int fd = -1;
  if (job->place.offset < 0 || job->source || job->place.file->object) return;
  if (gather_chunk_file_open(job->place.file, &fd, NULL) != GATHER_OK) return; /* it is said when it is read */
  (void)posix_fadvise(fd, (off_t)job->place.offset, (off_t)job->place.bytes, POSIX_FADV_WILLNEED);
  (void)close(fd);
}

/* Files that will be read by hand soon: so the disk has many reads in flight, however few threads there are. */
static void advise_ahead(chunk_reads *r) {
  enum { AHEAD = 32, AHEAD_BYTES = 32 << 20 };
  const int64_t each = r->chunked->stored_bytes > 0 ? r->chunked->stored_bytes : 1;
  const int64_t ahead = AHEAD_BYTES / each < AHEAD ? AHEAD_BYTES / each : AHEAD;
  for (;;) {
    (void)pthread_mutex_lock(&r->lock);
    if (r->advised < r->next) r->advised = r->next;
    const bool more = r->advised < r->count && r->advised < r->next + ahead;
    const int64_t job = more ? r->advised++ : -1;
    (void)pthread_mutex_unlock(&r->lock);
    if (!more) return;
    advise(&r->own->jobs[job]);
  }
}
#else
static void advise_ahead(chunk_reads *r) { (void)r; }
#endif

static void count_read(chunk_reads *r, const chunk_run *run, int64_t bytes) {
  const gather_table_source *source = run->jobs->source;
  atomic_fetch_add_explicit(&r->table->counts.chunks_read, run->count, memory_order_relaxed);
  if (source && r->table->device_count > 0) gather_device_count_read(&r->table->devices[source->device], bytes, r->flying);
}

static void finish_by_hand(chunk_reads *r, gather_chunk_decoder *decoder, const chunk_run *run) {
  const gather_chunk_job *job = run->jobs;
  gather_error why;
  const int64_t start = gather_clock();
  if (!job->source) advise_ahead(r);
  gather_status status = read_by_hand(r, decoder, job, &why);
  count_read(r, run, job->place.bytes);
  atomic_fetch_add_explicit(&r->table->counts.nanoseconds_waiting, gather_clock() - start, memory_order_relaxed);
  if (status == GATHER_OK)
    status = decode(r, decoder, job, decoder->stored, &why);
  else if (status != GATHER_CANCELLED)
    status = blame_read(r, job, status, &why);
  if (status != GATHER_OK) fail(r, status, &why);
  atomic_fetch_add_explicit(&r->read, rows_of(r, job), memory_order_relaxed);
}

/* Reads bytes that are in the page cache, as long as that mostly succeeds: a failed attempt costs a twentieth of a read. */
static bool read_resident(chunk_reads *r, const gather_table_source *source, int64_t offset, int64_t bytes, char *out) {
  enum { MOST_LUCK = 64, LUCK_OF_SUCCESS = 16, TRY_ANYWAY = 64 };
  _Atomic int32_t *luck = &r->chunked->luck;
  const int32_t before = atomic_load_explicit(luck, memory_order_relaxed);
  const bool tries = before >= 0 || before % TRY_ANYWAY == 0;
  const bool got = tries && gather_pages_read(source, offset, bytes, out);
  const int32_t now = got ? (before < 0 ? 0 : before + LUCK_OF_SUCCESS) : before > -TRY_ANYWAY * TRY_ANYWAY ? before - 1 : -1;
  atomic_store_explicit(luck, now < MOST_LUCK ? now : MOST_LUCK, memory_order_relaxed);
  return got;
}

/* Whether a run is resident: then its chunks are decoded now. */
static bool is_resident(chunk_reads *r, gather_chunk_decoder *decoder, const chunk_run *run) {
  gather_error why;
  const gather_table_source *source = run->jobs->source;
  const gather_engine asked = r->table->options.engine;
  if ((asked != GATHER_ENGINE_AUTO && asked != GATHER_ENGINE_MMAP) || source->object || run->bytes > r->chunked->stored_room) return false;
  if (make_stored(r, decoder, run->bytes, &why) != GATHER_OK) return false;
  if (!read_resident(r, source, run->offset, run->bytes, decoder->stored)) return false;
  atomic_fetch_add_explicit(&r->table->counts.chunks_read, run->count, memory_order_relaxed);
  for (int64_t i = 0; i < run->count; i++) {
    const gather_chunk_job *job = &run->jobs[i];
    const gather_status status = decode(r, decoder, job, decoder->stored + (job->place.offset - run->offset), &why);
    if (status != GATHER_OK) fail(r, status, &why);
    atomic_fetch_add_explicit(&r->resident, rows_of(r, job), memory_order_relaxed);
  }
  return true;
}

/* ---- the queue */

static int64_t read_length(const gather_table_source *source, int64_t offset, int64_t bytes, int64_t *start) {
  *start = offset - offset % source->block_bytes;
  return (offset + bytes - *start + source->block_bytes - 1) / source->block_bytes * source->block_bytes;
}

/* A chunk of no bytes, which is corrupt, is not worth a read. */
static bool fits_slot(const chunk_reads *r, const gather_table_source *source, int64_t offset, int64_t bytes) {
  int64_t start;
  return source && bytes > 0 && read_length(source, offset, bytes, &start) <= r->table->budget.slot_bytes;
}

static bool may_be_cached(const chunk_reads *r, const gather_chunk_job *job) {
  gather_chunk_cache *cache = r->chunked->cache;
  return cache && !job->narrowed && gather_chunk_cache_has(cache, r->table->parts[job->part].first_chunk + job->number);
}

/* The next jobs that one read can bring: neighbours in one file. Jobs of chunks that are cached or not stored come alone. */
static chunk_run next_run(const chunk_reads *r) {
  gather_chunk_job *jobs = &r->own->jobs[r->next];
  const int64_t left = r->count - r->next;
  chunk_run run = {.jobs = jobs, .count = 1, .offset = jobs->place.offset, .bytes = jobs->place.bytes};
  if (run.offset < 0 || !jobs->source || may_be_cached(r, jobs)) return run;
  for (; run.count < left && run.count < MOST_TOGETHER; run.count++) {
    const gather_chunk_job *job = &jobs[run.count];
    const int64_t end = run.offset + run.bytes, bytes = job->place.offset + job->place.bytes - run.offset;
    if (job->source != jobs->source || job->place.offset < end || job->place.offset - end > r->gap) break;
    if (bytes > r->most_bytes || !fits_slot(r, job->source, run.offset, bytes) || may_be_cached(r, job)) break;
    run.bytes = bytes;
  }
  return run;
}

static void begin(chunk_reads *r, const chunk_run *run) {
  const gather_table_source *source = run->jobs->source;
  gather_error why;
  gather_read read = {.source = source, .tag = (run->jobs - r->own->jobs) * (MOST_TOGETHER + 1) + run->count, .begun = gather_clock()};
  read.bytes = read_length(source, run->offset, run->bytes, &read.offset);
  read.needed = run->offset + run->bytes - read.offset;
  (void)pthread_mutex_lock(&r->lock);
  r->reserved--;
  const gather_status status = gather_reader_begin(r->worker->reader, &read, &why);
  if (status == GATHER_OK) {
    r->flying++;
    count_read(r, run, read.bytes);
  }
  (void)pthread_mutex_unlock(&r->lock);
  if (status != GATHER_OK) fail(r, gather_table_blame_row(r->table, row_of(r, run->jobs), -1, status, &why), &why);
}

/* Gets the chunks of a run in the way that fits. */
static void get(chunk_reads *r, gather_chunk_decoder *decoder, chunk_run *run) {
  const gather_chunk_job *job = run->jobs;
  bool queued = false;
  if (job->place.offset < 0) {
    deliver(r, job, NULL);
    atomic_fetch_add_explicit(&r->read, rows_of(r, job), memory_order_relaxed);
  } else if (run->count == 1 && is_cached(r, job))
    queued = false;
  else if (!fits_slot(r, job->source, run->offset, run->bytes))
    finish_by_hand(r, decoder, run);
  else
    queued = !is_resident(r, decoder, run);
  if (queued) {
    begin(r, run);
    return;
  }
  (void)pthread_mutex_lock(&r->lock);
  r->reserved--;
  (void)pthread_mutex_unlock(&r->lock);
}

/* A read is done: its chunks are decoded out of the reader's buffer. */
static void take_finished(chunk_reads *r, gather_chunk_decoder *decoder, const gather_read *read) {
  gather_error why;
  const gather_chunk_job *jobs = &r->own->jobs[read->tag / (MOST_TOGETHER + 1)];
  const int64_t count = read->tag % (MOST_TOGETHER + 1);
  if (r->table->device_count > 0)
    atomic_fetch_add_explicit(&r->table->devices[read->source->device].nanoseconds, gather_clock() - read->begun, memory_order_relaxed);
  for (int64_t i = 0; i < count && !atomic_load(&r->failed); i++) {
    const gather_status status = decode(r, decoder, &jobs[i], read->data + (jobs[i].place.offset - read->offset), &why);
    if (status != GATHER_OK) fail(r, status, &why);
    atomic_fetch_add_explicit(&r->read, rows_of(r, &jobs[i]), memory_order_relaxed);
  }
  (void)pthread_mutex_lock(&r->lock);
  gather_reader_release(r->worker->reader, read);
  (void)pthread_mutex_unlock(&r->lock);
}

/* Takes a finished read, if one is or comes soon. Called with the lock, which it gives back. */
static void finish(chunk_reads *r, gather_chunk_decoder *decoder) {
  gather_read read = {0};
  gather_error why;
  int number = 0;
  const int64_t start = gather_clock();
  if (!gather_reader_await(r->worker->reader, WAIT_NANOSECONDS)) {
    (void)pthread_mutex_unlock(&r->lock);
    return;
  }
  gather_status status = gather_reader_finish(r->worker->reader, &read, &number, &why);
  r->flying--;
  (void)pthread_mutex_unlock(&r->lock);
  atomic_fetch_add_explicit(&r->table->counts.nanoseconds_waiting, gather_clock() - start, memory_order_relaxed);
  if (status == GATHER_OK) {
    take_finished(r, decoder, &read);
    return;
  }
  fail(r, blame_read(r, &r->own->jobs[read.tag / (MOST_TOGETHER + 1)], status, &why), &why);
}

static bool has_room(const chunk_reads *r, const gather_table_source *source) {
  const gather_reader *reader = r->worker->reader;
  return reader->used[source ? source->queue : 0] + r->reserved < reader->plan.depth;
}

/* What one thread does until all is done: begins reads while there is room, else takes finished ones. */
static void work(void *argument, int64_t i) {
  chunk_reads *r = argument;
  gather_chunk_decoder *decoder = &r->own->decoders[i];
  for (;;) {
    gather_error why;
    const gather_status stopped = gather_taking_go_on(r->taking, &why);
    if (stopped != GATHER_OK) fail(r, stopped, &why);
    (void)pthread_mutex_lock(&r->lock);
    if (r->status != GATHER_OK) break;
    if (r->next < r->count && has_room(r, r->own->jobs[r->next].source)) {
      chunk_run run = next_run(r);
      r->next += run.count;
      r->reserved++;
      (void)pthread_mutex_unlock(&r->lock);
      get(r, decoder, &run);
    } else if (r->flying > 0) {
      finish(r, decoder);
    } else if (r->next < r->count || r->reserved > 0) {
      (void)pthread_mutex_unlock(&r->lock); /* another thread is about to begin a read */
      (void)sched_yield();
    } else {
      break;
    }
  }
  (void)pthread_mutex_unlock(&r->lock);
}

/* ---- all chunks of some jobs */

static void choose_gap(chunk_reads *r) {
  enum { FAR = 64 << 10, NEAR = 4 << 10 };
  const gather_table *table = r->table;
  r->gap = !table->client ? NEAR : table->gap_given >= 0 ? table->gap_given : FAR;
  r->most_bytes = table->client ? TOGETHER_BYTES_REMOTE : r->chunked->stored_room;
}

gather_status gather_chunks_read(const gather_taking *taking, gather_worker *worker, int64_t count, bool eager, gather_rows_count *rows,
                                 gather_error *error) {
  gather_table *table = taking->table;
  chunk_reads r = {.taking = taking,
                   .table = table,
                   .chunked = table->chunked,
                   .worker = worker,
                   .own = worker->chunks,
                   .count = count,
                   .eager = eager,
                   .lock = PTHREAD_MUTEX_INITIALIZER};
  const gather_executor *executor = taking->executor;
  int64_t threads = executor ? executor->threads : 1;
  GATHER_TRY(gather_worker_ready(table, worker, error));
  choose_gap(&r);
  if (threads > table->chunked->decoders) threads = table->chunked->decoders;
  if (threads > count) threads = count;
  if (threads > 1)
    executor->parallel_for(executor->context, threads, work, &r);
  else
    work(&r, 0);
  if (r.status != GATHER_OK) gather_reader_drain(worker->reader);
  (void)pthread_mutex_destroy(&r.lock);
  rows->read += r.read, rows->cached += r.cached, rows->resident += r.resident;
  if (r.status != GATHER_OK && error) *error = r.error;
  return r.status;
}
