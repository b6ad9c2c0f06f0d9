/* SPDX-License-Identifier: MIT
 *
 * worker.c: workers: each has what one take needs to read rows that are not resident, and reads them. They are created when first needed
 * and kept; the memory limits their number; further takes wait. A child of fork() abandons those of its parent.
 */
#define _POSIX_C_SOURCE 200809L
#include "table/miss.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/kernel/copy.h"
#include "core/system/clock.h"
#include "core/system/condition.h"
#include "table/system/table_system.h"
#include "table/table_decode.h"

/* ---- the life of a worker */

static int64_t entries_bytes(const gather_table *table) { return table->budget.entries * (int64_t)sizeof(gather_entry); }

/* Its buffers, and those of the client for its reads. */
static int64_t reader_bytes(const gather_table *table, const gather_worker *worker) {
  return gather_reader_memory(worker->reader) + table->budget.depth * table->budget.cover_bytes;
}

static int64_t worker_bytes(const gather_table *table, const gather_worker *worker) {
  return (worker->entries ? entries_bytes(table) : 0) + (worker->spare ? entries_bytes(table) : 0) +
         (worker->network ? table->network->worker_bytes : 0) + (worker->reader ? reader_bytes(table, worker) : 0);
}

/* ours: not of the parent, in a child of fork(). */
static void destroy(gather_table *table, gather_worker *worker, bool ours) {
  gather_table_count_memory(table, -worker_bytes(table, worker));
  if (ours)
    gather_reader_destroy(worker->reader);
  else
    gather_reader_abandon(worker->reader);
  if (table->chunked) table->chunker->destroy_worker(table, worker->chunks);
  gather_free(worker->entries);
  gather_free(worker->spare);
  gather_free(worker->network);
  gather_free(worker);
}

static void destroy_idle(gather_table *table, bool ours) {
  for (gather_worker *worker = table->idle, *next; worker; worker = next) {
    next = worker->next;
    destroy(table, worker, ours);
  }
  table->idle = NULL;
}

void gather_worker_destroy_all(gather_table *table) { destroy_idle(table, true); }

/* Switches to another engine; why: the error of the refused one. */
static void fall_back(gather_table *table, gather_engine engine, const gather_error *why) {
  (void)pthread_mutex_lock(&table->lock);
  table->engine = engine;
  (void)snprintf(table->why, sizeof table->why, "threads read, because io_uring cannot be used: %.110s", why->message);
  (void)pthread_mutex_unlock(&table->lock);
}

/* The system may refuse io_uring now although it did not when the table was opened (a limit on locked memory, a
 * filter): then threads read, and the statistics say so. */
static gather_status create_reader(gather_table *table, gather_worker *worker, gather_error *error) {
  gather_error why;
  gather_reader_plan plan = {table->engine, table->budget.depth, table->budget.slot_bytes, table->budget.queues, table->client};
  gather_status status = gather_reader_create(&plan, &worker->reader, &why);
  if (status == GATHER_UNSUPPORTED && (plan.engine == GATHER_ENGINE_URING || plan.engine == GATHER_ENGINE_OVERLAPPED)) {
    plan.engine = GATHER_ENGINE_PREAD;
    fall_back(table, plan.engine, &why);
    return gather_reader_create(&plan, &worker->reader, error);
  }
  if (status != GATHER_OK && error) *error = why;
  return status;
}

static gather_status create(gather_table *table, gather_worker **worker, gather_error *error) {
  gather_worker *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while reading rows");
  made->entries = gather_alloc(entries_bytes(table));
  made->spare = gather_alloc(entries_bytes(table));
  if (table->client) made->network = gather_alloc(table->network->worker_bytes);
  if (table->chunked) made->chunks = table->chunker->create_worker(table);
  const bool complete = made->entries && made->spare && (made->network || !table->client) && (made->chunks || !table->chunked);
  gather_status status = complete ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while reading rows");
  gather_table_count_memory(table, worker_bytes(table, made));
  if (status == GATHER_OK)
    *worker = made;
  else
    destroy(table, made, true);
  return status;
}

