/* SPDX-License-Identifier: MIT
 *
 * statistics.c: counts what a table has done.
 */
#include <stdio.h>
#include <string.h>

#include "table/table_decode.h"

void gather_table_count_memory(gather_table *table, int64_t bytes) {
  gather_table_counts *counts = &table->counts;
  int64_t now = atomic_fetch_add_explicit(&counts->memory, bytes, memory_order_relaxed) + bytes;
  int64_t peak = atomic_load_explicit(&counts->memory_peak, memory_order_relaxed);
  while (peak < now && !atomic_compare_exchange_weak(&counts->memory_peak, &peak, now)) continue;
}

void gather_table_fall_back(gather_table *table, gather_engine engine, const gather_error *why) {
  (void)pthread_mutex_lock(&table->lock);
  table->engine = engine;
  (void)snprintf(table->why, sizeof table->why, "threads read, because io_uring cannot be used: %.110s", why->message);
  (void)pthread_mutex_unlock(&table->lock);
}

static bool is_direct(const gather_table *table) {
  if (table->client || table->engine == GATHER_ENGINE_MMAP || table->source_count == 0) return false;
  for (int32_t i = 0; i < table->source_count; i++)
    if (gather_table_source_fd(&table->sources[i]) != table->sources[i].direct_fd) return false;
  return true;
}

#define READ(name) atomic_load_explicit(&counts->name, memory_order_relaxed)
/* Mapped memory has its own share, so that the sum of the two peaks stays below the memory limit. */
#define READ_MAPPED(name) atomic_load_explicit(&locked->map_use.name, memory_order_relaxed)

/* Of a table with decoded rows: adds what the tables did that it reads. */
static void add_read_table(gather_table_statistics *sum, const gather_table *table) {
  gather_table_statistics one;
  gather_table_statistics_get(table, &one);
  sum->reads += one.reads;
  sum->bytes_read += one.bytes_read;
  sum->memory_bytes += one.memory_bytes;
  sum->memory_peak += one.memory_peak;
  sum->seconds_waiting += one.seconds_waiting;
}

static void add_decoding(const gather_decoded *decoding, gather_table_statistics *sum) {
  gather_table_statistics first;
  gather_table_statistics_get(decoding->pieces[0].data, &first);
  sum->engine = first.engine, sum->direct = first.direct, sum->depth = first.depth;
  memcpy(sum->why, first.why, sizeof sum->why);
  for (int32_t i = 0; i < decoding->count; i++) {
    const gather_piece *piece = &decoding->pieces[i];
    add_read_table(sum, piece->data);
    for (int role = 0; role < GATHER_ROW_SIDES; role++)
      if (piece->side[role].table) add_read_table(sum, piece->side[role].table);
  }
}

void gather_table_statistics_get(const gather_table *table, gather_table_statistics *statistics) {
  /* Only the lock is modified. */
  gather_table *locked = (gather_table *)(uintptr_t)table;
  gather_table_counts *counts = &locked->counts;
  gather_table_enter(locked);
  *statistics = (gather_table_statistics){.takes = READ(takes),
                                          .rows = READ(rows),
                                          .rows_resident = READ(rows_resident),
                                          .rows_cached = READ(rows_cached),
                                          .rows_read = READ(rows_read),
                                          .bytes_useful = READ(bytes_useful),
                                          .memory_bytes = READ(memory) + READ_MAPPED(bytes),
                                          .memory_peak = READ(memory_peak) + READ_MAPPED(peak_bytes),
                                          .memory_ceiling = table->budget.ceiling,
                                          .seconds = (double)READ(nanoseconds) * 1e-9,
                                          .seconds_waiting = (double)READ(nanoseconds_waiting) * 1e-9};
  (void)pthread_mutex_lock(&locked->lock);
  statistics->engine = table->engine;
  statistics->direct = is_direct(table);
  statistics->depth = table->budget.depth;
  (void)snprintf(statistics->why, sizeof statistics->why, "%s", table->why);
  (void)pthread_mutex_unlock(&locked->lock);
  gather_devices_sum(table, &statistics->reads, &statistics->bytes_read);
  if (table->decoding) add_decoding(table->decoding, statistics);
}

/* The gap of the rows that were read last; of a table with decoded rows, the quantised ones. */
static int64_t gap_of(const gather_table *table) {
  const gather_table *reads = table->decoding ? table->decoding->pieces[0].data : table;
  return atomic_load_explicit(&reads->gap_bytes, memory_order_relaxed);
}

bool gather_table_remote_statistics(const gather_table *table, gather_remote_statistics *statistics) {
  *statistics = (gather_remote_statistics){0};
  gather_table *locked = (gather_table *)(uintptr_t)table;
  gather_table_enter(locked);
  if (!table->client) return false;
  gather_remote_client_statistics(table->client, statistics);
  statistics->bytes_useful = atomic_load_explicit(&locked->counts.bytes_useful, memory_order_relaxed);
  statistics->gap_bytes = gap_of(table);
  return true;
}

static void reset_decoding(const gather_decoded *decoding) {
  for (int32_t i = 0; i < decoding->count; i++) {
    const gather_piece *piece = &decoding->pieces[i];
    gather_table_statistics_reset(piece->data);
    for (int role = 0; role < GATHER_ROW_SIDES; role++)
      if (piece->side[role].table) gather_table_statistics_reset(piece->side[role].table);
  }
}

void gather_table_statistics_reset(gather_table *table) {
  gather_table_counts *counts = &table->counts;
  _Atomic int64_t *const all[] = {
      &counts->takes,     &counts->rows,         &counts->rows_resident, &counts->rows_cached,
      &counts->rows_read, &counts->bytes_useful, &counts->nanoseconds,   &counts->nanoseconds_waiting};
  gather_table_enter(table);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) atomic_store_explicit(all[i], 0, memory_order_relaxed);
  gather_devices_reset(table);
  atomic_store_explicit(&counts->memory_peak, READ(memory), memory_order_relaxed);
  atomic_store_explicit(&table->map_use.peak_bytes, atomic_load(&table->map_use.bytes), memory_order_relaxed);
  if (table->client) gather_remote_client_statistics_reset(table->client);
  if (table->decoding) reset_decoding(table->decoding);
}
