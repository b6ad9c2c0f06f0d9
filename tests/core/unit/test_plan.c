/* SPDX-License-Identifier: MIT
 *
 * test_plan.c: a plan is made once and run with other memory; it prints like snprintf, checks without writing, and asks its
 * executor for each task once.
 */
#include "core/kernel/dispatch.h"
#include "support/unit.h"

static gather_plan *plan_of(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                            const gather_options *options) {
  gather_plan *plan = NULL;
  gather_error error;
  gather_status status = gather_plan_create(op, data, indices, out, options, &plan, &error);
  if (status != GATHER_OK) fail_msg("%s", error.message);
  assert_non_null(plan);
  return plan;
}

static gather_run run_of(const void *data, const void *indices, void *out) {
  gather_run run = GATHER_RUN_INIT;
  run.data = data;
  run.indices = indices;
  run.out = out;
  return run;
}

static gather_plan *small_plan(void) {
  int64_t data_shape[] = {4, 3}, indices_shape[] = {2};
  gather_tensor data = tensor_of(GATHER_TYPE_INT16, NULL, 2, data_shape);
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, NULL, 1, indices_shape);
  gather_plan *plan = plan_of(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL);
  memset(data_shape, 0x55, sizeof data_shape); /* the plan must have copied the shapes */
  memset(indices_shape, 0x55, sizeof indices_shape);
  return plan;
}

static void other_data_and_other_indices(void **state) {
  gather_plan *plan = small_plan();
  for (int16_t round = 0; round < 5; round++) {
    int16_t data[12], out[6];
    int32_t indices[2] = {round % 4, -1 - round % 4};
    for (int16_t i = 0; i < 12; i++) data[i] = (int16_t)(100 * round + i);
    gather_run run = run_of(data, indices, out);
    assert_status(gather_plan_run(plan, &run, NULL), GATHER_OK);
    assert_memory_equal(out, data + 3 * indices[0], 6);
    assert_memory_equal(out + 3, data + 3 * (4 + indices[1]), 6);
  }
  gather_plan_destroy(plan);
}

static void checking_writes_nothing(void **state) {
  gather_plan *plan = small_plan();
  int32_t good[2] = {0, 3}, bad[2] = {4, 0};
  gather_run run = run_of(NULL, good, NULL);
  gather_error error = dirty_error();
  assert_status(gather_plan_check(plan, &run, &error), GATHER_OK);
  run.indices = bad;
  assert_status(gather_plan_check(plan, &run, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_error(&error, GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.value, 4);
  assert_int_equal(error.position[0], 0);
  assert_string_equal(error.op, "Gather");
  assert_string_equal(error.rules, "onnx-13");
  gather_plan_destroy(plan);
}

static void a_bad_index_leaves_the_output(void **state) {
  gather_plan *plan = small_plan();
  int16_t data[12] = {0}, out[6] = {1, 2, 3, 4, 5, 6};
  int32_t bad[2] = {0, -5};
  gather_run run = run_of(data, bad, out);
  gather_error error = dirty_error();
  assert_status(gather_plan_run(plan, &run, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position[0], 1);
  for (int16_t i = 0; i < 6; i++) assert_int_equal(out[i], i + 1);
  gather_plan_destroy(plan);
}

static void what_a_run_needs(void **state) {
  gather_plan *plan = small_plan();
  int16_t data[12] = {0}, out[6];
  int32_t indices[2] = {0, 1};
  gather_run run = run_of(NULL, indices, out);
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_USAGE);
  run = run_of(data, NULL, out);
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_USAGE);
  run = run_of(data, indices, NULL);
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_USAGE);
  run = run_of(data, indices, data);
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_USAGE);
  run = run_of(data, indices, out);
  run.size = 0;
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_USAGE);
  assert_status(gather_plan_run(NULL, &run, NULL), GATHER_USAGE);
  assert_status(gather_plan_run(plan, NULL, NULL), GATHER_USAGE);
  gather_plan_destroy(plan);
  gather_plan_destroy(NULL);
}

static void plans_that_cannot_be(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_plan *plan = NULL;
  gather_error error = dirty_error();
  gather_tensor data = tensor_of(GATHER_TYPE_INT16, NULL, 2, DIMS(4, 3));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, NULL, 1, DIMS(2));
  gather_tensor out = tensor_of(GATHER_TYPE_INT16, NULL, 2, DIMS(2, 4));
  assert_status(gather_plan_create(op, &data, &indices, &out, NULL, &plan, &error), GATHER_SHAPE_MISMATCH);
  assert_error(&error, GATHER_SHAPE_MISMATCH);
  out.shape = DIMS(2, 3);
  out.type = GATHER_TYPE_UINT16;
  assert_status(gather_plan_create(op, &data, &indices, &out, NULL, &plan, NULL), GATHER_TYPE_MISMATCH);
  out.type = GATHER_TYPE_INT16;
  out.strides = DIMS(0, 2);
  assert_status(gather_plan_create(op, &data, &indices, &out, NULL, &plan, NULL), GATHER_USAGE);
  assert_status(gather_plan_create(NULL, &data, &indices, NULL, NULL, &plan, NULL), GATHER_USAGE);
  data.rank = 0;
  assert_status(gather_plan_create(op, &data, &indices, NULL, NULL, &plan, NULL), GATHER_RANK_MISMATCH);
}

