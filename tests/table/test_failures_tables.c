/* SPDX-License-Identifier: MIT
 *
 * test_failures_tables.c: tables on a system that fails, one call at a time. Rows are right, or the error says which row and which
 * byte; afterwards the table is as good as before, and nothing stays behind.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/unit.h"
#include "table/all_engines.h"
#include "table/chunk/chunk.h"
#include "table/known.h"

static const struct way {
  gather_engine engine;
  bool buffered;
  int64_t chunk; /* rows of a chunk: the table is in chunks, with a filter that changes nothing; 0: it is not */
} WAYS[] = {{GATHER_ENGINE_AUTO, false, 0},    {GATHER_ENGINE_AUTO, true, 0},  {GATHER_ENGINE_MMAP, false, 0},
            {GATHER_ENGINE_PREAD, false, 0},   {GATHER_ENGINE_PREAD, true, 0}, {GATHER_ENGINE_URING, false, 0},
            {GATHER_ENGINE_URING, true, 0},    {GATHER_ENGINE_AUTO, false, 8}, {GATHER_ENGINE_PREAD, true, 20},
            {GATHER_ENGINE_URING, false, 1000}};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS, MOST_CALLS = 10 };

static const struct call {
  const char *name;
  int number;
} CALLS[] = {{"open", EACCES},
             {"open", EMFILE},
             {"open direct", EINVAL},
             {"fstat", EIO},
             {"statx", ENOSYS},
             {"mmap", ENOMEM},
             {"posix_fadvise", EINVAL},
             {"madvise random", EINVAL},
             {"madvise willneed", EIO},
             {"madvise populate", EINVAL},
             {"madvise populate", EFAULT},
             {"madvise", EINVAL},
             {"pread", EIO},
             {"pread", EINTR},
             {"pread", EAGAIN},
             {"pread direct", EINVAL},
             {"preadv2", EIO},
             {"preadv2", EAGAIN},
             {"preadv2", EOPNOTSUPP},
             {"answer", EIO},
             {"answer", EAGAIN},
             {"answer direct", EINVAL},
             {"pthread_create", EAGAIN},
             {"pthread_cond_init", ENOMEM},
             {"pthread_setspecific", ENOMEM},
             {"io_uring_queue_init_params", EPERM},
             {"io_uring_queue_init_params", ENOMEM},
             {"io_uring_get_probe_ring", EINVAL},
             {"io_uring_submit_and_wait", EAGAIN},
             {"io_uring_submit_and_wait", EINTR},
             {"io_uring_submit", EBUSY},
             {"gather_alloc", ENOMEM}};
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

/* ---- the same rows in chunks */

static gather_file chunked_file;
static gather_chunks chunked;

static gather_status find_chunks(const gather_chunks *chunks, const int64_t *numbers, int64_t count, gather_chunk_place *places,
                                 gather_error *error) {
  for (int64_t i = 0; i < count; i++)
    places[i] = (gather_chunk_place){.offset = numbers[i] * chunks->raw_bytes, .bytes = chunks->raw_bytes};
  return GATHER_OK;
}

static gather_status sizes_of_chunks(const gather_chunks *chunks, int64_t *longest, int64_t *all, gather_error *error) {
  *longest = chunks->raw_bytes;
  return GATHER_OK;
}

