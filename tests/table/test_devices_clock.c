/* SPDX-License-Identifier: MIT
 *
 * test_devices_clock.c: the queues of several devices by a clock of the test's own. Reads are made as always, but they come back in the
 * order of this clock: a read takes a device's time, however many others are in flight, so that a device is as fast as its queue is full.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>

#include "support/skip.h"
#include "support/unit.h"
#include "support/wrapped.h"
#include "table/device_table.h"
#include "table/reader.h"

enum { DEPTH = 8, DEVICES = 10, SLOTS = 4096 };

static gather_engine engine = GATHER_ENGINE_PREAD;

/* A read in flight. */
typedef struct {
  const gather_table_source *source; /* NULL = none */
  int64_t offset, due;
  int device;
  bool here; /* it has been made, and waits for its time */
  gather_read made;
} timed_read;

static struct {
  int64_t latency[DEVICES]; /* of the device of each digit */
  int64_t wanted[DEVICES];  /* reads that it will get */
  int64_t now;
  int64_t begun[DEVICES], flying[DEVICES], most[DEVICES];
  int64_t starved; /* waits while a device had room and its reads were not all begun */
  timed_read reads[SLOTS];
} fake;

static timed_read *find_read(const gather_table_source *source, int64_t offset) {
  for (int i = 0; i < SLOTS; i++)
    if (fake.reads[i].source == source && (!source || fake.reads[i].offset == offset)) return &fake.reads[i];
  fail_msg("no such read in flight, or too many");
  return NULL;
}

WRAPPED(gather_status, gather_reader_begin, (gather_reader * reader, const gather_read *read, gather_error *error)) {
  const char *path = read->source->path;
  const int d = path[strlen(path) - 1] - '0';
  *find_read(NULL, 0) = (timed_read){read->source, read->offset, fake.now + fake.latency[d], d, false, {0}};
  fake.begun[d]++;
  if (++fake.flying[d] > fake.most[d]) fake.most[d] = fake.flying[d];
  return REAL(gather_reader_begin)(reader, read, error);
}

/* The read that is due first. */
static timed_read *next_read(void) {
  timed_read *next = NULL;
  for (int i = 0; i < SLOTS; i++)
    if (fake.reads[i].source && (!next || fake.reads[i].due < next->due)) next = &fake.reads[i];
  assert_non_null(next);
  return next;
}

WRAPPED(gather_status, gather_reader_finish, (gather_reader * reader, gather_read *read, int *number, gather_error *error)) {
  for (int d = 0; d < DEVICES; d++) fake.starved += fake.begun[d] < fake.wanted[d] && fake.flying[d] < DEPTH;
  timed_read *next = next_read();
  while (!next->here) {
    gather_status status = REAL(gather_reader_finish)(reader, read, number, error);
    if (status != GATHER_OK) return status;
    timed_read *one = find_read(read->source, read->offset);
    one->made = *read, one->here = true;
  }
  *read = next->made, *number = 0;
  fake.now = next->due;
  fake.flying[next->device]--;
  next->source = NULL;
  return GATHER_OK;
}

/* Parts on devices of these latencies. Takes all, and returns the time. */
static int64_t run(int parts, const int *rows, const int *devices, const int64_t *latency, int queues, device_table *t) {
  gather_error error = {0};
  memset(&fake, 0, sizeof fake);
  fake.now = 1;
  for (int i = 0; i < parts; i++) {
    fake.latency[devices[i]] = latency[devices[i]];
    fake.wanted[devices[i]] += rows[i];
  }
  assert_int_equal(gather_tuning_set("table_queues", queues, &error), GATHER_OK);
  device_table_open(t, parts, rows, devices, engine, DEPTH, 0);
  assert_int_equal(gather_tuning_set("table_queues", 16, &error), GATHER_OK);
  if (device_table_take(t, 0, parts, &error) != GATHER_OK) fail_msg("%s", error.message);
  return fake.now - 1;
}