static void printing_like_snprintf(void **state) {
  gather_plan *plan = small_plan();
  char whole[1024], part[1024];
  memset(whole, 'x', sizeof whole);
  size_t length = gather_plan_print(plan, whole, sizeof whole);
  assert_true(length > 10 && length < sizeof whole);
  assert_int_equal(strlen(whole), length);
  assert_null(strchr(whole, '\n'));
  assert_int_equal(gather_plan_print(plan, NULL, 0), length);
  for (size_t room = 1; room <= length + 1; room++) {
    memset(part, 'x', sizeof part);
    assert_int_equal(gather_plan_print(plan, part, room), length);
    assert_int_equal(strlen(part), room - 1);
    assert_memory_equal(part, whole, room - 1);
    assert_int_equal(part[room], 'x');
  }
  gather_plan_destroy(plan);
}

static void the_shape_of_a_plan(void **state) {
  int64_t shape[GATHER_MAX_RANK];
  gather_plan *plan = small_plan();
  assert_int_equal(gather_plan_shape(plan, shape), 2);
  assert_int_equal(shape[0], 2);
  assert_int_equal(shape[1], 3);
  gather_plan_destroy(plan);
}

/* The fill element is part of the options, which the plan copies. */
static void the_fill_is_copied(void **state) {
  uint32_t fill = 0xCAFEF00D, data[2] = {1, 2}, out[2] = {0, 0};
  int64_t indices[2] = {1, 2};
  gather_tensor table = tensor_of(GATHER_TYPE_UINT32, NULL, 1, DIMS(2));
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(2));
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = GATHER_ON_BAD_FILL;
  options.fill = &fill;
  gather_plan *plan = plan_of(op_of("Gather", "onnx-13"), &table, &index, NULL, &options);
  fill = 0;
  options.on_bad = GATHER_ON_BAD_ERROR;
  gather_run run = run_of(data, indices, out);
  int64_t bad = -1;
  run.bad_count = &bad;
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_OK);
  assert_int_equal(out[0], 2);
  assert_int_equal(out[1], 0xCAFEF00D);
  assert_int_equal(bad, 1);
  gather_plan_destroy(plan);
}

enum { ROWS = 3000, WIDTH = 301 };

static int tasks_seen;

/* Runs the tasks backwards, counting them. */
static void backwards(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  int *calls = context;
  (*calls)++;
  tasks_seen += (int)count;
  for (int64_t i = count; i-- > 0;) task(argument, i);
}

static void an_executor_is_used_for_large_work(void **state) {
  static int32_t data[ROWS * WIDTH], out[ROWS * WIDTH];
  static int64_t indices[ROWS];
  int calls = 0;
  gather_executor executor = {&calls, backwards, 4};
  for (int i = 0; i < ROWS * WIDTH; i++) data[i] = i;
  for (int i = 0; i < ROWS; i++) indices[i] = (int64_t)i * 7919 % ROWS;
  gather_tensor table = tensor_of(GATHER_TYPE_INT32, data, 2, DIMS(ROWS, WIDTH));
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, indices, 1, DIMS(ROWS));
  gather_tensor target = tensor_of(GATHER_TYPE_INT32, out, 2, DIMS(ROWS, WIDTH));
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = &executor;
  tasks_seen = 0;
  assert_status(gather_apply(op_of("Gather", "onnx-13"), &table, &index, &target, &options, NULL), GATHER_OK);
  assert_true(calls > 0);
  assert_true(tasks_seen > 1);
  for (int i = 0; i < ROWS; i++) assert_memory_equal(out + i * WIDTH, data + indices[i] * WIDTH, WIDTH * sizeof(int32_t));
}

static void an_executor_that_cannot_run(void **state) {
  int32_t data[2] = {1, 2}, out[1] = {7};
  int64_t indices[1] = {1};
  gather_tensor table = tensor_of(GATHER_TYPE_INT32, data, 1, DIMS(2));
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, indices, 1, DIMS(1));
  gather_tensor target = tensor_of(GATHER_TYPE_INT32, out, 1, DIMS(1));
  const gather_executor bad[] = {{NULL, NULL, 1}, {NULL, backwards, 0}};
  for (size_t i = 0; i < COUNT(bad); i++) {
    gather_options options = GATHER_OPTIONS_INIT;
    options.executor = &bad[i];
    assert_status(gather_apply(op_of("Gather", "onnx-13"), &table, &index, &target, &options, NULL), GATHER_USAGE);
    assert_int_equal(out[0], 7);
  }
}

