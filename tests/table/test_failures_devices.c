/* SPDX-License-Identifier: MIT
 *
 * test_failures_devices.c: a table on several devices, by every engine: one of them fails, or refuses direct reads; memory for many
 * queues is short.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdint.h>

#include "support/unit.h"
#include "table/all_engines.h"
#include "table/device_table.h"

static const gather_engine ENGINES[] = {GATHER_ENGINE_MMAP, GATHER_ENGINE_PREAD, GATHER_ENGINE_URING, GATHER_ENGINE_AUTO};
enum { ENGINE_COUNT = sizeof ENGINES / sizeof *ENGINES };

static bool works(gather_engine engine) { return gather_engine_check(engine, NULL) == GATHER_OK; }

static bool reads(gather_engine engine) { return works(engine) && engine != GATHER_ENGINE_MMAP && engine != GATHER_ENGINE_AUTO; }

static const int ROWS[] = {60, 20, 60}, ON[] = {0, 1, 0};

static void test_all_engines(void **state) {
  for (int e = 0; e < ENGINE_COUNT; e++) {
    if (!works(ENGINES[e])) continue;
    device_table t;
    gather_error error = {0};
    device_table_open(&t, 3, ROWS, ON, ENGINES[e], 8, 0);
    for (int n = 0; n < 3; n++)
      if (device_table_take(&t, 0, 3, &error) != GATHER_OK) fail_msg("%s", error.message);
    gather_table_statistics all;
    gather_table_statistics_get(t.table, &all);
    gather_table_device a = device_table_at(&t, 0), b = device_table_at(&t, 1);
    assert_int_equal(a.reads + b.reads, all.reads);
    assert_int_equal(a.bytes_read + b.bytes_read, all.bytes_read);
    assert_int_equal(a.files, 2);
    assert_int_equal(b.files, 1);
    if (reads(ENGINES[e])) {
      assert_int_equal(all.rows_read, 3 * 140);
      assert_int_equal(a.reads, 3 * 120);
      assert_int_equal(a.most_in_flight, 8);
      assert_true(a.seconds_reading > 0);
    }
    device_table_close(&t);
  }
}

/* A block of one device cannot be read: the error names its file and row; rows of the other one are right, and all are afterwards. */
static void test_one_fails(void **state) {
  static const int rows[] = {60, 90, 60};
  const int64_t bad = 80 * DEVICE_STEP * DEVICE_ROW + 17; /* behind the end of the other files */
  for (int e = 0; e < ENGINE_COUNT; e++) {
    if (!reads(ENGINES[e])) continue;
    device_table t;
    gather_error error = {0};
    device_table_open(&t, 3, rows, ON, ENGINES[e], 8, 0);
    for (int round = 0; round < 2; round++) {
      failing_at(bad, EIO);
      assert_int_equal(device_table_take(&t, 0, 3, &error), GATHER_IO_ERROR);
      assert_string_equal(error.file, t.path[1]);
      assert_int_equal(error.row, t.first[1] + 80 * DEVICE_STEP);
      assert_int_equal(error.file_offset, bad - 17);
      assert_non_null(strstr(error.message, strerror(EIO)));
      assert_int_equal(device_table_take(&t, 0, 1, &error), GATHER_OK);
      assert_int_equal(device_table_take(&t, 2, 3, &error), GATHER_OK);
      failing_at(-1, 0);
      assert_int_equal(device_table_take(&t, 0, 3, &error), GATHER_OK);
    }
    device_table_close(&t);
  }
}

