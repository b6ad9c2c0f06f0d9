/* SPDX-License-Identifier: MIT
 *
 * shuffle_pass.c: the passes: one, which takes each part of the output from the table; or two, of which the first puts each row into the
 * bucket of its place and the second sorts each bucket. A given order is inverted before the first of two.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/system/disk.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/system/table_system.h"

/* ---- reading and writing files */

/* Some systems refuse more than 2 GiB at once; reads are shorter, so that a cancellation is noticed soon. */
enum { READ_AT_MOST = 16 << 20, WRITE_AT_MOST = 1 << 30 };

static gather_status sync_file(const gather_shuffle *job, gather_shuffle_file file, gather_error *error) {
  const int fd = job->folder.file[file], number = fd < 0 ? 0 : gather_disk_sync_data(fd);
  if (number == 0) return GATHER_OK;
  return gather_fail_errno(error, gather_shuffle_failure_of(number), number, job->folder.path, -1, "cannot sync its files to disk");
}

static gather_status fail_read(const char *file, int64_t offset, ssize_t got, gather_error *error) {
  const int number = errno;
  if (got < 0) return gather_fail_errno(error, gather_shuffle_status_of(number), number, file, offset, "cannot read it");
  return gather_fail_file(error, GATHER_IO_ERROR, file, offset, "cannot read it: it was truncated while it was in use");
}

/* Reads exactly `size` bytes from byte `offset` on, in pieces, until the shuffle is cancelled. file: its name, for the
 * error. Returns GATHER_IO_ERROR, also where the file ends before that, GATHER_OUT_OF_MEMORY or GATHER_CANCELLED. */
