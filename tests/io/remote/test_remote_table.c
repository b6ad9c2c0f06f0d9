/* SPDX-License-Identifier: MIT
 *
 * test_remote_table.c: tables of a file on another machine, which fake_remote.c plays: rows, requests, memory, errors, cancelling, jobs,
 * threads, and a child of fork().
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gather/table.h"
#include "io/remote/fake_remote.h"
#include "support/fail_each.h"
#include "support/skip.h"
#include "support/unit.h"

enum { KIB = 1 << 10, MIB = 1 << 20, HEADER = 128, MOST = 64 * MIB };

static char *file;
static int64_t file_bytes;
static char *rows_out;

static uint64_t state = 7;
static uint64_t draw(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

/* A file of uint8 rows. */
static void make_file(int64_t rows, int64_t row_bytes) {
  char text[HEADER];
  const int len = snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': (%lld, %lld), }", (long long)rows,
                           (long long)row_bytes);
  assert_true(HEADER + rows * row_bytes <= MOST);
  memset(file, ' ', HEADER);
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(file + 10, text, (size_t)len);
  file[HEADER - 1] = '\n';
  for (int64_t i = 0; i < rows * row_bytes; i++) file[HEADER + i] = (char)(draw() & 0xff);
  file_bytes = HEADER + rows * row_bytes;
  fake_begin(file, file_bytes);
}

static gather_table *open_table(int64_t memory, int64_t cache, int32_t depth, int64_t gap) {
  gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_error error;
  gather_table *table = NULL;
  remote.gap_bytes = gap;
  remote.connections = fake.costs.connections;
  options.remote = &remote;
  options.memory_bytes = memory;
  options.cache_bytes = cache;
  options.depth = depth;
  const gather_status status = gather_table_open(FAKE_URL, &options, &table, &error);
  if (status != GATHER_OK) print_message("%s\n", error.message);
  assert_status(status, GATHER_OK);
  fake.count = 0; /* only requests of rows are counted */
  return table;
}

static void close_table(gather_table *table) {
  gather_table_close(table);
  assert_int_equal(fake.clients, 1);
  assert_int_equal(fake.opened, 1);
  assert_int_equal(fake.clients_open, 0);
  assert_int_equal(fake.objects_open, 0);
  assert_int_equal(fake.queues_open, 0);
  assert_int_equal(fake.in_flight, 0);
}

static gather_status take_with(gather_table *table, const int64_t *ids, int64_t count, char *out, const gather_table_take_options *options,
                               gather_error *error) {
  const gather_table_info *info = gather_table_describe(table);
  const int64_t shape[2] = {count, info->row_bytes};
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, shape), to = tensor_of(GATHER_TYPE_UINT8, out, 2, shape);
  return gather_table_take(table, &indices, &to, options, error);
}

static void check_rows(const gather_table *table, const int64_t *ids, int64_t count, const char *out) {
  const int64_t row_bytes = gather_table_describe(table)->row_bytes;
  for (int64_t i = 0; i < count; i++) assert_memory_equal(out + i * row_bytes, file + HEADER + ids[i] * row_bytes, (size_t)row_bytes);
}

static void take(gather_table *table, const int64_t *ids, int64_t count) {
  gather_error error;
  const gather_status status = take_with(table, ids, count, rows_out, NULL, &error);
  if (status != GATHER_OK) print_message("%s\n", error.message);
  assert_status(status, GATHER_OK);
  check_rows(table, ids, count, rows_out);
}

static int64_t bytes_read(void) {
  int64_t bytes = 0;
  for (int i = 0; i < fake.count; i++) bytes += fake.length[i];
  return bytes;
}

/* ---- rows */

