/* SPDX-License-Identifier: MIT
 *
 * test_nd.c: GatherND: exact and inferred shapes, inferred values, the highest ranks. Its calls: test_nd_calls.c.
 */
#include "support/unit.h"

static gather_tensor indices_of(const int64_t *numbers, int32_t rank, const int64_t *shape) {
  return tensor_of(GATHER_TYPE_INT64, numbers, rank, shape);
}

/* ---- shapes */

typedef struct {
  const char *rules;
  int32_t data_rank;
  int64_t data[5];
  int32_t indices_rank;
  int64_t indices[5];
  int64_t batch_dims;
  gather_status status;
  int32_t rank;
  int64_t out[6];
} shape_case;

static const shape_case shapes[] = {
    {"onnx-13", 2, {2, 2}, 2, {2, 2}, 0, GATHER_OK, 1, {2}},
    {"onnx-13", 2, {2, 3}, 1, {2}, 0, GATHER_OK, 0, {0}},
    {"onnx-13", 2, {2, 3}, 1, {1}, 0, GATHER_OK, 1, {3}},
    {"onnx-12", 3, {2, 2, 5}, 2, {2, 1}, 1, GATHER_OK, 2, {2, 5}},
    {"onnx-13", 3, {2, 2, 5}, 3, {0, 4, 3}, 0, GATHER_OK, 2, {0, 4}},
    {"onnx-13", 3, {0, 2, 5}, 3, {0, 4, 2}, 1, GATHER_OK, 2, {0, 4}},
    {"openvino-8", 4, {30, 2, 100, 35}, 4, {30, 2, 3, 1}, 2, GATHER_OK, 4, {30, 2, 3, 35}},
    {"openvino-5", 4, {30, 2, 100, 35}, 4, {30, 2, 3, 1}, 2, GATHER_OK, 3, {60, 3, 35}},
    {"openvino-5", 4, {30, 2, 100, 35}, 4, {30, 2, 3, 1}, 1, GATHER_OK, 5, {30, 2, 3, 100, 35}},
    {"openvino-5", 3, {30, 2, 7}, 2, {30, 1}, 1, GATHER_OK, 2, {30, 7}},
    {"openvino-5", 4, {3, 0, 7, 2}, 3, {3, 0, 1}, 2, GATHER_OK, 2, {0, 2}},
    {"microsoft-1", 2, {2, 3}, 2, {4, 0}, 0, GATHER_OK, 3, {4, 2, 3}},
    {"openvino-8", 3, {2, 3, 4}, 2, {2, 0}, 1, GATHER_OK, 3, {2, 3, 4}},
    {"onnx-13", 2, {2, 3}, 2, {4, 0}, 0, GATHER_SHAPE_MISMATCH, 0, {0}},
    {"onnx-13", 2, {2, 3}, 2, {4, 3}, 0, GATHER_SHAPE_MISMATCH, 0, {0}},
    {"onnx-13", 2, {2, 3}, 2, {2, 2}, 1, GATHER_SHAPE_MISMATCH, 0, {0}},
    {"onnx-13", 2, {2, 3}, 2, {3, 1}, 1, GATHER_SHAPE_MISMATCH, 0, {0}},
    {"openvino-8", 2, {2, 3}, 2, {1, 1}, 1, GATHER_SHAPE_MISMATCH, 0, {0}},
    {"onnx-13", 0, {0}, 1, {1}, 0, GATHER_RANK_MISMATCH, 0, {0}},
    {"onnx-13", 2, {2, 3}, 0, {0}, 0, GATHER_RANK_MISMATCH, 0, {0}},
    {"onnx-13", 2, {2, 3}, 3, {2, 3, 1}, 2, GATHER_BATCH_DIMS_OUT_OF_RANGE, 0, {0}},
    {"onnx-13", 3, {2, 3, 4}, 2, {2, 1}, 2, GATHER_BATCH_DIMS_OUT_OF_RANGE, 0, {0}},
    {"onnx-13", 2, {2, 3}, 2, {2, 1}, -1, GATHER_BATCH_DIMS_OUT_OF_RANGE, 0, {0}},
    {"onnx-11", 2, {2, 3}, 2, {2, 1}, 1, GATHER_BATCH_DIMS_OUT_OF_RANGE, 0, {0}},
    {"microsoft-1", 2, {2, 3}, 2, {2, 1}, 1, GATHER_BATCH_DIMS_OUT_OF_RANGE, 0, {0}},
    {"openvino-5", 3, {INT64_C(1) << 40, INT64_C(1) << 40, 1}, 4, {INT64_C(1) << 40, INT64_C(1) << 40, 0, 1}, 2, GATHER_OVERFLOW, 0, {0}},
};

