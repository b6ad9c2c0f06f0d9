/* SPDX-License-Identifier: MIT
 *
 * test_few.c: gathers of a few rows, which run in one function, give what the general run gives: the same plan with an executor. All
 * counts round the limits, both types of indices, rows of every size, negative indices, tuples, strides; each index out of range in turn.
 */
#include "support/unit.h"

enum { LENGTH = 5, MOST_ROWS = 70, MOST_BYTES = 72 };

static void one_by_one(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

static const gather_executor serial = {NULL, one_by_one, 1};

typedef struct {
  unsigned char data[LENGTH * LENGTH * MOST_BYTES * MOST_ROWS];
  int64_t wide[3 * MOST_ROWS];
  int32_t narrow[3 * MOST_ROWS];
  unsigned char few[MOST_ROWS * MOST_BYTES], general[MOST_ROWS * MOST_BYTES];
} memory;

static memory m;

/* Runs a plan both ways: equal results, and an output that errors leave as it was. */
static void compare(const gather_plan *plan, const void *indices) {
  gather_error first = dirty_error(), second = dirty_error();
  gather_run run = GATHER_RUN_INIT;
  memset(m.few, 0xa5, sizeof m.few), memset(m.general, 0xa5, sizeof m.general);
  int64_t bad = -1;
  run.data = m.data, run.indices = indices, run.out = m.few, run.bad_count = &bad;
  const gather_status few = gather_plan_run(plan, &run, &first);
  const int64_t bad_few = bad;
  bad = -1, run.out = m.general, run.executor = &serial;
  assert_int_equal(few, gather_plan_run(plan, &run, &second));
  assert_int_equal(bad_few, bad);
  assert_memory_equal(m.few, m.general, sizeof m.few);
  if (few == GATHER_OK) return;
  assert_string_equal(first.message, second.message);
  assert_int_equal(m.few[0], 0xa5);
  assert_memory_equal(m.few, m.few + 1, sizeof m.few - 1); /* each byte is as the one before */
}

static void fill_indices(int64_t count) {
  for (int64_t i = 0; i < count; i++) m.narrow[i] = (int32_t)(m.wide[i] = (i * 7 + 3) % (2 * LENGTH) - LENGTH);
}

/* All indices valid, plain and negative; then each one out of range on either side. */
static void both_types(const gather_op *op, const gather_tensor *data, gather_tensor indices, gather_options options) {
  gather_plan *plan;
  const int64_t count = gather_tensor_len(&indices);
  for (int wide = 0; wide < 2; wide++) {
    indices.type = wide ? GATHER_TYPE_INT64 : GATHER_TYPE_INT32;
    assert_status(gather_plan_create(op, data, &indices, NULL, &options, &plan, NULL), GATHER_OK);
    const void *numbers = wide ? (const void *)m.wide : m.narrow;
    fill_indices(count);
    compare(plan, numbers);
    for (int64_t i = 0; i < count; i++) m.narrow[i] = (int32_t)(m.wide[i] = i % LENGTH);
    compare(plan, numbers);
    for (int64_t i = 0; i < count; i++) {
      const int64_t before = m.wide[i];
      m.narrow[i] = (int32_t)(m.wide[i] = LENGTH + i % 3);
      compare(plan, numbers);
      m.narrow[i] = (int32_t)(m.wide[i] = -LENGTH - 1 - i % 3);
      compare(plan, numbers);
      m.wide[i] = i % 2 ? INT64_MIN : INT64_MAX, m.narrow[i] = i % 2 ? INT32_MIN : INT32_MAX;
      compare(plan, numbers);
      m.narrow[i] = (int32_t)(m.wide[i] = before);
    }
    gather_plan_destroy(plan);
  }
}

static void set_up_data(void) {
  for (size_t i = 0; i < sizeof m.data; i++) m.data[i] = (unsigned char)(i * 31 + i / 251);
}

static const int32_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 63, 64, 65, 72};
static const int64_t counts[] = {1, 2, 3, 7, 8, 9, 31, 63, 64, 65};

static void rows(void **state) {
  set_up_data();
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t c = 0; c < COUNT(counts); c++) {
      gather_tensor data = {.data = m.data, .type = GATHER_TYPE_OPAQUE, .item_bytes = sizes[s], .rank = 1, .shape = DIMS(LENGTH)};
      gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = &counts[c]};
      gather_options options = GATHER_OPTIONS_INIT;
      both_types(gather_op_find("Gather", "onnx-13"), &data, indices, options);
      both_types(gather_op_find("Gather", "onnx-1"), &data, indices, options); /* negative indices are out of range */
      options.on_bad = GATHER_ON_BAD_CLAMP;
      both_types(gather_op_find("Gather", "onnx-13"), &data, indices, options);
    }
}

