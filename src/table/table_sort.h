/* SPDX-License-Identifier: MIT
 *
 * table_sort.h: sorts the rows to be read in file order.
 */
#ifndef GATHER_TABLE_SORT_H
#define GATHER_TABLE_SORT_H

#include <stdint.h>

/* A row, and its position in the output. */
typedef struct gather_entry {
  int64_t row, position;
} gather_entry;

/* Sorts `count` entries by their rows, which are below `rows`; entries of one row keep their order. *entries and
 * *spare may be swapped. */
void gather_sort_entries(gather_entry **entries, gather_entry **spare, int64_t count, int64_t rows);

#endif
