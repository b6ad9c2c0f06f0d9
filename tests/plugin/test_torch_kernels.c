/* SPDX-License-Identifier: MIT
 *
 * test_torch_kernels.c: the kernels of PyTorch's operators in a fake PyTorch: what they register, compute and refuse, and that they give
 * back every handle, also after errors and when there is no memory. Runs without PyTorch, under sanitizers and valgrind.
 */
#include <pthread.h>

#include "fake_torch.h"
#include "support/unit.h"
#include "torch_operator.h"

static fake_tensor floats(int64_t rows, int64_t width) {
  const int64_t sizes[] = {rows, width};
  fake_tensor made = fake_make(FAKE_FLOAT32, 4, 2, sizes);
  for (int64_t i = 0; i < rows * width; i++) ((float *)(void *)made.data)[i] = (float)i;
  return made;
}

static fake_tensor ids(int64_t count, const int64_t *values) {
  fake_tensor made = fake_make(FAKE_INT64, 8, 1, &count);
  if (count) memcpy(made.data, values, (size_t)count * sizeof *values);
  return made;
}

/* take(data, indices, axis, batch_dims, mode, negative, fill_value[, out]) */
static void *take(fake_tensor *data, fake_tensor *indices, int64_t axis, const char *mode, fake_tensor *fill, fake_tensor *out) {
  const uint64_t cells[] = {fake_handle(data),   fake_handle(indices),      (uint64_t)axis, 0, fake_text(mode), 1,
                            fake_optional(fill), out ? fake_handle(out) : 0};
  return fake_call(out ? "take.out" : "take", out ? 8 : 7, cells);
}

static void check_floats(void *handle, int64_t rows, int64_t width, const float *wanted) {
  assert_non_null(handle);
  const fake_tensor *got = fake_of(handle);
  assert_int_equal(got->rank, 2);
  assert_int_equal(got->sizes[0], rows);
  assert_int_equal(got->sizes[1], width);
  assert_memory_equal(got->data, wanted, (size_t)(rows * width) * sizeof *wanted);
  fake_drop(handle);
}

static void registers_everything(void **state) {
  assert_null(gather_torch_failure());
  assert_int_equal(fake_schemas, 13);
  assert_int_equal(fake_kernels, 2 * 13); /* for the CPU, and to refuse other devices */
}

static void takes(void **state) {
  fake_tensor data = floats(4, 2), indices = ids(3, (int64_t[]){3, -4, 1});
  for (int round = 0; round < 3; round++) { /* the second time by a kept plan */
    check_floats(take(&data, &indices, 0, "raise", NULL, NULL), 3, 2, (float[]){6, 7, 0, 1, 2, 3});
    assert_int_equal(fake_live, 0);
  }
  fake_tensor column = ids(1, (int64_t[]){-1});
  check_floats(take(&data, &column, 1, "raise", NULL, NULL), 4, 1, (float[]){1, 3, 5, 7});
  fake_tensor out = floats(3, 2);
  void *result = take(&data, &indices, 0, "raise", NULL, &out);
  assert_ptr_equal(fake_of(result), &out); /* the caller's own tensor */
  (void)aoti_torch_delete_tensor_object(result);
  assert_memory_equal(out.data, ((float[]){6, 7, 0, 1, 2, 3}), 24);
  assert_int_equal(fake_live, 0);
  fake_free(&out), fake_free(&column), fake_free(&data), fake_free(&indices);
}

static void repairs(void **state) {
  fake_tensor data = floats(2, 1), indices = ids(2, (int64_t[]){5, -1}), fill = floats(1, 1), two = floats(1, 2);
  ((float *)(void *)fill.data)[0] = 9;
  check_floats(take(&data, &indices, 0, "clip", NULL, NULL), 2, 1, (float[]){1, 1});
  check_floats(take(&data, &indices, 0, "zero", NULL, NULL), 2, 1, (float[]){0, 1});
  check_floats(take(&data, &indices, 0, "fill", &fill, NULL), 2, 1, (float[]){9, 1});
  assert_null(take(&data, &indices, 0, "fill", &two, NULL));
  assert_string_equal(fake_message, "fill_value must have one element, not 2");
  assert_null(take(&data, &indices, 0, "fill", NULL, NULL));
  assert_null(take(&data, &indices, 0, "clamp", &fill, NULL));
  assert_string_equal(fake_message, "mode must be 'raise', 'clip', 'wrap', 'zero' or 'fill', not 'clamp'");
  assert_int_equal(fake_live, 0);
  fake_free(&data), fake_free(&indices), fake_free(&fill), fake_free(&two);
}

static void refuses(void **state) {
  int64_t numbers[10], position[GATHER_MAX_RANK];
  const char *texts[5];
  fake_tensor data = floats(4, 2), indices = ids(2, (int64_t[]){1, 4}), out = floats(2, 2);
  for (int round = 0; round < 2; round++) {
    assert_null(take(&data, &indices, 0, "raise", NULL, round ? &out : NULL));
    assert_string_equal(fake_message, "indices[1] = 4 is outside [-4, 3] of axis 0 (take); 1 of 2 indices is bad");
    assert_true(gather_torch_last_error(numbers, position, texts));
    assert_int_equal(numbers[5], 4);
    assert_int_equal(position[0], 1);
    assert_string_equal(texts[1], "index_out_of_range");
    assert_false(gather_torch_last_error(numbers, position, texts));
  }
  assert_memory_equal(out.data, ((float[]){0, 1, 2, 3}), 16); /* unchanged */
  data.device = FAKE_CUDA;
  assert_null(take(&data, &indices, 0, "raise", NULL, NULL));
  assert_string_equal(fake_message, "data is on the device cuda, but libgather's operators run on the CPU");
  data.device = 77;
  assert_null(take(&data, &indices, 0, "raise", NULL, NULL));
  data.device = 0, data.layout = 1;
  assert_null(take(&data, &indices, 0, "raise", NULL, NULL));
  data.layout = 0, data.dtype = FAKE_QINT8;
  assert_null(take(&data, &indices, 0, "raise", NULL, NULL));
  data.dtype = FAKE_FLOAT32, data.rank = 65;
  assert_null(take(&data, &indices, 0, "raise", NULL, NULL));
  assert_string_equal(fake_message, "data has 65 dimensions, more than 64");
  data.rank = 2;
  assert_int_equal(fake_live, 0);
  fake_free(&data), fake_free(&indices), fake_free(&out);
}

