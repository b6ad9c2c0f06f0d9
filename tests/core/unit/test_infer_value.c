/* SPDX-License-Identifier: MIT
 *
 * test_infer_value.c: Shape, then Gather: known lengths, intervals and symbols come through a gather.
 * The first two examples are those of ONNX's data propagation tests.
 */
#include "support/unit.h"

static gather_dim known(int64_t len) { return (gather_dim){len, len, NULL}; }

static gather_tensor dims_tensor(const gather_dim *dims, int32_t rank, const int64_t *shape) {
  gather_tensor tensor = tensor_of(GATHER_TYPE_OPAQUE, dims, rank, shape);
  tensor.item_bytes = (int64_t)sizeof(gather_dim);
  return tensor;
}

/* Six lengths 1, 2, ... 6 by constant 1-D indices. */
static gather_status six_by(const gather_op *op, const int64_t *values, int64_t count, gather_dim *out) {
  gather_dim lengths[6];
  for (int i = 0; i < 6; i++) lengths[i] = known(i + 1);
  gather_tensor data = dims_tensor(lengths, 1, DIMS(6));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, values, 1, &count);
  gather_tensor target = dims_tensor(out, 1, &count);
  gather_error error = dirty_error();
  gather_status status = gather_infer_value(op, &data, &indices, &target, NULL, &error);
  if (status != GATHER_OK) assert_error(&error, status);
  return status;
}

static void assert_known(const gather_dim *dim, int64_t len) {
  assert_int_equal(dim->min, len);
  assert_int_equal(dim->max, len);
}

static void onnx_data_propagation(void **state) {
  gather_dim out[3];
  assert_status(six_by(op_of("Gather", "onnx-13"), DIMS(0, 3, 5), 3, out), GATHER_OK);
  assert_known(&out[0], 1);
  assert_known(&out[1], 4);
  assert_known(&out[2], 6);
  assert_status(six_by(op_of("Gather", "onnx-13"), DIMS(-2, -1), 2, out), GATHER_OK);
  assert_known(&out[0], 5);
  assert_known(&out[1], 6);
}

static void an_index_out_of_range(void **state) {
  gather_dim out[3];
  assert_status(six_by(op_of("Gather", "onnx-13"), DIMS(0, 6, 5), 3, out), GATHER_INDEX_OUT_OF_RANGE);
  assert_status(six_by(op_of("Gather", "onnx-1"), DIMS(0, -1, 5), 3, out), GATHER_INDEX_OUT_OF_RANGE);
  assert_status(six_by(op_of("Gather", "openvino-8"), DIMS(0, 6, -7), 3, out), GATHER_OK);
  assert_known(&out[0], 1);
  assert_known(&out[1], 0);
  assert_known(&out[2], 0);
}

static void a_scalar_index_keeps_rank_0(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_dim lengths[2] = {known(7), known(9)}, out = known(-1);
  int64_t index = -1;
  gather_tensor data = dims_tensor(lengths, 1, DIMS(2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, &index, 0, NULL);
  gather_tensor scalar = dims_tensor(&out, 0, NULL), flat = dims_tensor(&out, 1, DIMS(1));
  assert_status(gather_infer_value(op, &data, &indices, &flat, NULL, NULL), GATHER_SHAPE_MISMATCH);
  assert_status(gather_infer_value(op, &data, &indices, &scalar, NULL, NULL), GATHER_OK);
  assert_known(&out, 9);
}

static void unknowns_and_symbols_pass(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_dim lengths[3] = {{0, GATHER_DIM_UNBOUNDED, "batch"}, {2, 5, NULL}, {0, GATHER_DIM_UNBOUNDED, NULL}}, out[4];
  int32_t values[4] = {1, 0, -1, 0};
  gather_tensor data = dims_tensor(lengths, 1, DIMS(3)), target = dims_tensor(out, 2, DIMS(2, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, values, 2, DIMS(2, 2));
  assert_status(gather_infer_value(op, &data, &indices, &target, NULL, NULL), GATHER_OK);
  assert_int_equal(out[0].min, 2);
  assert_int_equal(out[0].max, 5);
  assert_null(out[0].symbol);
  assert_string_equal(out[1].symbol, "batch");
  assert_int_equal(out[2].max, GATHER_DIM_UNBOUNDED);
  assert_string_equal(out[3].symbol, "batch");
}

static void every_axis_works(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_dim lengths[6], out[4];
  int64_t values[2] = {2, 0};
  for (int i = 0; i < 6; i++) lengths[i] = known(10 + i);
  gather_tensor data = dims_tensor(lengths, 2, DIMS(2, 3)), target = dims_tensor(out, 2, DIMS(2, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, values, 1, DIMS(2));
  gather_options options = options_of(1, 0);
  assert_status(gather_infer_value(op, &data, &indices, &target, &options, NULL), GATHER_OK);
  assert_known(&out[0], 12);
  assert_known(&out[1], 10);
  assert_known(&out[2], 15);
  assert_known(&out[3], 13);
}

/* Anything but gather_dim elements is refused: it could only be a mistake. */
static void other_elements(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int64_t lengths[2] = {1, 2}, out[1], index[1] = {0};
  gather_tensor data = tensor_of(GATHER_TYPE_INT64, lengths, 1, DIMS(2)), target = tensor_of(GATHER_TYPE_INT64, out, 1, DIMS(1));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, index, 1, DIMS(1));
  assert_true(gather_infer_value(op, &data, &indices, &target, NULL, NULL) != GATHER_OK);
}

TESTS(onnx_data_propagation, an_index_out_of_range, a_scalar_index_keeps_rank_0, unknowns_and_symbols_pass, every_axis_works,
      other_elements)
