/* SPDX-License-Identifier: MIT
 *
 * test_scatter_plans.c: plans: made once and run often, by several threads at once, in place and not; indices that are kept, kept again,
 * and kept in vain; indices that are only checked; calls that are refused; the plan's line; the largest numbers of loops,
 * places and updates.
 */
#include <pthread.h>

#include "gather/scatter.h"
#include "support/machines.h"
#include "support/unit.h"

enum { ROWS = 50, LEN = 7, MANY = 4000, THREADS = 4, TURNS = 8 };

static int32_t data[ROWS][LEN], updates[MANY][LEN];
static int64_t indices[MANY], others[MANY];
static gather_pool *pool;

static int begin(void **state) {
  for (int i = 0; i < MANY; i++) {
    indices[i] = i * 7919 % (2 * ROWS) - ROWS, others[i] = (i * 31 + i / 7) % ROWS;
    for (int k = 0; k < LEN; k++) updates[i][k] = i * 1000 + k;
  }
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < LEN; k++) data[i][k] = i - k;
  return gather_pool_create(3, &pool, NULL) != GATHER_OK;
}
static int end(void **state) {
  gather_pool_destroy(pool);
  return 0;
}

/* The loop, of differences: their order matters for nothing else. */
static void loop(const int64_t *by, gather_reduction reduction, int32_t out[ROWS][LEN]) {
  memcpy(out, data, sizeof data);
  for (int i = 0; i < MANY; i++)
    for (int k = 0; k < LEN; k++) {
      int32_t *at = &out[by[i] < 0 ? by[i] + ROWS : by[i]][k];
      *at = reduction == GATHER_REDUCTION_NONE ? updates[i][k] : (int32_t)((uint32_t)*at - (uint32_t)updates[i][k]);
    }
}

static gather_scatter_plan *plan_of(gather_reduction reduction, bool unique) {
  gather_scatter_plan *plan = NULL;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  const gather_tensor in = tensor_of(GATHER_TYPE_INT32, NULL, 2, DIMS(ROWS, LEN)), by = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(MANY));
  const gather_tensor from = tensor_of(GATHER_TYPE_INT32, NULL, 2, DIMS(MANY, LEN));
  options.reduction = reduction, options.unique = unique;
  assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, &from, NULL, &options, &plan, NULL), GATHER_OK);
  return plan;
}

static gather_scatter_run run_of(const void *by, void *out) {
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  run.data = data, run.indices = by, run.updates = updates, run.out = out;
  return run;
}

static void assert_runs(const gather_scatter_plan *plan, const void *by, const int64_t *as, gather_reduction reduction) {
  static int32_t out[ROWS][LEN], want[ROWS][LEN];
  for (int how = 0; how < 4; how++) { /* in place and not, with threads and without */
    gather_scatter_run run = run_of(by, out);
    int64_t bad = -1;
    memcpy(out, data, sizeof data);
    if (how & 1)
      run.data = out;
    else
      memset(out, 0x5A, sizeof out);
    run.executor = how & 2 ? gather_pool_executor(pool) : NULL, run.bad_count = &bad;
    assert_status(gather_scatter_plan_run(plan, &run, NULL), GATHER_OK);
    loop(as, reduction, want);
    assert_memory_equal(out, want, sizeof out);
    assert_int_equal(bad, 0);
  }
}

static void runs(void **state) {
  for (int method = 0; method < 7; method++) {
    assert_status(gather_tuning_set("scatter_method", method, NULL), GATHER_OK);
    gather_scatter_plan *plan = plan_of(GATHER_REDUCTION_SUB, false);
    assert_runs(plan, indices, indices, GATHER_REDUCTION_SUB);
    assert_runs(plan, others, others, GATHER_REDUCTION_SUB);
    gather_scatter_plan_destroy(plan);
  }
  machine_reset();
}

