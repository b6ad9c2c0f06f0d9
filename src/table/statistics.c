/* SPDX-License-Identifier: MIT
 *
 * statistics.c: what a table has done, as a whole and on each device.
 */
#include "table/table_decode.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

#define READ(device, name) atomic_load_explicit(&(device)->name, memory_order_relaxed)

/* ---- devices */

/* The reads of all devices. */
static void sum_devices(const gather_table *table, int64_t *reads, int64_t *bytes_read) {
  *reads = *bytes_read = 0;
  for (int32_t i = 0; i < table->device_count; i++) {
    *reads += READ(&table->devices[i], reads);
    *bytes_read += READ(&table->devices[i], bytes_read);
  }
}

static void reset_devices(gather_table *table) {
  for (int32_t i = 0; i < table->device_count; i++) {
    gather_device *device = &table->devices[i];
    _Atomic int64_t *const all[] = {&device->reads, &device->bytes_read, &device->nanoseconds, &device->most};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) atomic_store_explicit(all[n], 0, memory_order_relaxed);
  }
}

/* Adds what a table did on the device of a number. */
static void add_device(const gather_table *table, uint64_t number, gather_table_device *sum) {
  for (int32_t i = 0; i < table->source_count; i++) {
    const gather_table_source *source = &table->sources[i];
    if (source->device_number != number) continue;
    if (!sum->path) sum->path = source->path, sum->direct = table->engine != GATHER_ENGINE_MMAP;
    sum->files++;
    sum->direct = sum->direct && source->direct_fd >= 0;
    sum->depth = table->budget.depth;
  }
  for (int32_t i = 0; i < table->device_count; i++) {
    const gather_device *device = &table->devices[i];
    if (device->number != number) continue;
    sum->reads += READ(device, reads);
    sum->bytes_read += READ(device, bytes_read);
    sum->seconds_reading += (double)READ(device, nanoseconds) * 1e-9;
    if (sum->most_in_flight < READ(device, most)) sum->most_in_flight = (int32_t)READ(device, most);
  }
}

/* The tables that a table reads: itself; those of decoded rows. number: counts through them; NULL after the last. */
static const gather_table *read_table(const gather_table *table, int32_t number) {
  const gather_decoded *decoding = table->decoding;
  if (!decoding) return number == 0 ? table : NULL;
  const int32_t each = 1 + GATHER_ROW_SIDES, i = number / each, role = number % each - 1;
  if (i >= decoding->count) return NULL;
  return role < 0 ? decoding->pieces[i].data : decoding->pieces[i].side[role].table;
}

static int32_t read_table_count(const gather_table *table) { return table->decoding ? table->decoding->count * (1 + GATHER_ROW_SIDES) : 1; }

/* Whether a device is the first of its number among those of tables up to `last`. */
static bool is_first(const gather_table *table, int32_t last, uint64_t number) {
  for (int32_t n = 0; n < last; n++) {
    const gather_table *one = read_table(table, n);
    for (int32_t i = 0; one && i < one->device_count; i++)
      if (one->devices[i].number == number) return false;
  }
  return true;
}

/* Device number i of all tables that a table reads; NULL. */
static const gather_device *find_device(const gather_table *table, int32_t i) {
  for (int32_t n = 0; n < read_table_count(table); n++) {
    const gather_table *one = read_table(table, n);
    for (int32_t d = 0; one && !one->client && d < one->device_count; d++)
      if (is_first(table, n, one->devices[d].number) && i-- == 0) return &one->devices[d];
  }
  return NULL;
}

bool gather_table_device_at(const gather_table *table, int32_t i, gather_table_device *device) {
  const gather_device *found = i < 0 ? NULL : find_device(table, i);
  if (!found) return false;
  *device = (gather_table_device){.number = found->number};
  for (int32_t n = 0; n < read_table_count(table); n++) {
    const gather_table *one = read_table(table, n);
    if (one) add_device(one, found->number, device);
  }
  return true;
}

/* ---- tables */

static bool is_direct(const gather_table *table) {
  if (table->client || table->engine == GATHER_ENGINE_MMAP || table->source_count == 0) return false;
  for (int32_t i = 0; i < table->source_count; i++)
    if (gather_table_source_fd(&table->sources[i]) != table->sources[i].direct_fd) return false;
  return true;
}