static void exact_shapes(void **state) {
  for (size_t i = 0; i < COUNT(shapes); i++) {
    const shape_case *t = &shapes[i];
    gather_tensor data = tensor_of(GATHER_TYPE_INT8, NULL, t->data_rank, t->data);
    gather_tensor indices = indices_of(NULL, t->indices_rank, t->indices);
    gather_options options = options_of(0, t->batch_dims);
    gather_error error = dirty_error();
    int64_t shape[GATHER_MAX_RANK];
    int32_t rank = -1;
    assert_status(gather_output_shape(op_of("GatherND", t->rules), &data, &indices, &options, shape, &rank, &error), t->status);
    if (t->status != GATHER_OK) {
      assert_error(&error, t->status);
      assert_string_equal(error.op, "GatherND");
      continue;
    }
    assert_int_equal(rank, t->rank);
    for (int32_t d = 0; d < rank; d++) assert_int_equal(shape[d], t->out[d]);
  }
}

static void words_of_the_errors(void **state) {
  const gather_op *op = op_of("GatherND", "onnx-13");
  gather_tensor data = tensor_of(GATHER_TYPE_INT8, NULL, 3, DIMS(2, 3, 4));
  gather_tensor indices = indices_of(NULL, 2, DIMS(2, 3));
  gather_options options = options_of(0, 1);
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error;
  assert_status(gather_output_shape(op, &data, &indices, &options, shape, &rank, &error), GATHER_SHAPE_MISMATCH);
  assert_string_equal(error.message,
                      "the last dimension of indices, the numbers of a tuple, is 3; GatherND onnx-13 on data of rank 3 "
                      "with batch_dims 1 takes 1 to 2");
  options = options_of(1, 0);
  assert_status(gather_output_shape(op, &data, &indices, &options, shape, &rank, &error), GATHER_AXIS_OUT_OF_RANGE);
  assert_string_equal(error.message, "the axis is 1, but GatherND onnx-13 has none");
  options = options_of(0, 2);
  assert_status(gather_output_shape(op, &data, &indices, &options, shape, &rank, &error), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  assert_string_equal(error.message, "batch_dims 2 is outside [0, 1]: data and indices must have more dimensions");
}

/* Loops and columns share one array of 64. */
static void the_highest_ranks(void **state) {
  const gather_op *op = op_of("GatherND", "onnx-13");
  int64_t ones[GATHER_MAX_RANK], shape[GATHER_MAX_RANK], number = 0;
  int32_t rank;
  signed char value = 42, result = 0;
  for (int d = 0; d < GATHER_MAX_RANK; d++) ones[d] = 1;
  for (int32_t r = 1; r <= GATHER_MAX_RANK; r++)
    for (int32_t q = 1; q <= GATHER_MAX_RANK; q++)
      for (int64_t k = 1; k <= r; k = k * 2 + 1) {
        int64_t numbers[GATHER_MAX_RANK] = {0}, of_indices[GATHER_MAX_RANK];
        memcpy(of_indices, ones, sizeof ones);
        of_indices[q - 1] = k;
        gather_tensor data = tensor_of(GATHER_TYPE_INT8, &value, r, ones);
        gather_tensor indices = indices_of(numbers, q, of_indices);
        const bool fits = q - 1 + r - k <= GATHER_MAX_RANK && (k == 1 || q - 1 + r <= GATHER_MAX_RANK);
        assert_status(gather_output_shape(op, &data, &indices, NULL, shape, &rank, NULL), fits ? GATHER_OK : GATHER_UNSUPPORTED);
        if (!fits) continue;
        assert_int_equal(rank, q - 1 + r - k);
        gather_tensor out = tensor_of(GATHER_TYPE_INT8, &result, rank, shape);
        result = 0;
        assert_status(gather_nd(&data, &indices, 0, &out, NULL), GATHER_OK);
        assert_int_equal(result, 42);
        number++;
      }
  assert_true(number > 1000);
}

/* ---- inferred shapes */
#define ANY \
  { 0, GATHER_DIM_UNBOUNDED, NULL }
#define KNOWN(n) \
  { n, n, NULL }

/* What is inferred; rank -1: nothing is known of it. */
static void inferred(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_options *options,
                     int32_t rank, const gather_dim *want) {
  gather_shape out, *got = &out;
  assert_status(gather_infer_shape(op, data, indices, options, &out, NULL), GATHER_OK);
  assert_int_equal(got->rank, rank);
  for (int32_t d = 0; d < rank; d++) {
    assert_int_equal(got->dims[d].min, want[d].min);
    assert_int_equal(got->dims[d].max, want[d].max);
    if (want[d].symbol)
      assert_string_equal(got->dims[d].symbol, want[d].symbol);
    else
      assert_null(got->dims[d].symbol);
  }
}

static void inferred_shapes(void **state) {
  const gather_op *op8 = op_of("GatherND", "openvino-8"), *op5 = op_of("GatherND", "openvino-5"), *onnx = op_of("GatherND", "onnx-13");
  /* The case of OpenVINO's own test. */
  gather_shape data = {4, {{2, 6, NULL}, {3, 7, NULL}, {8, 10, NULL}, {12, 14, NULL}}};
  gather_shape indices = {3, {{4, 8, NULL}, {6, 10, NULL}, KNOWN(2)}};
  gather_options one = options_of(0, 1), two = options_of(0, 2), axis = options_of(GATHER_AXIS_UNKNOWN, 0);
  inferred(op8, &data, &indices, &one, 3, (gather_dim[]){{4, 6, NULL}, {6, 10, NULL}, {12, 14, NULL}});
  inferred(op5, &data, &indices, &one, 3, (gather_dim[]){{4, 6, NULL}, {6, 10, NULL}, {12, 14, NULL}});

  data = (gather_shape){4, {KNOWN(30), {1, 2, NULL}, KNOWN(100), {35, 35, "C"}}};
  indices = (gather_shape){4, {KNOWN(30), {2, 9, "N"}, {0, GATHER_DIM_UNBOUNDED, "M"}, KNOWN(1)}};
  inferred(op5, &data, &indices, &two, 3, (gather_dim[]){{60, 60, NULL}, {0, GATHER_DIM_UNBOUNDED, "M"}, {35, 35, "C"}});
  inferred(op8, &data, &indices, &two, 4, (gather_dim[]){KNOWN(30), {2, 2, "N"}, {0, GATHER_DIM_UNBOUNDED, "M"}, {35, 35, "C"}});

  /* A product that nobody can know, and one of which one factor is 0. */
  data = (gather_shape){3, {ANY, {3, GATHER_DIM_UNBOUNDED, NULL}, KNOWN(4)}};
  indices = (gather_shape){3, {{2, GATHER_DIM_UNBOUNDED, NULL}, ANY, KNOWN(1)}};
  inferred(op5, &data, &indices, &two, 1, (gather_dim[]){{6, GATHER_DIM_UNBOUNDED, NULL}});
  indices.dims[0] = (gather_dim)KNOWN(0);
  inferred(op5, &data, &indices, &two, 1, (gather_dim[]){KNOWN(0)});

  /* The rank depends on the length of the tuples. */
  data = (gather_shape){2, {KNOWN(5), KNOWN(6)}};
  indices = (gather_shape){2, {KNOWN(7), ANY}};
  inferred(onnx, &data, &indices, NULL, -1, NULL);
  inferred(onnx, &data, &indices, &axis, -1, NULL);
  indices.dims[1] = (gather_dim){2, 9, NULL}; /* only 2 is valid */
  inferred(onnx, &data, &indices, NULL, 1, (gather_dim[]){KNOWN(7)});
  data.rank = 1; /* at least 1 and at most 1 in ONNX, but also 0 in OpenVINO */
  indices.dims[1] = (gather_dim)ANY;
  inferred(onnx, &data, &indices, NULL, 1, (gather_dim[]){KNOWN(7)});
  inferred(op8, &data, &indices, NULL, -1, NULL);
  data.rank = -1;
  inferred(onnx, &data, &indices, NULL, -1, NULL);
  data.rank = 1, indices.rank = -1;
  inferred(onnx, &data, &indices, NULL, -1, NULL);
}

static void inferred_errors(void **state) {
  const gather_op *op = op_of("GatherND", "onnx-13");
  gather_shape data = {2, {{1, 7, NULL}, KNOWN(6)}}, indices = {2, {{8, 10, NULL}, KNOWN(1)}}, out;
  gather_options one = options_of(0, 1), two = options_of(0, 2), below = options_of(0, -1);
  gather_error error;
  assert_status(gather_infer_shape(op, &data, &indices, &one, &out, &error), GATHER_SHAPE_MISMATCH);
  assert_string_equal(error.message, "batch dimension 0 of data and of indices cannot be equal");
  /* The same, although the rank of the output is not known. */
  data = (gather_shape){3, {{1, 7, NULL}, KNOWN(6), KNOWN(6)}};
  indices.dims[1] = (gather_dim)ANY;
  assert_status(gather_infer_shape(op, &data, &indices, &one, &out, &error), GATHER_SHAPE_MISMATCH);
  indices.dims[1] = (gather_dim){4, GATHER_DIM_UNBOUNDED, NULL};
  assert_status(gather_infer_shape(op, &data, &indices, NULL, &out, &error), GATHER_SHAPE_MISMATCH);
  assert_non_null(strstr(error.message, "is at least 4; GatherND onnx-13 on data of rank 3"));
  indices.dims[1] = (gather_dim){4, 9, NULL};
  assert_status(gather_infer_shape(op, &data, &indices, NULL, &out, &error), GATHER_SHAPE_MISMATCH);
  assert_string_equal(error.message,
                      "the last dimension of indices, the numbers of a tuple, is 4 to 9; GatherND onnx-13 on data of "
                      "rank 3 with batch_dims 0 takes 1 to 3");
  assert_status(gather_infer_shape(op, &data, &indices, &two, &out, &error), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  data.rank = indices.rank = -1;
  assert_status(gather_infer_shape(op, &data, &indices, &below, &out, &error), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  assert_status(gather_infer_shape(op, &data, &indices, &two, &out, &error), GATHER_OK);
  indices.rank = 0;
  assert_status(gather_infer_shape(op, &data, &indices, NULL, &out, &error), GATHER_RANK_MISMATCH);
  data.rank = 0, indices.rank = -1;
  assert_status(gather_infer_shape(op, &data, &indices, NULL, &out, &error), GATHER_RANK_MISMATCH);
}

/* A length that a model computes: Shape, then GatherND. */
static void inferred_values(void **state) {
  const gather_dim dims[3] = {{2, 2, NULL}, {0, 9, "N"}, {5, 5, NULL}};
  const int64_t numbers[] = {1, -1};
  gather_dim got[2];
  gather_tensor data = tensor_of(GATHER_TYPE_OPAQUE, dims, 1, DIMS(3));
  gather_tensor indices = indices_of(numbers, 2, DIMS(2, 1));
  gather_tensor out = tensor_of(GATHER_TYPE_OPAQUE, got, 1, DIMS(2));
  data.item_bytes = out.item_bytes = sizeof(gather_dim);
  assert_status(gather_infer_value(op_of("GatherND", "onnx-13"), &data, &indices, &out, NULL, NULL), GATHER_OK);
  assert_string_equal(got[0].symbol, "N");
  assert_int_equal(got[0].max, 9);
  assert_int_equal(got[1].min, 5);
}

TESTS(exact_shapes, words_of_the_errors, the_highest_ranks, inferred_shapes, inferred_errors, inferred_values)
