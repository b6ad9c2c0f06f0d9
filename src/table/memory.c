/* SPDX-License-Identifier: MIT
 *
 * memory.c: how the memory limit of a table is divided among its takes, its reads, its row cache and its mappings; and the scratch memory
 * of takes with decoded rows.
 */
#include "core/system/machine.h"
#include "table/table_decode.h"

#include <inttypes.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/kernel/tuning.h"

/* ---- how the limit is divided */

enum {
  MIB = 1 << 20,
  SLOT_BYTES = 64 << 10,
  MAPPED_SLOT = 128 << 10,
  LEAST_SLOT = 8 << 10,
  DEPTH = 128,
  MOST_READS = 32768, /* of all queues; the entries that a ring of Linux may have */
  MOST_ENTRIES = 1 << 20
};

enum { ENTRY_BYTES = 2 * (int)sizeof(gather_entry) /* sorting needs a second copy */ };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* What the files of a table want of its memory. */
typedef struct memory_wishes {
  int32_t queues;      /* of each worker; fewer if the memory is too little */
  int64_t block_bytes; /* of the longest blocks: reads are at least as long */
} memory_wishes;

/* One queue for each device (st_dev) that has files of the table, as far as a reader has queues. A device number is that of a file system:
 * several partitions of one disk have several queues, which does no harm; the disks of a RAID or a pool have one, which the driver
 * distributes. */
static memory_wishes wishes_of(const gather_table *table) {
  const int64_t queues = least(gather_tuned(GATHER_TUNING_table_queues), least(table->device_count, GATHER_MOST_QUEUES));
  memory_wishes made = {.queues = (int32_t)most(queues, 1)};
  for (int32_t i = 0; i < table->source_count; i++) made.block_bytes = most(made.block_bytes, table->sources[i].block_bytes);
  return made;
}

/* Divides the memory of one worker for its reads: makes reads shorter first, then fewer in each queue, then lets
 * devices share queues. Through a mapping, a read of any length brings the 64 KiB around it, and perhaps the next. */
static void share_reads(gather_budget *budget, int64_t bytes, int32_t depth, bool maps, const memory_wishes *wishes) {
  const int64_t least_slot = most(LEAST_SLOT, wishes->block_bytes);
  int64_t slot_memory = maps ? MAPPED_SLOT : most(SLOT_BYTES, wishes->block_bytes);
  budget->queues = wishes->queues;
  budget->depth = (int32_t)least(depth, MOST_READS / budget->queues);
  while (!maps && slot_memory > least_slot && slot_memory * budget->depth * budget->queues > bytes) slot_memory /= 2;
  while (budget->depth > 1 && slot_memory * budget->depth * budget->queues > bytes) budget->depth /= 2;
  while (budget->queues > 1 && slot_memory * budget->queues > bytes) budget->queues--;
  budget->slot_bytes = maps ? SLOT_BYTES : slot_memory;
}

gather_status gather_table_divide_memory(gather_table *table, gather_error *error) {
  const gather_table_options *options = &table->options;
  const memory_wishes wanted = wishes_of(table);
  const bool maps = table->engine == GATHER_ENGINE_MMAP;
  gather_budget *budget = &table->budget;
  int64_t ceiling = options->memory_bytes;
  if (ceiling != 0 && ceiling < GATHER_TABLE_LEAST_MEMORY)
    return gather_fail(error, GATHER_USAGE, "a memory limit of %" PRId64 " bytes is too small; a table needs at least %d", ceiling,
                       (int)GATHER_TABLE_LEAST_MEMORY);
  int64_t bytes = ceiling ? ceiling : most(least(gather_usable_memory() / 8, 2048 * (int64_t)MIB), 2 * MIB);
  budget->ceiling = ceiling;
  budget->workers = (int32_t)most(1, least(8, bytes / (64 * (int64_t)MIB)));
  if (table->client)
    table->network->divide(table, bytes);
  else
    share_reads(budget, bytes / 4 / budget->workers, options->depth > 0 ? options->depth : DEPTH, maps, &wanted);
  budget->entries = most(1024, least(MOST_ENTRIES, bytes / 8 / budget->workers / ENTRY_BYTES));
  const int64_t reads = (int64_t)budget->queues * budget->depth;
  int64_t taken =
      budget->workers * (budget->entries * ENTRY_BYTES + reads * (maps ? MAPPED_SLOT : budget->slot_bytes + budget->cover_bytes));
  int64_t cache = maps ? 0 : bytes / 2;
  if (options->cache_bytes >= 0) cache = options->cache_bytes;
  budget->cache_bytes = most(0, least(cache, bytes - taken));
  budget->map_bytes = ceiling ? most(0, ceiling - taken - budget->cache_bytes) : INT64_MAX;
  if (table->chunked) GATHER_TRY(table->chunker->divide(table, bytes, error));
  if (table->client) table->network->fit(table);
  for (int32_t i = 0; i < table->source_count; i++) table->sources[i].queue = table->sources[i].device % budget->queues;
  return GATHER_OK;
}

