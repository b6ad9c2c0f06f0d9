/* SPDX-License-Identifier: MIT
 *
 * test_engines_cancel.c: takes and jobs that are ended early, at each point where the caller is asked, by every engine: the table is as
 * good as before, and a take that waits for its turn ends too.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "table/test_engines.h"

enum { ROW = 512, ROWS = 20000, IDS = 30000 };

static known_file file;
static int64_t ids[IDS];
static uint8_t *out;

static int make_table(void **unused) {
  uint64_t state = 7;
  file = make_file("cancel", (int64_t)ROW * ROWS);
  out = malloc((size_t)ROW * IDS);
  for (int i = 0; i < IDS; i++) ids[i] = below(&state, 2 * ROWS) - ROWS;
  return out ? 0 : -1;
}

static int remove_table(void **unused) {
  remove_file(&file);
  free(out);
  return 0;
}

/* A function that says at its call number `at` that the take shall end, and goes on saying so. */
typedef struct asked {
  atomic_int calls;
  int at; /* 0 = never */
} asked;

static bool stop(void *context) {
  asked *a = context;
  int call = atomic_fetch_add(&a->calls, 1) + 1;
  return a->at > 0 && call >= a->at;
}

static gather_status take_until(gather_table *table, asked *a, uint8_t *to, int64_t len, gather_error *error) {
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(len)), rows = tensor_of(GATHER_TYPE_UINT8, to, 2, DIMS(len, ROW));
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  options.stop = stop, options.stop_context = a;
  return gather_table_take(table, &indices, &rows, &options, error);
}

static void check_rows(gather_table *table) {
  gather_error error = dirty_error();
  memset(out, 0xEE, (size_t)ROW * IDS);
  assert_status(take_rows(table, ids, IDS, out, &error), GATHER_OK);
  assert_int_equal(first_wrong(&file, ROWS, ROW, 0, ids, IDS, out), -1);
}

/* Whether a take that is ended at that call was ended; false where it asked less often. */
static bool ends_at(gather_table *table, int at) {
  gather_error error = dirty_error();
  gather_table_statistics before, after;
  asked a = {.at = at};
  evict(file.path);
  gather_table_statistics_get(table, &before);
  gather_status status = take_until(table, &a, out, IDS, &error);
  gather_table_statistics_get(table, &after);
  if (status == GATHER_OK) {
    assert_true(atomic_load(&a.calls) < at && after.takes == before.takes + 1);
    assert_int_equal(first_wrong(&file, ROWS, ROW, 0, ids, IDS, out), -1);
    return false;
  }
  assert_status(status, GATHER_CANCELLED);
  assert_error(&error, GATHER_CANCELLED);
  assert_int_equal(atomic_load(&a.calls), at); /* and nobody was asked again */
  assert_int_equal(after.takes, before.takes);
  return true;
}

static void every_call_may_be_the_last(void **unused) {
  for (int engine = 0; engine < 4; engine++) {
    for (int n = 0; n < 4 && engine_works((gather_engine)engine); n++) {
      const setting how = {(gather_engine)engine, n == 1, n == 2 && engine != GATHER_ENGINE_MMAP, 0, n == 3 ? 0 : -1, 4};
      gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
      int ended = 0;
      for (int at = 1; at < 3000 && ends_at(table, at); at += 1 + at / 2) ended++;
      assert_true(ended > 3);
      check_rows(table);
      gather_table_close(table);
    }
  }
}

/* Rows that are all in memory: whole, or in a cache. */
static void rows_in_memory_too(void **unused) {
  for (int mapped = 0; mapped < 2; mapped++) {
    const setting how = {GATHER_ENGINE_AUTO, false, !mapped, 0, 64 * MIB, 0};
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
    gather_error error = dirty_error();
    check_rows(table);
    check_rows(table);
    for (int at = 1; at < 4; at++) {
      asked a = {.at = at};
      assert_status(take_until(table, &a, out, IDS, &error), GATHER_CANCELLED);
    }
    asked never = {.at = 0};
    assert_status(take_until(table, &never, out, IDS, &error), GATHER_OK);
    assert_true(atomic_load(&never.calls) >= 3);
    check_rows(table);
    gather_table_close(table);
  }
}

/* ---- who waits for a turn -------------------------------------------------------------------------------------------- */

/* A take that has the only worker, and keeps it until it is told. */
typedef struct holder {
  gather_table *table;
  uint8_t *out;
  atomic_int calls;
  atomic_bool has, let_go;
  gather_status status;
} holder;

static bool hold(void *context) {
  holder *h = context;
  if (atomic_fetch_add(&h->calls, 1) < 60) return false; /* the first chunk was swept, and reads have begun */
  atomic_store(&h->has, true);
  while (!atomic_load(&h->let_go)) usleep(1000);
  return true;
}