static void kept_indices(void **state) {
  gather_error error;
  static int64_t wrong[MANY];
  gather_scatter_plan *plan = plan_of(GATHER_REDUCTION_NONE, false);
  memcpy(wrong, others, sizeof others);
  wrong[MANY - 1] = ROWS;
  assert_status(gather_scatter_plan_keep(plan, wrong, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position[0], MANY - 1);
  assert_string_equal(error.op, "scatter");
  assert_runs(plan, others, others, GATHER_REDUCTION_NONE); /* nothing is kept */
  assert_status(gather_scatter_plan_keep(plan, indices, NULL, &error), GATHER_OK);
  assert_runs(plan, NULL, indices, GATHER_REDUCTION_NONE);
  assert_runs(plan, wrong, indices, GATHER_REDUCTION_NONE); /* which are ignored */
  assert_status(gather_scatter_plan_keep(plan, others, gather_pool_executor(pool), &error), GATHER_OK);
  assert_runs(plan, NULL, others, GATHER_REDUCTION_NONE);
  assert_status(gather_scatter_plan_keep(plan, wrong, NULL, NULL), GATHER_INDEX_OUT_OF_RANGE);
  assert_status(gather_scatter_plan_keep(plan, NULL, NULL, &error), GATHER_USAGE);
  assert_string_equal(error.input, "indices");
  assert_runs(plan, NULL, others, GATHER_REDUCTION_NONE); /* as it was */
  gather_scatter_plan_destroy(plan);
}

static void checked_indices(void **state) {
  gather_error error;
  int64_t bad = -1;
  gather_scatter_plan *plan = plan_of(GATHER_REDUCTION_SUB, false), *unique = plan_of(GATHER_REDUCTION_SUB, true);
  gather_scatter_run run = run_of(indices, NULL);
  run.data = run.updates = NULL, run.bad_count = &bad;
  assert_status(gather_scatter_plan_check(plan, &run, NULL), GATHER_OK);
  assert_int_equal(bad, 0);
  assert_status(gather_scatter_plan_check(unique, &run, &error), GATHER_INDEX_REPEATED);
  assert_int_equal(error.position[0], 50); /* 50 * 7919 is a multiple of 50: -50 + 50 and 0 are one row */
  assert_int_equal(error.first_position[0], 0);
  assert_status(gather_scatter_plan_keep(unique, indices, NULL, &error), GATHER_INDEX_REPEATED);
  assert_int_equal(error.first_position[0], 0);
  run.indices = NULL;
  assert_status(gather_scatter_plan_check(plan, &run, &error), GATHER_USAGE);
  gather_scatter_plan_destroy(plan), gather_scatter_plan_destroy(unique);
}

/* Of many places, which have no bit each: the first index that repeats an earlier one is not that of the lowest place. Nothing is
 * written, so that data needs no memory. */
static void repeated_far_apart(void **state) {
  static const int32_t FAR[] = {90, 1 << 29, 7, 12, 1 << 28, 4, 1 << 29, 7, 90, 1 << 29};
  const int64_t cells = 1 << 30;
  gather_error error;
  gather_scatter_plan *plan = NULL;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  options.unique = true, run.indices = FAR;
  for (int64_t many = 6; many <= (int64_t)COUNT(FAR); many++) {
    const gather_tensor in = tensor_of(GATHER_TYPE_INT8, NULL, 1, &cells), from = tensor_of(GATHER_TYPE_INT8, NULL, 1, &many);
    const gather_tensor by = tensor_of(GATHER_TYPE_INT32, NULL, 1, &many);
    assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, &from, NULL, &options, &plan, NULL), GATHER_OK);
    assert_status(gather_scatter_plan_check(plan, &run, &error), many > 6 ? GATHER_INDEX_REPEATED : GATHER_OK);
    gather_scatter_plan_destroy(plan);
    if (many == 6) continue;
    assert_int_equal(error.position[0], 6);
    assert_int_equal(error.first_position[0], 1);
    assert_int_equal(error.value, 1 << 29);
  }
}

