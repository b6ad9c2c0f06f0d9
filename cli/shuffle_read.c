/* SPDX-License-Identifier: MIT
 *
 * shuffle_read.c: rows of DATA front to back, and the numbers that the order at random gives them.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shuffle.h"
#include "shuffle_spread.h"
#include "system.h"

/* Opens the part that holds a row. */
static gather_status go_to(const gather_cli_shuffle *job, gather_cli_shuffle_reading *reading, int64_t row,
                           gather_error *error) {
  while (reading->number < 0 || row >= reading->part.first + reading->part.rows) {
    if (reading->number >= 0) (void)close(reading->fd);
    if (!gather_table_part_at(job->table, ++reading->number, &reading->part)) {
      reading->number = -1;
      return gather_cli_fail(error, GATHER_IO_ERROR, "no part of DATA holds row %lld", (long long)row);
    }
    reading->fd = gather_cli_open(AT_FDCWD, reading->part.path, O_RDONLY);
    if (reading->fd < 0) {
      reading->number = -1;
      return gather_cli_fail_file(error, gather_cli_status_of(errno), reading->part.path, -1, "cannot open it: %s",
                                  strerror(errno));
    }
#if defined(POSIX_FADV_SEQUENTIAL)
    (void)posix_fadvise(reading->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  }
  return GATHER_OK;
}

gather_status gather_cli_shuffle_read(const gather_cli_shuffle *job, gather_cli_shuffle_reading *reading, int64_t first,
                                      int64_t len, char *to, gather_error *error) {
  const int64_t bytes = job->row_bytes;
  while (len > 0) {
    GATHER_CLI_TRY(go_to(job, reading, first, error));
    const gather_table_part *part = &reading->part;
    int64_t in_part = first - part->first, left = part->rows - in_part, now = len < left ? len : left;
    int64_t offset = part->offset + in_part * bytes, more = left - now < now ? left - now : now;
    GATHER_CLI_TRY(gather_cli_read_at(reading->fd, part->path, to, now * bytes, offset, error));
    gather_cli_read_ahead(reading->fd, more * bytes, offset + now * bytes);
    first += now;
    len -= now;
    to += now * bytes;
  }
  return GATHER_OK;
}

void gather_cli_shuffle_read_end(gather_cli_shuffle_reading *reading) {
  if (reading->number >= 0) (void)close(reading->fd);
  reading->number = -1;
}

/* ---- the order at random, by many threads */

enum { NUMBERS_PER_TASK = 4096 };

typedef struct numbering {
  const gather_cli_permutation *permutation;
  int64_t first, len, *to;
  bool places;
} numbering;

static void number_some(void *argument, int64_t i) {
  const numbering *n = argument;
  const int64_t begin = i * NUMBERS_PER_TASK, rest = n->len - begin;
  const int64_t end = begin + (rest < NUMBERS_PER_TASK ? rest : NUMBERS_PER_TASK);
  for (int64_t k = begin; k < end && n->places; k++)
    n->to[k] = (int64_t)gather_cli_permutation_place(n->permutation, (uint64_t)(n->first + k));
  for (int64_t k = begin; k < end && !n->places; k++)
    n->to[k] = (int64_t)gather_cli_permutation_at(n->permutation, (uint64_t)(n->first + k));
}

void gather_cli_shuffle_numbers(const gather_cli_shuffle *job, int64_t first, int64_t len, bool places, int64_t *to) {
  numbering n = {&job->permutation, first, len, to, places};
  const int64_t tasks = (len + NUMBERS_PER_TASK - 1) / NUMBERS_PER_TASK;
  if (job->executor && tasks > 1) {
    job->executor->parallel_for(job->executor->context, tasks, number_some, &n);
    return;
  }
  for (int64_t i = 0; i < tasks; i++) number_some(&n, i);
}