static gather_status open_chunked(const char *path, const struct way *way, gather_table **table, gather_error *error) {
  static const int64_t SHAPE[] = {KNOWN_ROWS, KNOWN_ROW_BYTES};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  struct stat about;
  assert_int_equal(lstat(path, &about), 0);
  chunked_file.name = (char *)(uintptr_t)path;
  chunked = (gather_chunks){.file = &chunked_file, .rank = 2, .item_bytes = 1, .find = find_chunks, .sizes = sizes_of_chunks};
  for (int d = 0; d < 2; d++) chunked.shape[d] = SHAPE[d];
  chunked.chunk[0] = way->chunk, chunked.chunk[1] = KNOWN_ROW_BYTES;
  chunked.pipeline = (gather_pipeline){1, {{.kind = GATHER_FILTER_SHUFFLE, .item_bytes = 1}}};
  const gather_stored stored = {.file = path,
                                .format = "hdf5",
                                .name = "",
                                .type_name = "uint8",
                                .bytes = KNOWN_ROWS * KNOWN_ROW_BYTES,
                                .tensor = {.type = GATHER_TYPE_UINT8, .rank = 2, .shape = SHAPE},
                                .path = path,
                                .size = about.st_size,
                                .device = (uint64_t)about.st_dev,
                                .inode = (uint64_t)about.st_ino,
                                .chunks = &chunked};
  options.engine = way->engine, options.buffered = way->buffered;
  if (gather_chunks_measure(&chunked, "", 0, error) != GATHER_OK) return error->status;
  gather_status status = gather_table_create(&options, NULL, NULL, 1, table, error);
  if (status != GATHER_OK) return status;
  (*table)->chunker = &gather_table_chunks;
  status = gather_table_add(*table, &stored, 0, error);
  if (status == GATHER_OK) status = gather_table_complete(*table, error);
  if (status != GATHER_OK) {
    gather_table_close(*table);
    *table = NULL;
  }
  return status;
}

static gather_status open_by(const char *path, const struct way *way, gather_table **table, gather_error *error) {
  return way->chunk > 0 ? open_chunked(path, way, table, error) : known_table_open(path, way->engine, way->buffered, table, error);
}

/* What an error of this kind has to say. */
static void assert_clean(gather_status status, const gather_error *error, const struct call *call, bool opening) {
  if (error->message[0] == '\0' || error->status != status) fail_msg("%s: status %d, no words", call->name, (int)status);
  bool memory = strcmp(call->name, "gather_alloc") == 0 || call->number == ENOMEM;
  if (status == GATHER_OUT_OF_MEMORY && memory) return;
  if (status != GATHER_IO_ERROR) fail_msg("%s: %s", call->name, error->message);
  if (opening) return;
  bool row = error->row >= 0 && error->row < KNOWN_ROWS && strstr(error->message, "row ");
  bool byte = error->file_offset >= 0 || strcmp(call->name, "fstat") == 0; /* which is about the whole file */
  if (!row || !byte || error->file[0] == '\0') fail_msg("%s, no row or byte: %s", call->name, error->message);
}

/* The table is as good as ever. */
static void assert_useful(gather_table *table, const struct call *call) {
  gather_error error = {0};
  for (int job = 0; job < 2; job++)
    if (known_table_take(table, job == 1, 0, KNOWN_ROWS, &error) != GATHER_OK) fail_msg("after %s: %s", call->name, error.message);
}

static void assert_told(gather_table *table, const struct call *call, bool failed) {
  gather_table_statistics done;
  gather_table_statistics_get(table, &done);
  if (failed && strncmp(call->name, "io_uring_queue", 14) == 0) {
    assert_int_equal(done.engine, GATHER_ENGINE_PREAD);
    assert_non_null(strstr(done.why, "io_uring"));
  }
  if (failed && strcmp(call->name, "open direct") == 0) assert_false(done.direct);
}

/* Opens, takes and closes while call number n fails. Returns how often the function was called. */
static int run(const char *path, const struct way *way, const struct call *call, int n, bool job) {
  gather_table *table = NULL;
  gather_error error = {0};
  int mappings = failing_mappings(), open = known_open_descriptors();
  failing_set(call->name, n, 1, call->number);
  gather_status status = open_by(path, way, &table, &error);
  if (status == GATHER_OK) {
    status = known_table_take(table, job, 0, KNOWN_ROWS, &error);
    if (status != GATHER_OK) assert_clean(status, &error, call, false);
    bool failed = failing_calls() > n;
    int calls = failing_calls();
    failing_set(NULL, 0, 0, 0);
    assert_told(table, call, failed);
    assert_useful(table, call);
    gather_table_close(table);
    assert_int_equal(failing_mappings(), mappings);
    assert_int_equal(known_open_descriptors(), open);
    return calls;
  }
  int calls = failing_calls();
  failing_clear();
  assert_clean(status, &error, call, true);
  assert_null(table);
  assert_int_equal(failing_mappings(), mappings);
  assert_int_equal(known_open_descriptors(), open);
  return calls;
}

