/* SPDX-License-Identifier: MIT
 *
 * miss.c: reads rows that are not resident. They are sorted, so that each is read once and neighbours are read
 * together, with the full queue depth in flight on every device; rows are delivered in the order in which reads complete.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/copy.h"
#include "core/plan/plan.h"
#include "core/system/clock.h"
#include "io/format/map.h"
#include "table/miss.h"
#include "table/table_sort.h"

/* A few short rows are not worth a reader: they are read through the page cache, which then also has their
 * neighbours for the next take. */
enum { FEW_ROWS = 8, FEW_BYTES = 64 << 10 };

/* ---- where they go */

static void deliver_row(const gather_misses *m, const gather_read *read, int64_t entry, const gather_part *part,
                        bool again) {
  const int64_t row_bytes = m->taking->row_bytes, row = m->worker->entries[entry].row;
  const int64_t at = gather_misses_offset(m->taking, part, row), read_end = read->offset + read->needed;
  int64_t from = at > read->offset ? at : read->offset;
  int64_t to = at + row_bytes < read_end ? at + row_bytes : read_end;
  char *out = m->taking->out + m->worker->entries[entry].position * row_bytes;
  gather_copy_row(out + (from - at), read->data + (from - read->offset), (size_t)(to - from));
  if (!gather_taking_cache(m->taking) || to - from != row_bytes) return;
  gather_table_keep_row(m->table, row, out, m->eager || again);
}

static void deliver(const gather_misses *m, const gather_read *read) {
  const int64_t first = read->tag >> GATHER_MISS_TAG_BITS,
                behind = first + (read->tag & ((1 << GATHER_MISS_TAG_BITS) - 1));
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
  if (table->budget.ceiling > 0)
    gather_residency_drop(residency, read->offset, read->needed);
  else
    gather_residency_note(residency, read->offset, read->needed);
}

/* ---- all of them */

static gather_status fail_read(const gather_misses *m, const gather_read *read, gather_status status,
                               gather_error *error) {
  int64_t row = m->worker->entries[read->tag >> GATHER_MISS_TAG_BITS].row / m->taking->fold;
  if (error && error->file_offset >= 0) {
    int32_t source = (int32_t)(read->source - m->table->sources);
    int64_t at = gather_table_row_at(m->table, source, error->file_offset);
    if (at > row) row = at;
  }
  return gather_table_blame_row(m->table, row, status, error);
}

/* A server may take long to answer: a cancelled take does not wait for it. */
static gather_status await_one(const gather_misses *m, gather_error *error) {
  enum { WAIT_NANOSECONDS = 20000000 };
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
  gather_device_count_wait(&table->devices[read.source->device], m->now - read.begun);
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

/* ---- a few */

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
      return gather_table_blame_row(table, row / m->taking->fold, status, error);
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
    gather_device_count_wait(device, gather_clock() - start);
  }
  return GATHER_OK;
}

gather_status gather_taking_read(const gather_taking *taking, gather_worker *worker, int64_t count,
                                 gather_error *error) {
  gather_table *table = taking->table;
  gather_misses m = {.taking = taking,
                     .table = table,
                     .worker = worker,
                     .count = count,
                     .eager = gather_taking_cache(taking) && count <= gather_cache_rows(table->cache) / 2};
  gather_sort_entries(&worker->entries, &worker->spare, count, table->info.rows * taking->fold);
  bool few = count <= FEW_ROWS && count * taking->row_bytes <= FEW_BYTES;
  if (few && table->options.engine == GATHER_ENGINE_AUTO && !table->client) return read_few(&m, error);
  GATHER_TRY(gather_worker_ready(table, worker, error));
  gather_misses_order(&m);
  return read_with_reader(&m, error);
}