static void test_rows(void **unused) {
  enum { ROWS = 100000, COUNT = 3000 };
  static int64_t ids[COUNT];
  for (int reversed = 0; reversed < 2; reversed++) {
    make_file(ROWS, 64);
    fake.last_first = reversed;
    gather_table *table = open_table(0, 0, 0, -1);
    for (int i = 0; i < COUNT; i++) ids[i] = (int64_t)(draw() % ROWS);
    ids[1] = ids[0], ids[COUNT - 1] = ids[0], ids[2] = 0, ids[3] = ROWS - 1;
    take(table, ids, COUNT);
    assert_true(bytes_read() >= COUNT / 2 * 64);
    assert_true(fake.peak <= 64 + 64 / 4 + 1);
    close_table(table);
  }
}

/* Each row is asked for once, neighbours together, and with the gap 0 nothing else. */
static void test_once(void **unused) {
  static const int64_t ids[] = {900, 5, 6, 7, 5, 900, 4, 100, 102};
  make_file(1000, 100);
  gather_table *table = open_table(0, 0, 0, 0);
  take(table, ids, COUNT(ids));
  assert_int_equal(fake.count, 4); /* 4 to 7, 100, 102, 900 */
  assert_int_equal(bytes_read(), 7 * 100);
  fake.count = 0;
  close_table(table);
  make_file(1000, 100);
  table = open_table(0, 0, 0, 100);
  take(table, ids, COUNT(ids));
  assert_int_equal(fake.count, 3); /* 100 to 102 */
  assert_int_equal(bytes_read(), 8 * 100);
  close_table(table);
}

/* Dense rows: the gap of the model joins them; sparse ones are asked for alone. */
static void test_gap(void **unused) {
  enum { ROWS = 500000, COUNT = 2000 };
  static int64_t ids[COUNT];
  gather_remote_statistics statistics;
  make_file(ROWS, 64);
  gather_table *table = open_table(0, 0, 0, -1);
  for (int i = 0; i < COUNT; i++) ids[i] = i * 4;
  take(table, ids, COUNT);
  assert_true(fake.count <= 10); /* 512 KB of the file */
  assert_true(gather_table_remote_statistics(table, &statistics));
  assert_true(statistics.gap_bytes >= 3 * 64);
  assert_int_equal(statistics.bytes_useful, COUNT * 64);
  fake.count = 0;
  fake.costs = (gather_remote_costs){0.001, 1e6, 64, 0, 0, false}; /* near, and slow: bytes cost more than requests */
  for (int i = 0; i < COUNT; i++) ids[i] = i * 250;
  take(table, ids, COUNT);
  assert_int_equal(fake.count, COUNT);
  assert_int_equal(bytes_read(), COUNT * 64);
  close_table(table);
}

/* The network turns out to be faster than the first answer said: rows without a request are joined then, and no row is read twice. While
 * little has arrived, few gaps are read. */
static void test_joined_anew(void **unused) {
  enum { ROWS = 500000, COUNT = 4000, EVERY = 100, ROW = 64 };
  static int64_t ids[COUNT];
  static char seen[ROWS];
  for (int learns = 0; learns < 2; learns++) {
    make_file(ROWS, ROW);
    fake.costs = (gather_remote_costs){0.04, 1e5, 64, 0, 65536, false};
    gather_table *table = open_table(0, 0, 0, -1);
    fake.later = (gather_remote_costs){0.04, 125e6, 64, 0, 65536, false};
    fake.later_from = learns ? 1 : 0;
    for (int i = 0; i < COUNT; i++) ids[i] = i * EVERY;
    take(table, ids, COUNT);
    if (!learns) assert_int_equal(fake.count, COUNT);
    if (learns) assert_in_range(fake.count, 64 + 1, COUNT * 3 / 4);
    memset(seen, 0, sizeof seen);
    int64_t most = 65536;
    for (int i = 0; i < fake.count; i++) {
      const int64_t first = (fake.offset[i] - HEADER) / ROW, rows = fake.length[i] / ROW;
      for (int64_t r = first; r < first + rows; r += EVERY) assert_int_equal(seen[r]++, 0);
      most += fake.length[i];
    }
    assert_true(bytes_read() - COUNT * ROW <= most);
    assert_true(fake.length[0] == ROW && fake.length[63] == ROW); /* before the first answer */
    close_table(table);
  }
}