#define COUNT(name) atomic_load_explicit(&counts->name, memory_order_relaxed)
/* Mapped memory has its own share, so that the sum of the two peaks stays below the memory limit. */
#define MAPPED(name) atomic_load_explicit(&locked->map_use.name, memory_order_relaxed)

/* Of a table with decoded rows: adds what the tables did that it reads. */
static void add_read_table(gather_table_statistics *sum, const gather_table *table) {
  gather_table_statistics one;
  gather_table_statistics_get(table, &one);
  sum->reads += one.reads;
  sum->bytes_read += one.bytes_read;
  sum->memory_bytes += one.memory_bytes;
  sum->memory_peak += one.memory_peak;
  sum->seconds_waiting += one.seconds_waiting;
  sum->chunks_read += one.chunks_read, sum->chunks_cached += one.chunks_cached;
  sum->bytes_decoded += one.bytes_decoded, sum->seconds_decoding += one.seconds_decoding;
}

static void add_read_tables(const gather_table *table, gather_table_statistics *sum) {
  gather_table_statistics first;
  gather_table_statistics_get(read_table(table, 0), &first);
  sum->engine = first.engine, sum->direct = first.direct, sum->depth = first.depth;
  memcpy(sum->why, first.why, sizeof sum->why);
  for (int32_t n = 0; n < read_table_count(table); n++) {
    const gather_table *one = read_table(table, n);
    if (one) add_read_table(sum, one);
  }
}

void gather_table_statistics_get(const gather_table *table, gather_table_statistics *statistics) {
  /* Only the lock is modified. */
  gather_table *locked = (gather_table *)(uintptr_t)table;
  gather_table_counts *counts = &locked->counts;
  gather_table_enter(locked);
  *statistics = (gather_table_statistics){.takes = COUNT(takes),
                                          .rows = COUNT(rows),
                                          .rows_resident = COUNT(rows_resident),
                                          .rows_cached = COUNT(rows_cached),
                                          .rows_read = COUNT(rows_read),
                                          .bytes_useful = COUNT(bytes_useful),
                                          .memory_bytes = COUNT(memory) + MAPPED(bytes),
                                          .memory_peak = COUNT(memory_peak) + MAPPED(peak_bytes),
                                          .memory_ceiling = table->budget.ceiling,
                                          .seconds = (double)COUNT(nanoseconds) * 1e-9,
                                          .seconds_waiting = (double)COUNT(nanoseconds_waiting) * 1e-9,
                                          .chunks_read = COUNT(chunks_read),
                                          .chunks_cached = COUNT(chunks_cached),
                                          .bytes_decoded = COUNT(bytes_decoded),
                                          .seconds_decoding = (double)COUNT(nanoseconds_decoding) * 1e-9};
  (void)pthread_mutex_lock(&locked->lock);
  statistics->engine = table->engine;
  statistics->direct = is_direct(table);
  statistics->depth = table->budget.depth;
  (void)snprintf(statistics->why, sizeof statistics->why, "%s", table->why);
  (void)pthread_mutex_unlock(&locked->lock);
  sum_devices(table, &statistics->reads, &statistics->bytes_read);
  if (table->decoding) add_read_tables(table, statistics);
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
  _Atomic int64_t *const all[] = {&counts->takes,       &counts->rows,          &counts->rows_resident, &counts->rows_cached,
                                  &counts->rows_read,   &counts->bytes_useful,  &counts->nanoseconds,   &counts->nanoseconds_waiting,
                                  &counts->chunks_read, &counts->chunks_cached, &counts->bytes_decoded, &counts->nanoseconds_decoding};
  gather_table_enter(table);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) atomic_store_explicit(all[i], 0, memory_order_relaxed);
  reset_devices(table);
  atomic_store_explicit(&counts->memory_peak, COUNT(memory), memory_order_relaxed);
  atomic_store_explicit(&table->map_use.peak_bytes, atomic_load(&table->map_use.bytes), memory_order_relaxed);
  if (table->client) table->network->reset(table);
  if (table->decoding) reset_decoding(table->decoding);
}
