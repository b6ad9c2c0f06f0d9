/* SPDX-License-Identifier: MIT
 *
 * shuffle_permutation.h: an order of any number of rows at random, made from a seed, that takes no memory.
 */
#ifndef GATHER_CLI_SHUFFLE_PERMUTATION_H
#define GATHER_CLI_SHUFFLE_PERMUTATION_H

#include <stdint.h>

enum { GATHER_CLI_PERMUTATION_ROUNDS = 32 };

typedef struct gather_cli_permutation {
  uint64_t rows;
  int left_bits, right_bits, rounds;
  uint64_t key[GATHER_CLI_PERMUTATION_ROUNDS];
} gather_cli_permutation;

/* rows: at most 2^63 - 1. */
void gather_cli_permutation_make(gather_cli_permutation *p, uint64_t seed, uint64_t rows);
/* The row that stands at place i < rows of the shuffled table. */
uint64_t gather_cli_permutation_at(const gather_cli_permutation *p, uint64_t i);
/* The place of row i < rows: the inverse. */
uint64_t gather_cli_permutation_place(const gather_cli_permutation *p, uint64_t i);

#endif