static gather_status read_at(const gather_shuffle *job, int fd, const char *file, void *bytes, int64_t size, int64_t offset,
                             gather_error *error) {
  char *to = bytes;
  const int64_t end = offset + size;
  while (offset < end) {
    int64_t now = end - offset < READ_AT_MOST ? end - offset : READ_AT_MOST;
    GATHER_TRY(gather_shuffle_go_on(job, error));
    ssize_t got = pread(fd, to, (size_t)now, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail_read(file, offset, got, error);
    to += got;
    offset += got;
  }
  return GATHER_OK;
}

/* Writes bytes at an offset of a file, and starts their write-back. Returns GATHER_IO_ERROR. */
static gather_status write_at(int fd, const char *file, const void *bytes, int64_t size, int64_t offset, gather_error *error) {
  const char *from = bytes;
  const int64_t begin = offset, end = offset + size;
  while (offset < end) {
    int64_t now = end - offset < WRITE_AT_MOST ? end - offset : WRITE_AT_MOST;
    ssize_t wrote = pwrite(fd, from, (size_t)now, (off_t)offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return gather_fail_errno(error, GATHER_IO_ERROR, wrote < 0 ? errno : ENOSPC, file, offset, "cannot write it");
    from += wrote;
    offset += wrote;
  }
  gather_disk_begin(fd, begin, size);
  return GATHER_OK;
}

/* ---- rows of the table, sequentially or by number */

/* Where the sequential reading is. */
typedef struct part_reading {
  gather_table_part part;
  int32_t number; /* of the part; -1 */
  int fd;
} part_reading;

/* Opens the part that holds a row. */
static gather_status go_to(const gather_shuffle *job, part_reading *reading, int64_t row, gather_error *error) {
  while (reading->number < 0 || row >= reading->part.first + reading->part.rows) {
    if (reading->number >= 0) (void)close(reading->fd);
    if (!gather_table_part_at(job->table, ++reading->number, &reading->part)) {
      reading->number = -1;
      return gather_fail(error, GATHER_IO_ERROR, "no part of the table contains row %lld", (long long)row);
    }
    reading->fd = gather_shuffle_open_at(AT_FDCWD, reading->part.path, O_RDONLY, 0);
    if (reading->fd < 0) {
      const int number = errno;
      reading->number = -1;
      return gather_fail_errno(error, gather_shuffle_status_of(number), number, reading->part.path, -1, "cannot open it");
    }
    gather_shuffle_read_in_order(reading->fd);
  }
  return GATHER_OK;
}

/* Reads rows first to first + len - 1, sequentially. */
static gather_status read_rows(const gather_shuffle *job, part_reading *reading, int64_t first, int64_t len, char *to,
                               gather_error *error) {
  const int64_t bytes = job->row_bytes;
  while (len > 0) {
    GATHER_TRY(go_to(job, reading, first, error));
    const gather_table_part *part = &reading->part;
    int64_t in_part = first - part->first, left = part->rows - in_part, now = len < left ? len : left;
    int64_t offset = part->offset + in_part * bytes, more = left - now < now ? left - now : now;
    GATHER_TRY(read_at(job, reading->fd, part->path, to, now * bytes, offset, error));
    gather_shuffle_read_ahead(reading->fd, more * bytes, offset + now * bytes);
    first += now;
    len -= now;
    to += now * bytes;
  }
  return GATHER_OK;
}

static void end_reading(part_reading *reading) {
  if (reading->number >= 0) (void)close(reading->fd);
  reading->number = -1;
}

static bool is_stopped(void *context) { return gather_shuffle_stopped(context); }

/* Takes rows by their numbers. */
static gather_status take_rows(gather_shuffle *job, const int64_t *rows, int64_t len, void *to, gather_error *error) {
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_tensor indices = {.data = (void *)(uintptr_t)rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &len};
  gather_tensor out = job->data->tensor;
  job->shape[0] = len;
  out.data = to;
  out.shape = job->shape;
  out.strides = NULL;
  out.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  options.executor = job->executor;
  options.stop = job->options.stop ? is_stopped : NULL;
  options.stop_context = job;
  return gather_table_take(job->table, &indices, &out, &options, error);
}

/* ---- rows of the output. The library's writer knows byte orders; it writes each part at the current file position. */

/* Rows are written in pieces of about so many bytes, so that a cancellation is noticed soon. */
enum { PIECE_BYTES = 64 << 20 };

/* Writes rows of the output at their place; they may be byte-swapped in place. */
static gather_status write_rows(gather_shuffle *job, int64_t first, void *bytes, int64_t count, gather_error *error) {
  const int fd = job->folder.file[GATHER_SHUFFLE_FILE_ROWS];
  const int64_t most = PIECE_BYTES / job->row_bytes > 0 ? PIECE_BYTES / job->row_bytes : 1;
  int64_t offset = job->header_bytes + first * job->row_bytes;
  char *from = bytes;
  if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
    return gather_fail_errno(error, GATHER_IO_ERROR, errno, job->folder.path, -1, "cannot write in it");
  for (int64_t now; count > 0; count -= now) {
    now = count < most ? count : most;
    const int64_t size = now * job->row_bytes;
    GATHER_TRY(gather_shuffle_go_on(job, error));
    GATHER_TRY(gather_writer_append(job->writer, from, size, error));
    gather_disk_begin(fd, offset, size);
    from += size;
    offset += size;
  }
  return GATHER_OK;
}

/* ---- records of one size that go to many regions of a file: each region has a buffer, so that writes are few and long */

/* A region: its place in the file, and how much of it is written. */
typedef struct spread_region {
  int64_t offset;        /* in the file, in bytes */
  int64_t room, written; /* in records */
  int64_t held;          /* records in the buffer, after those that were written */
} spread_region;

typedef struct record_spread {
  int fd;           /* not owned */
  const char *file; /* for messages; not owned */
  int64_t record_bytes;
  int64_t regions, most; /* records of a buffer */
  spread_region *region;
  char *buffers;
} record_spread;

static void end_spread(record_spread *spread) {
  gather_free(spread->region);
  gather_free(spread->buffers);
  *spread = (record_spread){.fd = -1};
}

/* Makes the buffers; the caller fills in offset, room and written of each region. Returns GATHER_OUT_OF_MEMORY. */
static gather_status start_spread(record_spread *spread, int fd, const char *file, int64_t record_bytes, int64_t regions, int64_t most,
                                  gather_error *error) {
  *spread = (record_spread){.fd = fd, .file = file, .record_bytes = record_bytes, .regions = regions, .most = most, .region = NULL};
  if (most <= PTRDIFF_MAX / record_bytes / regions) { /* none of them is 0 */
    spread->region = gather_alloc(regions * (int64_t)sizeof *spread->region);
    spread->buffers = gather_alloc(regions * most * record_bytes);
  }
  if (spread->region && spread->buffers) return GATHER_OK;
  end_spread(spread);
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the buffers of a shuffle");
}

static gather_status write_region(record_spread *spread, int64_t i, gather_error *error) {
  spread_region *region = &spread->region[i];
  const char *from = spread->buffers + i * spread->most * spread->record_bytes;
  if (region->held == 0) return GATHER_OK;
  if (region->held > region->room - region->written)
    return gather_fail_file(error, GATHER_IO_ERROR, spread->file, region->offset, "the order of the rows changed while it was in use");
  GATHER_TRY(write_at(spread->fd, spread->file, from, region->held * spread->record_bytes,
                      region->offset + region->written * spread->record_bytes, error));
  region->written += region->held;
  region->held = 0;
  return GATHER_OK;
}

/* Adds one record. Returns GATHER_IO_ERROR, also where the region has no room left. */
static gather_status add_record(record_spread *spread, int64_t i, const void *record, gather_error *error) {
  spread_region *region = &spread->region[i];
  memcpy(spread->buffers + (i * spread->most + region->held) * spread->record_bytes, record, (size_t)spread->record_bytes);
  return ++region->held == spread->most ? write_region(spread, i, error) : GATHER_OK;
}

/* Writes all that is held. */
static gather_status flush_spread(record_spread *spread, gather_error *error) {
  for (int64_t i = 0; i < spread->regions; i++) GATHER_TRY(write_region(spread, i, error));
  return GATHER_OK;
}

/* ---- the inverse of a given order */

/* It need not fit into memory: for each row of the table the places where it goes. The pairs of row and place go to a file, ordered by
 * ranges of rows; each range is sorted when its turn comes. */

enum { BLOCK = 4096, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Where the pairs of each range of rows begin, and in starts[ranges] where the last one ends. */
static gather_status find_starts(const gather_shuffle *job, int64_t *starts, gather_error *error) {
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

static gather_status add_pairs(gather_shuffle *job, record_spread *spread, gather_error *error) {
  int64_t rows[BLOCK];
  for (int64_t first = 0; first < job->out_rows; first += BLOCK) {
    int64_t len = job->out_rows - first < BLOCK ? job->out_rows - first : BLOCK;
    GATHER_TRY(gather_shuffle_order_read(job, first, len, rows, error));
    for (int64_t i = 0; i < len; i++) {
      gather_shuffle_pair pair = {rows[i], first + i};
      GATHER_TRY(add_record(spread, rows[i] / job->range_rows, &pair, error));
    }
    gather_shuffle_show(job, GATHER_SHUFFLE_SORT_ORDER, first + len, job->out_rows);
  }
  return flush_spread(spread, error);
}

static gather_status spread_pairs(gather_shuffle *job, int64_t *starts, gather_error *error) {
  const int64_t pair_bytes = (int64_t)sizeof(gather_shuffle_pair);
  record_spread spread;
  GATHER_TRY(find_starts(job, starts, error));
  GATHER_TRY(start_spread(&spread, job->folder.file[GATHER_SHUFFLE_FILE_PAIRS], job->folder.path, pair_bytes, job->ranges,
                          job->range_buffer, error));
  for (int64_t i = 0; i < job->ranges; i++) {
    spread.region[i].offset = starts[i] * pair_bytes;
    spread.region[i].room = starts[i + 1] - starts[i];
  }
  gather_status status = add_pairs(job, &spread, error);
  end_spread(&spread);
  return status;
}

static gather_status run_pairs(gather_shuffle *job, gather_error *error) {
  int64_t *starts = gather_alloc((job->ranges + 1) * (int64_t)sizeof *starts);
  if (!starts) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the ranges of an order");
  gather_status status = spread_pairs(job, starts, error);
  gather_free(starts);
  if (status == GATHER_OK) status = sync_file(job, GATHER_SHUFFLE_FILE_PAIRS, error);
  return status;
}

static void sort_digit(const gather_shuffle_pair *from, gather_shuffle_pair *to, int64_t len, int64_t least, int shift) {
  int64_t at[DIGITS + 1] = {0};
  for (int64_t i = 0; i < len; i++) at[((uint64_t)(from[i].row - least) >> shift & (DIGITS - 1)) + 1]++;
  for (int i = 0; i < DIGITS; i++) at[i + 1] += at[i];
  for (int64_t i = 0; i < len; i++) to[at[(uint64_t)(from[i].row - least) >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts by row, by one digit after another, the last one first; other: scratch of the same length. The result is in pairs. */
static void sort_pairs(gather_shuffle_pair *pairs, gather_shuffle_pair *other, int64_t len) {
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

/* ---- the first of two passes: reads the table sequentially and writes each row to the bucket of its place */

enum { ROWS_PER_STOP = 1024 }; /* between two checks for cancellation */

typedef struct first_pass {
  gather_shuffle *job;
  record_spread rows, places;
  part_reading reading;
  char *block;      /* rows that were read */
  int64_t *numbers; /* their places; or, of a given order, their numbers */
  gather_shuffle_pair *pairs, *other;
  int64_t *starts;
  int64_t done, kept; /* rows; of them those that are durable */
} first_pass;

static gather_status start_spreads(first_pass *f, gather_error *error) {
  gather_shuffle *job = f->job;
  const int64_t place_bytes = (int64_t)sizeof(uint32_t);
  GATHER_TRY(start_spread(&f->rows, job->folder.file[GATHER_SHUFFLE_FILE_ROWS], job->folder.path, job->row_bytes, job->buckets,
                          job->buffer_rows, error));
  GATHER_TRY(start_spread(&f->places, job->folder.file[GATHER_SHUFFLE_FILE_PLACES], job->folder.path, place_bytes, job->buckets,
                          job->buffer_rows, error));
  for (int64_t b = 0; b < job->buckets; b++) {
    spread_region region = {.room = gather_shuffle_bucket_len(job, b), .written = job->fills[b]};
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
  end_spread(&f->rows);
  end_spread(&f->places);
  end_reading(&f->reading);
  gather_free(f->block);
  gather_free(f->numbers);
  gather_free(f->pairs);
  gather_free(f->other);
  gather_free(f->starts);
}

static gather_status add(first_pass *f, const char *row, int64_t place, gather_error *error) {
  const int64_t bucket = place / f->job->bucket_rows;
  const uint32_t in_bucket = (uint32_t)(place - bucket * f->job->bucket_rows);
  GATHER_TRY(add_record(&f->rows, bucket, row, error));
  return add_record(&f->places, bucket, &in_bucket, error);
}

/* Makes finished work durable, if there is enough of it. At the end the journal records the next step. */
static gather_status keep(first_pass *f, bool always, gather_error *error) {
  gather_shuffle *job = f->job;
  gather_shuffle_show(job, GATHER_SHUFFLE_FIRST_PASS, f->done, job->out_rows);
  if (!always && (f->done - f->kept) * job->row_bytes < job->durable_bytes) return GATHER_OK;
  GATHER_TRY(flush_spread(&f->rows, error));
  GATHER_TRY(flush_spread(&f->places, error));
  GATHER_TRY(sync_file(job, GATHER_SHUFFLE_FILE_ROWS, error));
  GATHER_TRY(sync_file(job, GATHER_SHUFFLE_FILE_PLACES, error));
  for (int64_t b = 0; b < job->buckets; b++) job->fills[b] = f->rows.region[b].written;
  f->kept = f->done;
  return always ? GATHER_OK : gather_shuffle_journal_write(job, GATHER_SHUFFLE_FIRST_PASS, f->done, error);
}

static gather_status at_random(first_pass *f, gather_error *error) {
  const gather_shuffle *job = f->job;
  while (f->done < job->rows) {
    int64_t left = job->rows - f->done, len = left < job->block_rows ? left : job->block_rows;
    GATHER_TRY(read_rows(job, &f->reading, f->done, len, f->block, error));
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
        return gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1, "its file pairs does not belong to a shuffle");
    }
    GATHER_TRY(take_rows(job, f->numbers, now, f->block, error));
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
  GATHER_TRY(find_starts(job, f->starts, error));
  for (int64_t r = 0; r < job->ranges; r++) {
    for (int64_t at = f->starts[r], len; at < f->starts[r + 1]; at += len) {
      len = f->starts[r + 1] - at < job->slice_pairs ? f->starts[r + 1] - at : job->slice_pairs;
      if (at < f->done) continue;
      GATHER_TRY(read_at(job, job->folder.file[GATHER_SHUFFLE_FILE_PAIRS], job->folder.path, f->pairs, len * bytes, at * bytes, error));
      sort_pairs(f->pairs, f->other, len);
      GATHER_TRY(move_pairs(f, len, error));
    }
  }
  return GATHER_OK;
}

static gather_status run_spread(gather_shuffle *job, gather_error *error) {
  first_pass f = {.job = job, .reading = {.number = -1, .fd = -1}, .done = job->at, .kept = job->at};
  gather_status status = start(&f, error);
  if (status == GATHER_OK) status = job->given ? as_given(&f, error) : at_random(&f, error);
  if (status == GATHER_OK) status = gather_shuffle_identity_check(job, error);
  if (status == GATHER_OK) status = keep(&f, true, error);
  finish(&f);
  return status;
}

/* ---- the second of two passes: sorts each bucket in memory and writes it as rows of the output */

enum { ROWS_PER_TASK = 2048 };

typedef struct second_pass {
  gather_shuffle *job;
  char *bucket, *chunk;
  uint32_t *places;
  _Atomic uint32_t *taken; /* a bit for each place of the bucket: two rows with one place would leave another without any */
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
    GATHER_TRY(read_at(job, file[GATHER_SHUFFLE_FILE_ROWS], job->folder.path, s->chunk, s->len * bytes, offset + first * bytes, error));
    GATHER_TRY(read_at(job, file[GATHER_SHUFFLE_FILE_PLACES], job->folder.path, s->places, s->len * (int64_t)sizeof *s->places,
                       (b * job->bucket_rows + first) * (int64_t)sizeof *s->places, error));
    gather_shuffle_read_ahead(file[GATHER_SHUFFLE_FILE_ROWS], s->len * bytes, offset + (first + s->len) * bytes);
    place(s);
    GATHER_TRY(gather_shuffle_go_on(job, error));
  }
  if (!atomic_load(&s->wrong)) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1, "its file places does not belong to a shuffle");
}

/* The rows of this bucket overwrite the previous bucket, so they must be on the disk before the next one is written. */
static gather_status collect(second_pass *s, gather_error *error) {
  gather_shuffle *job = s->job;
  for (int64_t b = job->at; b < job->buckets; b++) {
    GATHER_TRY(read_bucket(s, b, error));
    GATHER_TRY(write_rows(job, b * job->bucket_rows, s->bucket, s->bucket_len, error));
    GATHER_TRY(sync_file(job, GATHER_SHUFFLE_FILE_ROWS, error));
    if (b + 1 < job->buckets) GATHER_TRY(gather_shuffle_journal_write(job, GATHER_SHUFFLE_SECOND_PASS, b + 1, error));
    gather_shuffle_show(job, GATHER_SHUFFLE_SECOND_PASS, b * job->bucket_rows + s->bucket_len, job->out_rows);
  }
  return GATHER_OK;
}

static gather_status run_collect(gather_shuffle *job, gather_error *error) {
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

/* ---- the output in one pass, taken from the table part by part */

static gather_status settle(const gather_shuffle *job, gather_error *error) {
  GATHER_TRY(gather_shuffle_identity_check(job, error));
  return sync_file(job, GATHER_SHUFFLE_FILE_ROWS, error);
}

static gather_status take_parts(gather_shuffle *job, int64_t *numbers, char *part, gather_error *error) {
  for (int64_t first = job->at, len; first < job->out_rows; first += len) {
    len = job->out_rows - first < job->take_rows ? job->out_rows - first : job->take_rows;
    if (job->given)
      GATHER_TRY(gather_shuffle_order_read(job, first, len, numbers, error));
    else
      gather_shuffle_numbers(job, first, len, false, numbers);
    GATHER_TRY(gather_shuffle_go_on(job, error));
    GATHER_TRY(take_rows(job, numbers, len, part, error));
    GATHER_TRY(write_rows(job, first, part, len, error));
    gather_shuffle_show(job, GATHER_SHUFFLE_ONLY_PASS, first + len, job->out_rows);
    bool due = (first + len - job->at) * job->row_bytes >= job->durable_bytes;
    if (!due || first + len == job->out_rows) continue;
    GATHER_TRY(settle(job, error));
    GATHER_TRY(gather_shuffle_journal_write(job, GATHER_SHUFFLE_ONLY_PASS, first + len, error));
  }
  return GATHER_OK;
}

static gather_status run_take(gather_shuffle *job, gather_error *error) {
  int64_t *numbers = gather_alloc(job->take_rows * (int64_t)sizeof *numbers);
  char *part = gather_alloc(job->take_rows * job->row_bytes);
  gather_status status = numbers && part ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a part of the output");
  if (status == GATHER_OK && job->row_bytes > 0) status = take_parts(job, numbers, part, error);
  if (status == GATHER_OK) status = settle(job, error);
  gather_free(numbers);
  gather_free(part);
  return status;
}

gather_status gather_shuffle_run_step(gather_shuffle *job, gather_error *error) {
  switch (job->step) {
    case GATHER_SHUFFLE_SORT_ORDER:
      return run_pairs(job, error);
    case GATHER_SHUFFLE_FIRST_PASS:
      return run_spread(job, error);
    case GATHER_SHUFFLE_SECOND_PASS:
      return run_collect(job, error);
    default:
      return run_take(job, error);
  }
}
