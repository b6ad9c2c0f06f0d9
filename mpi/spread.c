/* SPDX-License-Identifier: MIT
 *
 * spread.c: which rank has which row.
 */
#include "spread.h"

#include <stddef.h>

/* Above this a product of doubles may be off by more. */
static const int64_t exact_rows = (int64_t)1 << 51;

void gather_mpi_spread_stripes(gather_mpi_spread *spread, int32_t ranks, int64_t rows) {
  *spread = (gather_mpi_spread){.ranks = ranks, .rows = rows, .inverse = 1.0 / ranks};
}

void gather_mpi_spread_splits(gather_mpi_spread *spread, int32_t ranks, const int64_t *splits) {
  const int64_t rows = splits[ranks];
  int64_t block = splits[1];
  for (int32_t p = 1; p <= ranks && block > 0; p++) {
    const int64_t even = block > rows / p ? rows : block * p; /* no overflow: block * p <= rows */
    if (splits[p] != (even < rows ? even : rows)) block = 0;
  }
  *spread = (gather_mpi_spread){ranks, rows, splits, block, block > 0 ? 1.0 / (double)block : 0.0};
}

/* floor(row / divisor) by the inverse of the divisor. The product is off by less than half of 1 / divisor: it may fall short of a whole
 * quotient, and never reaches the next one. */
static int64_t quotient(int64_t row, int64_t divisor, double inverse) {
  if (row >= exact_rows) return row / divisor;
  int64_t guess = (int64_t)((double)row * inverse);
  if (row - guess * divisor >= divisor) guess++;
  return guess;
}

int64_t gather_mpi_spread_count(const gather_mpi_spread *spread, int32_t rank) {
  if (spread->splits) return spread->splits[rank + 1] - spread->splits[rank];
  return spread->rows / spread->ranks + (rank < spread->rows % spread->ranks);
}

/* The last rank whose first row is not behind `row`: ranks without rows, which begin at the same row as the next, are passed. */
static int32_t search(const gather_mpi_spread *spread, int64_t row) {
  int32_t low = 0, high = spread->ranks;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (spread->splits[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

int32_t gather_mpi_spread_find(const gather_mpi_spread *spread, int64_t row, int64_t *local) {
  if (!spread->splits) {
    *local = quotient(row, spread->ranks, spread->inverse);
    return (int32_t)(row - *local * spread->ranks);
  }
  const int32_t rank = spread->block > 0 ? (int32_t)quotient(row, spread->block, spread->inverse) : search(spread, row);
  *local = row - spread->splits[rank];
  return rank;
}
