/* SPDX-License-Identifier: MIT
 *
 * budget.c: divides the memory limit of a table.
 */
#include <inttypes.h>

#include "io/remote/block_cache.h"
#include "table/table_internal.h"

enum {
  MIB = 1 << 20,
  SLOT_BYTES = 64 << 10,
  MOST_PART = 16 << 20, /* of a read from another machine: then a request costs next to nothing */
  LEAST_DEPTH = 4,      /* of such reads, which wait long */
  REMOTE_WORKERS = 4,   /* they share the connections */
  MAPPED_SLOT = 128 << 10,
  LEAST_SLOT = 8 << 10,
  DEPTH = 128,
  MOST_READS = 32768, /* of all queues; the entries that a ring of Linux may have */
  MOST_ENTRIES = 1 << 20
};
enum { ENTRY_BYTES = 2 * (int)sizeof(gather_entry) /* sorting needs a second copy */ };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Divides the memory of one worker for its reads: makes reads shorter first, then fewer in each queue, then lets
 * devices share queues. Through a mapping, a read of any length brings the 64 KiB around it, and perhaps the next. */
static void share_reads(gather_budget *budget, int64_t bytes, int32_t depth, bool maps,
                        const gather_budget_wishes *wishes) {
  const int64_t least_slot = most(LEAST_SLOT, wishes->block_bytes);
  int64_t slot_memory = maps ? MAPPED_SLOT : most(SLOT_BYTES, wishes->block_bytes);
  budget->queues = wishes->queues;
  budget->depth = (int32_t)least(depth, MOST_READS / budget->queues);
  while (!maps && slot_memory > least_slot && slot_memory * budget->depth * budget->queues > bytes) slot_memory /= 2;
  while (budget->depth > 1 && slot_memory * budget->depth * budget->queues > bytes) budget->depth /= 2;
  while (budget->queues > 1 && slot_memory * budget->queues > bytes) budget->queues--;
  budget->slot_bytes = maps ? SLOT_BYTES : slot_memory;
}

/* What a request takes: its buffer, and with a cache on disk the client's buffer for the whole blocks around it. */
static int64_t request_memory(int64_t slot, bool cached) {
  return slot + (cached ? least(slot, GATHER_BLOCK_COVERED) + 2 * GATHER_BLOCK_BYTES : 0);
}

/* Reads from other machines wait long: as many as there are connections come before longer ones. A few more are begun, so that no
 * connection waits for the take. */
static void share_requests(gather_budget *budget, int64_t bytes, int32_t depth, const gather_budget_wishes *wishes) {
  enum { MORE = 4 };
  const bool cached = wishes->cached;
  int64_t slot = MOST_PART;
  budget->queues = 1;
  budget->depth = depth > 0 ? depth : wishes->connections + wishes->connections / MORE + 1;
  while (slot > LEAST_SLOT && request_memory(slot, cached) * budget->depth > bytes) slot /= 2;
  while (budget->depth > 1 && request_memory(slot, cached) * budget->depth > bytes)
    budget->depth = budget->depth * 3 / 4;
  budget->slot_bytes = slot;
  budget->cover_bytes = request_memory(slot, cached) - slot;
}

void gather_budget_fit(gather_budget *budget, int64_t row_bytes) {
  while (budget->slot_bytes < row_bytes && budget->slot_bytes < MOST_PART && budget->depth >= 2 * LEAST_DEPTH) {
    budget->depth /= 2;
    budget->slot_bytes *= 2;
  }
}

gather_status gather_budget_make(const gather_table_options *options, gather_engine engine,
                                 const gather_budget_wishes *wishes, gather_budget *budget, gather_error *error) {
  int64_t ceiling = options->memory_bytes;
  if (ceiling != 0 && ceiling < GATHER_TABLE_LEAST_MEMORY)
    return gather_fail(error, GATHER_USAGE,
                       "a memory limit of %" PRId64 " bytes is too small; a table needs at least %d", ceiling,
                       (int)GATHER_TABLE_LEAST_MEMORY);
  int64_t bytes = ceiling ? ceiling : most(least(gather_usable_memory() / 8, 2048 * (int64_t)MIB), 2 * MIB);
  budget->ceiling = ceiling;
  budget->workers = (int32_t)most(1, least(8, bytes / (64 * (int64_t)MIB)));
  const bool maps = engine == GATHER_ENGINE_MMAP;
  if (engine == GATHER_ENGINE_HTTP) {
    budget->workers = (int32_t)least(budget->workers, REMOTE_WORKERS);
    share_requests(budget, bytes / 4 / budget->workers, options->depth, wishes);
  } else {
    share_reads(budget, bytes / 4 / budget->workers, options->depth > 0 ? options->depth : DEPTH, maps, wishes);
  }
  budget->entries = most(1024, least(MOST_ENTRIES, bytes / 8 / budget->workers / ENTRY_BYTES));
  const int64_t reads = (int64_t)budget->queues * budget->depth;
  int64_t taken = budget->workers * (budget->entries * ENTRY_BYTES +
                                     reads * (maps ? MAPPED_SLOT : budget->slot_bytes + budget->cover_bytes));
  int64_t cache = maps ? 0 : bytes / 2;
  if (options->cache_bytes >= 0) cache = options->cache_bytes;
  budget->cache_bytes = most(0, least(cache, bytes - taken));
  budget->map_bytes = ceiling ? most(0, ceiling - taken - budget->cache_bytes) : INT64_MAX;
  return GATHER_OK;
}
