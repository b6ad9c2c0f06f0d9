/* SPDX-License-Identifier: MIT
 *
 * test_nd.c: GatherND: exact and inferred shapes, inferred values, the highest ranks; its calls.
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
  assert_string_equal(error.message, "the axis is 1, but GatherND onnx-13 has no axis");
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

/* ---- calls: the exact error, tuples without numbers, views of every kind, beside a loop that is written from the documents */

enum { MOST = 4096, ROUNDS = 30000 /* at least 20,000 are none that draw() gives up */ };

/* ---- errors */

static void the_exact_error(void **state) {
  const int64_t numbers[2][2][2] = {{{1, -3}, {-2, 2}}, {{0, 3}, {7, -4}}};
  float table[2][2][3] = {{{0}}}, result[4] = {9, 9, 9, 9};
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, table, 3, DIMS(2, 2, 3));
  gather_tensor indices = indices_of(&numbers[0][0][0], 3, DIMS(2, 2, 2));
  gather_tensor out = tensor_of(GATHER_TYPE_FLOAT32, result, 2, DIMS(2, 2));
  gather_error error = dirty_error();
  assert_status(gather_nd(&data, &indices, 1, &out, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.message,
                      "indices[1, 0, 1] = 3, component 1 of tuple [1, 0], is outside [-3, 2] of axis 2 (GatherND "
                      "onnx-13); 3 of 8 indices are bad");
  assert_int_equal(error.axis, 2);
  assert_int_equal(error.position_rank, 3);
  assert_int_equal(error.position[0], 1);
  assert_int_equal(error.position[1], 0);
  assert_int_equal(error.position[2], 1);
  assert_int_equal(error.value, 3);
  assert_int_equal(error.low, -3);
  assert_int_equal(error.high, 2);
  assert_int_equal(error.bad_count, 3);
  for (int i = 0; i < 4; i++) assert_true(result[i] == 9);

  /* One number in each tuple. */
  indices = indices_of(&numbers[1][0][0], 2, DIMS(2, 1));
  gather_tensor rows = tensor_of(GATHER_TYPE_FLOAT32, table, 2, DIMS(2, 2)), pairs = tensor_of(GATHER_TYPE_FLOAT32, result, 2, DIMS(2, 2));
  assert_status(gather_nd(&rows, &indices, 0, &pairs, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.message,
                      "indices[1, 0] = 3, component 0 of tuple [1], is outside [-2, 1] of axis 0 (GatherND onnx-13); 1 "
                      "of 2 indices is bad");
  assert_int_equal(error.axis, 0);
  /* One tuple alone: its position is that of the number. */
  indices = indices_of(&numbers[1][1][0], 1, DIMS(2));
  gather_tensor one = tensor_of(GATHER_TYPE_FLOAT32, result, 0, NULL);
  assert_status(gather_nd(&rows, &indices, 0, &one, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.message,
                      "indices[0] = 7, component 0 of the tuple, is outside [-2, 1] of axis 0 (GatherND onnx-13); 2 of 2 "
                      "indices are bad");
  assert_int_equal(error.position_rank, 1);
}

/* ---- tuples without numbers */

static void empty_tuples(void **state) {
  const gather_op *op = op_of("GatherND", "openvino-8"), *fused = op_of("GatherND", "openvino-5");
  static const int32_t numbers[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int32_t result[4][2][3];
  gather_tensor data = tensor_of(GATHER_TYPE_INT32, numbers, 2, DIMS(2, 3));
  gather_tensor indices = indices_of(NULL, 2, DIMS(4, 0));
  gather_tensor out = tensor_of(GATHER_TYPE_INT32, result, 3, DIMS(4, 2, 3));
  gather_options options = options_of(0, 0);
  int64_t bad = -1;
  options.bad_count = &bad;
  for (int on_bad = GATHER_ON_BAD_DEFAULT; on_bad <= GATHER_ON_BAD_PROMISE; on_bad++)
    for (uint32_t flags = 0; flags <= GATHER_TENSOR_SHARED; flags += GATHER_TENSOR_SHARED)
      for (int fresh = 0; fresh < 2; fresh++) {
        options.on_bad = (gather_on_bad)on_bad, options.fresh_output = fresh, options.fill = numbers;
        indices.flags = flags;
        memset(result, 0, sizeof result);
        assert_status(gather_apply(op, &data, &indices, &out, &options, NULL), GATHER_OK);
        assert_int_equal(bad, 0);
        for (int t = 0; t < 4; t++) assert_memory_equal(result[t], numbers, sizeof numbers);
      }
  /* With batch dimensions, fused and not: [2] and [2, 3] batches. */
  options = options_of(0, 1);
  indices = indices_of(NULL, 3, DIMS(2, 4, 0));
  gather_tensor rows = tensor_of(GATHER_TYPE_INT32, result, 3, DIMS(2, 4, 3));
  assert_status(gather_apply(op, &data, &indices, &rows, &options, NULL), GATHER_OK);
  for (int n = 0; n < 24; n++) assert_int_equal(((int32_t *)result)[n], numbers[n / 12][n % 3]);
  gather_tensor cube = tensor_of(GATHER_TYPE_INT32, numbers, 3, DIMS(2, 3, 1));
  options = options_of(0, 2);
  indices = indices_of(NULL, 4, DIMS(2, 3, 2, 0));
  gather_tensor flat = tensor_of(GATHER_TYPE_INT32, result, 3, DIMS(6, 2, 1));
  assert_status(gather_apply(fused, &cube, &indices, &flat, &options, NULL), GATHER_OK);
  for (int n = 0; n < 12; n++) assert_int_equal(((int32_t *)result)[n], n / 2 + 1);
}

static void empty_tuples_as_a_plan(void **state) {
  static const int32_t numbers[2] = {7, 8};
  int32_t result[600];
  gather_tensor data = tensor_of(GATHER_TYPE_INT32, numbers, 1, DIMS(2));
  gather_tensor indices = indices_of(NULL, 2, DIMS(300, 0));
  gather_run run = GATHER_RUN_INIT;
  gather_plan *plan;
  gather_pool *pool;
  char text[512];
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  assert_status(gather_plan_create(op_of("GatherND", "microsoft-1"), &data, &indices, NULL, NULL, &plan, NULL), GATHER_OK);
  assert_true(gather_plan_print(plan, text, sizeof text) < sizeof text);
  run.data = numbers, run.out = result, run.executor = gather_pool_executor(pool);
  assert_status(gather_plan_check(plan, &run, NULL), GATHER_OK);
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_OK);
  for (int n = 0; n < 600; n++) assert_int_equal(result[n], 7 + n % 2);
  /* Data must be there nevertheless. */
  run.data = NULL;
  assert_status(gather_plan_run(plan, &run, NULL), GATHER_USAGE);
  gather_plan_destroy(plan);
  gather_pool_destroy(pool);
}

/* ---- any view of any type against a loop */

/* A random case: tensors as byte arrays with strides, and the loop that the documents describe. */
typedef struct {
  const gather_op *op;
  gather_tensor data, indices, out;
  int64_t data_shape[6], data_strides[6], indices_shape[6], out_shape[12], out_strides[12];
  int64_t batch_dims, k;
} job;

static _Alignas(8) unsigned char table[MOST], result[MOST * 8], want[MOST * 8];
static int64_t ids[MOST], seen[MOST];

static uint32_t drawn(uint32_t below) {
  static uint64_t seed = 99;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % below;
}

/* Strides of a view with gaps, some of them backwards; returns the number of elements that it spans. */
static int64_t stretch(int32_t rank, const int64_t *shape, int64_t *strides, int64_t *first) {
  int64_t step = 1;
  *first = 0;
  for (int32_t d = rank - 1; d >= 0; d--) {
    strides[d] = step * (1 + (int64_t)(drawn(4) == 0));
    step = strides[d] * (shape[d] ? shape[d] : 1);
    if (drawn(4) == 0) {
      *first += strides[d] * (shape[d] ? shape[d] - 1 : 0);
      strides[d] = -strides[d];
    }
  }
  return step;
}

static bool draw(job *j) {
  static const char *const rules[] = {"onnx-11", "onnx-12", "onnx-13", "microsoft-1", "openvino-5", "openvino-8"};
  const int32_t r = 1 + (int32_t)drawn(4), q = 1 + (int32_t)drawn(4);
  memset(j, 0, sizeof *j);
  j->op = op_of("GatherND", rules[drawn(6)]);
  const int32_t least = r < q ? r : q;
  j->batch_dims = j->op->batch_dims ? drawn((uint32_t)least) : 0;
  j->k = j->op->tuples == GATHER_TUPLES_ANY ? drawn((uint32_t)(r - j->batch_dims) + 1) : 1 + drawn((uint32_t)(r - j->batch_dims));
  for (int32_t d = 0; d < r; d++) j->data_shape[d] = 1 + drawn(4);
  for (int32_t d = 0; d < q; d++) j->indices_shape[d] = d < j->batch_dims ? j->data_shape[d] : 1 + drawn(3);
  j->indices_shape[q - 1] = j->k;
  j->data = tensor_of(GATHER_TYPE_UINT16, table, r, j->data_shape);
  j->indices = indices_of(ids, q, j->indices_shape);
  gather_options options = options_of(0, j->batch_dims);
  int32_t rank;
  assert_status(gather_output_shape(j->op, &j->data, &j->indices, &options, j->out_shape, &rank, NULL), GATHER_OK);
  j->out = tensor_of(GATHER_TYPE_UINT16, result, rank, j->out_shape);
  return gather_tensor_len(&j->out) <= 1000;
}

/* Where a coordinate is in a view, in elements. */
static int64_t place(int32_t rank, const int64_t *strides, const int64_t *at) {
  int64_t where = 0;
  for (int32_t d = 0; d < rank; d++) where += strides[d] * at[d];
  return where;
}

static void count_up(int32_t rank, const int64_t *shape, int64_t n, int64_t *at) {
  for (int32_t d = rank - 1; d >= 0; d--) at[d] = n % shape[d], n /= shape[d];
}

/* The documents: for each tuple, for each element of the slice. */
static int64_t expect(const job *j, const gather_options *options, const uint16_t *from, uint16_t *to) {
  const int32_t r = j->data.rank, q = j->indices.rank;
  const int32_t b = (int32_t)j->batch_dims, k = (int32_t)j->k;
  int64_t tuples = 1, slice = 1, bad = 0, n = 0;
  for (int32_t d = 0; d < q - 1; d++) tuples *= j->indices_shape[d];
  for (int32_t d = b + k; d < r; d++) slice *= j->data_shape[d];
  for (int64_t t = 0; t < tuples; t++) {
    int64_t at[6] = {0}, of_tuple[6] = {0};
    bool filled = false;
    count_up(q - 1, j->indices_shape, t, of_tuple);
    for (int32_t d = 0; d < b; d++) at[d] = of_tuple[d];
    for (int32_t c = 0; c < k; c++) {
      const int64_t s = j->data_shape[b + c];
      int64_t i = ids[t * k + c];
      if (i < 0 && i >= -s && j->op->negative) i += s;
      if (i < 0 || i >= s) {
        bad++;
        filled = filled || options->on_bad == GATHER_ON_BAD_ZERO || options->on_bad == GATHER_ON_BAD_FILL;
        i = options->on_bad == GATHER_ON_BAD_WRAP ? ((ids[t * k + c] % s) + s) % s : i < 0 ? 0 : s - 1;
      }
      at[b + c] = i;
    }
    for (int64_t e = 0; e < slice; e++, n++) {
      count_up(r - b - k, j->data_shape + b + k, e, at + b + k);
      to[n] = !filled ? from[place(r, j->data_strides, at)] : options->on_bad == GATHER_ON_BAD_FILL ? *(const uint16_t *)options->fill : 0;
    }
  }
  return bad;
}

/* An error names the first number out of range, its tuple, its component and their axis, and leaves the output as it was. */
static void expect_error(const job *j, const gather_error *error, int64_t bad) {
  int64_t at[6] = {0}, n = 0;
  for (;; n++) {
    const int64_t s = j->data_shape[j->batch_dims + n % j->k];
    if (ids[n] >= s || ids[n] < (j->op->negative ? -s : 0)) break;
  }
  count_up(j->indices.rank, j->indices_shape, n, at);
  assert_int_equal(error->status, GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error->position_rank, j->indices.rank);
  assert_memory_equal(error->position, at, (size_t)j->indices.rank * sizeof *at);
  assert_int_equal(error->value, ids[n]);
  assert_int_equal(error->axis, j->batch_dims + n % j->k);
  assert_int_equal(error->bad_count, bad);
}

/* Views with gaps and negative steps, every policy, shared and private indices, all versions. */
static void against_the_documents(void **state) {
  static const uint16_t fill = 0xBEEF;
  static const gather_on_bad policies[] = {GATHER_ON_BAD_ERROR, GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP, GATHER_ON_BAD_ZERO,
                                           GATHER_ON_BAD_FILL};
  int64_t done = 0, repaired = 0, failed = 0;
  for (size_t i = 0; i < MOST; i++) table[i] = (unsigned char)(i * 131 + (i >> 8) * 7);
  for (int round = 0; round < ROUNDS; round++) {
    job j;
    if (!draw(&j)) continue;
    int64_t first, out_first, bad = -1, all;
    gather_options options = options_of(0, j.batch_dims);
    options.on_bad = policies[drawn(5)], options.fill = &fill, options.bad_count = &bad;
    options.fresh_output = drawn(2);
    if (stretch(j.data.rank, j.data_shape, j.data_strides, &first) * 2 > MOST) continue;
    all = stretch(j.out.rank, j.out_shape, j.out_strides, &out_first);
    if (all * 2 > MOST * 8) continue;
    int64_t numbers = gather_tensor_len(&j.indices), of[12];
    for (int64_t i = 0; i < numbers; i++) {
      const int64_t s = j.data_shape[j.batch_dims + i % j.k];
      ids[i] = drawn((uint32_t)s) - (j.op->negative && drawn(3) == 0 ? s : 0);
      if (drawn(options.on_bad == GATHER_ON_BAD_ERROR ? 40 : 6) == 0) ids[i] = drawn(2) ? s + drawn(9) : -s - 1 - (int64_t)drawn(9);
    }
    for (int32_t d = 0; d < j.data.rank; d++) seen[d] = j.data_strides[d] * 2;
    for (int32_t d = 0; d < j.out.rank; d++) of[d] = j.out_strides[d] * 2;
    j.data.strides = seen, j.data.data = table + 2 * first;
    j.out.strides = of, j.out.data = result + 2 * out_first;
    j.indices.flags = drawn(2) ? GATHER_TENSOR_SHARED : 0;
    const int64_t wanted = expect(&j, &options, (const uint16_t *)(const void *)(table + 2 * first), (uint16_t *)(void *)want);
    memset(result, 0x77, sizeof result);
    gather_error error;
    const gather_status status = gather_apply(j.op, &j.data, &j.indices, &j.out, &options, &error);
    if (options.on_bad == GATHER_ON_BAD_ERROR && wanted > 0) {
      assert_int_equal(status, GATHER_INDEX_OUT_OF_RANGE);
      expect_error(&j, &error, wanted);
      for (size_t i = 0; !options.fresh_output && i < sizeof result; i++) assert_int_equal(result[i], 0x77);
      done++, failed++;
      continue;
    }
    if (status != GATHER_OK) fail_msg("%s", error.message);
    assert_int_equal(bad, wanted);
    for (int64_t n = 0; n < gather_tensor_len(&j.out); n++) {
      int64_t at[12];
      count_up(j.out.rank, j.out_shape, n, at);
      assert_int_equal(((uint16_t *)(void *)result)[out_first + place(j.out.rank, j.out_strides, at)], ((uint16_t *)(void *)want)[n]);
    }
    done++, repaired += bad > 0;
  }
  assert_true(done > 20000 && repaired > 4000 && failed > 500);
}

TESTS(exact_shapes, words_of_the_errors, the_highest_ranks, inferred_shapes, inferred_errors, inferred_values, the_exact_error,
      empty_tuples, empty_tuples_as_a_plan, against_the_documents)