/* One file system refuses O_DIRECT when a file is opened, or when it is read, and the other one does not. */
static void test_one_refuses(void **state) {
  for (int e = 0; e < ENGINE_COUNT; e++)
    for (int late = 0; late < 2; late++) {
      if (!reads(ENGINES[e])) continue;
      device_table t;
      gather_error error = {0};
      if (!late) failing_set("open direct", 0, 1, EINVAL);
      device_table_open(&t, 3, ROWS, ON, ENGINES[e], 8, 0);
      if (!late) {
        failing_set(NULL, 0, 0, 0);
        assert_false(device_table_at(&t, 0).direct); /* its first file has none */
        gather_table_statistics all;
        gather_table_statistics_get(t.table, &all);
        assert_false(all.direct);
      } else {
        failing_set(ENGINES[e] == GATHER_ENGINE_URING ? "answer direct" : "pread direct", 0, 5, EINVAL);
      }
      if (device_table_take(&t, 0, 3, &error) != GATHER_OK) fail_msg("%s", error.message);
      if (device_table_take(&t, 0, 3, &error) != GATHER_OK) fail_msg("%s", error.message);
      device_table_close(&t);
    }
}

/* No threads can be started for the second queue: the caller reads then. */
static void test_no_threads(void **state) {
  for (int after = 0; after < 10; after += 3) {
    device_table t;
    gather_error error = {0};
    device_table_open(&t, 3, ROWS, ON, GATHER_ENGINE_PREAD, 4, 0);
    failing_set("pthread_create", after, 1000, EAGAIN);
    if (device_table_take(&t, 0, 3, &error) != GATHER_OK) fail_msg("%s", error.message);
    failing_set(NULL, 0, 0, 0);
    if (device_table_take(&t, 0, 3, &error) != GATHER_OK) fail_msg("%s", error.message);
    device_table_close(&t);
  }
}

/* Five devices do not answer before the sixth has read everything: they hold up neither its threads nor the caller. */
static void test_slow_devices(void **state) {
  static const int rows[] = {10, 10, 10, 10, 10, 200}, on[] = {0, 1, 2, 3, 4, 9};
  device_table t;
  gather_error error = {0};
  device_table_open(&t, 6, rows, on, GATHER_ENGINE_PREAD, 8, 0);
  failing_hold(200);
  if (device_table_take(&t, 0, 6, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(failing_gave_up(), 0);
  for (int d = 0; d < 6; d++) assert_int_equal(device_table_at(&t, d).most_in_flight, 8);
  device_table_close(&t);
}

/* Little memory for the queues of ten devices. */
static void test_ceiling(void **state) {
  static const int rows[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, on[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (int e = 0; e < ENGINE_COUNT; e++) {
    if (!works(ENGINES[e])) continue;
    device_table t;
    gather_error error = {0};
    device_table_open(&t, 10, rows, on, ENGINES[e], 4096, GATHER_TABLE_LEAST_MEMORY);
    if (device_table_take(&t, 0, 10, &error) != GATHER_OK) fail_msg("%s", error.message);
    gather_table_statistics all;
    gather_table_statistics_get(t.table, &all);
    assert_true(all.memory_peak > 0 && all.memory_peak <= GATHER_TABLE_LEAST_MEMORY);
    assert_true(device_table_at(&t, 9).depth >= 1);
    assert_false(gather_table_device_at(t.table, 10, &(gather_table_device){0}));
    device_table_close(&t);
  }
}

/* Memory for each part of a reader runs out in turn. */
static void test_no_memory(void **state) {
  for (int e = 0; e < ENGINE_COUNT; e++)
    for (int n = 0; works(ENGINES[e]) && n < 12; n++) {
      device_table t;
      gather_error error = {0};
      device_table_open(&t, 3, ROWS, ON, ENGINES[e], 8, 0);
      failing_set(n % 2 ? "pthread_cond_init" : "gather_alloc", n / 2, 1, ENOMEM);
      gather_status status = device_table_take(&t, 0, 3, &error);
      if (status != GATHER_OK) assert_int_equal(status, GATHER_OUT_OF_MEMORY);
      failing_set(NULL, 0, 0, 0);
      if (device_table_take(&t, 0, 3, &error) != GATHER_OK) fail_msg("%s", error.message);
      device_table_close(&t);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, all_engines_enter, all_engines_leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_all_engines),  TEST(test_one_fails), TEST(test_one_refuses), TEST(test_no_threads),
                                     TEST(test_slow_devices), TEST(test_ceiling),   TEST(test_no_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
