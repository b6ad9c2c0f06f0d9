/* SPDX-License-Identifier: MIT
 *
 * shuffle_plan.c: one pass or two, and what each part of the memory is for.
 *
 * The table gets a quarter of the memory limit. The rest, in the first pass: three eighths for the buffers of the
 * buckets, an eighth for the rows that were just read, an eighth for the pairs of a given order and for sorting them.
 * In the second: a half for the bucket, an eighth for what was just read of it. With one pass: a half for the part of
 * the output that is being made.
 */
#include <inttypes.h>

#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_text.h"

enum {
  MIB = 1 << 20,
  LEAST_MEMORY = 4 * MIB,
  ROWS_IN_MEMORY = 32, /* of which each share must hold some */
  PLACE_BYTES = 4,
  PAIR_BYTES = (int)sizeof(gather_shuffle_pair),
  ROW_NUMBER = 8,
  BYTES_PER_RANGE = 1024,
  LEAST_BUFFER = 4096, /* bytes: the least that a disk reads */
  MOST_BUFFER = MIB,   /* bytes: longer writes are no faster */
  FEW_SWEEPS =
      2, /* reading the table so often and writing the output costs no more than two passes, which read and write twice */
  DURABLE_MEMORIES = 2,
  DEFAULT_SHARE = 4
};

/* With many reads in flight a disk reads rows of this length at random nearly as fast as sequentially, and two passes
 * read and write everything twice: 4 GiB in such rows took 15 s in one pass and 59 s in two
 * (tests/cli/measure_shuffle.py measures it). Shorter rows would be faster in one pass on some disks, and far slower on
 * rotating ones. */
static const int64_t LONG_ROW = 64 << 10, LEAST_DURABLE = 8 << 20, MOST_DURABLE = (int64_t)1 << 30,
                     MOST_BUCKET_ROWS = INT32_MAX;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t gather_shuffle_memory(void) {
  return larger(smaller(gather_usable_memory() / DEFAULT_SHARE, PTRDIFF_MAX / DEFAULT_SHARE), LEAST_MEMORY);
}

static int64_t up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static gather_status check_memory(const gather_shuffle *job, gather_error *error) {
  char asked[32], enough[32];
  int64_t least =
      job->row_bytes > INT64_MAX / ROWS_IN_MEMORY / 2 ? INT64_MAX : LEAST_MEMORY + job->row_bytes * ROWS_IN_MEMORY;
  if (job->options.memory_bytes >= least && job->options.memory_bytes <= PTRDIFF_MAX) return GATHER_OK;
  if (job->options.memory_bytes > PTRDIFF_MAX)
    return gather_fail(error, GATHER_USAGE, "memory exceeds what this program can address");
  return gather_fail(error, GATHER_USAGE, "memory %s is too little for rows of %" PRId64 " bytes; use at least %s",
                     gather_text_bytes(job->options.memory_bytes, asked, sizeof asked), job->row_bytes,
                     gather_text_bytes(least, enough, sizeof enough));
}

/* Whether two passes are possible: each bucket has a buffer that is large enough for a write. */
static bool plan_buckets(gather_shuffle *job) {
  const int64_t memory = job->options.memory_bytes, record = job->row_bytes + PLACE_BYTES;
  job->bucket_rows = smaller(smaller(memory / 2 / job->row_bytes, MOST_BUCKET_ROWS), job->out_rows);
  job->buckets = up(job->out_rows, job->bucket_rows);
  job->buffer_rows = smaller(memory / 8 * 3 / job->buckets / record, job->bucket_rows);
  job->buffer_rows = smaller(job->buffer_rows, larger(1, MOST_BUFFER / record));
  job->chunk_rows = larger(1, memory / 8 / record);
  return job->buffer_rows >= 1 && (job->buffer_rows == job->bucket_rows || job->buffer_rows * record >= LEAST_BUFFER);
}

static void plan_ranges(gather_shuffle *job) {
  const int64_t memory = job->options.memory_bytes;
  job->slice_pairs = larger(1, memory / 16 / PAIR_BYTES);
  int64_t ranges = up(job->out_rows, larger(1, job->slice_pairs / 2));
  ranges = larger(1, smaller(smaller(ranges, memory / BYTES_PER_RANGE), job->rows));
  job->range_rows = up(larger(1, job->rows), ranges);
  job->ranges = up(larger(1, job->rows), job->range_rows);
  job->range_buffer = larger(1, memory / 2 / job->ranges / PAIR_BYTES);
}

static gather_status choose_passes(gather_shuffle *job, gather_error *error) {
  const int64_t out_bytes = job->out_rows * job->row_bytes, sweep = job->take_rows * job->row_bytes;
  bool possible = out_bytes > 0 && plan_buckets(job);
  bool two = possible && job->row_bytes < LONG_ROW && up(out_bytes, sweep) > FEW_SWEEPS;
  if (out_bytes > 0 && job->passes_asked == 2 && !possible)
    return gather_fail(error, GATHER_USAGE, "passes 2 needs more memory: %" PRId64 " buckets have no buffers",
                       job->buckets);
  if (job->passes_asked) two = job->passes_asked == 2 && out_bytes > 0;
  job->passes = two ? 2 : 1;
  return GATHER_OK;
}

gather_status gather_shuffle_plan_passes(gather_shuffle *job, gather_error *error) {
  const int64_t memory = job->options.memory_bytes, least = job->row_bytes + ROW_NUMBER;
  GATHER_TRY(check_memory(job, error));
  job->take_rows = larger(1, smaller(memory / 2 / least, larger(1, job->out_rows)));
  job->block_rows = larger(1, memory / 8 / least);
  job->durable_bytes = smaller(larger(memory, LEAST_DURABLE / DURABLE_MEMORIES), MOST_DURABLE) * DURABLE_MEMORIES;
  GATHER_TRY(choose_passes(job, error));
  if (job->passes == 1) job->bucket_rows = job->buckets = 0;
  if (job->given && job->passes == 2) plan_ranges(job);
  return GATHER_OK;
}
