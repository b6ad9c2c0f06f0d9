/* SPDX-License-Identifier: MIT
 *
 * test_axis.c: the axis that OpenVINO's Gather takes as a tensor: one integer element of any integer type.
 */
#include "support/unit.h"

static gather_status read_axis(const gather_tensor *tensor, int64_t *value) {
  gather_error error = dirty_error();
  gather_status status = gather_axis_read(tensor, value, &error);
  if (status != GATHER_OK) assert_error(&error, status);
  return status;
}

static void every_integer_type(void **state) {
  int8_t i8 = -2;
  int16_t i16 = -300;
  int32_t i32 = -70000;
  int64_t i64 = INT64_MIN, value = 0;
  uint8_t u8 = 200;
  uint16_t u16 = 60000;
  uint32_t u32 = 4000000000u;
  uint64_t u64 = INT64_MAX;
  struct {
    gather_type type;
    void *data;
    int64_t value;
  } rows[] = {
      {GATHER_TYPE_INT8, &i8, -2},
      {GATHER_TYPE_INT16, &i16, -300},
      {GATHER_TYPE_INT32, &i32, -70000},
      {GATHER_TYPE_INT64, &i64, INT64_MIN},
      {GATHER_TYPE_UINT8, &u8, 200},
      {GATHER_TYPE_UINT16, &u16, 60000},
      {GATHER_TYPE_UINT32, &u32, 4000000000},
      {GATHER_TYPE_UINT64, &u64, INT64_MAX},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    gather_tensor axis = tensor_of(rows[i].type, rows[i].data, 0, NULL);
    assert_status(read_axis(&axis, &value), GATHER_OK);
    assert_true(value == rows[i].value);
    axis.rank = 2;
    axis.shape = DIMS(1, 1);
    value = 0;
    assert_status(read_axis(&axis, &value), GATHER_OK);
    assert_true(value == rows[i].value);
  }
}

static void memory_as_it_is(void **state) {
  uint8_t bytes[16] = {0};
  int64_t value = 0;
  int32_t written = 0x01020304;
  memcpy(bytes + 3, &written, sizeof written);
  gather_tensor axis = tensor_of(GATHER_TYPE_INT32, bytes + 3, 1, DIMS(1));
  assert_status(read_axis(&axis, &value), GATHER_OK);
  assert_int_equal(value, 0x01020304);
  axis.flags = GATHER_TENSOR_BYTE_SWAPPED | GATHER_TENSOR_READ_ONLY;
  assert_status(read_axis(&axis, &value), GATHER_OK);
  assert_int_equal(value, 0x04030201);
}

static void what_is_no_axis(void **state) {
  int64_t two[2] = {0, 1}, value;
  float real = 1;
  uint64_t beyond = UINT64_MAX;
  gather_tensor axis = tensor_of(GATHER_TYPE_FLOAT32, &real, 0, NULL);
  assert_status(read_axis(&axis, &value), GATHER_TYPE_UNSUPPORTED);
  axis = tensor_of(GATHER_TYPE_INT64, two, 1, DIMS(2));
  assert_status(read_axis(&axis, &value), GATHER_SHAPE_MISMATCH);
  axis = tensor_of(GATHER_TYPE_INT64, two, 2, DIMS(1, 0));
  assert_status(read_axis(&axis, &value), GATHER_SHAPE_MISMATCH);
  axis = tensor_of(GATHER_TYPE_UINT64, &beyond, 0, NULL);
  assert_status(read_axis(&axis, &value), GATHER_AXIS_OUT_OF_RANGE);
  axis = tensor_of(GATHER_TYPE_INT64, NULL, 0, NULL);
  assert_true(read_axis(&axis, &value) != GATHER_OK);
}

/* The axis and the batch_dims of the one-call functions: each selects other elements of data[2, 2] and data[2, 2, 2]. */
static void of_the_one_call_functions(void **state) {
  static const int64_t AXES[] = {0, 1, -1, -2};
  int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8];
  int64_t ids[] = {1, 0, 0, 0};
  const gather_tensor data = tensor_of(GATHER_TYPE_INT32, numbers, 2, DIMS(2, 2));
  const gather_tensor cube = tensor_of(GATHER_TYPE_INT32, numbers, 3, DIMS(2, 2, 2));
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(2, 2));
  const gather_tensor one = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(1));
  const gather_tensor tuples = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(2, 1));
  const gather_tensor to = tensor_of(GATHER_TYPE_INT32, out, 2, DIMS(2, 2));
  for (size_t i = 0; i < COUNT(AXES); i++) {
    const bool rows = AXES[i] == 0 || AXES[i] == -2;
    const int32_t elements[] = {rows ? 2 : 1, rows ? 1 : 0, rows ? 0 : 2, rows ? 1 : 2};
    const int32_t taken[] = {rows ? 2 : 1, 3};
    const gather_tensor row = tensor_of(GATHER_TYPE_INT32, out, 2, rows ? DIMS(1, 2) : DIMS(2, 1));
    memset(out, 0, sizeof out);
    assert_status(gather_elements(&data, &indices, AXES[i], &to, NULL), GATHER_OK);
    assert_memory_equal(out, elements, sizeof elements);
    assert_status(gather_take(&data, &one, AXES[i], &row, NULL), GATHER_OK);
    assert_memory_equal(out, taken, sizeof taken);
  }
  assert_status(gather_elements(&data, &indices, 2, &to, NULL), GATHER_AXIS_OUT_OF_RANGE);
  assert_status(gather_elements(&data, &indices, -3, &to, NULL), GATHER_AXIS_OUT_OF_RANGE);
  const int32_t batched[] = {2, 3, 4, 5};
  assert_status(gather_nd(&cube, &tuples, 1, &to, NULL), GATHER_OK);
  assert_memory_equal(out, batched, sizeof batched);
}

TESTS(every_integer_type, memory_as_it_is, what_is_no_axis, of_the_one_call_functions)