static void refused_calls(void **state) {
  gather_error error;
  gather_scatter_plan *plan = plan_of(GATHER_REDUCTION_NONE, false), *none = plan;
  static int32_t out[ROWS][LEN];
  gather_scatter_run run = run_of(indices, out);
  static const gather_executor nobody = {NULL, NULL, 1};
  const gather_tensor in = tensor_of(GATHER_TYPE_INT32, NULL, 2, DIMS(ROWS, LEN)), by = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(MANY));
  assert_status(gather_scatter_plan_run(NULL, &run, &error), GATHER_USAGE);
  assert_status(gather_scatter_plan_run(plan, NULL, &error), GATHER_USAGE);
  assert_status(gather_scatter_plan_check(NULL, &run, &error), GATHER_USAGE);
  assert_status(gather_scatter_plan_keep(NULL, indices, NULL, &error), GATHER_USAGE);
  run.executor = &nobody;
  assert_status(gather_scatter_plan_run(plan, &run, &error), GATHER_USAGE);
  assert_status(gather_scatter_plan_check(plan, &run, &error), GATHER_USAGE);
  assert_status(gather_scatter_plan_keep(plan, indices, &nobody, &error), GATHER_USAGE);
  run.executor = NULL, run.size = 3;
  assert_status(gather_scatter_plan_run(plan, &run, &error), GATHER_USAGE);
  run = run_of(indices, data);
  run.data = (char *)data + 4; /* beside itself */
  assert_status(gather_scatter_plan_run(plan, &run, &error), GATHER_USAGE);
  run = run_of(indices, updates);
  assert_status(gather_scatter_plan_run(plan, &run, &error), GATHER_USAGE);
  assert_string_equal(error.input, "output");
  assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, NULL, NULL, NULL, &none, &error), GATHER_USAGE);
  assert_null(none);
  assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, &in, NULL, NULL, NULL, &error), GATHER_USAGE);
  assert_status(gather_scatter_plan_create(NULL, &in, &by, &in, NULL, NULL, &none, &error), GATHER_USAGE);
  gather_scatter_plan_destroy(NULL);
  gather_scatter_plan_destroy(plan);
}

static void lines(void **state) {
  char line[200], start[20];
  gather_scatter_plan *plan = plan_of(GATHER_REDUCTION_SUB, false);
  const size_t length = gather_scatter_plan_print(plan, line, sizeof line);
  assert_int_equal(length, strlen(line));
  assert_non_null(strstr(line, "scatter"));
  assert_non_null(strstr(line, "sub of 4000 rows of 28 bytes into 50 places"));
  assert_int_equal(gather_scatter_plan_print(plan, start, sizeof start), length);
  assert_int_equal(strncmp(start, line, sizeof start - 1), 0);
  assert_int_equal(gather_scatter_plan_print(plan, NULL, 0), length);
  assert_status(gather_scatter_plan_keep(plan, indices, NULL, NULL), GATHER_OK);
  gather_scatter_plan_print(plan, line, sizeof line);
  assert_non_null(strstr(line, "kept in order"));
  gather_scatter_plan_destroy(plan);
  plan = plan_of(GATHER_REDUCTION_MEAN, false);
  assert_status(gather_scatter_plan_keep(plan, indices, NULL, NULL), GATHER_OK);
  gather_scatter_plan_print(plan, line, sizeof line);
  assert_non_null(strstr(line, "sorted"));
  gather_scatter_plan_destroy(plan);
}

/* ---- several threads, one plan */

struct worker {
  pthread_t thread;
  const gather_scatter_plan *plan;
  const gather_executor *executor;
  int64_t number;
  int wrong;
};

static void *work(void *argument) {
  struct worker *w = argument;
  int32_t(*out)[LEN] = malloc(sizeof data), (*want)[LEN] = malloc(sizeof data);
  if (!out || !want) abort();
  loop(indices, GATHER_REDUCTION_SUB, want);
  for (int turn = 0; turn < TURNS; turn++) {
    gather_scatter_run run = run_of(indices, out);
    run.executor = w->executor;
    w->wrong += gather_scatter_plan_run(w->plan, &run, NULL) != GATHER_OK || memcmp(out, want, sizeof data) != 0;
  }
  free(out), free(want);
  return NULL;
}

static void many_threads_one_plan(void **state) {
  assert_status(gather_tuning_set("task_bytes", 64, NULL), GATHER_OK);
  for (int how = 0; how < 4; how++) { /* kept or not, with a pool or none */
    struct worker workers[THREADS];
    int wrong = 0;
    gather_scatter_plan *plan = plan_of(GATHER_REDUCTION_SUB, false);
    if (how & 1) assert_status(gather_scatter_plan_keep(plan, indices, NULL, NULL), GATHER_OK);
    for (int t = 0; t < THREADS; t++) {
      workers[t] = (struct worker){.plan = plan, .executor = how & 2 ? gather_pool_executor(pool) : NULL, .number = t};
      assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
      assert_int_equal(pthread_join(workers[t].thread, NULL), 0);
      wrong += workers[t].wrong;
    }
    gather_scatter_plan_destroy(plan);
    assert_int_equal(wrong, 0);
  }
  machine_reset();
}

