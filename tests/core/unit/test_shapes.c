/* SPDX-License-Identifier: MIT
 *
 * test_shapes.c: gather_output_shape complains in the order its comment gives: types, ranks, axis, batch_dims, shapes, overflow,
 * rank of the output. Each row below has one fault more than the next, and the first fault must win.
 */
#include "support/unit.h"

static int64_t ones[GATHER_MAX_RANK + 2];

static gather_status shape_of(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, int64_t axis,
                              int64_t batch_dims) {
  gather_options options = options_of(axis, batch_dims);
  gather_error error = dirty_error();
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = -7;
  gather_status status = gather_output_shape(op, data, indices, &options, shape, &rank, &error);
  if (status != GATHER_OK) {
    assert_error(&error, status);
    assert_string_equal(error.op, op->name);
    assert_string_equal(error.rules, op->rules);
  }
  assert_status(gather_output_shape(op, data, indices, &options, shape, &rank, NULL), status);
  return status;
}

static void gather_complaints(void **state) {
  const gather_op *op = op_of("Gather", "openvino-8");
  gather_tensor scalar = tensor_of(GATHER_TYPE_FLOAT32, NULL, 0, NULL);
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(3, 2));
  gather_tensor floats = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(4, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(4, 2));
  gather_tensor matching = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(3, 2));
  assert_status(shape_of(op, &scalar, &floats, 5, 9), GATHER_TYPE_UNSUPPORTED);
  assert_status(shape_of(op, &scalar, &indices, 5, 9), GATHER_RANK_MISMATCH);
  assert_status(shape_of(op, &data, &indices, 5, 9), GATHER_AXIS_OUT_OF_RANGE);
  assert_status(shape_of(op, &data, &indices, 1, 9), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  assert_status(shape_of(op, &data, &indices, 1, 1), GATHER_SHAPE_MISMATCH);
  assert_status(shape_of(op, &data, &matching, 1, 1), GATHER_OK);
}

static void elements_complaints(void **state) {
  const gather_op *op = op_of("GatherElements", "onnx-13");
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(3, 2));
  gather_tensor strings = tensor_of(GATHER_TYPE_STRING, NULL, 1, DIMS(4));
  gather_tensor flat = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(4));
  gather_tensor wide = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(4, 3));
  gather_tensor narrow = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(4, 1));
  assert_status(shape_of(op, &data, &strings, 5, 9), GATHER_TYPE_UNSUPPORTED);
  assert_status(shape_of(op, &data, &flat, 5, 9), GATHER_RANK_MISMATCH);
  assert_status(shape_of(op, &data, &wide, 5, 9), GATHER_AXIS_OUT_OF_RANGE);
  assert_status(shape_of(op, &data, &wide, 0, 9), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  assert_status(shape_of(op, &data, &wide, 0, 0), GATHER_SHAPE_MISMATCH);
  assert_status(shape_of(op, &data, &narrow, 0, 0), GATHER_OK);
  assert_status(shape_of(op_of("GatherElements", "openvino-6"), &data, &narrow, 0, 0), GATHER_SHAPE_MISMATCH);
}

static void which_types_index(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 1, DIMS(3));
  for (int number = 1; gather_type_get((gather_type)number); number++) {
    const gather_type_info *info = gather_type_get((gather_type)number);
    gather_tensor indices = tensor_of(info->type, NULL, 1, DIMS(2));
    bool whole = info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT;
    if (info->bits >= 8) assert_status(shape_of(op, &data, &indices, 0, 0), whole ? GATHER_OK : GATHER_TYPE_UNSUPPORTED);
    if (!whole) assert_status(shape_of(op, &data, &indices, 0, 0), GATHER_TYPE_UNSUPPORTED);
  }
}