static void survives_no_memory_and_wrong_calls(void **state) {
  fake_tensor data = floats(4, 2), indices = ids(2, (int64_t[]){1, 2});
  fake_no_memory = true;
  assert_null(take(&data, &indices, 0, "raise", NULL, NULL));
  assert_string_equal(fake_message, "out of memory for the output");
  fake_no_memory = false;
  assert_null(fake_call("take", 3, (uint64_t[]){0, 0, 0})); /* a schema of another version */
  assert_string_equal(fake_message, "PyTorch passed 3 arguments, not 7");
  assert_int_equal(fake_live, 0);
  fake_free(&data), fake_free(&indices);
}

/* dequantize(data, codec, dtype, layout...): the layout of int8 codes with a scale for each row */
static void *dequantize(fake_tensor *data, fake_tensor *scale, const char *codec, int groups_count, const int64_t *groups) {
  const uint64_t cells[] = {ITEMS(fake_handle(data), fake_text(codec), fake_text("float32"), fake_optional(scale), 0, 0, 0, 0, 0,
                                  fake_text(""), 0, fake_text("low"), fake_list(0, NULL), fake_list(groups_count, groups), (uint64_t)-1, 0,
                                  0, fake_text(""), fake_text(""), 0, 0, 0, 0, 0)};
  return fake_call("dequantize", sizeof cells / sizeof *cells, cells);
}

static void decodes(void **state) {
  fake_tensor data = fake_make(FAKE_INT8, 1, 2, (int64_t[]){2, 2}), scale = floats(2, 1);
  memcpy(data.data, (int8_t[]){1, -2, 3, -4}, 4);
  ((float *)(void *)scale.data)[0] = 0.5f, ((float *)(void *)scale.data)[1] = 2;
  check_floats(dequantize(&data, &scale, "affine", 0, NULL), 2, 2, (float[]){0.5f, -1, 6, -8});
  check_floats(dequantize(&data, &scale, "affine", 2, (int64_t[]){1, 2}), 2, 2, (float[]){0.5f, -1, 6, -8});
  assert_null(dequantize(&data, &scale, "affine", 3, (int64_t[]){1, 2, 3}));
  assert_string_equal(fake_message, "groups has 3 lengths for values of rank 2");
  assert_null(dequantize(&data, &scale, "nothing", 0, NULL));
  int64_t many[200] = {0};
  assert_null(dequantize(&data, &scale, "affine", 200, many));
  assert_string_equal(fake_message, "a list has 200 numbers: too many");
  assert_int_equal(fake_live, 0);
  fake_free(&data), fake_free(&scale);
}

/* A thread that keeps more plans than there is room for, and ends: nothing may be left (leak checkers look). */
static void *many_plans(void *argument) {
  int *wrong = argument;
  for (int64_t n = 1; n < 60; n++) {
    const int64_t one = 1, last = n - 1;
    fake_tensor data = fake_make(FAKE_INT64, 8, 1, &n), indices = ids(one, &last);
    ((int64_t *)(void *)data.data)[last] = 5;
    const uint64_t cells[] = {fake_handle(&data), fake_handle(&indices), 0};
    void *got = fake_call("take.no_grad", 3, cells);
    if (!got || *(int64_t *)(void *)fake_of(got)->data != 5) ++*wrong;
    if (got) fake_drop(got);
    fake_free(&data), fake_free(&indices);
  }
  return NULL;
}

static void forgets_plans_with_their_thread(void **state) {
  int wrong = 0;
  for (int i = 0; i < 4; i++) { /* one after the other: the fake PyTorch counts without locks */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, many_plans, &wrong), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
  }
  assert_int_equal(wrong, 0);
  assert_int_equal(fake_live, 0);
}

static void runs_on_the_hosts_threads(void **state) {
  enum { ROWS = 70000 };
  static int64_t numbers[ROWS];
  for (int64_t i = 0; i < ROWS; i++) numbers[i] = (i * 7919) % ROWS;
  fake_tensor data = floats(ROWS, 4), indices = ids(ROWS, numbers);
  fake_threads = 4;
  void *got = take(&data, &indices, 0, "raise", NULL, NULL);
  fake_threads = 1;
  assert_non_null(got);
  const float *rows = (const float *)(const void *)fake_of(got)->data;
  for (int64_t i = 0; i < ROWS; i++) assert_true(rows[4 * i + 3] == (float)(4 * numbers[i] + 3));
  fake_drop(got);
  assert_int_equal(fake_live, 0);
  fake_free(&data), fake_free(&indices);
}

TESTS(registers_everything, takes, repairs, refuses, survives_no_memory_and_wrong_calls, decodes, forgets_plans_with_their_thread,
      runs_on_the_hosts_threads)
