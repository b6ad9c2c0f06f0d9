/* SPDX-License-Identifier: MIT
 *
 * shuffle_read.c: rows of the table, sequentially or by number, and the numbers that a random order gives them.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"
#include "table/system/shuffle_advice.h"

/* Opens the part that holds a row. */
static gather_status go_to(const gather_shuffle *job, gather_shuffle_reading *reading, int64_t row,
                           gather_error *error) {
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
      return gather_fail_errno(error, gather_shuffle_status_of(number), number, reading->part.path, -1,
                               "cannot open it");
    }
    gather_shuffle_read_in_order(reading->fd);
  }
  return GATHER_OK;
}

gather_status gather_shuffle_read(const gather_shuffle *job, gather_shuffle_reading *reading, int64_t first,
                                  int64_t len, char *to, gather_error *error) {
  const int64_t bytes = job->row_bytes;
  while (len > 0) {
    GATHER_TRY(go_to(job, reading, first, error));
    const gather_table_part *part = &reading->part;
    int64_t in_part = first - part->first, left = part->rows - in_part, now = len < left ? len : left;
    int64_t offset = part->offset + in_part * bytes, more = left - now < now ? left - now : now;
    GATHER_TRY(gather_shuffle_read_at(job, reading->fd, part->path, to, now * bytes, offset, error));
    gather_shuffle_read_ahead(reading->fd, more * bytes, offset + now * bytes);
    first += now;
    len -= now;
    to += now * bytes;
  }
  return GATHER_OK;
}

void gather_shuffle_read_end(gather_shuffle_reading *reading) {
  if (reading->number >= 0) (void)close(reading->fd);
  reading->number = -1;
}

static bool is_stopped(void *context) { return gather_shuffle_stopped(context); }

gather_status gather_shuffle_take_rows(gather_shuffle *job, const int64_t *rows, int64_t len, void *to,
                                       gather_error *error) {
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

/* ---- the random order, by many threads */

enum { NUMBERS_PER_TASK = 4096 };

typedef struct numbering {
  const gather_permutation *permutation;
  int64_t first, len, *to;
  bool places;
} numbering;

static void number_some(void *argument, int64_t i) {
  const numbering *n = argument;
  const int64_t begin = i * NUMBERS_PER_TASK, rest = n->len - begin;
  const int64_t len = rest < NUMBERS_PER_TASK ? rest : NUMBERS_PER_TASK;
  gather_permutation_numbers(n->permutation, n->first + begin, len, n->places, n->to + begin);
}

void gather_shuffle_numbers(const gather_shuffle *job, int64_t first, int64_t len, bool places, int64_t *to) {
  numbering n = {&job->permutation, first, len, to, places};
  gather_shuffle_parallel(job, job->executor, (len + NUMBERS_PER_TASK - 1) / NUMBERS_PER_TASK, number_some, &n);
}
