/* SPDX-License-Identifier: MIT
 *
 * scan.c: reads a file in order into the page cache if that is cheaper than reading its rows one by one. Each batch of a query is too small
 * to show it, so each file counts what its reads have cost. A take that misses rows reads a part of the file first. The part is limited,
 * since this may be the last take.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <unistd.h>

#include "core/kernel/tuning.h"
#include "core/system/clock.h"
#include "core/system/machine.h"
#include "table/table_internal.h"

/* Files below LEAST_BYTES are not read in order. All files of a table must fit into 1/MEMORY_SHARE of the memory. A take reads at most
 * BLOCKS_PER_ROW blocks for each of its rows and each row to come. */
enum { LEAST_BYTES = 64 << 20, MEMORY_SHARE = 4, BLOCKS_PER_ROW = 16, MOST_SCANS = 8 };
/* PIECE_BYTES: one read, which stays in a CPU cache. AHEAD_BYTES: the system prefetches so far. */
enum { PIECE_BYTES = 256 << 10, AHEAD_BYTES = 8 << 20, FEW_ROWS = 8 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The rows of one take. */
typedef struct wanted {
  int64_t rows, misses;
  double cost;  /* of reading its misses and, in proportion, those of rows to come one by one: as bytes that are read in order */
  double bytes; /* of all files */
} wanted;

/* The gap that costs as much as another read gives the cost of a read. */
static wanted want(const gather_taking *taking, int64_t rows, int64_t misses) {
  const gather_table *table = taking->table;
  const int64_t join = gather_tuned(GATHER_TUNING_table_join_bytes);
  const double to_come = (double)taking->rows_to_come * (double)misses / (double)rows;
  wanted made = {.rows = rows, .misses = misses, .cost = to_come * (double)(join + GATHER_TABLE_BLOCK_BYTES)};
  for (int32_t i = 0; i < table->source_count; i++) made.bytes += (double)table->sources[i].size;
  /* The rows of the take itself may be so dense that they share reads. */
  if ((double)misses * 2 * (double)join < made.bytes) made.cost += (double)misses * (double)(join + GATHER_TABLE_BLOCK_BYTES);
  return made;
}

/* Whether the rows that were read and those known to come cost as much, one by one, as the whole file in order. So both together take at
 * most about twice the time of the better one. Each scan doubles the cost of the next, since the system did not keep the pages. */
static bool is_due(const gather_residency *residency, const wanted *w) {
  const int64_t size = residency->source->size, spent = atomic_load_explicit(&residency->scan.cost, memory_order_relaxed);
  const int32_t scans = atomic_load_explicit(&residency->scan.count, memory_order_relaxed);
  if (size < LEAST_BYTES || scans >= MOST_SCANS || !atomic_load_explicit(&residency->can_ask, memory_order_relaxed)) return false;
  return (double)spent + w->cost * ((double)size / w->bytes) >= (double)size * (1 << scans);
}

/* Whether a table may be read in order: the caller chose no engine and no memory limit, rows are short, and the files fit into memory. */
static bool is_allowed(const gather_taking *taking, const wanted *w) {
  const gather_table *table = taking->table;
  if (!table->residency || table->client || table->chunked || table->budget.ceiling != 0) return false;
  if (table->options.engine != GATHER_ENGINE_AUTO || taking->row_bytes > gather_tuned(GATHER_TUNING_table_join_bytes)) return false;
  return w->bytes <= (double)(gather_usable_memory() / MEMORY_SHARE);
}

/* Reads bytes into the page cache. False: an error, which the reads of the rows will report. */
static bool read_through(const gather_table_source *source, int64_t offset, int64_t bytes, char *buffer, int64_t room) {
  while (bytes > 0) {
    const ssize_t got = pread(source->fd, buffer, (size_t)least(bytes, room), (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += got, bytes -= got;
  }
  return true;
}

/* Reads the next regions of a file, about `most` bytes. Returns how many bytes. */
static int64_t read_regions(const gather_taking *taking, gather_residency *residency, gather_worker *worker, int64_t most) {
  gather_table *table = taking->table;
  const gather_table_source *source = residency->source;
  const int64_t room = least(PIECE_BYTES, table->budget.entries * (int64_t)sizeof *worker->spare), first = residency->scan.next;
  int64_t at = first * GATHER_REGION_BYTES, asked = at;
  const int64_t begin = at, end = at + least(source->size - at, most);
  while (at < end && !gather_taking_stopped(taking)) {
    const int64_t bytes = least(GATHER_REGION_BYTES, source->size - at), ahead = least(end, at + AHEAD_BYTES);
    gather_shuffle_read_ahead(source->fd, ahead - asked, asked);
    asked = ahead;
    const int64_t start = gather_clock();
    if (!read_through(source, at, bytes, (char *)worker->spare, room)) {
      atomic_store_explicit(&residency->scan.count, (int32_t)MOST_SCANS, memory_order_relaxed);
      break;
    }
    gather_device *device = &table->devices[source->device];
    gather_device_count_read(device, bytes, 1);
    atomic_fetch_add_explicit(&device->nanoseconds, gather_clock() - start, memory_order_relaxed);
    gather_residency_forget(residency, residency->scan.next++);
    at += bytes;
  }
  return at - begin;
}

/* One thread at a time. */
static int64_t scan_file(const gather_taking *taking, gather_residency *residency, gather_worker *worker, int64_t most) {
  gather_scan *scan = &residency->scan;
  if (atomic_exchange(&scan->busy, true)) return 0;
  const int64_t bytes = read_regions(taking, residency, worker, most);
  if (scan->next >= residency->region_count) { /* the end */
    scan->next = 0;
    atomic_store_explicit(&scan->cost, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&scan->count, 1, memory_order_relaxed);
  }
  atomic_store(&scan->busy, false);
  return bytes;
}

bool gather_scan_some(const gather_taking *taking, gather_worker *worker, int64_t rows, int64_t misses) {
  gather_table *table = taking->table;
  if (misses <= FEW_ROWS || !table->residency) return false;
  const wanted w = want(taking, rows, misses);
  const int64_t blocks = BLOCKS_PER_ROW * GATHER_TABLE_BLOCK_BYTES, all = least(taking->rows_to_come, INT64_MAX / blocks - rows) + rows;
  int64_t left = all * blocks;
  bool allowed = false;
  for (int32_t i = 0; i < table->source_count && left > 0; i++) {
    if (!is_due(&table->residency[i], &w)) continue;
    if (!allowed && !is_allowed(taking, &w)) return false;
    allowed = true;
    left -= scan_file(taking, &table->residency[i], worker, left);
  }
  return left < all * blocks;
}