gather_status gather_worker_ready(gather_table *table, gather_worker *worker, gather_error *error) {
  if (worker->reader) return GATHER_OK;
  GATHER_TRY(create_reader(table, worker, error));
  gather_table_count_memory(table, reader_bytes(table, worker));
  return GATHER_OK;
}

/* ---- who has it */

/* The longest wait between two checks for cancellation. */
enum { WAIT_NANOSECONDS = 20000000 };

/* An idle worker, or the right to create one (NULL); false if there is neither, also after waiting for some time. */
static bool claim(gather_table *table, bool wait, gather_worker **worker) {
  const struct timespec end = gather_condition_end(WAIT_NANOSECONDS);
  (void)pthread_mutex_lock(&table->lock);
  bool waiting = wait;
  while (waiting && !table->idle && table->worker_count >= table->budget.workers)
    waiting = gather_condition_wait(&table->changed, &table->lock, &end);
  *worker = table->idle;
  bool claimed = *worker || table->worker_count < table->budget.workers;
  if (*worker)
    table->idle = (*worker)->next;
  else if (claimed)
    table->worker_count++;
  (void)pthread_mutex_unlock(&table->lock);
  return claimed;
}

gather_status gather_worker_get(const gather_taking *taking, bool wait, gather_worker **worker, gather_error *error) {
  gather_table *table = taking->table;
  bool claimed;
  while (!(claimed = claim(table, wait, worker)) && wait) GATHER_TRY(gather_taking_go_on(taking, error));
  if (!claimed || *worker) return GATHER_OK;
  gather_status status = create(table, worker, error);
  if (status == GATHER_OK) return GATHER_OK;
  (void)pthread_mutex_lock(&table->lock);
  table->worker_count--;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
  return status;
}

void gather_worker_put(gather_table *table, gather_worker *worker) {
  (void)pthread_mutex_lock(&table->lock);
  worker->next = table->idle;
  table->idle = worker;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
}

/* ---- where the rows that it reads go */

static void deliver_row(const gather_misses *m, const gather_read *read, int64_t entry, const gather_part *part, bool again) {
  const int64_t row_bytes = m->taking->row_bytes, row = m->worker->entries[entry].row;
  const int64_t at = gather_misses_offset(m->taking, part, row), read_end = read->offset + read->needed;
  int64_t from = at > read->offset ? at : read->offset;
  int64_t to = at + row_bytes < read_end ? at + row_bytes : read_end;
  char *out = m->taking->out + m->worker->entries[entry].position * row_bytes;
  gather_copy_row(out + (from - at), read->data + (from - read->offset), (size_t)(to - from));
  if (!gather_taking_cache(m->taking) || to - from != row_bytes) return;
  gather_taking_keep(m->taking, row, out, m->eager || again);
}

static void deliver(const gather_misses *m, const gather_read *read) {
  const int64_t first = read->tag >> GATHER_MISS_TAG_BITS, behind = first + (read->tag & ((1 << GATHER_MISS_TAG_BITS) - 1));
  const gather_entry *entries = m->worker->entries;
  const gather_part *part = gather_taking_find_part(m->taking, entries[first].row);
  for (int64_t e = first; e < behind; e++) {
    bool again = e > first && entries[e].row == entries[e - 1].row;
    deliver_row(m, read, e, part, again);
  }
}

/* Only for the engine mmap: notes what was read; under a memory limit the pages are unmapped. The system also maps
 * resident pages around the touched ones, so whole regions are unmapped, which is cheap if nothing is mapped. */
static void settle_mapped(const gather_misses *m, const gather_read *read) {
  gather_table *table = m->table;
  if (table->engine != GATHER_ENGINE_MMAP || !table->residency) return;
  gather_residency *residency = &table->residency[read->source - table->sources];
  gather_residency_settle(residency, read->offset, read->needed, table->budget.ceiling == 0);
}

/* ---- all rows, by a reader */

/* Counts how long a read took. */
static void count_wait(gather_device *device, int64_t nanoseconds) {
  atomic_fetch_add_explicit(&device->nanoseconds, nanoseconds, memory_order_relaxed);
}

static gather_status fail_read(const gather_misses *m, const gather_read *read, gather_status status, gather_error *error) {
  const int64_t row = m->worker->entries[read->tag >> GATHER_MISS_TAG_BITS].row / m->taking->fold;
  return gather_table_blame_row(m->table, row, (int32_t)(read->source - m->table->sources), status, error);
}

