/* SPDX-License-Identifier: MIT
 *
 * test_threads.c: many threads run one plan at once, and any number of executor threads gives the same bytes.
 */
#include <pthread.h>

#include "support/unit.h"

enum { THREADS = 8, ROUNDS = 6, LEN = 997, COUNT_OF_INDICES = 20011, ROW = 7 };

static uint32_t data[LEN * ROW];
static int64_t indices[COUNT_OF_INDICES];
static uint32_t want[COUNT_OF_INDICES * ROW];

enum { POOLS = 8 };

static gather_pool *pools[POOLS + 1]; /* pools[n] has n threads; pools[0] is none */

static int create_values(void **state) {
  for (int32_t n = 1; n <= POOLS; n++)
    if (gather_pool_create(n, &pools[n], NULL) != GATHER_OK) return -1;
  for (uint32_t i = 0; i < LEN * ROW; i++) data[i] = i * 2654435761u;
  for (int64_t i = 0; i < COUNT_OF_INDICES; i++) indices[i] = i * 7919 % (2 * LEN) - LEN;
  for (int64_t i = 0; i < COUNT_OF_INDICES; i++)
    memcpy(want + i * ROW, data + (indices[i] + (indices[i] < 0 ? LEN : 0)) * ROW, ROW * sizeof data[0]);
  return 0;
}

static int destroy_pools(void **state) {
  for (int32_t n = 1; n <= POOLS; n++) gather_pool_destroy(pools[n]);
  return 0;
}

static gather_plan *rows_plan(void) {
  gather_plan *plan = NULL;
  gather_tensor table = tensor_of(GATHER_TYPE_UINT32, NULL, 2, DIMS(LEN, ROW));
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(COUNT_OF_INDICES));
  assert_status(gather_plan_create(op_of("Gather", "onnx-13"), &table, &index, NULL, NULL, &plan, NULL), GATHER_OK);
  return plan;
}

/* One thread's work: its own output, or a bad index of its own to complain about. */
struct worker {
  pthread_t thread;
  const gather_plan *plan;
  const gather_executor *executor;
  int number;
  int wrong;
};

static void run_good(struct worker *worker, uint32_t *out) {
  gather_run run = GATHER_RUN_INIT;
  run.data = data;
  run.indices = indices;
  run.out = out;
  run.executor = worker->executor;
  memset(out, 0xEE, sizeof want);
  worker->wrong += gather_plan_run(worker->plan, &run, NULL) != GATHER_OK || memcmp(out, want, sizeof want) != 0;
}

static void run_bad(struct worker *worker, uint32_t *out, int64_t *broken) {
  int64_t place = (worker->number + 1) * 2001;
  gather_run run = GATHER_RUN_INIT;
  gather_error error;
  memcpy(broken, indices, sizeof indices);
  broken[place] = LEN + worker->number;
  broken[COUNT_OF_INDICES - 1] = INT64_MIN;
  run.data = data;
  run.indices = broken;
  run.out = out;
  run.executor = worker->executor;
  gather_status status = gather_plan_run(worker->plan, &run, &error);
  worker->wrong +=
      status != GATHER_INDEX_OUT_OF_RANGE || error.position[0] != place || error.value != LEN + worker->number || error.bad_count != 2;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  uint32_t *out = malloc(sizeof want);
  int64_t *broken = malloc(sizeof indices);
  if (!out || !broken) abort();
  for (int round = 0; round < ROUNDS; round++) {
    run_good(worker, out);
    run_bad(worker, out, broken);
  }
  free(out);
  free(broken);
  return NULL;
}

static void together(const gather_executor *executor) {
  struct worker workers[THREADS];
  gather_plan *plan = rows_plan();
  for (int t = 0; t < THREADS; t++) {
    workers[t] = (struct worker){.plan = plan, .executor = executor, .number = t};
    assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
  }
  int wrong = 0;
  for (int t = 0; t < THREADS; t++) {
    assert_int_equal(pthread_join(workers[t].thread, NULL), 0);
    wrong += workers[t].wrong;
  }
  gather_plan_destroy(plan);
  assert_int_equal(wrong, 0);
}

