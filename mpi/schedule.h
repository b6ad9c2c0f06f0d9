/* SPDX-License-Identifier: MIT
 *
 * schedule.h: plans one exchange of rows between ranks, without MPI: libgather_mpi runs it, and a simulator may.
 *
 * A rank wants the rows of a list of ids. It requests the distinct rows among them from their owners, in rounds. Round r has the rows that
 * occur first in the r-th part of the list. The r-th part of the output can be written as soon as round r has arrived, while the next
 * one is sent. Rows arrive in slots of one buffer:
 *
 *   slots 0 .. reserved - 1     rows that are there already: the fill row, replicated hot rows
 *   then for each round         for each owner: the rows of that owner, in the order of their first occurrence
 *
 * The output is then a gather: out[j] = buffer[slots[j]]. Ids are sent once, before the first round: for each owner, its rows of all
 * rounds.
 */
#ifndef GATHER_MPI_SCHEDULE_H
#define GATHER_MPI_SCHEDULE_H

#include "distinct.h"
#include "spread.h"

enum { GATHER_MPI_MAX_ROUNDS = 8 };

/* The exchange of one rank, as it asks for it. All zero is empty. The memory is kept between builds. */
typedef struct gather_mpi_schedule {
  int32_t ranks, rounds;
  int64_t len;                                    /* ids */
  int64_t unique;                                 /* rows that are asked for */
  int64_t hot;                                    /* distinct rows that are replicated, and so not asked for */
  int64_t reserved;                               /* slots before them */
  int32_t *slots;                                 /* [len] */
  int64_t *ids;                                   /* [unique] by owner, then by round: the number of the row at its owner */
  int64_t *counts;                                /* [ranks * rounds] counts[p * rounds + r]: rows asked of rank p in round r */
  int64_t round_first[GATHER_MPI_MAX_ROUNDS + 1]; /* the first row of each round, counted from slot `reserved` */
  /* Scratch. */
  gather_mpi_distinct distinct;
  int64_t *locals, *at; /* [len]; [2 * ranks * rounds] */
  int32_t *owners;      /* [len] */
  int64_t room, room_counts;
} gather_mpi_schedule;

/* The first id of round r. */
static inline int64_t gather_mpi_round_begin(int64_t len, int32_t rounds, int32_t r) {
  return len / rounds * r + len % rounds * r / rounds;
}

/* Plans an exchange.
 * rows: `len` row numbers, each below spread->rows; below 0 = the fill row, which is slot 0; len + reserved < 2^31; rounds: 1 to
 * GATHER_MPI_MAX_ROUNDS; hot: rows that are in the reserved slots, with the slot as value, or NULL.
 * Returns false if out of memory: the schedule is then empty. */
bool gather_mpi_schedule_build(gather_mpi_schedule *schedule, const gather_mpi_spread *spread, const int64_t *rows, int64_t len,
                               int32_t rounds, int64_t reserved, const gather_mpi_distinct *hot);
void gather_mpi_schedule_free(gather_mpi_schedule *schedule);

/* How many rounds an exchange of `bytes` of rows by one rank is best divided into: 0 in the options of a plan. */
int32_t gather_mpi_schedule_rounds(int64_t bytes);

#endif
