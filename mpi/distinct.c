/* SPDX-License-Identifier: MIT
 *
 * distinct.c: the memory of a set of row numbers.
 */
#include "distinct.h"

#include <stdlib.h>

bool gather_mpi_distinct_begin(gather_mpi_distinct *set, int64_t len) {
  uint64_t entries = 64;
  int32_t shift = 58;
  while (entries / 2 < (uint64_t)len) {
    entries *= 2;
    shift--;
  }
  if (set->entries && entries <= set->mask + 1 && ++set->stamp != 0) return true;
  if (!set->entries || entries > set->mask + 1) {
    if (entries > SIZE_MAX / sizeof *set->entries) return false;
    gather_mpi_distinct_entry *grown = malloc((size_t)entries * sizeof *grown);
    if (!grown) return false;
    free(set->entries);
    set->entries = grown;
    set->mask = entries - 1;
    set->shift = shift;
  }
  /* Fresh memory, or stamps that have gone round. */
  for (uint64_t i = 0; i <= set->mask; i++) set->entries[i].stamp = 0;
  set->stamp = 1;
  return true;
}

void gather_mpi_distinct_free(gather_mpi_distinct *set) {
  free(set->entries);
  *set = (gather_mpi_distinct){0};
}
