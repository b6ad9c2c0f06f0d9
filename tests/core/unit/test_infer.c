/* SPDX-License-Identifier: MIT
 *
 * test_infer.c: shapes of which not everything is known: what OpenVINO's and ONNX's inference answer, and symbols.
 * tests/core/rules/test_infer.py tries thousands of interval shapes against brute force.
 */
#include "support/unit.h"

static const int64_t any = GATHER_DIM_UNBOUNDED;

/* A shape from pairs of bounds. */
#define BOUNDS(...) bounds((const int64_t[]){__VA_ARGS__}, (int32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t) / 2))

static gather_shape bounds(const int64_t *pairs, int32_t rank) {
  gather_shape shape = {.rank = rank};
  for (int32_t d = 0; d < rank; d++) shape.dims[d] = (gather_dim){pairs[2 * d], pairs[2 * d + 1], NULL};
  return shape;
}

static gather_shape unknown_rank(void) {
  gather_shape shape = {.rank = -1};
  return shape;
}

static gather_status infer(const gather_op *op, const gather_shape *data, const gather_shape *indices, int64_t axis, int64_t batch_dims,
                           gather_shape *out) {
  gather_options options = options_of(axis, batch_dims);
  gather_error error = dirty_error();
  gather_status status = gather_infer_shape(op, data, indices, &options, out, &error);
  if (status != GATHER_OK) assert_error(&error, status);
  return status;
}

static void gives(const gather_op *op, const gather_shape *data, const gather_shape *indices, int64_t axis, int64_t batch_dims,
                  gather_shape want) {
  gather_shape out;
  assert_status(infer(op, data, indices, axis, batch_dims, &out), GATHER_OK);
  assert_int_equal(out.rank, want.rank);
  for (int32_t d = 0; d < want.rank; d++) {
    assert_int_equal(out.dims[d].min, want.dims[d].min);
    assert_int_equal(out.dims[d].max, want.dims[d].max);
  }
}

static void openvino_elements(void **state) {
  const gather_op *op = op_of("GatherElements", "openvino-6");
  gather_shape data = BOUNDS(0, any, 2, 4, 1, 5, 0, any, 4, 8, 2, 4);
  gather_shape indices = BOUNDS(0, any, 3, 6, 6, 10, 4, 8, 0, any, 4, 6);
  gives(op, &data, &indices, 2, 0, BOUNDS(0, any, 3, 4, 6, 10, 4, 8, 4, 8, 4, 4));
}

static void openvino_elements_of_unknown_rank(void **state) {
  const gather_op *op = op_of("GatherElements", "openvino-6");
  gather_shape none = unknown_rank();
  gather_shape known = BOUNDS(2, 2, 3, 5, 0, any);
  gives(op, &none, &known, 1, 0, known);
  gives(op, &known, &none, 1, 0, BOUNDS(2, 2, 0, any, 0, any));
  gives(op, &none, &none, 1, 0, unknown_rank());
}

static void openvino_batches_are_intersected(void **state) {
  const gather_op *op = op_of("Gather", "openvino-8");
  gather_shape out;
  gather_shape data = BOUNDS(1, 7, 5, 5), indices = BOUNDS(7, 10, 3, 3), apart = BOUNDS(8, 10, 3, 3);
  gives(op, &data, &indices, 1, 1, BOUNDS(7, 7, 3, 3));
  assert_status(infer(op, &data, &apart, 1, 1, &out), GATHER_SHAPE_MISMATCH);
}

static void an_axis_that_is_not_known(void **state) {
  const gather_op *op = op_of("Gather", "openvino-8");
  gather_shape out;
  gather_shape data = BOUNDS(3, 3, 4, 4, 5, 5), indices = BOUNDS(2, 2);
  assert_status(infer(op, &data, &indices, GATHER_AXIS_UNKNOWN, 0, &out), GATHER_OK);
  /* OpenVINO: [?,?,?]. Tighter is right too, as long as the answers for axis 0, 1 and 2 lie inside. */
  static const int64_t low[] = {2, 2, 2}, high[] = {3, 4, 5};
  assert_int_equal(out.rank, 3);
  for (int d = 0; d < 3; d++) assert_true(out.dims[d].min <= low[d] && out.dims[d].max >= high[d]);
}

static void gather_keeps_intervals(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_shape none = unknown_rank();
  gather_shape data = BOUNDS(2, 4, 7, 7, 0, any), indices = BOUNDS(1, 3, 5, 5), scalar = {.rank = 0};
  gives(op, &data, &indices, 1, 0, BOUNDS(2, 4, 1, 3, 5, 5, 0, any));
  gives(op, &data, &scalar, -1, 0, BOUNDS(2, 4, 7, 7));
  gives(op, &none, &indices, 1, 0, unknown_rank());
  gives(op, &data, &none, 1, 0, unknown_rank());
}

static void onnx_elements_follow_the_indices(void **state) {
  const gather_op *op = op_of("GatherElements", "onnx-13");
  gather_shape out;
  gather_shape data = BOUNDS(2, 4, 3, 5), indices = BOUNDS(0, 9, 4, 8), wide = BOUNDS(0, 9, 6, 8);
  gives(op, &data, &indices, 0, 0, BOUNDS(0, 9, 4, 5)); /* off the axis no larger than data */
  assert_status(infer(op, &data, &wide, 0, 0, &out), GATHER_SHAPE_MISMATCH);
}