/* Each element by its own index, at a step in data. */
static void elements(void **state) {
  set_up_data();
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t c = 0; c < COUNT(counts); c++) {
      const int64_t lengths[] = {LENGTH, counts[c]}, wanted[] = {1, counts[c]};
      gather_tensor data = {.data = m.data, .type = GATHER_TYPE_OPAQUE, .item_bytes = sizes[s], .rank = 2, .shape = lengths};
      gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 2, .shape = wanted};
      gather_options options = GATHER_OPTIONS_INIT;
      both_types(gather_op_find("GatherElements", "onnx-13"), &data, indices, options);
    }
}

/* Two loops: rows along each axis of data of two dimensions, and elements along the first. */
static void two_loops(void **state) {
  set_up_data();
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (int64_t columns = 2; columns <= LENGTH; columns++)
      for (int64_t count = 1; count * columns <= MOST_ROWS; count += 3) {
        const int64_t lengths[] = {LENGTH, LENGTH}, wanted[] = {count, columns};
        gather_tensor data = {.data = m.data, .type = GATHER_TYPE_OPAQUE, .item_bytes = sizes[s], .rank = 2, .shape = lengths};
        gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 2, .shape = wanted};
        gather_options options = GATHER_OPTIONS_INIT;
        both_types(gather_op_find("GatherElements", "onnx-13"), &data, indices, options);
        indices.rank = 1, options.axis = 1;
        if (columns == LENGTH) both_types(gather_op_find("Gather", "onnx-13"), &data, indices, options);
      }
}

static void tuples(void **state) {
  set_up_data();
  for (int64_t numbers = 1; numbers <= 3; numbers++)
    for (size_t c = 0; c < COUNT(counts); c++) {
      const int64_t lengths[] = {LENGTH, LENGTH, LENGTH}, wanted[] = {counts[c], numbers};
      gather_tensor data = {.data = m.data, .type = GATHER_TYPE_OPAQUE, .item_bytes = 4, .rank = (int32_t)numbers, .shape = lengths};
      gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 2, .shape = wanted};
      gather_options options = GATHER_OPTIONS_INIT;
      both_types(gather_op_find("GatherND", "onnx-13"), &data, indices, options);
    }
}

/* Indices and data with gaps, backwards, and one index for all rows. */
static void strides(void **state) {
  set_up_data();
  for (int64_t index_step = 0; index_step < 3; index_step++) {
    const int64_t lengths[] = {LENGTH}, backwards[] = {-8}, count[] = {20}, steps[] = {8 * index_step};
    gather_tensor data = {.data = m.data + 8 * LENGTH, .type = GATHER_TYPE_INT32, .rank = 1, .shape = lengths};
    gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = count, .strides = steps};
    gather_plan *plan;
    data.strides = backwards;
    assert_status(gather_plan_create(gather_op_find("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, NULL), GATHER_OK);
    for (int64_t i = 0; i < 3 * MOST_ROWS; i++) m.wide[i] = -(i % LENGTH);
    gather_run run = GATHER_RUN_INIT;
    gather_error error;
    int32_t got[20], wanted;
    run.data = data.data, run.indices = m.wide, run.out = got;
    assert_status(gather_plan_run(plan, &run, &error), GATHER_OK);
    for (int64_t i = 0; i < 20; i++) {
      const int64_t row = (LENGTH - i * index_step % LENGTH) % LENGTH;
      memcpy(&wanted, m.data + 8 * LENGTH - 8 * row, sizeof wanted);
      assert_int_equal(got[i], wanted);
    }
    gather_plan_destroy(plan);
  }
}

/* An output in the memory of data or of the indices is refused, however few rows there are. */
static void overlaps(void **state) {
  const int64_t lengths[] = {LENGTH}, count[] = {2};
  gather_tensor data = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = lengths};
  gather_tensor indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = count};
  gather_plan *plan;
  gather_error error;
  assert_status(gather_plan_create(gather_op_find("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, NULL), GATHER_OK);
  gather_run run = GATHER_RUN_INIT;
  memset(m.wide, 0, sizeof m.wide);
  run.data = m.data, run.indices = m.wide, run.out = m.wide + 1;
  assert_status(gather_plan_run(plan, &run, &error), GATHER_USAGE);
  run.out = m.data + 8 * (LENGTH - 1);
  assert_status(gather_plan_run(plan, &run, &error), GATHER_USAGE);
  run.out = m.data + 8 * LENGTH;
  assert_status(gather_plan_run(plan, &run, &error), GATHER_OK);
  run.out = NULL;
  assert_status(gather_plan_run(plan, &run, &error), GATHER_USAGE);
  gather_plan_destroy(plan);
}

TESTS(rows, elements, tuples, strides, overlaps, two_loops)