/* A slow device, and one ten times as fast with ten times the rows: each takes 1000 steps by itself. */
static void test_slow_and_fast(void **state) {
  static const int rows[] = {80, 800}, devices[] = {0, 1};
  static const int64_t latency[] = {100, 10};
  device_table t;
  assert_int_equal(run(2, rows, devices, latency, 16, &t), 1000);
  assert_int_equal(fake.starved, 0); /* each queue is full as long as there is something to read */
  assert_int_equal(fake.most[0], DEPTH);
  assert_int_equal(fake.most[1], DEPTH);
  gather_table_device slow = device_table_at(&t, 0), fast = device_table_at(&t, 1);
  assert_int_equal(slow.reads, 80);
  assert_int_equal(slow.bytes_read, 80 * DEVICE_ROW);
  assert_int_equal(slow.most_in_flight, DEPTH);
  assert_int_equal(slow.depth, DEPTH);
  assert_int_equal(slow.files, 1);
  assert_string_equal(slow.path, t.path[0]);
  assert_int_equal(fast.reads, 800);
  assert_int_equal(fast.most_in_flight, DEPTH);
  assert_true(fast.number != slow.number);
  assert_false(gather_table_device_at(t.table, 2, &fast));
  assert_false(gather_table_device_at(t.table, -1, &fast));
  device_table_close(&t);

  assert_true(run(2, rows, devices, latency, 1, &t) >= 1980); /* one queue reads one device after the other */
  assert_true(fake.starved >= 80 - DEPTH);                    /* the fast one waits for the slow one */
  assert_int_equal(device_table_at(&t, 1).reads, 800);        /* what each device did is counted all the same */
  device_table_close(&t);
}

/* Small parts that take turns: one queue is soon full of the slow device's reads. */
static void test_parts_in_turn(void **state) {
  static const int rows[] = {10, 100, 10, 100, 10, 100, 10, 100}, devices[] = {0, 1, 0, 1, 0, 1, 0, 1};
  static const int64_t latency[] = {100, 10};
  device_table t;
  assert_int_equal(run(8, rows, devices, latency, 16, &t), 500);
  assert_int_equal(fake.starved, 0);
  assert_int_equal(device_table_at(&t, 0).files, 4);
  assert_int_equal(device_table_at(&t, 1).reads, 400);
  device_table_close(&t);
  assert_true(run(8, rows, devices, latency, 1, &t) >= 900);
  device_table_close(&t);
}

/* Equal devices are read at the same time. */
static void test_equal(void **state) {
  static const int rows[] = {80, 80, 80, 80}, devices[] = {3, 1, 4, 9};
  static const int64_t latency[] = {0, 50, 0, 50, 50, 0, 0, 0, 0, 50};
  device_table t;
  assert_int_equal(run(4, rows, devices, latency, 16, &t), 500);
  assert_int_equal(fake.starved, 0);
  device_table_close(&t);
  /* Two queues for four devices: each alternates between two of them. */
  assert_true(run(4, rows, devices, latency, 2, &t) >= 950);
  device_table_close(&t);
  assert_true(run(4, rows, devices, latency, 1, &t) >= 1900);
  device_table_close(&t);
}

/* A device without rows to read, one with fewer than its depth, and files of one device in several parts. */
static void test_few(void **state) {
  static const int rows[] = {3, 40, 1, 40}, devices[] = {0, 1, 2, 1};
  static const int64_t latency[] = {1000, 10, 7};
  device_table t;
  gather_error error = {0};
  assert_int_equal(run(4, rows, devices, latency, 16, &t), 1000);
  assert_int_equal(fake.starved, 0);
  assert_int_equal(fake.most[0], 3);
  fake.now = 1;
  memset(fake.wanted, 0, sizeof fake.wanted);
  assert_int_equal(device_table_take(&t, 1, 2, &error), GATHER_OK);
  assert_int_equal(fake.now, 51);
  gather_table_statistics_reset(t.table);
  assert_int_equal(device_table_at(&t, 1).reads, 0);
  assert_int_equal(device_table_at(&t, 1).most_in_flight, 0);
  device_table_close(&t);
}

/* One device: as before, one queue. */
static void test_one(void **state) {
  static const int rows[] = {40, 40}, devices[] = {5, 5};
  static const int64_t latency[] = {0, 0, 0, 0, 0, 10};
  device_table t;
  assert_int_equal(run(2, rows, devices, latency, 16, &t), 100);
  assert_int_equal(device_table_at(&t, 0).files, 2);
  assert_false(gather_table_device_at(t.table, 1, &(gather_table_device){0}));
  device_table_close(&t);
}

static int leave(void **state) {
  failing_clear();
  return known_leave(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, known_enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_slow_and_fast), TEST(test_parts_in_turn), TEST(test_equal), TEST(test_few), TEST(test_one)};
  gather_error error;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  engine = GATHER_ENGINE_URING;
  if (gather_engine_check(engine, &error) == GATHER_OK) return failed + cmocka_run_group_tests(tests, NULL, NULL);
  printf("SKIPPED io_uring: %s\n", error.message);
  return failed + (gather_test_required("io_uring") ? 1 : 0);
}