static void impossible_inputs(void **state) {
  const gather_op *op = op_of("Gather", "openvino-8");
  const gather_op *elements = op_of("GatherElements", "onnx-13");
  gather_shape out;
  gather_shape scalar = {.rank = 0}, data = BOUNDS(0, any, 0, any), flat = BOUNDS(0, any);
  assert_status(infer(op, &scalar, &flat, 0, 0, &out), GATHER_RANK_MISMATCH);
  assert_status(infer(op, &data, &flat, 2, 0, &out), GATHER_AXIS_OUT_OF_RANGE);
  assert_status(infer(op, &data, &flat, 1, 2, &out), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  assert_status(infer(elements, &data, &flat, 0, 0, &out), GATHER_RANK_MISMATCH);
  assert_status(infer(elements, &data, &scalar, 0, 0, &out), GATHER_RANK_MISMATCH);
}

/* What is no shape at all, as either input of every operator without a function of its own. */
static void shapes_that_are_none(void **state) {
  const struct {
    gather_shape shape;
    gather_status status;
    const char *words;
  } NONE[] = {{{.rank = -2}, GATHER_UNSUPPORTED, "has rank -2"},
              {{.rank = GATHER_MAX_RANK + 1}, GATHER_UNSUPPORTED, "has rank 65"},
              {BOUNDS(2, 2, -1, 3), GATHER_SHAPE_MISMATCH, "dimension 1 is not a valid interval"},
              {BOUNDS(4, 3, 2, 2), GATHER_SHAPE_MISMATCH, "dimension 0 is not a valid interval"}};
  const gather_shape good = BOUNDS(2, 2, 2, 2);
  const gather_op *const ops[] = {op_of("Gather", "onnx-13"), op_of("GatherElements", "onnx-13"), op_of("GatherND", "onnx-13")};
  gather_options options = options_of(0, 0);
  gather_shape out;
  for (size_t o = 0; o < COUNT(ops); o++)
    for (size_t i = 0; i < COUNT(NONE); i++)
      for (int second = 0; second < 2; second++) {
        gather_error error = dirty_error();
        assert_status(gather_infer_shape(ops[o], second ? &good : &NONE[i].shape, second ? &NONE[i].shape : &good, &options, &out, &error),
                      NONE[i].status);
        assert_error(&error, NONE[i].status);
        assert_string_equal(error.input, second ? "indices" : "data");
        assert_non_null(strstr(error.message, NONE[i].words));
      }
  assert_status(gather_infer_shape(NULL, &good, &good, &options, &out, NULL), GATHER_USAGE);
  assert_status(gather_infer_shape(ops[0], &good, &good, &options, NULL, NULL), GATHER_USAGE);
}

static gather_dim named(const char *symbol) { return (gather_dim){0, GATHER_DIM_UNBOUNDED, symbol}; }

static void symbols_pass_through(void **state) {
  gather_shape out, data = {.rank = 2}, indices = {.rank = 1};
  char spare[] = "N"; /* symbols are compared by their text */
  data.dims[0] = named("N");
  data.dims[1] = (gather_dim){2, 2, NULL};
  indices.dims[0] = named("M");
  assert_status(infer(op_of("Gather", "onnx-13"), &data, &indices, 1, 0, &out), GATHER_OK);
  assert_int_equal(out.rank, 2);
  assert_string_equal(out.dims[0].symbol, "N");
  assert_string_equal(out.dims[1].symbol, "M");
  assert_status(infer(op_of("Gather", "onnx-13"), &data, &indices, 0, 0, &out), GATHER_OK);
  assert_string_equal(out.dims[0].symbol, "M");
  assert_null(out.dims[1].symbol);
  gather_shape both = {.rank = 2};
  both.dims[0] = named(spare);
  both.dims[1] = named("K");
  assert_status(infer(op_of("Gather", "openvino-8"), &data, &both, 1, 1, &out), GATHER_OK);
  assert_int_equal(out.rank, 2);
  assert_string_equal(out.dims[0].symbol, "N");
  assert_string_equal(out.dims[1].symbol, "K");
  assert_status(infer(op_of("GatherElements", "onnx-13"), &data, &both, 1, 0, &out), GATHER_OK);
  assert_string_equal(out.dims[0].symbol, "N");
  assert_string_equal(out.dims[1].symbol, "K");
}

static void the_largest_rank(void **state) {
  gather_shape data = {.rank = 33}, indices = {.rank = 33}, out;
  for (int d = 0; d < 33; d++) data.dims[d] = indices.dims[d] = (gather_dim){1, 1, NULL};
  assert_status(infer(op_of("Gather", "onnx-13"), &data, &indices, 0, 0, &out), GATHER_UNSUPPORTED);
  indices.rank = 32;
  assert_status(infer(op_of("Gather", "onnx-13"), &data, &indices, 0, 0, &out), GATHER_OK);
  assert_int_equal(out.rank, GATHER_MAX_RANK);
}

/* ---- values of shapes: Shape, then Gather. The first two examples are those of ONNX's data propagation tests. */

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

TESTS(openvino_elements, openvino_elements_of_unknown_rank, openvino_batches_are_intersected, an_axis_that_is_not_known,
      gather_keeps_intervals, onnx_elements_follow_the_indices, impossible_inputs, shapes_that_are_none, symbols_pass_through,
      the_largest_rank, onnx_data_propagation, an_index_out_of_range, a_scalar_index_keeps_rank_0, unknowns_and_symbols_pass,
      every_axis_works, other_elements)
