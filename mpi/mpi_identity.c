/* SPDX-License-Identifier: MIT
 *
 * mpi_identity.c: whether ranks read the same files.
 */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mpi_internal.h"

/* Size, time and inode number of a file: on a shared file system they are equal on every node. The device number is not. */
static bool look_at(const char *path, int64_t facts[4]) {
  struct stat found;
  if (stat(path, &found) != 0) return false;
  facts[0] = (int64_t)found.st_size;
  facts[1] = (int64_t)found.st_mtim.tv_sec;
  facts[2] = (int64_t)found.st_mtim.tv_nsec;
  facts[3] = (int64_t)found.st_ino;
  return true;
}

uint64_t gather_mpi_identity(gather_table *table) {
  const gather_table_info *info = gather_table_describe(table);
  uint64_t hash = GATHER_MPI_FNV;
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(table, i, &part); i++) {
    int64_t facts[4] = {0};
    /* A part that is no local file is known by its name. */
    if (!look_at(part.path, facts)) hash = gather_mpi_fnv(hash, part.path, strlen(part.path));
    const int64_t place[] = {part.offset, part.first, part.rows};
    hash = gather_mpi_fnv(hash, facts, sizeof facts);
    hash = gather_mpi_fnv(hash, place, sizeof place);
  }
  if (info->codec) hash = gather_mpi_fnv(hash, info->codec, strlen(info->codec));
  return hash;
}

gather_status gather_mpi_sample(const gather_mpi_owner *owner, uint64_t *sample, gather_error *error) {
  enum { SAMPLES = 16 };
  int64_t ids[SAMPLES];
  const int64_t rows = owner->shape[0];
  *sample = GATHER_MPI_FNV;
  if (rows == 0 || owner->row_bytes == 0) return GATHER_OK;
  for (int i = 0; i < SAMPLES; i++) ids[i] = (rows - 1) / (SAMPLES - 1) * i;
  ids[SAMPLES - 1] = rows - 1;
  gather_mpi_buffer buffer = {0};
  if (!gather_mpi_reserve(&buffer, SAMPLES, owner->row_bytes))
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %d rows", (int)SAMPLES);
  const gather_status status = gather_mpi_owner_take(owner, ids, false, SAMPLES, buffer.data, error);
  if (status == GATHER_OK) *sample = gather_mpi_fnv(*sample, buffer.data, (size_t)(SAMPLES * owner->row_bytes));
  free(buffer.data);
  return status;
}

/* The first file of a rank's table, as the others look for it. */
typedef struct gather_mpi_file {
  int64_t facts[4];
  char path[1000]; /* "" = none that others could find */
} gather_mpi_file;

gather_status gather_mpi_visible(gather_mpi_link *link, gather_table *table, bool *visible, gather_error *error) {
  gather_mpi_file mine, *all = calloc((size_t)link->ranks, sizeof *all);
  memset(&mine, 0, sizeof mine);
  gather_table_part part;
  if (gather_table_part_at(table, 0, &part) && look_at(part.path, mine.facts)) {
    char *path = realpath(part.path, NULL);
    if (path && strlen(path) < sizeof mine.path) memcpy(mine.path, path, strlen(path) + 1);
    free(path);
  }
  /* A rank that is out of memory takes part, and sees no files. */
  int64_t blind = !all;
  gather_status status = gather_mpi_link_max(link, &blind, error);
  if (status == GATHER_OK && !blind) status = gather_mpi_link_gather(link, &mine, (int)sizeof mine, all, error);
  for (int p = 0; status == GATHER_OK && !blind && p < link->ranks; p++) {
    int64_t facts[4];
    blind = all[p].path[0] == '\0' || !look_at(all[p].path, facts) || memcmp(facts, all[p].facts, sizeof facts) != 0;
  }
  gather_mpi_link_free(link, all);
  if (status == GATHER_OK) status = gather_mpi_link_max(link, &blind, error);
  *visible = status == GATHER_OK && !blind;
  return status;
}