/* Permuted indices that are dense in the order of the nest, validated as rows move: the first bad one is still the first in row-major
 * order. */
static void the_first_bad_one_of_permuted_indices(void **state) {
  static const int64_t shape[4] = {5, 4, 4, 5}, steps[4] = {5 * 8, 100 * 8, 25 * 8, 8};
  static uint8_t data[400], out[400];
  static int64_t ids[400];
  gather_tensor from = tensor_of(GATHER_TYPE_UINT8, data, 4, shape), to = tensor_of(GATHER_TYPE_UINT8, out, 4, shape);
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 4, shape);
  gather_options options = options_of(1, 0);
  gather_error error = dirty_error();
  indices.strides = steps, options.fresh_output = true;
  ids[100] = 7; /* [0, 1, 0, 0] */
  ids[5] = 8;   /* [1, 0, 0, 0] */
  assert_status(gather_tuning_set("deferred_bytes", 1, NULL), GATHER_OK);
  assert_status(gather_apply(op_of("GatherElements", "onnx-13"), &from, &indices, &to, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.value, 7);
  assert_int_equal(error.position[0], 0);
  assert_int_equal(error.position[1], 1);
  for (int32_t i = 0; gather_tuning_at(i); i++)
    assert_status(gather_tuning_set(gather_tuning_at(i)->name, gather_tuning_at(i)->initial, NULL), GATHER_OK);
}

/* Whether GatherElements of float32 with these shapes, along their last axis, runs by register tables of rounds. */
static bool has_round_tables(const int64_t *data_shape, const int64_t *index_shape) {
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 3, data_shape);
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, NULL, 3, index_shape);
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = 2;
  gather_plan *plan = plan_of(op_of("GatherElements", "onnx-13"), &data, &indices, NULL, &options);
  char line[1024];
  (void)gather_plan_print(plan, line, sizeof line);
  gather_plan_destroy(plan);
  return strstr(line, "register tables of rounds") != NULL;
}

static void short_last_axes_are_tables_of_rounds(void **state) {
  const bool vectors = strncmp(gather_isa_name(), "avx", 3) == 0;
  assert_int_equal(has_round_tables(DIMS(16, 16, 8), DIMS(16, 16, 8)), vectors);
  assert_int_equal(has_round_tables(DIMS(16, 16, 8), DIMS(16, 16, 2)), vectors);
  assert_int_equal(has_round_tables(DIMS(16, 16, 8), DIMS(16, 16, 100)), vectors);
  assert_int_equal(has_round_tables(DIMS(16, 16, 1), DIMS(16, 16, 1)), vectors);
  assert_false(has_round_tables(DIMS(16, 16, 100), DIMS(16, 16, 100)));
}

/* A plan's line names the policy it runs by. */
static void the_policy_is_printed(void **state) {
  static const struct {
    gather_on_bad on_bad;
    const char *name;
  } POLICIES[] = {{GATHER_ON_BAD_DEFAULT, ", error, "},  {GATHER_ON_BAD_ERROR, ", error, "}, {GATHER_ON_BAD_CLAMP, ", clamp, "},
                  {GATHER_ON_BAD_WRAP, ", wrap, "},      {GATHER_ON_BAD_ZERO, ", zero, "},   {GATHER_ON_BAD_FILL, ", fill, "},
                  {GATHER_ON_BAD_PROMISE, ", promise, "}};
  const int16_t fill = 0;
  const gather_tensor data = tensor_of(GATHER_TYPE_INT16, NULL, 2, DIMS(4, 3));
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT32, NULL, 1, DIMS(2));
  for (size_t i = 0; i < COUNT(POLICIES); i++) {
    gather_options options = options_of(0, 0);
    char line[400];
    options.on_bad = POLICIES[i].on_bad, options.fill = &fill;
    gather_plan *plan = plan_of(op_of("Gather", "onnx-13"), &data, &indices, NULL, &options);
    (void)gather_plan_print(plan, line, sizeof line);
    if (!strstr(line, POLICIES[i].name)) fail_msg("'%s' does not say '%s'", line, POLICIES[i].name);
    gather_plan_destroy(plan);
  }
}

TESTS(the_policy_is_printed, an_executor_that_cannot_run, other_data_and_other_indices, checking_writes_nothing,
      a_bad_index_leaves_the_output, what_a_run_needs, plans_that_cannot_be, printing_like_snprintf, the_shape_of_a_plan,
      the_fill_is_copied, an_executor_is_used_for_large_work, the_first_bad_one_of_permuted_indices, short_last_axes_are_tables_of_rounds)
