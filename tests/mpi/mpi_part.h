/* SPDX-License-Identifier: MIT
 *
 * mpi_part.h: the rows of a rank as a table in a file of its own. What cannot be done ends all ranks.
 */
#ifndef GATHER_TESTS_MPI_PART_H
#define GATHER_TESTS_MPI_PART_H

#include <stdio.h>

#include "gather/mpi.h"

/* Writes rows of float32 to PATH, and opens them; given: how. */
static inline gather_table *mpi_part_open(const char *path, const void *rows, size_t bytes, const int64_t shape[2],
                                          const gather_table_options *given) {
  gather_raw raw = {.type = "float32", .rank = 2, .shape = shape, .as_is = true};
  gather_table_options options = *given;
  gather_table *opened = NULL;
  gather_error error = {0};
  options.raw = &raw;
  FILE *file = fopen(path, "wb");
  if (file && fwrite(rows, bytes, 1, file) == 1 && fclose(file) == 0 && gather_table_open(path, &options, &opened, &error) == GATHER_OK)
    return opened;
  fprintf(stderr, "cannot write or open %s: %s\n", path, error.message);
  MPI_Abort(MPI_COMM_WORLD, 5);
  return NULL;
}

#endif