/* ---- the scratch memory of a take with decoded rows: one allocation, divided among its arrays */

enum { ALIGNED = 64, NUMBERS = 4 /* arrays of row numbers */ };

/* Bytes of each array for one row, as long as the longest piece needs. */
typedef struct scratch_sizes {
  int64_t packed, side[GATHER_ROW_SIDES], scales, wanted;
} scratch_sizes;

static scratch_sizes find_sizes(const gather_decoded *decoding) {
  scratch_sizes sizes = {.wanted = (int64_t)sizeof(int64_t)};
  for (int32_t i = 0; i < decoding->count; i++) {
    const gather_piece *piece = &decoding->pieces[i];
    sizes.packed = most(sizes.packed, piece->layout.row_bytes);
    const int64_t elements = piece->is_elements ? piece->layout.row_len : 1;
    sizes.wanted = most(sizes.wanted, elements < INT64_MAX / 16 ? elements * (int64_t)sizeof(int64_t) : INT64_MAX);
    for (int role = 0; role < GATHER_ROW_SIDES; role++) sizes.side[role] = most(sizes.side[role], piece->side[role].row_bytes);
    if (piece->layout.outer_len > 0 && piece->side[GATHER_SIDE_SCALE].row_bytes > 0)
      sizes.scales = most(sizes.scales, piece->layout.groups * (int64_t)sizeof(float));
  }
  return sizes;
}

/* Adds an array of `rows` rows; false if it does not fit. */
static bool add(int64_t *all, int64_t rows, int64_t row_bytes) {
  int64_t bytes;
  if (!gather_mul(rows, row_bytes, &bytes) || bytes > INT64_MAX - ALIGNED) return false;
  bytes = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return gather_add(*all, bytes, all);
}

int64_t gather_scratch_bytes(const gather_decoded *decoding, int64_t rows) {
  const scratch_sizes sizes = find_sizes(decoding);
  int64_t all = (int64_t)sizeof(gather_scratch) + decoding->count * (int64_t)sizeof(gather_decoder *);
  bool fits = add(&all, rows, sizes.packed) && add(&all, rows, sizes.scales) && add(&all, rows, sizes.wanted);
  for (int role = 0; role < GATHER_ROW_SIDES; role++) fits = fits && add(&all, rows, sizes.side[role]);
  for (int i = 0; i < NUMBERS; i++) fits = fits && add(&all, rows, (int64_t)sizeof(int64_t));
  return fits ? all : INT64_MAX;
}

/* The next array in the memory. */
static void *divide(char **at, int64_t rows, int64_t row_bytes) {
  char *array = *at;
  *at += (rows * row_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return array;
}

static void destroy_scratch(const gather_decoded *decoding, gather_scratch *scratch) {
  for (int32_t i = 0; scratch->decoders && i < decoding->count; i++) gather_decoder_destroy(scratch->decoders[i]);
  gather_free((void *)scratch->decoders);
  gather_free(scratch->memory);
  gather_free(scratch);
}

gather_scratch *gather_scratch_create(const gather_decoded *decoding) {
  const scratch_sizes sizes = find_sizes(decoding);
  const int64_t rows = decoding->block_rows, bytes = gather_scratch_bytes(decoding, rows);
  gather_scratch *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return NULL;
  made->decoders = gather_alloc(decoding->count * (int64_t)sizeof(gather_decoder *));
  made->memory = gather_alloc(bytes);
  if (!made->decoders || !made->memory) {
    destroy_scratch(decoding, made);
    return NULL;
  }
  char *at = made->memory;
  made->packed = divide(&at, rows, sizes.packed);
  for (int role = 0; role < GATHER_ROW_SIDES; role++) made->side[role] = divide(&at, rows, sizes.side[role]);
  made->scales = divide(&at, rows, sizes.scales);
  made->resolved = divide(&at, rows, (int64_t)sizeof(int64_t));
  made->rows = divide(&at, rows, (int64_t)sizeof(int64_t));
  made->positions = divide(&at, rows, (int64_t)sizeof(int64_t));
  made->wanted = divide(&at, rows, sizes.wanted);
  made->numbers = divide(&at, rows, (int64_t)sizeof(int64_t));
  for (int64_t i = 0; i < rows; i++) made->numbers[i] = i;
  return made;
}

void gather_scratch_clear(gather_decoded *decoding) {
  for (gather_scratch *scratch = decoding->idle, *next; scratch; scratch = next) {
    next = scratch->next;
    destroy_scratch(decoding, scratch);
  }
  decoding->idle = NULL;
  decoding->scratch_count = 0;
}