/* Rows in runs of different lengths: the long requests begin first. */
static void test_longest_first(void **unused) {
  static const int RUNS[] = {1, 40, 3, 200, 1, 9, 80, 2, 600, 1};
  static int64_t ids[2000];
  int64_t count = 0, row = 0;
  make_file(100000, 64);
  gather_table *table = open_table(0, 0, 0, 0);
  for (size_t r = 0; r < COUNT(RUNS); r++, row += 5000)
    for (int i = 0; i < RUNS[r]; i++) ids[count++] = row + i;
  take(table, ids, count);
  assert_int_equal(fake.count, 10);
  for (int i = 1; i < fake.count; i++) assert_true(fake.length[i] <= fake.length[i - 1]);
  assert_int_equal(fake.length[0], 600 * 64);
  close_table(table);
}

/* Most of the file: it is read in parts as long as a buffer. */
static void test_large_parts(void **unused) {
  enum { ROWS = 500000 };
  static int64_t ids[ROWS];
  make_file(ROWS, 64);
  fake.costs.connections = 4;
  gather_table *table = open_table(0, 0, 0, -1);
  int64_t count = 0;
  for (int64_t i = 0; i < ROWS; i += 2) ids[count++] = i;
  take(table, ids, count);
  assert_true(bytes_read() <= ROWS * 64);
  assert_true(fake.count <= 8);
  close_table(table);
}

/* ---- memory */

static void test_memory(void **unused) {
  static const int64_t LIMITS[] = {1 * MIB, 2 * MIB, 16 * MIB, 256 * MIB, 0};
  static const int64_t ROW_BYTES[] = {1, 64, 5000, 100000, 3 * MIB};
  int64_t ids[200];
  for (size_t r = 0; r < COUNT(ROW_BYTES); r++)
    for (size_t l = 0; l < COUNT(LIMITS); l++) {
      const int64_t rows = ROW_BYTES[r] == 3 * MIB ? 8 : 500, count = rows == 8 ? 6 : 200;
      gather_table_statistics statistics;
      make_file(rows, ROW_BYTES[r]);
      gather_table *table = open_table(LIMITS[l], -1, 0, -1);
      for (int i = 0; i < count; i++) ids[i] = (int64_t)(draw() % (uint64_t)rows);
      take(table, ids, count);
      take(table, ids, count); /* some from the cache */
      gather_table_statistics_get(table, &statistics);
      assert_string_equal(gather_engine_name(statistics.engine), "http");
      assert_false(statistics.direct);
      assert_int_equal(statistics.rows_resident, 0);
      assert_int_equal(statistics.rows_cached + statistics.rows_read, 2 * count);
      if (LIMITS[l] > 0) assert_true(statistics.memory_peak <= LIMITS[l]);
      if (LIMITS[l] == 0 && ROW_BYTES[r] < 100000) assert_true(statistics.rows_cached >= count); /* at once */
      assert_true(fake.peak <= statistics.depth);
      close_table(table);
    }
}

/* With a cache on disk, a request also has room for the whole blocks around it: within the limit, so there are fewer at a time. */
static void test_memory_of_blocks(void **unused) {
  enum { BLOCK = 64 * KIB };
  static int64_t ids[200];
  int32_t depth[2];
  for (int cached = 0; cached < 2; cached++) {
    gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
    gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
    gather_table_statistics statistics;
    gather_table *table = NULL;
    gather_error error;
    make_file(5000, 64);
    remote.cache_folder = cached ? "/nonexistent" : NULL; /* the played client has no use for it */
    options.remote = &remote, options.memory_bytes = 16 * MIB;
    assert_status(gather_table_open(FAKE_URL, &options, &table, &error), GATHER_OK);
    for (int i = 0; i < 200; i++) ids[i] = i * 25;
    take(table, ids, 200);
    gather_table_statistics_get(table, &statistics);
    depth[cached] = statistics.depth;
    assert_true(statistics.memory_peak <= 16 * MIB);
    assert_true(fake.peak <= statistics.depth);
    if (cached) assert_true(statistics.memory_peak >= (int64_t)statistics.depth * 2 * BLOCK);
    close_table(table);
  }
  assert_true(depth[1] < depth[0] && (int64_t)depth[1] * 2 * BLOCK <= 4 * MIB);
}

