/* SPDX-License-Identifier: MIT
 *
 * shuffle_pairs.c: the inverse of a given order, which need not fit into memory: for each row of the table the places
 * where it goes. The pairs of row and place go to a file, ordered by ranges of rows; each range is sorted when its turn
 * comes.
 */
#include <string.h>

#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_spread.h"

enum { BLOCK = 4096, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

gather_status gather_shuffle_range_starts(const gather_shuffle *job, int64_t *starts, gather_error *error) {
  int64_t rows[BLOCK];
  memset(starts, 0, (size_t)(job->ranges + 1) * sizeof *starts);
  for (int64_t first = 0; first < job->out_rows; first += BLOCK) {
    int64_t len = job->out_rows - first < BLOCK ? job->out_rows - first : BLOCK;
    GATHER_TRY(gather_shuffle_order_read(job, first, len, rows, error));
    for (int64_t i = 0; i < len; i++) starts[rows[i] / job->range_rows + 1]++;
  }
  for (int64_t i = 0; i < job->ranges; i++) starts[i + 1] += starts[i];
  return GATHER_OK;
}

static gather_status add_pairs(gather_shuffle *job, gather_spread *spread, gather_error *error) {
  int64_t rows[BLOCK];
  for (int64_t first = 0; first < job->out_rows; first += BLOCK) {
    int64_t len = job->out_rows - first < BLOCK ? job->out_rows - first : BLOCK;
    GATHER_TRY(gather_shuffle_order_read(job, first, len, rows, error));
    for (int64_t i = 0; i < len; i++) {
      gather_shuffle_pair pair = {rows[i], first + i};
      GATHER_TRY(gather_spread_add(spread, rows[i] / job->range_rows, &pair, error));
    }
    gather_shuffle_show(job, GATHER_SHUFFLE_SORT_ORDER, first + len, job->out_rows);
  }
  return gather_spread_flush(spread, error);
}

static gather_status spread_pairs(gather_shuffle *job, int64_t *starts, gather_error *error) {
  const int64_t pair_bytes = (int64_t)sizeof(gather_shuffle_pair);
  gather_spread spread;
  GATHER_TRY(gather_shuffle_range_starts(job, starts, error));
  GATHER_TRY(gather_spread_start(&spread, job->folder.file[GATHER_SHUFFLE_FILE_PAIRS], job->folder.path, pair_bytes,
                                 job->ranges, job->range_buffer, error));
  for (int64_t i = 0; i < job->ranges; i++) {
    spread.region[i].offset = starts[i] * pair_bytes;
    spread.region[i].room = starts[i + 1] - starts[i];
  }
  gather_status status = add_pairs(job, &spread, error);
  gather_spread_end(&spread);
  return status;
}

gather_status gather_shuffle_run_pairs(gather_shuffle *job, gather_error *error) {
  int64_t *starts = gather_alloc((job->ranges + 1) * (int64_t)sizeof *starts);
  if (!starts) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the ranges of an order");
  gather_status status = spread_pairs(job, starts, error);
  gather_free(starts);
  if (status == GATHER_OK) status = gather_shuffle_sync(job, GATHER_SHUFFLE_FILE_PAIRS, error);
  return status;
}

/* ---- sorting: by one digit after another, the last one first */

static void sort_digit(const gather_shuffle_pair *from, gather_shuffle_pair *to, int64_t len, int64_t least,
                       int shift) {
  int64_t at[DIGITS + 1] = {0};
  for (int64_t i = 0; i < len; i++) at[((uint64_t)(from[i].row - least) >> shift & (DIGITS - 1)) + 1]++;
  for (int i = 0; i < DIGITS; i++) at[i + 1] += at[i];
  for (int64_t i = 0; i < len; i++) to[at[(uint64_t)(from[i].row - least) >> shift & (DIGITS - 1)]++] = from[i];
}

void gather_shuffle_pairs_sort(gather_shuffle_pair *pairs, gather_shuffle_pair *other, int64_t len) {
  gather_shuffle_pair *from = pairs, *to = other;
  int64_t least = INT64_MAX, most = 0;
  for (int64_t i = 0; i < len; i++) {
    if (pairs[i].row < least) least = pairs[i].row;
    if (pairs[i].row > most) most = pairs[i].row;
  }
  for (int shift = 0; len > 0 && shift < 64 && (uint64_t)(most - least) >> shift != 0; shift += DIGIT_BITS) {
    sort_digit(from, to, len, least, shift);
    gather_shuffle_pair *swap = from;
    from = to;
    to = swap;
  }
  if (from != pairs) memcpy(pairs, from, (size_t)len * sizeof *pairs);
}