/* A server may take long to answer: a cancelled take does not wait for it. */
static gather_status await_one(const gather_misses *m, gather_error *error) {
  while (!gather_reader_await(m->worker->reader, WAIT_NANOSECONDS)) GATHER_TRY(gather_taking_go_on(m->taking, error));
  return GATHER_OK;
}

/* Waits for a read of any queue, which has room for another one then. */
static gather_status finish_one(gather_misses *m, int32_t *queue, gather_error *error) {
  gather_table *table = m->table;
  gather_read read = {0};
  gather_error why;
  int number = 0;
  int64_t start = gather_clock();
  GATHER_TRY(await_one(m, error));
  gather_status status = gather_reader_finish(m->worker->reader, &read, &number, &why);
  m->now = gather_clock();
  atomic_fetch_add_explicit(&table->counts.nanoseconds_waiting, m->now - start, memory_order_relaxed);
  if (status != GATHER_OK) {
    status = fail_read(m, &read, status, &why);
    if (error) *error = why;
    return status;
  }
  count_wait(&table->devices[read.source->device], m->now - read.begun);
  if (table->residency && read.bytes <= m->join_bytes) /* longer ones are nearly as fast as reading in order */
    atomic_fetch_add_explicit(&table->residency[read.source - table->sources].scan.cost, read.bytes + m->join_bytes, memory_order_relaxed);
  deliver(m, &read);
  gather_misses_answered(m, read.needed);
  settle_mapped(m, &read);
  gather_reader_release(m->worker->reader, &read);
  *queue = read.source->queue;
  m->cursors[*queue].flying--;
  m->flying--;
  return GATHER_OK;
}

/* Begins as many reads of a queue as it has room for. */
static gather_status begin_reads(gather_misses *m, int32_t queue, gather_error *error) {
  gather_reader *reader = m->worker->reader;
  gather_cursor *cursor = &m->cursors[queue];
  gather_read read;
  while (gather_reader_has_room(reader, queue) && gather_misses_next(m, queue, &read)) {
    read.begun = m->now;
    gather_status status = gather_reader_begin(reader, &read, error);
    if (status != GATHER_OK) return fail_read(m, &read, status, error);
    cursor->flying++, m->flying++;
    gather_device_count_read(&m->table->devices[read.source->device], read.bytes, cursor->flying);
  }
  return GATHER_OK;
}

/* They are sorted, so that each is read once and neighbours are read together, with the full queue depth in flight on every device. Rows
 * are delivered in the order in which reads complete. */
static gather_status read_all(gather_misses *m, gather_error *error) {
  m->now = gather_clock();
  for (int32_t queue = 0; queue < m->table->budget.queues; queue++) GATHER_TRY(begin_reads(m, queue, error));
  while (m->flying > 0) {
    int32_t queue = 0;
    GATHER_TRY(gather_taking_go_on(m->taking, error));
    GATHER_TRY(finish_one(m, &queue, error));
    GATHER_TRY(begin_reads(m, queue, error));
  }
  return GATHER_OK;
}

/* Copies from a mapping are guarded: if the kernel cannot populate pages before, it reads them when they are
 * touched. */
typedef struct read_call {
  gather_misses *m;
  gather_status status;
  gather_error *error;
} read_call;

static void read_guarded(void *argument) {
  read_call *call = argument;
  call->status = read_all(call->m, call->error);
}

static gather_status read_with_reader(gather_misses *m, gather_error *error) {
  gather_table *table = m->table;
  read_call call = {m, GATHER_OK, error};
  int32_t source;
  int64_t offset;
  if (table->engine != GATHER_ENGINE_MMAP)
    read_guarded(&call);
  else if (!gather_guard_run(table->sources, table->source_count, read_guarded, &call, &source, &offset))
    call.status = gather_table_fail_mapped(table, source, offset, error);
  if (call.status != GATHER_OK) gather_reader_drain(m->worker->reader);
  return call.status;
}

/* ---- a few short rows */

/* They are not worth a reader: they are read through the page cache, which then also has their neighbours for the next take. */
enum { FEW_ROWS = 8, FEW_BYTES = 64 << 10 };

