/* SPDX-License-Identifier: MIT
 *
 * stablehlo_numbers.h: the dimension numbers of StableHLO's gather.
 */
#ifndef GATHER_OP_STABLEHLO_NUMBERS_H
#define GATHER_OP_STABLEHLO_NUMBERS_H

#include "core/op/op.h"

/* Checks what the dimension numbers say among themselves and of ranks (C1, C2, C4 to C16, C18 to C20); a rank of -1 is unknown.
 * full: receives them with every field. */
GATHER_CHECKED gather_status gather_stablehlo_numbers_read(const gather_dimension_numbers *numbers, int32_t data_rank,
                                                           int32_t indices_rank, gather_dimension_numbers *full,
                                                           gather_error *error);

/* The position of a dimension in a list; -1. */
int32_t gather_numbers_find(const int64_t *list, int64_t count, int64_t dim);
/* Whether the output lacks a dimension of data: it is collapsed, or follows the indices. */
bool gather_numbers_drop(const gather_dimension_numbers *n, int32_t d);
/* The rank of the output. */
int32_t gather_numbers_rank(const gather_dimension_numbers *n, int32_t indices_rank);
/* For dimension o of the output, in order: `window`, the dimension of data it runs along, or `batch`, that of indices; the other
 * is -1. Starts as {-1, -1}. */
typedef struct gather_numbers_walk {
  int32_t window, batch;
} gather_numbers_walk;
void gather_numbers_next(const gather_dimension_numbers *n, int32_t o, gather_numbers_walk *last, bool *is_window);
/* The dimension of data that is paired with a dimension of indices; -1. */
int32_t gather_numbers_paired(const gather_dimension_numbers *n, int32_t d);

#endif