static void *take_and_hold(void *argument) {
  holder *h = argument;
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(IDS)),
                      rows = tensor_of(GATHER_TYPE_UINT8, h->out, 2, DIMS(IDS, ROW));
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  options.stop = hold, options.stop_context = h;
  h->status = gather_table_take(h->table, &indices, &rows, &options, NULL);
  return NULL;
}

static gather_table_job *submit(gather_table *table, uint8_t *to) {
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(IDS)), rows = tensor_of(GATHER_TYPE_UINT8, to, 2, DIMS(IDS, ROW));
  gather_table_job *job = NULL;
  assert_status(gather_table_submit(table, &indices, &rows, NULL, &job, NULL), GATHER_OK);
  return job;
}

/* Without a cache and a mapping each row has to be read, and of such a ceiling there is one worker. */
static gather_table *table_of_one_worker(void) {
  setting how = {GATHER_ENGINE_PREAD, false, true, 0, 0, 2};
  how.memory_bytes = least_memory(file.path, ROW, &how);
  return open_rows(file.path, ROWS, ROW, 0, &how);
}

static void who_waits_is_ended_too(void **unused) {
  gather_table *table = table_of_one_worker();
  holder h = {.table = table, .out = malloc((size_t)ROW * IDS)};
  pthread_t thread;
  gather_error error = dirty_error();
  assert_non_null(h.out);
  assert_int_equal(pthread_create(&thread, NULL, take_and_hold, &h), 0);
  while (!atomic_load(&h.has)) usleep(1000);
  asked a = {.at = 60}; /* its own sweep is behind it by then, and it waits for the worker */
  assert_status(take_until(table, &a, out, IDS, &error), GATHER_CANCELLED);
  gather_table_job *job = submit(table, out), *other = submit(table, out);
  assert_false(gather_table_job_await(job, 0));
  assert_false(gather_table_job_await(job, 0.05));
  assert_false(gather_table_job_await(job, -1));
  gather_table_job_cancel(job);
  gather_table_job_cancel(job);
  gather_table_job_cancel(NULL);
  assert_true(gather_table_job_await(job, 1e300));
  assert_true(gather_table_job_await(job, 0));
  assert_status(gather_table_wait(job, &error), GATHER_CANCELLED);
  gather_table_job_cancel(other); /* one that has not begun */
  assert_status(gather_table_wait(other, &error), GATHER_CANCELLED);
  atomic_store(&h.let_go, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_status(h.status, GATHER_CANCELLED);
  check_rows(table);
  job = submit(table, out);
  assert_true(gather_table_job_await(job, 100));
  gather_table_job_cancel(job); /* too late */
  assert_status(gather_table_wait(job, &error), GATHER_OK);
  gather_table_close(table);
  free(h.out);
}

/* Many at once, each ended at some moment. */
static void jobs_are_ended_at_any_moment(void **unused) {
  enum { JOBS = 6 };
  uint64_t state = 11;
  int ended = 0;
  for (int engine = 0; engine < 4; engine++) {
    const setting how = {(gather_engine)engine, false, false, 0, 0, 2};
    if (!engine_works(how.engine)) continue;
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
    uint8_t *outs = malloc((size_t)ROW * IDS * JOBS);
    assert_non_null(outs);
    for (int round = 0; round < 5; round++) {
      gather_table_job *jobs[JOBS];
      evict(file.path);
      for (int i = 0; i < JOBS; i++) jobs[i] = submit(table, outs + (int64_t)i * ROW * IDS);
      usleep((useconds_t)below(&state, 20000));
      for (int i = 0; i < JOBS; i += 2) gather_table_job_cancel(jobs[i]);
      for (int i = 0; i < JOBS; i++) {
        gather_status status = gather_table_wait(jobs[i], NULL);
        assert_true(status == GATHER_OK || (i % 2 == 0 && status == GATHER_CANCELLED));
        ended += status == GATHER_CANCELLED;
        if (status == GATHER_OK) assert_int_equal(first_wrong(&file, ROWS, ROW, 0, ids, IDS, outs + (int64_t)i * ROW * IDS), -1);
      }
    }
    check_rows(table);
    free(outs);
    gather_table_close(table);
  }
  assert_true(ended > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_may_be_the_last), cmocka_unit_test(rows_in_memory_too),
                                     cmocka_unit_test(who_waits_is_ended_too), cmocka_unit_test(jobs_are_ended_at_any_moment)};
  int skipped = engine_skips();
  return cmocka_run_group_tests(tests, make_table, remove_table) + skipped;
}
