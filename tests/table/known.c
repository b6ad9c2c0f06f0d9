/* SPDX-License-Identifier: MIT
 *
 * known.c: files whose every byte is known from its place, and tables of them.
 */
#define _POSIX_C_SOURCE 200809L
#include "table/known.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 250, WORD = 8 };

static char folder[64];
static int descriptors;
static uint64_t seed;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

static char byte_at(int64_t place) {
  uint64_t word = mix((uint64_t)(place / WORD) + 0x9e3779b97f4a7c15U);
  return (char)(word >> (8 * (place % WORD)));
}

int64_t known_random(int64_t limit) {
  seed += 0x9e3779b97f4a7c15U;
  return (int64_t)(mix(seed) % (uint64_t)limit);
}

int known_open_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 512; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

int known_enter(void **state) {
  const char *given = getenv("GATHER_TEST_SEED");
  seed = given ? strtoull(given, NULL, 10) : 0;
  (void)strcpy(folder, "/tmp/gather-test-XXXXXX");
  descriptors = known_open_descriptors();
  (void)alarm(SECONDS);
  return mkdtemp(folder) ? 0 : -1;
}

int known_leave(void **state) {
  (void)alarm(0);
  DIR *entries = opendir(folder);
  if (!entries) return -1;
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
    if (entry->d_name[0] != '.') (void)unlink(known_path(entry->d_name));
  (void)closedir(entries);
  if (known_open_descriptors() != descriptors) {
    (void)fprintf(stderr, "%d descriptors were open, and now %d are\n", descriptors, known_open_descriptors());
    return -1;
  }
  return rmdir(folder);
}

const char *known_path(const char *name) {
  static char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

void known_write(const char *path, int64_t offset, int64_t bytes) {
  enum { PART = 1 << 16 };
  static char part[PART];
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) abort();
  while (bytes > 0) {
    int64_t now = bytes < PART ? bytes : PART;
    for (int64_t i = 0; i < now; i++) part[i] = byte_at(offset + i);
    if (pwrite(fd, part, (size_t)now, (off_t)offset) != (ssize_t)now) abort();
    offset += now;
    bytes -= now;
  }
  (void)close(fd);
}

const char *known_file(const char *name, int64_t bytes) {
  const char *path = known_path(name);
  (void)unlink(path);
  known_write(path, 0, bytes);
  if (truncate(path, (off_t)bytes) != 0) abort();
  return path;
}

bool known_is(const char *data, int64_t offset, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (data[i] != byte_at(offset + i)) return false;
  return true;
}

/* ---- tables */

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
