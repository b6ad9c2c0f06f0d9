/* SPDX-License-Identifier: MIT
 *
 * shuffle_first.c: the first of two passes: reads the table sequentially and writes each row to the bucket of its
 * place.
 */
#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_spread.h"
#include "table/shuffle/shuffle_system.h"

enum { ROWS_PER_STOP = 1024 }; /* between two checks for cancellation */

typedef struct first_pass {
  gather_shuffle *job;
  gather_spread rows, places;
  gather_shuffle_reading reading;
  char *block;      /* rows that were read */
  int64_t *numbers; /* their places; or, of a given order, their numbers */
  gather_shuffle_pair *pairs, *other;
  int64_t *starts;
  int64_t done, kept; /* rows; of them those that are durable */
} first_pass;

static gather_status start_spreads(first_pass *f, gather_error *error) {
  gather_shuffle *job = f->job;
  const int64_t place_bytes = (int64_t)sizeof(uint32_t);
  GATHER_TRY(gather_spread_start(&f->rows, job->folder.file[GATHER_SHUFFLE_FILE_ROWS], job->folder.path, job->row_bytes,
                                 job->buckets, job->buffer_rows, error));
  GATHER_TRY(gather_spread_start(&f->places, job->folder.file[GATHER_SHUFFLE_FILE_PLACES], job->folder.path,
                                 place_bytes, job->buckets, job->buffer_rows, error));
  for (int64_t b = 0; b < job->buckets; b++) {
    gather_region region = {.room = gather_shuffle_bucket_len(job, b), .written = job->fills[b]};
    f->rows.region[b] = f->places.region[b] = region;
    f->rows.region[b].offset = gather_shuffle_bucket_offset(job, b + 1);
    f->places.region[b].offset = b * job->bucket_rows * place_bytes;
  }
  return GATHER_OK;
}

static gather_status start(first_pass *f, gather_error *error) {
  const gather_shuffle *job = f->job;
  f->block = gather_alloc(job->block_rows * job->row_bytes);
  f->numbers = gather_alloc(job->block_rows * (int64_t)sizeof *f->numbers);
  if (job->given) {
    f->pairs = gather_alloc(job->slice_pairs * (int64_t)sizeof *f->pairs);
    f->other = gather_alloc(job->slice_pairs * (int64_t)sizeof *f->other);
    f->starts = gather_alloc((job->ranges + 1) * (int64_t)sizeof *f->starts);
  }
  if (!f->block || !f->numbers || (job->given && (!f->pairs || !f->other || !f->starts)))
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the first pass");
  return start_spreads(f, error);
}

static void finish(first_pass *f) {
  gather_spread_end(&f->rows);
  gather_spread_end(&f->places);
  gather_shuffle_read_end(&f->reading);
  gather_free(f->block);
  gather_free(f->numbers);
  gather_free(f->pairs);
  gather_free(f->other);
  gather_free(f->starts);
}

static gather_status add(first_pass *f, const char *row, int64_t place, gather_error *error) {
  const int64_t bucket = place / f->job->bucket_rows;
  const uint32_t in_bucket = (uint32_t)(place - bucket * f->job->bucket_rows);
  GATHER_TRY(gather_spread_add(&f->rows, bucket, row, error));
  return gather_spread_add(&f->places, bucket, &in_bucket, error);
}

/* Makes finished work durable, if there is enough of it. At the end the journal records the next step. */
static gather_status keep(first_pass *f, bool always, gather_error *error) {
  gather_shuffle *job = f->job;
  gather_shuffle_show(job, GATHER_SHUFFLE_FIRST_PASS, f->done, job->out_rows);
  if (!always && (f->done - f->kept) * job->row_bytes < job->durable_bytes) return GATHER_OK;
  GATHER_TRY(gather_spread_flush(&f->rows, error));
  GATHER_TRY(gather_spread_flush(&f->places, error));
  GATHER_TRY(gather_shuffle_sync(job, GATHER_SHUFFLE_FILE_ROWS, error));
  GATHER_TRY(gather_shuffle_sync(job, GATHER_SHUFFLE_FILE_PLACES, error));
  for (int64_t b = 0; b < job->buckets; b++) job->fills[b] = f->rows.region[b].written;
  f->kept = f->done;
  return always ? GATHER_OK : gather_shuffle_journal_write(job, GATHER_SHUFFLE_FIRST_PASS, f->done, error);
}

