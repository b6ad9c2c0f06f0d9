/* SPDX-License-Identifier: MIT
 *
 * distinct.h: finds the distinct row numbers of a list, in the order of their first occurrence. Pure: calls only malloc.
 */
#ifndef GATHER_MPI_DISTINCT_H
#define GATHER_MPI_DISTINCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept for a row. An entry counts only if its stamp is the set's: so nothing is cleared between two lists. */
typedef struct gather_mpi_distinct_entry {
  int64_t row;
  int32_t value;
  uint32_t stamp;
} gather_mpi_distinct_entry;

/* A set of row numbers with a value each: a hash table with linear probing. All zero is an empty set without memory. */
typedef struct gather_mpi_distinct {
  gather_mpi_distinct_entry *entries;
  uint64_t mask; /* entries - 1 */
  int32_t shift; /* 64 - log2(entries) */
  uint32_t stamp;
} gather_mpi_distinct;

/* Empties the set and makes room for `len` rows. Returns false if out of memory: the set is then unchanged. */
bool gather_mpi_distinct_begin(gather_mpi_distinct *set, int64_t len);
void gather_mpi_distinct_free(gather_mpi_distinct *set);

/* A good spread of row numbers over the high bits: the golden ratio's, as Knuth's multiplicative hashing. */
static inline uint64_t gather_mpi_hash(int64_t row) { return (uint64_t)row * 0x9E3779B97F4A7C15u; }

/* The entry of a row; one that is not in the set is put in with this value. *found: whether it was there. */
static inline gather_mpi_distinct_entry *gather_mpi_distinct_add(gather_mpi_distinct *set, int64_t row, int32_t value, bool *found) {
  for (uint64_t at = gather_mpi_hash(row) >> set->shift;; at = (at + 1) & set->mask) {
    gather_mpi_distinct_entry *entry = &set->entries[at];
    if (entry->stamp != set->stamp) {
      *entry = (gather_mpi_distinct_entry){row, value, set->stamp};
      *found = false;
      return entry;
    }
    if (entry->row == row) {
      *found = true;
      return entry;
    }
  }
}

/* The value of a row, -1 if the set does not have it. */
static inline int32_t gather_mpi_distinct_get(const gather_mpi_distinct *set, int64_t row) {
  if (!set->entries) return -1;
  for (uint64_t at = gather_mpi_hash(row) >> set->shift;; at = (at + 1) & set->mask) {
    const gather_mpi_distinct_entry *entry = &set->entries[at];
    if (entry->stamp != set->stamp) return -1;
    if (entry->row == row) return entry->value;
  }
}

#endif