/* ---- the largest */

/* As many dimensions as there are, each with a loop of its own. */
static void many_loops(void **state) {
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  static float cells[4096], from[4096], out[4096];
  int64_t twos = 0, step = 4;
  for (int d = GATHER_MAX_RANK - 1; d >= 0; d--) {
    shape[d] = d % 7 == 0 ? 2 : 1; /* ten of them */
    twos += shape[d] == 2;
    strides[d] = shape[d] == 2 ? step * 2 : 4 + d;
    if (shape[d] == 2) step *= 2;
  }
  assert_int_equal(twos, 10);
  for (int i = 0; i < 4096; i++) cells[i] = (float)i, from[i] = (float)(i + 1);
  static int8_t zeros[4096];
  gather_tensor in = tensor_of(GATHER_TYPE_FLOAT32, cells, GATHER_MAX_RANK, shape),
                by = tensor_of(GATHER_TYPE_INT8, zeros, GATHER_MAX_RANK, shape);
  gather_tensor updates_of = tensor_of(GATHER_TYPE_FLOAT32, from, GATHER_MAX_RANK, shape), to = in;
  in.strides = strides, to.data = out;
  assert_status(gather_scatter_elements(&in, &by, &updates_of, 63, GATHER_REDUCTION_ADD, &to, NULL), GATHER_OK);
  for (int i = 0; i < 1024; i += 2) {
    assert_true(out[i] == (float)(2 * i + i + 1 + i + 2));
    assert_true(out[i + 1] == (float)(2 * i + 2));
  }
  assert_status(gather_scatter_elements(&in, &by, &updates_of, 0, GATHER_REDUCTION_MEAN, &to, NULL), GATHER_OK);
  for (int i = 0; i < 512; i++) assert_true(out[i] == ((float)(2 * i) + (float)(i + 1) + (float)(i + 513)) / 3);
}

/* Places and updates that are too many to be numbered together are not sorted: the plan keeps their order, or, where they must be, says so.
 * Only a plan is made, so that no memory is needed. */
static void too_many_to_sort(void **state) {
  const int64_t cells = INT64_C(1) << 58, many = INT64_C(1) << 20, still = 0;
  static int64_t ids[2];
  gather_error error;
  gather_scatter_plan *plan = NULL;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  if (sizeof(void *) < 8) return; /* no tensor is that large */
  const gather_tensor in = tensor_of(GATHER_TYPE_INT8, NULL, 1, &cells);
  gather_tensor by = tensor_of(GATHER_TYPE_INT64, NULL, 1, &many), from = tensor_of(GATHER_TYPE_INT8, NULL, 1, &many);
  by.strides = from.strides = &still;
  options.unique = true;
  assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, &from, NULL, &options, &plan, NULL), GATHER_OK);
  assert_status(gather_scatter_plan_keep(plan, ids, NULL, &error), GATHER_OUT_OF_MEMORY);
  run.indices = ids;
  assert_status(gather_scatter_plan_check(plan, &run, &error), GATHER_OUT_OF_MEMORY);
  gather_scatter_plan_destroy(plan);
  options.unique = false;
  assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, &from, NULL, &options, &plan, NULL), GATHER_OK);
  assert_status(gather_scatter_plan_keep(plan, ids, NULL, &error), GATHER_OK);
  gather_scatter_plan_destroy(plan);
  options.reduction = GATHER_REDUCTION_MEAN;
  assert_status(gather_scatter_plan_create(gather_scatter_op("scatter"), &in, &by, &from, NULL, &options, &plan, NULL), GATHER_OK);
  assert_status(gather_scatter_plan_keep(plan, ids, NULL, &error), GATHER_UNSUPPORTED);
  assert_error(&error, GATHER_UNSUPPORTED);
  assert_status(gather_scatter_plan_check(plan, &run, &error), GATHER_OK);
  gather_scatter_plan_destroy(plan);
}

TESTS_WITHIN(begin, end, runs, kept_indices, checked_indices, repeated_far_apart, refused_calls, lines, many_threads_one_plan, many_loops,
             too_many_to_sort)