static gather_status at_random(first_pass *f, gather_error *error) {
  const gather_shuffle *job = f->job;
  while (f->done < job->rows) {
    int64_t left = job->rows - f->done, len = left < job->block_rows ? left : job->block_rows;
    GATHER_TRY(gather_shuffle_read(job, &f->reading, f->done, len, f->block, error));
    gather_shuffle_numbers(job, f->done, len, true, f->numbers);
    GATHER_TRY(gather_shuffle_go_on(job, error));
    for (int64_t i = 0; i < len; i++) {
      if (i % ROWS_PER_STOP == 0) GATHER_TRY(gather_shuffle_go_on(job, error));
      GATHER_TRY(add(f, f->block + i * job->row_bytes, f->numbers[i], error));
    }
    f->done += len;
    GATHER_TRY(keep(f, false, error));
  }
  return GATHER_OK;
}

/* Pairs that were sorted by row: their rows are read in that order. */
static gather_status move_pairs(first_pass *f, int64_t len, gather_error *error) {
  gather_shuffle *job = f->job;
  for (int64_t first = 0, now; first < len; first += now) {
    now = len - first < job->block_rows ? len - first : job->block_rows;
    const gather_shuffle_pair *pair = f->pairs + first;
    for (int64_t i = 0; i < now; i++) {
      f->numbers[i] = pair[i].row;
      if (pair[i].row < 0 || pair[i].row >= job->rows || pair[i].place < 0 || pair[i].place >= job->out_rows)
        return gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1,
                                "its file pairs does not belong to a shuffle");
    }
    GATHER_TRY(gather_shuffle_take_rows(job, f->numbers, now, f->block, error));
    for (int64_t i = 0; i < now; i++) {
      if (i % ROWS_PER_STOP == 0) GATHER_TRY(gather_shuffle_go_on(job, error));
      GATHER_TRY(add(f, f->block + i * job->row_bytes, pair[i].place, error));
    }
  }
  f->done += len;
  return keep(f, false, error);
}

/* Slices begin where ranges do, so that each run cuts the pairs in the same places. */
static gather_status as_given(first_pass *f, gather_error *error) {
  const gather_shuffle *job = f->job;
  const int64_t bytes = (int64_t)sizeof(gather_shuffle_pair);
  GATHER_TRY(gather_shuffle_range_starts(job, f->starts, error));
  for (int64_t r = 0; r < job->ranges; r++) {
    for (int64_t at = f->starts[r], len; at < f->starts[r + 1]; at += len) {
      len = f->starts[r + 1] - at < job->slice_pairs ? f->starts[r + 1] - at : job->slice_pairs;
      if (at < f->done) continue;
      GATHER_TRY(gather_shuffle_read_at(job, job->folder.file[GATHER_SHUFFLE_FILE_PAIRS], job->folder.path, f->pairs,
                                        len * bytes, at * bytes, error));
      gather_shuffle_pairs_sort(f->pairs, f->other, len);
      GATHER_TRY(move_pairs(f, len, error));
    }
  }
  return GATHER_OK;
}

gather_status gather_shuffle_run_spread(gather_shuffle *job, gather_error *error) {
  first_pass f = {.job = job, .reading = {.number = -1, .fd = -1}, .done = job->at, .kept = job->at};
  gather_status status = start(&f, error);
  if (status == GATHER_OK) status = job->given ? as_given(&f, error) : at_random(&f, error);
  if (status == GATHER_OK) status = gather_shuffle_identity_check(job, error);
  if (status == GATHER_OK) status = keep(&f, true, error);
  finish(&f);
  return status;
}
