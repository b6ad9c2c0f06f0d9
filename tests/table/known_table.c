/* SPDX-License-Identifier: MIT
 *
 * known_table.c: tables of known bytes, and takes whose every row is looked at.
 */
#define _POSIX_C_SOURCE 200809L
#include "table/known_table.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "table/known.h"

const char *known_table_file(const char *name) {
  const char *path = known_file(name, KNOWN_ROWS * KNOWN_ROW_BYTES);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  (void)fsync(fd); /* what is not on the disk yet stays in memory */
  (void)close(fd);
  return path;
}

void known_table_forget(const char *path) {
#if defined(POSIX_FADV_DONTNEED)
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  (void)close(fd);
#else
  (void)path;
#endif
}

gather_status known_table_open(const char *path, gather_engine engine, bool buffered, gather_table **table, gather_error *error) {
  static const int64_t shape[] = {KNOWN_ROWS, KNOWN_ROW_BYTES};
  const gather_raw raw = {"uint8", 2, shape, 0, true};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.engine = engine, options.buffered = buffered, options.raw = &raw;
  options.cache_bytes = 0, options.depth = 8;
  return gather_table_open(path, &options, table, error);
}

gather_status known_table_take(gather_table *table, bool job, int64_t first, int64_t last, gather_error *error) {
  static char rows[KNOWN_IDS * KNOWN_ROW_BYTES];
  static const int64_t shape[] = {KNOWN_IDS, KNOWN_ROW_BYTES};
  int64_t ids[KNOWN_IDS];
  for (int n = 0; n < KNOWN_IDS; n++) ids[n] = first + known_random(last - first);
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = shape};
  const gather_tensor out = {.data = rows, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = shape};
  gather_status status;
  memset(rows, 0, sizeof rows);
  if (job) {
    gather_table_job *begun;
    status = gather_table_submit(table, &indices, &out, NULL, &begun, error);
    if (status == GATHER_OK) status = gather_table_wait(begun, error);
  } else {
    status = gather_table_take(table, &indices, &out, NULL, error);
  }
  for (int n = 0; status == GATHER_OK && n < KNOWN_IDS; n++)
    if (!known_is(rows + n * KNOWN_ROW_BYTES, ids[n] * KNOWN_ROW_BYTES, KNOWN_ROW_BYTES)) status = KNOWN_WRONG;
  return status;
}
