/* SPDX-License-Identifier: MIT
 *
 * shuffle_permutation.h: an order of any number of rows at random, made from a seed, that takes no memory.
 */
#ifndef GATHER_SHUFFLE_SHUFFLE_PERMUTATION_H
#define GATHER_SHUFFLE_SHUFFLE_PERMUTATION_H

#include <stdbool.h>
#include <stdint.h>

enum { GATHER_PERMUTATION_ROUNDS = 32 };

typedef struct gather_permutation {
  uint64_t rows;
  int left_bits, right_bits, rounds;
  uint64_t key[GATHER_PERMUTATION_ROUNDS];
} gather_permutation;

/* rows: at most 2^63 - 1. */
void gather_permutation_make(gather_permutation *p, uint64_t seed, uint64_t rows);
/* The rows at places first to first + len - 1 of the shuffled table; or, the inverse, the places of these rows. All are below
 * p->rows. */
void gather_permutation_numbers(const gather_permutation *p, int64_t first, int64_t len, bool places, int64_t *to);

#endif
