/* SPDX-License-Identifier: MIT
 *
 * test_nd_calls.c: GatherND: the exact error, tuples without numbers, and views of every kind. The loop that the results are compared
 * with is written from the documents.
 */
#include "support/unit.h"

enum { MOST = 4096, ROUNDS = 30000 /* at least 20,000 are none that draw() gives up */ };

static gather_tensor indices_of(const int64_t *numbers, int32_t rank, const int64_t *shape) {
  return tensor_of(GATHER_TYPE_INT64, numbers, rank, shape);
}

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

TESTS(the_exact_error, empty_tuples, empty_tuples_as_a_plan, against_the_documents)