static void extreme_axes(void **state) {
  static const int64_t bad[] = {2, -3, INT64_MAX, INT64_MIN + 1, INT64_MIN, INT32_MAX, INT64_C(1) << 32};
  const gather_op *op = op_of("Gather", "openvino-8");
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(3, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(3));
  for (size_t i = 0; i < COUNT(bad); i++) {
    assert_status(shape_of(op, &data, &indices, bad[i], 0), GATHER_AXIS_OUT_OF_RANGE);
    assert_status(shape_of(op, &data, &indices, 1, bad[i]), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  }
  assert_status(shape_of(op, &data, &indices, -2, 0), GATHER_OK);
  assert_status(shape_of(op, &data, &indices, 1, 1), GATHER_OK);
  assert_status(shape_of(op, &data, &indices, 0, 1), GATHER_BATCH_DIMS_OUT_OF_RANGE);
}

static void outputs_that_are_too_large(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(3, INT64_C(1) << 40));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT8, NULL, 1, DIMS(INT64_C(1) << 40));
  assert_status(shape_of(op, &data, &indices, 0, 0), GATHER_OVERFLOW);
  /* 2^60 elements of one byte fit, of eight bytes they do not. A machine of 32 bits has memory for neither. */
  gather_status large = sizeof(void *) < 8 ? GATHER_OVERFLOW : GATHER_OK;
  gather_tensor bytes = tensor_of(GATHER_TYPE_INT8, NULL, 2, DIMS(3, INT64_C(1) << 20));
  gather_tensor doubles = tensor_of(GATHER_TYPE_FLOAT64, NULL, 2, DIMS(3, INT64_C(1) << 20));
  assert_status(shape_of(op, &bytes, &indices, 0, 0), large);
  assert_status(shape_of(op, &doubles, &indices, 0, 0), GATHER_OVERFLOW);
  /* Zero lengths win over any size. */
  gather_tensor none = tensor_of(GATHER_TYPE_INT8, NULL, 2, DIMS(INT64_C(1) << 40, 0));
  assert_status(shape_of(op, &data, &none, 0, 0), large);
}

static void the_largest_rank(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = -1;
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 33, ones);
  gather_tensor fits = tensor_of(GATHER_TYPE_INT64, NULL, 32, ones);
  gather_tensor over = tensor_of(GATHER_TYPE_INT64, NULL, 33, ones);
  assert_status(gather_output_shape(op, &data, &fits, NULL, shape, &rank, NULL), GATHER_OK);
  assert_int_equal(rank, GATHER_MAX_RANK);
  assert_status(shape_of(op, &data, &over, 0, 0), GATHER_UNSUPPORTED);
  gather_tensor most = tensor_of(GATHER_TYPE_INT64, NULL, GATHER_MAX_RANK, ones);
  gather_tensor flat = tensor_of(GATHER_TYPE_INT64, NULL, 1, ones);
  assert_status(shape_of(op, &flat, &most, 0, 0), GATHER_OK);
  assert_status(shape_of(op, &most, &flat, 63, 0), GATHER_OK);
}

/* Overflow is complained about before the rank of the output. */
static void rank_before_overflow(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int64_t wide[40], more[40];
  /* Each input fits in memory, the output does not. */
  const int twos = sizeof(void *) < 8 ? 30 : 40;
  for (int d = 0; d < 40; d++) wide[d] = more[d] = d < twos ? 2 : 1;
  gather_tensor data = tensor_of(GATHER_TYPE_INT8, NULL, 40, wide);
  gather_tensor indices = tensor_of(GATHER_TYPE_INT8, NULL, 40, more);
  assert_status(shape_of(op, &data, &indices, 0, 0), GATHER_UNSUPPORTED);
}

static void missing_arguments(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error;
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 1, DIMS(3));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(3));
  assert_status(gather_output_shape(NULL, &data, &indices, NULL, shape, &rank, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
  assert_status(gather_output_shape(op, NULL, &indices, NULL, shape, &rank, NULL), GATHER_USAGE);
  assert_status(gather_output_shape(op, &data, NULL, NULL, shape, &rank, NULL), GATHER_USAGE);
}

int main(void) {
  for (size_t d = 0; d < COUNT(ones); d++) ones[d] = 1;
  return RUN_TESTS(gather_complaints, elements_complaints, which_types_index, extreme_axes, outputs_that_are_too_large, the_largest_rank,
                   rank_before_overflow, missing_arguments);
}