static gather_status read_row(const gather_misses *m, int64_t entry, gather_error *error) {
  const gather_table *table = m->table;
  const int64_t row = m->worker->entries[entry].row, row_bytes = m->taking->row_bytes;
  const gather_part *part = gather_taking_find_part(m->taking, row);
  const gather_table_source *source = &table->sources[part->source];
  int64_t offset = gather_misses_offset(m->taking, part, row), done = 0;
  char *out = m->taking->out + m->worker->entries[entry].position * row_bytes;
  while (done < row_bytes) {
    ssize_t got = pread(source->fd, out + done, (size_t)(row_bytes - done), (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      gather_status status = got < 0 ? gather_fail_system(error, source->path, errno, "read it")
                                     : gather_fail_file(error, GATHER_IO_ERROR, source->path, offset + done,
                                                        "the file ends here: it was truncated while it was open");
      if (error && error->file_offset < 0) error->file_offset = offset + done;
      return gather_table_blame_row(table, row / m->taking->fold, -1, status, error);
    }
    done += got;
  }
  return GATHER_OK;
}

static gather_status read_few(gather_misses *m, gather_error *error) {
  const gather_table *table = m->table;
  const int64_t row_bytes = m->taking->row_bytes;
  const gather_entry *entries = m->worker->entries;
  for (int64_t e = 0; e < m->count; e++) {
    char *out = m->taking->out + entries[e].position * row_bytes;
    if (e > 0 && entries[e].row == entries[e - 1].row) {
      memcpy(out, m->taking->out + entries[e - 1].position * row_bytes, (size_t)row_bytes);
      continue;
    }
    const gather_part *part = gather_taking_find_part(m->taking, entries[e].row);
    gather_device *device = &table->devices[table->sources[part->source].device];
    const int64_t start = gather_clock();
    GATHER_TRY(read_row(m, e, error));
    gather_device_count_read(device, row_bytes, 1);
    count_wait(device, gather_clock() - start);
  }
  return GATHER_OK;
}

gather_status gather_worker_read(gather_worker *worker, const gather_taking *taking, int64_t count, gather_error *error) {
  gather_table *table = taking->table;
  gather_misses m = {.taking = taking,
                     .table = table,
                     .worker = worker,
                     .count = count,
                     .eager = gather_taking_cache(taking) && count <= gather_cache_rows(table->cache) / 2};
  const bool few =
      count <= FEW_ROWS && count * taking->row_bytes <= FEW_BYTES && table->options.engine == GATHER_ENGINE_AUTO && !table->client;
  if (!few) GATHER_TRY(gather_worker_ready(table, worker, error));
  gather_misses_order(&m);
  return few ? read_few(&m, error) : read_with_reader(&m, error);
}

/* ---- a table in a child of fork() */

/* Threads, rings and reads in flight stay with the parent; the child also has the files, mappings and residency information. */
static void abandon(gather_table *table) {
  destroy_idle(table, false);
  /* Busy workers and jobs belong to threads of the parent, and may be on their stacks: they are abandoned. */
  table->worker_count = 0;
  table->queue = NULL, table->queue_end = &table->queue;
  table->running_jobs = NULL;
  table->threads = table->threads_idle = 0;
  (void)pthread_mutex_init(&table->lock, NULL);
  if (!gather_condition_init(&table->changed)) (void)pthread_cond_init(&table->changed, NULL);
  if (table->client) table->network->enter(table);
  if (table->cache) gather_cache_reset(table->cache);
  if (table->decoding) gather_scratch_clear(table->decoding);
  if (table->chunked) table->chunker->reset(table);
  atomic_store_explicit(&table->counts.memory, 0, memory_order_relaxed);
}

void gather_table_enter(gather_table *table) {
  int64_t here = (int64_t)getpid(), seen = atomic_load_explicit(&table->process, memory_order_acquire);
  while (seen != here) {
    /* The negative number marks that a thread of the child is doing this. */
    if (seen != -here && atomic_compare_exchange_strong(&table->process, &seen, -here)) {
      abandon(table);
      atomic_store_explicit(&table->process, here, memory_order_release);
    }
    seen = atomic_load_explicit(&table->process, memory_order_acquire);
  }
}