/* Calls that only jobs make, by a job. */
static bool is_job(const struct call *call, int n) { return n % 2 == 1 || strcmp(call->name, "pthread_create") == 0; }

static bool works(gather_engine engine) { return gather_engine_check(engine, NULL) == GATHER_OK; }

static void test_each_call(void **state) {
  const char *path = known_table_file("a");
  for (int w = 0; w < WAY_COUNT; w++)
    for (int c = 0; works(WAYS[w].engine) && c < CALL_COUNT; c++)
      for (int n = 0; n < MOST_CALLS; n++) {
        known_table_forget(path);
        if (run(path, &WAYS[w], &CALLS[c], n, is_job(&CALLS[c], n)) <= n) break; /* there are not so many */
      }
}

/* Of chunks, those of a row are read with it. */
static bool reads(const struct way *way) {
  return way->chunk == 0 && (way->engine == GATHER_ENGINE_PREAD || way->engine == GATHER_ENGINE_URING);
}

/* A block that cannot be read: its rows are named, and those elsewhere are right. */
static void test_bad_block(void **state) {
  const char *path = known_table_file("a");
  const int64_t bad = 500 * KNOWN_ROW_BYTES + 17;
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!reads(&WAYS[w]) || !works(WAYS[w].engine)) continue;
    gather_table *table;
    gather_error error = {0};
    known_table_forget(path);
    assert_int_equal(open_by(path, &WAYS[w], &table, &error), GATHER_OK);
    for (int job = 0; job < 2; job++) {
      failing_at(bad, EIO);
      assert_int_equal(known_table_take(table, job == 1, 500, 501, &error), GATHER_IO_ERROR);
      assert_int_equal(error.row, 500);
      assert_true(error.file_offset <= bad && error.file_offset > bad - 4096);
      assert_non_null(strstr(error.message, strerror(EIO)));
      assert_int_equal(known_table_take(table, job == 1, 450, 550, &error), GATHER_IO_ERROR);
      assert_int_equal(known_table_take(table, job == 1, 0, 400, &error), GATHER_OK);
      assert_int_equal(known_table_take(table, job == 1, 600, KNOWN_ROWS, &error), GATHER_OK);
      failing_clear();
      assert_int_equal(known_table_take(table, job == 1, 450, 550, &error), GATHER_OK);
    }
    gather_table_close(table);
  }
}

/* Short reads and interruptions are not seen from outside. */
static void test_hard_weather(void **state) {
  const char *path = known_table_file("a");
  static const int64_t MOST[] = {1, 7, 299, 300, 511, 512, 4095, 4096, 5000, INT64_MAX};
  for (int w = 0; w < WAY_COUNT; w++)
    for (size_t k = 0; works(WAYS[w].engine) && k < sizeof MOST / sizeof *MOST; k++) {
      gather_table *table;
      gather_error error = {0};
      known_table_forget(path);
      gather_status status = open_by(path, &WAYS[w], &table, &error);
      assert_int_equal(status, GATHER_OK);
      if (k > 3) failing_storm(3);
      failing_short(MOST[k]);
      status = known_table_take(table, k % 2 == 1, 0, k < 3 ? 40 : KNOWN_ROWS, &error);
      if (status != GATHER_OK) fail_msg("way %d, %d: %s", w, (int)k, error.message);
      gather_table_close(table);
      failing_clear();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, all_engines_enter, all_engines_leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_each_call), TEST(test_bad_block), TEST(test_hard_weather)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