static void many_threads_one_plan(void **state) { together(NULL); }

/* Several threads may use one pool: they take turns. */
static void many_threads_one_plan_one_pool(void **state) { together(gather_pool_executor(pools[3])); }

/* The same gather with 1 to 8 threads, also where indices are repaired. */
static void same_bytes_with_any_threads(const gather_op *op, gather_type type, int32_t rank, const int64_t *shape,
                                        const int64_t *index_shape, int64_t axis, gather_on_bad on_bad) {
  static uint8_t first[1 << 20], out[1 << 20];
  static int16_t index[300 * 1000];
  static uint8_t table[1 << 20];
  int64_t out_shape[GATHER_MAX_RANK];
  for (uint32_t i = 0; i < sizeof table; i++) table[i] = (uint8_t)(i * 2654435761u >> 13);
  for (int32_t i = 0; i < 300 * 1000; i++) index[i] = (int16_t)(i * 31 % 200 - 50);
  gather_tensor source = tensor_of(type, table, rank, shape);
  gather_tensor by = tensor_of(GATHER_TYPE_INT16, index, rank, index_shape), target = tensor_of(type, out, 0, out_shape);
  gather_options options = options_of(axis, 0);
  options.on_bad = on_bad;
  int64_t bad = -1, first_bad = -1;
  options.bad_count = &bad;
  assert_status(gather_output_shape(op, &source, &by, &options, out_shape, &target.rank, NULL), GATHER_OK);
  assert_true(gather_tensor_bytes(&target) <= (int64_t)sizeof out);
  for (int32_t threads = 0; threads <= POOLS; threads++) { /* 0: without a pool */
    options.executor = threads ? gather_pool_executor(pools[threads]) : NULL;
    memset(out, 0xEE, sizeof out);
    assert_status(gather_apply(op, &source, &by, &target, &options, NULL), GATHER_OK);
    if (threads == 0) {
      memcpy(first, out, sizeof out);
      first_bad = bad;
    }
    assert_memory_equal(first, out, sizeof out);
    assert_int_equal(bad, first_bad);
  }
}

static void any_number_of_threads(void **state) {
  const gather_op *rows = op_of("Gather", "onnx-13"), *cells = op_of("GatherElements", "onnx-13");
  static const gather_type types[] = {GATHER_TYPE_INT8, GATHER_TYPE_FLOAT16, GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT64,
                                      GATHER_TYPE_COMPLEX128};
  for (size_t t = 0; t < COUNT(types); t++) {
    same_bytes_with_any_threads(rows, types[t], 2, DIMS(100, 13), DIMS(70, 71), 0, GATHER_ON_BAD_CLAMP);
    same_bytes_with_any_threads(rows, types[t], 2, DIMS(31, 100), DIMS(40, 41), 1, GATHER_ON_BAD_ZERO);
    same_bytes_with_any_threads(cells, types[t], 2, DIMS(100, 301), DIMS(151, 301), 0, GATHER_ON_BAD_WRAP);
    same_bytes_with_any_threads(cells, types[t], 2, DIMS(301, 100), DIMS(301, 151), 1, GATHER_ON_BAD_CLAMP);
  }
}

/* Packed elements: large enough for several tasks, whose borders lie within bytes if nobody takes care. */
static void packed_types_with_any_number_of_threads(void **state) {
  const gather_op *rows = op_of("Gather", "onnx-13"), *cells = op_of("GatherElements", "onnx-13");
  static const gather_type types[] = {GATHER_TYPE_INT4, GATHER_TYPE_UINT2, GATHER_TYPE_UINT1, GATHER_TYPE_UINT3, GATHER_TYPE_UINT6};
  for (size_t t = 0; t < COUNT(types); t++) {
    same_bytes_with_any_threads(rows, types[t], 2, DIMS(100, 13), DIMS(200, 201), 0, GATHER_ON_BAD_CLAMP);
    same_bytes_with_any_threads(cells, types[t], 2, DIMS(100, 3), DIMS(99999, 3), 0, GATHER_ON_BAD_ZERO);
  }
}

