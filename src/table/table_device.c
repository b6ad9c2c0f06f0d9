/* SPDX-License-Identifier: MIT
 *
 * table_device.c: one queue for each device (st_dev) that has files of a table. A device number is that of a file
 * system: several partitions of one disk have several queues, which does no harm; the disks of a RAID or a pool have
 * one, which the driver distributes.
 */
#include "core/base/error.h"
#include "core/kernel/tuning.h"
#include "table/table_decode.h"

#define READ(device, name) atomic_load_explicit(&(device)->name, memory_order_relaxed)

void gather_devices_add(gather_table *table, gather_table_source *source) {
  for (source->device = 0; source->device < table->device_count; source->device++)
    if (table->devices[source->device].number == source->device_number) return;
  table->devices[table->device_count++].number = source->device_number;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

gather_status gather_devices_complete(gather_table *table, const gather_budget_wishes *given, gather_error *error) {
  const int64_t tuned = gather_tuned(GATHER_TUNING_table_queues), most = least(table->device_count, GATHER_MOST_QUEUES);
  gather_budget_wishes wishes = *given;
  wishes.queues = (int32_t)(least(tuned, most) > 1 ? least(tuned, most) : 1);
  for (int32_t i = 0; i < table->source_count; i++) /* devices with very long blocks */
    if (table->sources[i].block_bytes > wishes.block_bytes) wishes.block_bytes = table->sources[i].block_bytes;
  GATHER_TRY(gather_budget_make(&table->options, table->engine, &wishes, &table->budget, error));
  for (int32_t i = 0; i < table->source_count; i++)
    table->sources[i].queue = table->sources[i].device % table->budget.queues;
  return GATHER_OK;
}

/* ---- what was read */

void gather_devices_sum(const gather_table *table, int64_t *reads, int64_t *bytes_read) {
  *reads = *bytes_read = 0;
  for (int32_t i = 0; i < table->device_count; i++) {
    *reads += READ(&table->devices[i], reads);
    *bytes_read += READ(&table->devices[i], bytes_read);
  }
}

void gather_devices_reset(gather_table *table) {
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

static int32_t read_table_count(const gather_table *table) {
  return table->decoding ? table->decoding->count * (1 + GATHER_ROW_SIDES) : 1;
}

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
