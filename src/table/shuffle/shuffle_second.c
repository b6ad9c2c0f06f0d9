/* SPDX-License-Identifier: MIT
 *
 * shuffle_second.c: the second of two passes: sorts each bucket in memory and writes it as rows of the output.
 */
#include <stdatomic.h>
#include <string.h>

#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"
#include "table/system/shuffle_advice.h"

enum { ROWS_PER_TASK = 2048 };

typedef struct second_pass {
  gather_shuffle *job;
  char *bucket, *chunk;
  uint32_t *places;
  _Atomic uint32_t
      *taken; /* a bit for each place of the bucket: two rows with one place would leave another without any */
  int64_t bucket_len, len; /* rows of the bucket, and of the chunk */
  atomic_bool wrong;
} second_pass;

/* Takes a place of the bucket; false where there is no such place, or a row has it already. */
static bool take_place(second_pass *s, uint32_t place) {
  const uint32_t bit = (uint32_t)1 << place % 32;
  if ((int64_t)place >= s->bucket_len) return false;
  return !(atomic_fetch_or_explicit(&s->taken[place / 32], bit, memory_order_relaxed) & bit);
}

/* Copies the rows of a chunk, which are in any order, to their places. */
static void place_some(void *argument, int64_t i) {
  second_pass *s = argument;
  const int64_t bytes = s->job->row_bytes, begin = i * ROWS_PER_TASK, rest = s->len - begin;
  const int64_t end = begin + (rest < ROWS_PER_TASK ? rest : ROWS_PER_TASK);
  for (int64_t k = begin; k < end; k++) {
    if (take_place(s, s->places[k]))
      memcpy(s->bucket + (int64_t)s->places[k] * bytes, s->chunk + k * bytes, (size_t)bytes);
    else
      atomic_store(&s->wrong, true);
  }
}

static void place(second_pass *s) {
  gather_shuffle_parallel(s->job, s->job->executor, (s->len + ROWS_PER_TASK - 1) / ROWS_PER_TASK, place_some, s);
}

static gather_status read_bucket(second_pass *s, int64_t b, gather_error *error) {
  const gather_shuffle *job = s->job;
  const int *file = job->folder.file;
  const int64_t bytes = job->row_bytes, offset = gather_shuffle_bucket_offset(job, b + 1);
  s->bucket_len = gather_shuffle_bucket_len(job, b);
  for (int64_t i = 0; i * 32 < s->bucket_len; i++) atomic_init(&s->taken[i], 0);
  for (int64_t first = 0; first < s->bucket_len; first += s->len) {
    s->len = s->bucket_len - first < job->chunk_rows ? s->bucket_len - first : job->chunk_rows;
    GATHER_TRY(gather_shuffle_read_at(job, file[GATHER_SHUFFLE_FILE_ROWS], job->folder.path, s->chunk, s->len * bytes,
                                      offset + first * bytes, error));
    GATHER_TRY(gather_shuffle_read_at(job, file[GATHER_SHUFFLE_FILE_PLACES], job->folder.path, s->places,
                                      s->len * (int64_t)sizeof *s->places,
                                      (b * job->bucket_rows + first) * (int64_t)sizeof *s->places, error));
    gather_shuffle_read_ahead(file[GATHER_SHUFFLE_FILE_ROWS], s->len * bytes, offset + (first + s->len) * bytes);
    place(s);
    GATHER_TRY(gather_shuffle_go_on(job, error));
  }
  if (!atomic_load(&s->wrong)) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1,
                          "its file places does not belong to a shuffle");
}

/* The rows of this bucket overwrite the previous bucket, so they must be on the disk before the next one is written. */
static gather_status collect(second_pass *s, gather_error *error) {
  gather_shuffle *job = s->job;
  for (int64_t b = job->at; b < job->buckets; b++) {
    GATHER_TRY(read_bucket(s, b, error));
    GATHER_TRY(gather_shuffle_write_rows(job, b * job->bucket_rows, s->bucket, s->bucket_len, error));
    GATHER_TRY(gather_shuffle_sync(job, GATHER_SHUFFLE_FILE_ROWS, error));
    if (b + 1 < job->buckets) GATHER_TRY(gather_shuffle_journal_write(job, GATHER_SHUFFLE_SECOND_PASS, b + 1, error));
    gather_shuffle_show(job, GATHER_SHUFFLE_SECOND_PASS, b * job->bucket_rows + s->bucket_len, job->out_rows);
  }
  return GATHER_OK;
}

gather_status gather_shuffle_run_collect(gather_shuffle *job, gather_error *error) {
  second_pass s = {.job = job};
  s.bucket = gather_alloc(job->bucket_rows * job->row_bytes);
  s.chunk = gather_alloc(job->chunk_rows * job->row_bytes);
  s.places = gather_alloc(job->chunk_rows * (int64_t)sizeof *s.places);
  s.taken = gather_alloc((job->bucket_rows / 32 + 1) * (int64_t)sizeof *s.taken);
  gather_status status = s.bucket && s.chunk && s.places && s.taken
                             ? collect(&s, error)
                             : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a bucket");
  gather_free(s.bucket);
  gather_free(s.chunk);
  gather_free(s.places);
  gather_free((void *)s.taken);
  return status;
}