/* ---- tasks and the bytes they write ---------------------------------------------------------------------------------- */

enum { OUT_BYTES = 1 << 20 };

static uint8_t shared_out[OUT_BYTES];
static uint16_t owner[OUT_BYTES]; /* 1 + the task that wrote the byte; 0 = none yet */
static int64_t out_bytes, shared_bytes, tasks_run;

static void note_writes(int64_t task, uint8_t pattern) {
  for (int64_t b = 0; b < out_bytes; b++) {
    if (shared_out[b] == pattern) continue;
    if (owner[b] != 0 && owner[b] != task + 1) shared_bytes++;
    owner[b] = (uint16_t)(task + 1);
  }
}

/* Runs each task twice, over two patterns that differ in every bit, so that every byte it writes shows in one of them. */
static void one_by_one(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  memset(owner, 0, sizeof owner);
  tasks_run = count;
  for (int64_t i = 0; i < count; i++) {
    memset(shared_out, 0xAA, sizeof shared_out);
    task(argument, i);
    note_writes(i, 0xAA);
    memset(shared_out, 0x55, sizeof shared_out);
    task(argument, i);
    note_writes(i, 0x55);
  }
}

static void check_owners(const gather_op *op, gather_type type, const int64_t *shape, const int64_t *index_shape) {
  static const gather_executor executor = {NULL, one_by_one, 3};
  static uint8_t table[1 << 16];
  static int16_t index[300 * 1000];
  int64_t out_shape[GATHER_MAX_RANK];
  for (uint32_t i = 0; i < sizeof table; i++) table[i] = (uint8_t)(i * 2654435761u >> 13);
  for (int32_t i = 0; i < 300 * 1000; i++) index[i] = (int16_t)(i * 31 % 100);
  gather_tensor source = tensor_of(type, table, 2, shape), by = tensor_of(GATHER_TYPE_INT16, index, 2, index_shape);
  gather_tensor target = tensor_of(type, shared_out, 0, out_shape);
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = &executor;
  assert_status(gather_output_shape(op, &source, &by, &options, out_shape, &target.rank, NULL), GATHER_OK);
  out_bytes = gather_tensor_bytes(&target);
  assert_true(out_bytes <= OUT_BYTES);
  shared_bytes = tasks_run = 0;
  assert_status(gather_apply(op, &source, &by, &target, &options, NULL), GATHER_OK);
  assert_true(tasks_run > 1); /* else nothing was tested */
  assert_int_equal(shared_bytes, 0);
  /* Every byte was some task's, but for the padding in the last group, which is nobody's. */
  for (int64_t b = 0; b < out_bytes - 3; b++) assert_int_not_equal(owner[b], 0);
}

/* Two tasks that write one byte would lose one another's bits. */
static void tasks_share_no_byte(void **state) {
  static const gather_type types[] = {GATHER_TYPE_INT4,  GATHER_TYPE_UINT2, GATHER_TYPE_UINT1,
                                      GATHER_TYPE_UINT3, GATHER_TYPE_UINT6, GATHER_TYPE_INT8};
  for (size_t t = 0; t < COUNT(types); t++) {
    check_owners(op_of("Gather", "onnx-13"), types[t], DIMS(100, 13), DIMS(200, 201));
    check_owners(op_of("GatherElements", "onnx-13"), types[t], DIMS(100, 3), DIMS(99999, 3));
  }
}

TESTS_WITHIN(create_values, destroy_pools, many_threads_one_plan, many_threads_one_plan_one_pool, any_number_of_threads,
             packed_types_with_any_number_of_threads, tasks_share_no_byte)
