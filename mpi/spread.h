/* SPDX-License-Identifier: MIT
 *
 * spread.h: how the rows of a table are spread over ranks. Pure: calls neither MPI nor the system.
 */
#ifndef GATHER_MPI_SPREAD_H
#define GATHER_MPI_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Which rank has which row. Does not own `splits`. */
typedef struct gather_mpi_spread {
  int32_t ranks;
  int64_t rows;          /* of the whole table */
  const int64_t *splits; /* ranks + 1 ascending numbers from 0 to rows: rank p has rows [splits[p], splits[p + 1]); NULL = stripes */
  int64_t block;         /* > 0: splits[p] is p * block, except where the rows end before */
  double inverse;        /* 1 / block, or 1 / ranks of stripes: a quotient costs a product and a correction, not a division */
} gather_mpi_spread;

/* Row i is row i / ranks of rank i % ranks. */
void gather_mpi_spread_stripes(gather_mpi_spread *spread, int32_t ranks, int64_t rows);
/* By split points, of which `splits` points to ranks + 1; equal blocks are recognised. */
void gather_mpi_spread_splits(gather_mpi_spread *spread, int32_t ranks, const int64_t *splits);
/* How many rows a rank has. */
int64_t gather_mpi_spread_count(const gather_mpi_spread *spread, int32_t rank);
/* The rank that has a row, 0 <= row < rows, and the row's number there. */
int32_t gather_mpi_spread_find(const gather_mpi_spread *spread, int64_t row, int64_t *local);

#endif