/* ---- errors */

static void test_error(void **unused) {
  enum { ROWS = 1000, ROW = 100 };
  static int64_t ids[ROWS];
  gather_error error;
  make_file(ROWS, ROW);
  gather_table *table = open_table(0, 0, 0, 0);
  for (int i = 0; i < ROWS / 2; i++) ids[i] = i * 2;
  fake.broken = HEADER + 402 * ROW + 17;
  assert_status(take_with(table, ids, ROWS / 2, rows_out, NULL, &error), GATHER_IO_ERROR);
  assert_int_equal(error.row, 402);
  assert_int_equal(error.file_offset, fake.broken);
  assert_string_equal(error.file, FAKE_URL);
  assert_non_null(strstr(error.message, "status 500"));
  assert_int_equal(fake.in_flight, 0);
  fake.broken = -1;
  take(table, ids, ROWS / 2); /* the table is still good */
  fake.broken = 0;
  const int64_t bad[] = {0, ROWS};
  fake.count = 0;
  assert_status(take_with(table, bad, 2, rows_out, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(fake.count, 0);
  close_table(table);
}

static void test_refused(void **unused) {
  static const char *const MIXED[] = {FAKE_URL, "/nonexistent/local.npy"}, *const OTHER[] = {"/nonexistent/local.npy", FAKE_URL};
  gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = NULL;
  gather_error error;
  make_file(10, 10);
  assert_status(gather_table_open(FAKE_URL, &options, &table, &error), GATHER_FILE_NOT_FOUND); /* a local name */
  assert_int_equal(fake.clients, 0);
  options.remote = &remote;
  assert_status(gather_table_open_parts(MIXED, 2, &options, &table, &error), GATHER_UNSUPPORTED);
  assert_status(gather_table_open("https://fake.example/other.npy", &options, &table, &error), GATHER_FILE_NOT_FOUND);
  assert_status(gather_table_open_parts(OTHER, 2, &options, &table, &error), GATHER_FILE_NOT_FOUND);
  assert_status(gather_table_open(FAKE_URL ":other", &options, &table, &error), GATHER_NAME_NOT_FOUND);
  options.engine = GATHER_ENGINE_PREAD;
  assert_status(gather_table_open(FAKE_URL, &options, &table, &error), GATHER_USAGE);
  options.engine = GATHER_ENGINE_HTTP;
  assert_status(gather_table_open("/nonexistent/local.npy", &options, &table, &error), GATHER_USAGE);
  assert_status(gather_table_open(FAKE_URL, &options, &table, &error), GATHER_OK);
  gather_table_close(table);
  assert_int_equal(fake.clients_open, 0);
  assert_int_equal(fake.objects_open, 0);
}

/* ---- cancelling, jobs, threads, fork */

static bool stop_later(void *context) {
  int *left = context;
  return --*left < 0;
}

static void test_cancel(void **unused) {
  static int64_t ids[1000];
  int left = 40;
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_error error;
  make_file(1000, 100);
  gather_table *table = open_table(0, 0, 8, 0);
  for (int i = 0; i < 1000; i++) ids[i] = i / 2 * 2;
  fake.stalled = HEADER + 50; /* row 0 is never answered */
  options.stop = stop_later, options.stop_context = &left;
  assert_status(take_with(table, ids, 20, rows_out, &options, &error), GATHER_CANCELLED);
  assert_true(fake.waits > 10);
  assert_int_equal(fake.cancelled, 1);
  fake.stalled = -1;
  take(table, ids, 1000);
  close_table(table);
}

static void test_jobs(void **unused) {
  enum { JOBS = 6, EACH = 500 };
  static int64_t ids[JOBS][EACH];
  gather_table_job *jobs[JOBS];
  gather_error error;
  make_file(5000, 64);
  gather_table *table = open_table(0, 0, 0, -1);
  const int64_t shape[2] = {EACH, 64};
  for (int j = 0; j < JOBS; j++) {
    for (int i = 0; i < EACH; i++) ids[j][i] = (int64_t)(draw() % 5000);
    const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids[j], 1, shape);
    const gather_tensor out = tensor_of(GATHER_TYPE_UINT8, rows_out + j * EACH * 64, 2, shape);
    assert_status(gather_table_submit(table, &indices, &out, NULL, &jobs[j], &error), GATHER_OK);
  }
  for (int j = 0; j < JOBS; j++) {
    assert_status(gather_table_wait(jobs[j], &error), GATHER_OK);
    check_rows(table, ids[j], EACH, rows_out + j * EACH * 64);
  }
  fake.stalled = HEADER;
  ids[0][0] = 0;
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids[0], 1, shape), out = tensor_of(GATHER_TYPE_UINT8, rows_out, 2, shape);
  assert_status(gather_table_submit(table, &indices, &out, NULL, &jobs[0], &error), GATHER_OK);
  assert_false(gather_table_job_await(jobs[0], 0.05));
  gather_table_job_cancel(jobs[0]);
  assert_status(gather_table_wait(jobs[0], &error), GATHER_CANCELLED);
  close_table(table);
}

