/* SPDX-License-Identifier: MIT
 *
 * table_device.h: the devices that the files of a table are on, what was read from each, and which queue reads it.
 */
#ifndef GATHER_TABLE_DEVICE_H
#define GATHER_TABLE_DEVICE_H

#include <stdatomic.h>

#include "core/base/compiler.h"
#include "table/table_source.h"

struct gather_table;
struct gather_budget_wishes;

/* Queues of a reader. Further devices share them. */
enum { GATHER_MOST_QUEUES = 16 };

/* The files with one device number. */
typedef struct gather_device {
  uint64_t number;
  _Atomic int64_t reads, bytes_read, nanoseconds; /* from begin to end of each read */
  _Atomic int64_t most;                           /* reads that a take had in flight at once */
} gather_device;

/* Counts a read that was begun; flying: how many the take has in flight in this queue. */
GATHER_INLINE void gather_device_count_read(gather_device *device, int64_t bytes, int64_t flying) {
  atomic_fetch_add_explicit(&device->reads, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&device->bytes_read, bytes, memory_order_relaxed);
  int64_t most = atomic_load_explicit(&device->most, memory_order_relaxed);
  while (most < flying && !atomic_compare_exchange_weak(&device->most, &most, flying)) continue;
}

/* Counts how long a read took. */
GATHER_INLINE void gather_device_count_wait(gather_device *device, int64_t nanoseconds) {
  atomic_fetch_add_explicit(&device->nanoseconds, nanoseconds, memory_order_relaxed);
}

/* Finds the device of a new source, or adds it. */
void gather_devices_add(struct gather_table *table, gather_table_source *source);
/* After the last source: divides the memory by these wishes, for a queue for each device. */
GATHER_CHECKED gather_status gather_devices_complete(struct gather_table *table,
                                                     const struct gather_budget_wishes *given, gather_error *error);
/* The reads of all devices. */
void gather_devices_sum(const struct gather_table *table, int64_t *reads, int64_t *bytes_read);
void gather_devices_reset(struct gather_table *table);

#endif
