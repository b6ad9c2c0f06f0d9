/* SPDX-License-Identifier: MIT
 *
 * test_engines.h: what the tests of tables share: files whose every byte is known, tables of them by every setting, chance that comes
 * again, and what a process holds.
 */
#ifndef GATHER_TESTS_TABLE_TEST_ENGINES_H
#define GATHER_TESTS_TABLE_TEST_ENGINES_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gather/table.h"
#include "support/skip.h"
#include "support/unit.h"

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)

/* splitmix64: the same numbers everywhere. */
static inline uint64_t chance(uint64_t *state) {
  uint64_t value = *state += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

static inline int64_t below(uint64_t *state, int64_t limit) { return (int64_t)(chance(state) % (uint64_t)limit); }

/* GATHER_TEST_SEED=N looks at other cases, GATHER_TEST_ROUNDS=N at more. */
static inline int64_t number_from(const char *name, int64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* ---- files ----------------------------------------------------------------------------------------------------------- */

/* A file and a copy of it in memory. */
typedef struct known_file {
  char path[96];
  uint8_t *data;
  int64_t bytes;
} known_file;

static inline void write_whole(const char *path, const uint8_t *data, int64_t bytes) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  assert_true(fd >= 0);
  for (int64_t done = 0; done < bytes;) {
    ssize_t now = write(fd, data + done, (size_t)(bytes - done));
    assert_true(now > 0);
    done += now;
  }
  assert_int_equal(fsync(fd), 0); /* dirty pages cannot be evicted */
  assert_int_equal(close(fd), 0);
}

/* Makes one in the current folder, which is the build's: on a disk, so that reads past the page cache are possible. */
static inline known_file make_file(const char *name, int64_t bytes) {
  known_file file = {.bytes = bytes};
  uint64_t state = (uint64_t)bytes;
  snprintf(file.path, sizeof file.path, "%s-%ld.bin", name, (long)getpid());
  file.data = malloc((size_t)bytes + 8);
  assert_non_null(file.data);
  for (int64_t i = 0; i < bytes; i += 8) {
    uint64_t word = chance(&state);
    memcpy(file.data + i, &word, sizeof word);
  }
  write_whole(file.path, file.data, bytes);
  return file;
}

static inline void remove_file(known_file *file) {
  unlink(file->path);
  free(file->data);
}

/* What of a file lies in the page cache goes, as far as the system wants. */
static inline void evict(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
#if defined(POSIX_FADV_DONTNEED)
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#endif
  close(fd);
}

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

/* How a table is opened. */
typedef struct setting {
  gather_engine engine;
  bool buffered, keep_signals;
  int64_t memory_bytes, cache_bytes;
  int32_t depth;
} setting;

static inline const char *setting_text(const setting *how) {
  static char text[160];
  snprintf(text, sizeof text, "%s%s%s, memory %lld, cache %lld, depth %d", gather_engine_name(how->engine),
           how->buffered ? ", buffered" : "", how->keep_signals ? ", keep_signals" : "", (long long)how->memory_bytes,
           (long long)how->cache_bytes, how->depth);
  return text;
}

static inline bool engine_works(gather_engine engine) { return gather_engine_check(engine, NULL) == GATHER_OK; }

/* Engines that are not to be had here: each is a skip that is printed, or a failure where it is required. */
static inline int engine_skips(void) {
  int failed = 0;
  for (int engine = GATHER_ENGINE_MMAP; engine <= GATHER_ENGINE_URING; engine++) {
    gather_error error;
    if (gather_engine_check((gather_engine)engine, &error) == GATHER_OK) continue;
    printf("SKIPPED %s: %s\n", gather_engine_name((gather_engine)engine), error.message);
    failed += gather_test_required(gather_engine_name((gather_engine)engine));
  }
  return failed;
}

/* A setting by chance. mmap reads through a mapping, so that keep_signals is another's. */
static inline setting some_setting(uint64_t *state, int64_t least_memory) {
  static const int64_t caches[] = {0, 64 * KIB, -1};
  static const int32_t depths[] = {1, 3, 128, 0};
  setting how = {(gather_engine)below(state, 4), false, false, 0, caches[below(state, 3)], depths[below(state, 4)]};
  if (!engine_works(how.engine)) how.engine = GATHER_ENGINE_AUTO;
  how.buffered = below(state, 2) == 1;
  how.keep_signals = how.engine != GATHER_ENGINE_MMAP && below(state, 3) == 0;
  if (below(state, 2)) how.memory_bytes = least_memory;
  return how;
}

static inline gather_status try_open(const char *path, int64_t rows, int64_t row_bytes, int64_t offset, const setting *how,
                                     gather_table **table, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  const int64_t shape[2] = {rows, row_bytes};
  const gather_raw raw = {"uint8", 2, shape, offset, true};
  options.engine = how->engine;
  options.memory_bytes = how->memory_bytes;
  options.cache_bytes = how->cache_bytes;
  options.depth = how->depth;
  options.buffered = how->buffered;
  options.keep_signals = how->keep_signals;
  options.raw = &raw;
  return gather_table_open(path, &options, table, error);
}

static inline gather_table *open_rows(const char *path, int64_t rows, int64_t row_bytes, int64_t offset, const setting *how) {
  gather_table *table = NULL;
  gather_error error = dirty_error();
  if (try_open(path, rows, row_bytes, offset, how, &table, &error) != GATHER_OK)
    fail_msg("%s, rows of %lld: %s", setting_text(how), (long long)row_bytes, error.message);
  return table;
}

/* The lowest ceiling that a table of such rows takes: the largest number in the complaint about a lower one. */
static inline int64_t least_memory(const char *path, int64_t row_bytes, const setting *how) {
  gather_table *table = NULL;
  gather_error error = dirty_error();
  setting low = *how;
  int64_t least = 0;
  low.memory_bytes = 1;
  assert_status(try_open(path, -1, row_bytes, 0, &low, &table, &error), GATHER_USAGE);
  for (const char *at = error.message; *at;) {
    char *end;
    long long number = strtoll(at, &end, 10);
    if (number > least) least = number;
    at = end == at ? at + 1 : end;
  }
  if (least < GATHER_TABLE_LEAST_MEMORY) fail_msg("no lowest ceiling: %s", error.message);
  return least;
}

static inline gather_status take_rows(gather_table *table, const int64_t *ids, int64_t len, uint8_t *out, gather_error *error) {
  const int64_t shape[2] = {len, gather_table_describe(table)->row_bytes};
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, shape), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, shape);
  return gather_table_take(table, &indices, &rows, NULL, error);
}

/* The first row of a result that is not as in the file; -1 = all are. Negative ids count from the end. */
static inline int64_t first_wrong(const known_file *file, int64_t rows, int64_t row_bytes, int64_t offset, const int64_t *ids, int64_t len,
                                  const uint8_t *out) {
  for (int64_t i = 0; i < len; i++) {
    int64_t row = ids[i] < 0 ? ids[i] + rows : ids[i];
    if (memcmp(out + i * row_bytes, file->data + offset + row * row_bytes, (size_t)row_bytes) != 0) return i;
  }
  return -1;
}

/* ---- what a process holds -------------------------------------------------------------------------------------------- */

/* How many entries a folder has, "." and ".." among them: descriptors, threads. */
static inline int entries(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  if (!folder) return -1;
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

static inline int open_descriptors(void) { return entries("/proc/self/fd"); }

/* Waits for a thread that has ended to be gone. */
static inline int threads_down_to(int wanted) {
  int now = entries("/proc/self/task");
  for (int tries = 0; now > wanted && tries < 200; tries++) {
    usleep(10000);
    now = entries("/proc/self/task");
  }
  return now;
}

#endif