enum { THREADS = 6, TAKES = 20, THREAD_ROWS = 300 };

static void *take_many(void *argument) {
  gather_table *table = argument;
  char *out = malloc(THREAD_ROWS * 64);
  int64_t ids[THREAD_ROWS];
  uint64_t mine = (uint64_t)(uintptr_t)&mine;
  intptr_t wrong = 0;
  for (int t = 0; t < TAKES; t++) {
    for (int i = 0; i < THREAD_ROWS; i++) ids[i] = (int64_t)((mine = mine * 6364136223846793005u + 1) >> 33) % 5000;
    gather_error error;
    if (take_with(table, ids, THREAD_ROWS, out, NULL, &error) != GATHER_OK) wrong++;
    for (int i = 0; i < THREAD_ROWS; i++) wrong += memcmp(out + i * 64, file + HEADER + ids[i] * 64, 64) != 0;
  }
  free(out);
  return (void *)wrong;
}

static void test_threads(void **unused) {
  pthread_t threads[THREADS];
  make_file(5000, 64);
  gather_table *table = open_table(0, 10000, 0, -1);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, take_many, table), 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
  close_table(table);
}

static void test_fork(void **unused) {
#if defined(GATHER_TEST_TSAN)
  GATHER_TEST_SKIP("fork", "ThreadSanitizer does not follow threads into a child");
#endif
  static const int64_t ids[] = {3, 999, 4, 500};
  int how = 0;
  make_file(1000, 64);
  gather_table *table = open_table(0, -1, 0, -1);
  take(table, ids, COUNT(ids));
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    gather_error error;
    memset(rows_out, 0, 4 * 64);
    bool good = take_with(table, ids, COUNT(ids), rows_out, NULL, &error) == GATHER_OK;
    for (int i = 0; i < 4; i++) good = good && memcmp(rows_out + i * 64, file + HEADER + ids[i] * 64, 64) == 0;
    _exit(good ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  take(table, ids, COUNT(ids));
  close_table(table);
}

/* ---- shapes */

static void test_tuples(void **unused) {
  static const int64_t tuples[] = {7, 20, 999, 49, 0, 0, 7, 21};
  const int64_t shape[2] = {4, 2}, all[3] = {1000, 50, 20}, out_shape[2] = {4, 20};
  const gather_raw raw = {"uint8", 3, all, HEADER, true};
  gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table_take_options how = GATHER_TABLE_TAKE_INIT;
  gather_table *table = NULL;
  gather_error error;
  make_file(1000, 1000);
  remote.gap_bytes = 0;
  options.remote = &remote, options.raw = &raw;
  assert_status(gather_table_open(FAKE_URL, &options, &table, &error), GATHER_OK);
  fake.count = 0;
  how.op = gather_op_find("GatherND", "onnx-13");
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, tuples, 2, shape), out = tensor_of(GATHER_TYPE_UINT8, rows_out, 2, out_shape);
  assert_status(gather_table_take(table, &indices, &out, &how, &error), GATHER_OK);
  for (int i = 0; i < 4; i++) assert_memory_equal(rows_out + i * 20, file + HEADER + tuples[2 * i] * 1000 + tuples[2 * i + 1] * 20, 20);
  assert_int_equal(fake.count, 3); /* (7, 20) and (7, 21) are neighbours */
  assert_int_equal(bytes_read(), 80);
  close_table(table);
}

/* Raw rows of an unknown number; no rows; rows of no bytes. */
static void test_lengths(void **unused) {
  static const int64_t SHAPES[][2] = {{-1, 16}, {-1, 7}, {0, 16}, {5, 0}};
  gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_error error;
  options.remote = &remote;
  for (size_t s = 0; s < COUNT(SHAPES); s++) {
    const gather_raw raw = {"uint8", 2, SHAPES[s], HEADER, true};
    gather_table *table = NULL;
    make_file(1000, 10);
    options.raw = &raw;
    assert_status(gather_table_open(FAKE_URL, &options, &table, &error), GATHER_OK);
    const int64_t rows = gather_table_describe(table)->rows, ids[2] = {rows - 1, 0};
    assert_int_equal(rows, SHAPES[s][0] < 0 ? 10000 / SHAPES[s][1] : SHAPES[s][0]);
    take(table, ids, rows > 0 ? 2 : 0);
    gather_table_close(table);
  }
  assert_int_equal(fake.clients_open, 0);
}

/* ---- out of memory */

static const int64_t FEW_IDS[] = {900, 5, 6, 900, 4};

static gather_status open_and_take(const void *remote, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = NULL;
  options.remote = remote;
  make_file(1000, 64);
  gather_status status = gather_table_open(FAKE_URL, &options, &table, error);
  if (status == GATHER_OK) status = take_with(table, FEW_IDS, COUNT(FEW_IDS), rows_out, NULL, error);
  fail_no_more();
  if (table) take(table, FEW_IDS, COUNT(FEW_IDS));
  gather_table_close(table);
  assert_int_equal(fake.clients_open + fake.objects_open + fake.queues_open + fake.in_flight, 0);
  return status;
}

/* Every allocation of an open and a take fails once: an exact error, nothing left behind, and a table that opened can be used. It may do
 * without, such as the cache. */
static void test_memory_fails(void **unused) {
  const gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
  (void)fail_each_as(open_and_take, &remote, GATHER_OK, FAIL_EVERY | FAIL_OR_WITHOUT);
  assert_true(told_failures > 5);
}

static int set_up(void **unused) {
  file = malloc(MOST);
  rows_out = malloc(MOST);
  return file && rows_out ? 0 : -1;
}

static int tear_down(void **unused) {
  free(file);
  free(rows_out);
  return 0;
}

TESTS_WITHIN(set_up, tear_down, test_rows, test_once, test_gap, test_joined_anew, test_longest_first, test_large_parts, test_memory,
             test_memory_of_blocks, test_error, test_refused, test_cancel, test_jobs, test_threads, test_fork, test_memory_fails,
             test_tuples, test_lengths)
