/* SPDX-License-Identifier: MIT
 *
 * test_alloc.c: the heap, counted. A gather in one call takes nothing from it; everything that does fails cleanly when any one of
 * its allocations fails, and gives back what it had.
 */
#include "core/base/compiler.h"
#include "gather/codec.h"
#include "gather/scatter.h"
#include "gather/tree.h"
#include "support/fail_each.h"

/* ---- nothing from the heap ------------------------------------------------------------------------------------------- */

static uint8_t cells[1 << 14], results[1 << 14];
static int64_t zeros[512];

static void gather_without_heap(const gather_op *op, gather_type type, int32_t rank, gather_on_bad on_bad, bool strided) {
  int64_t shape[8], ishape[8], out_shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  int32_t out_rank;
  uint64_t fill[2] = {0, 0};
  for (int32_t d = 0; d < rank; d++) shape[d] = ishape[d] = 2;
  gather_tensor data = tensor_of(type, cells, rank, shape);
  int32_t index_rank = op->family == GATHER_FAMILY_ELEMENTS ? rank : 1;
  if (op->tuples) index_rank = 2, ishape[1] = rank < 3 ? rank : 3;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, zeros, index_rank, ishape);
  gather_options options = options_of(op->axis_source == GATHER_AXIS_SOURCE_NONE ? 0 : rank / 2, 0);
  options.on_bad = on_bad;
  options.fill = fill;
  data.item_bytes = 3;
  assert_status(gather_output_shape(op, &data, &indices, &options, out_shape, &out_rank, NULL), GATHER_OK);
  gather_tensor out = tensor_of(type, results, out_rank, out_shape);
  out.item_bytes = 3;
  int64_t step = gather_type_get(type)->packing != GATHER_PACKING_BYTES ? 1 : 16;
  for (int32_t d = 0; d < out_rank; d++) {
    strides[d] = step;
    step *= 2;
  }
  if (strided) out.strides = strides;
  long before = asked;
  gather_error error;
  if (gather_apply(op, &data, &indices, &out, &options, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(asked, before);
  zeros[0] = 9;
  gather_status status = gather_apply(op, &data, &indices, &out, &options, &error);
  zeros[0] = 0;
  if (on_bad == GATHER_ON_BAD_ERROR) assert_status(status, GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(asked, before);
}

static void one_call_takes_nothing(void **state) {
  static const gather_on_bad policies[] = {GATHER_ON_BAD_ERROR, GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP, GATHER_ON_BAD_ZERO,
                                           GATHER_ON_BAD_FILL};
  for (size_t row = 0; gather_op_at(row); row++)
    for (int t = 1; is_generic(gather_op_at(row)) && gather_type_get((gather_type)t); t++)
      for (int32_t rank = 1; rank <= 8; rank++)
        for (size_t p = 0; p < COUNT(policies); p++)
          for (int strided = 0; strided < 2; strided++) gather_without_heap(gather_op_at(row), (gather_type)t, rank, policies[p], strided);
}

/* ---- the gathers that take memory ------------------------------------------------------------------------------------- */

enum { PARTS_ROWS = 1 << 17, PARTS_COUNT = 3000 };
static float parts_table[PARTS_ROWS], parts_out[PARTS_COUNT];
static int32_t parts_indices[PARTS_COUNT];

static void tune(const char *name, int64_t value) { assert_status(gather_tuning_set(name, value, NULL), GATHER_OK); }

/* Runs one block after the other on "two threads". */
static void in_turns(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

/* Returns how many allocations it asked for. */
static long gather_in_parts(bool threads, long fail) {
  static const gather_executor two = {NULL, in_turns, 2};
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, parts_table, 1, DIMS(PARTS_ROWS));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, parts_indices, 1, DIMS(PARTS_COUNT));
  gather_tensor out = tensor_of(GATHER_TYPE_FLOAT32, parts_out, 1, DIMS(PARTS_COUNT));
  gather_options options = options_of(0, 0);
  options.executor = threads ? &two : NULL;
  memset(parts_out, 0, sizeof parts_out);
  long before = alive;
  asked = 0;
  fail_at = fail;
  assert_status(gather_apply(gather_op_find("Gather", "onnx-13"), &data, &indices, &out, &options, NULL), GATHER_OK);
  fail_at = -1;
  assert_int_equal(alive, before);
  for (int i = 0; i < PARTS_COUNT; i++) assert_true(parts_out[i] == (float)parts_indices[i]);
  return asked;
}

/* Memory that cannot be had, or may not be taken, costs time and nothing else; without limit it is taken and given back. */
static void parts(void **state) {
  for (int i = 0; i < PARTS_ROWS; i++) parts_table[i] = (float)i;
  for (int i = 0; i < PARTS_COUNT; i++) parts_indices[i] = (int32_t)((unsigned)i * 2654435761u % PARTS_ROWS);
  assert_int_equal(gather_in_parts(false, -1), 0);
  tune("radix_bytes", 1), tune("radix_block", 100), tune("calibration_bytes", 1), tune("radix_ps", -1), tune("cache_bytes", 1);
  for (int threads = 0; threads < 2; threads++) {
    long most = gather_in_parts(threads, -1);
    assert_true(most >= 1); /* to try it, and more where it was fastest */
    for (long k = 0; k < most; k++) gather_in_parts(threads, k);
  }
  tune("scratch_bytes", 6 * 4 * 2 - 1); /* too little for a sixteenth of a block on either thread */
  assert_int_equal(gather_in_parts(true, -1), 0);
  tune("scratch_bytes", 0);
  assert_int_equal(gather_in_parts(false, -1), 0);
  for (int32_t i = 0; gather_tuning_at(i); i++) tune(gather_tuning_at(i)->name, gather_tuning_at(i)->initial);
}

/* Bytes by indices of 8 bytes: they are gathered into memory of the library, and from there to the output unless an index is out of
 * range. Returns how many allocations it asked for. */
static long gather_staged(bool threads, bool shared, long fail, int bad) {
  enum { ROWS = 50, COUNT_OF = 3000 };
  static const gather_executor two = {NULL, in_turns, 2};
  static uint8_t table[ROWS], out_bytes[COUNT_OF];
  static int64_t ids[COUNT_OF];
  for (int i = 0; i < ROWS; i++) table[i] = (uint8_t)(i + 1);
  for (int i = 0; i < COUNT_OF; i++) ids[i] = i * 7 % ROWS - (i % 3 == 0 ? ROWS : 0);
  if (bad) ids[400] = ROWS, ids[900] = -ROWS - 1;
  gather_tensor data = tensor_of(GATHER_TYPE_UINT8, table, 1, DIMS(ROWS));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(COUNT_OF));
  gather_tensor out = tensor_of(GATHER_TYPE_UINT8, out_bytes, 1, DIMS(COUNT_OF));
  gather_options options = options_of(0, 0);
  gather_error error = dirty_error();
  options.executor = threads ? &two : NULL;
  if (shared) indices.flags = GATHER_TENSOR_SHARED;
  memset(out_bytes, 0xEE, sizeof out_bytes);
  const long before = alive;
  asked = 0;
  fail_at = fail;
  gather_status status = gather_apply(gather_op_find("Gather", "onnx-13"), &data, &indices, &out, &options, &error);
  fail_at = -1;
  assert_int_equal(alive, before);
  if (bad) {
    assert_status(status, GATHER_INDEX_OUT_OF_RANGE);
    assert_int_equal(error.position[0], 400);
    assert_int_equal(error.value, ROWS);
    assert_int_equal(error.bad_count, 2);
  } else {
    assert_status(status, GATHER_OK);
  }
  for (int i = 0; i < COUNT_OF; i++)
    assert_int_equal(out_bytes[i], status == GATHER_OK ? table[ids[i] < 0 ? ids[i] + ROWS : ids[i]] : 0xEE);
  return asked;
}

static void staged(void **state) {
  tune("cache_bytes", 100), tune("deferred_bytes", 0), tune("task_bytes", 64);
  for (int with = 0; with < 8; with++) {
    const bool threads = with & 1, shared = with & 2, bad = with & 4;
    assert_int_equal(gather_staged(threads, shared, -1, bad), 1);
    /* Without memory as before; shared indices are copied then. */
    assert_int_equal(gather_staged(threads, shared, 0, bad), 1 + shared);
    tune("staged_bytes", 2999);
    assert_int_equal(gather_staged(threads, shared, -1, bad), shared);
    tune("staged_bytes", 3000);
  }
  for (int32_t i = 0; gather_tuning_at(i); i++) tune(gather_tuning_at(i)->name, gather_tuning_at(i)->initial);
}

/* ---- every allocation fails once ------------------------------------------------------------------------------------- */

static gather_status make_plan(gather_error *error) {
  gather_plan *plan = NULL;
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(4, 3));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, NULL, 1, DIMS(2));
  gather_status status = gather_plan_create(gather_op_find("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, error);
  if (status == GATHER_OK) {
    int32_t values[2] = {3, 0};
    gather_run run = GATHER_RUN_INIT;
    run.data = cells;
    run.indices = values;
    run.out = results;
    long before = asked;
    status = gather_plan_run(plan, &run, error);
    assert_int_equal(asked, before);
  }
  gather_plan_destroy(plan);
  return status;
}

static void plans(void **state) { assert_int_equal(fail_making(make_plan), 1); /* "one heap object" */ }

/* Shared indices that are read in another order than the rows move: they are copied, all of them. */
static gather_status make_shared(gather_error *error) {
  enum { MANY = 9000 }; /* more than a copy on the stack holds */
  static int16_t table[50], rows[MANY];
  static int64_t ids[MANY];
  for (int i = 0; i < 50; i++) table[i] = (int16_t)(i * 3);
  for (int i = 0; i < MANY; i++) ids[i] = i % 50;
  gather_tensor data = tensor_of(GATHER_TYPE_INT16, table, 1, DIMS(50));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(MANY));
  gather_tensor out = tensor_of(GATHER_TYPE_INT16, rows, 1, DIMS(MANY));
  indices.flags = GATHER_TENSOR_SHARED;
  memset(rows, 0xEE, sizeof rows);
  const gather_status status = gather_take(&data, &indices, 0, &out, error);
  for (int i = 0; i < MANY; i++) assert_int_equal((uint16_t)rows[i], status == GATHER_OK ? i % 50 * 3 : 0xEEEE);
  return status;
}

#if !defined(GATHER_NO_CODECS)
/* The same of a quantised tensor, and a decoder of its own. */
static gather_status make_decoded(gather_error *error) {
  enum { MANY = 300, ROWS = 5, LEN = 4 };
  static unsigned char codes[ROWS * LEN];
  static float rows[MANY * LEN];
  static int64_t ids[MANY];
  for (int i = 0; i < ROWS * LEN; i++) codes[i] = (unsigned char)(i * 9);
  for (int i = 0; i < MANY; i++) ids[i] = i % ROWS;
  const gather_tensor data = tensor_of(GATHER_TYPE_UINT8, codes, 2, DIMS(ROWS, LEN));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(MANY));
  const gather_tensor out = tensor_of(GATHER_TYPE_FLOAT32, rows, 2, DIMS(MANY, LEN));
  gather_quantized q = GATHER_QUANTIZED_INIT;
  gather_decoder *decoder = NULL;
  q.codec = GATHER_CODEC_AFFINE, q.data = &data;
  indices.flags = GATHER_TENSOR_SHARED;
  for (int i = 0; i < MANY * LEN; i++) rows[i] = -1;
  gather_status status = gather_take_quantized(NULL, &q, &indices, &out, NULL, error);
  for (int i = 0; i < MANY * LEN; i++) assert_true(rows[i] == (status == GATHER_OK ? (float)codes[i % (ROWS * LEN)] : -1));
  if (status == GATHER_OK) status = gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, error);
  assert_true((decoder != NULL) == (status == GATHER_OK));
  gather_decoder_destroy(decoder);
  return status;
}
#endif

/* More beams than have room on the stack, one of which has a parent out of range that the policy repairs. */
static gather_status make_tree(gather_error *error) {
  enum { WIDTH = 1500 };
  static int32_t steps[2 * WIDTH], parents[2 * WIDTH], ends[2 * WIDTH];
  static const int32_t length = 2, token = -1;
  for (int i = 0; i < 2 * WIDTH; i++) steps[i] = i, parents[i] = i % WIDTH;
  parents[WIDTH + 7] = WIDTH + 3;
  const gather_tensor s = tensor_of(GATHER_TYPE_INT32, steps, 3, DIMS(2, 1, WIDTH));
  const gather_tensor p = tensor_of(GATHER_TYPE_INT32, parents, 3, DIMS(2, 1, WIDTH));
  const gather_tensor l = tensor_of(GATHER_TYPE_INT32, &length, 1, DIMS(1));
  const gather_tensor e = tensor_of(GATHER_TYPE_INT32, &token, 0, NULL);
  const gather_tensor o = tensor_of(GATHER_TYPE_INT32, ends, 3, DIMS(2, 1, WIDTH));
  gather_options options = GATHER_OPTIONS_INIT;
  int64_t bad = -1;
  options.on_bad = GATHER_ON_BAD_CLAMP, options.bad_count = &bad;
  memset(ends, 0xEE, sizeof ends);
  const gather_status status = gather_tree(&s, &p, &l, &e, &o, &options, error);
  for (int i = 0; i < 2 * WIDTH; i++)
    assert_int_equal((uint32_t)ends[i], status != GATHER_OK ? 0xEEEEEEEEu : i == 7 ? (uint32_t)(WIDTH - 1) : (uint32_t)i);
  if (status == GATHER_OK) assert_int_equal(bad, 1);
  return status;
}

static void copies(void **state) {
  assert_int_equal(fail_making(make_shared), 1);
#if !defined(GATHER_NO_CODECS)
  assert_int_equal(fail_making(make_decoded), 2);
#endif
  assert_int_equal(fail_making(make_tree), 1);
}

static gather_status make_pool(gather_error *error) {
  gather_pool *pool = NULL;
  gather_status status = gather_pool_create(2, &pool, error);
  gather_pool_destroy(pool);
  return status;
}

static void pools(void **state) { assert_true(fail_making(make_pool) >= 1); }

/* ---- scatters: memory is taken before the first element is written. Who can do without it does. */

enum { CELLS = 60, UPDATES = 3000 };

typedef enum { BY_CALL = 0, BY_PLAN, BY_KEPT } scatter_way;

typedef struct {
  const char *what;
  gather_type type;
  gather_reduction reduction;
  gather_accumulate accumulate;
  int method;
  bool neutral, unique, shared, strided;
  scatter_way way;
  int how;    /* fail_each_as */
  long least; /* pieces that it asks for, at least */
} scatter_case;

static const scatter_case SCATTERS[] = {
    {"replaced", GATHER_TYPE_INT16, GATHER_REDUCTION_NONE, GATHER_ACCUMULATE_STEPS, 0, false, false, false, false, BY_CALL, 0, 0},
    {"in parts", GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_STEPS, 4, false, false, false, false, BY_CALL,
     FAIL_OR_WITHOUT, 1},
    {"sorted", GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_STEPS, 5, false, false, false, true, BY_CALL, 0, 2},
    {"in a wider copy", GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_WIDE, 0, false, false, false, false, BY_CALL,
     FAIL_OR_WITHOUT, 1},
    {"means", GATHER_TYPE_INT32, GATHER_REDUCTION_MEAN, GATHER_ACCUMULATE_STEPS, 0, false, false, false, false, BY_CALL, 0, 2},
    {"neutral", GATHER_TYPE_INT16, GATHER_REDUCTION_MAX, GATHER_ACCUMULATE_STEPS, 0, true, false, false, true, BY_CALL, 0, 2},
    {"unique", GATHER_TYPE_INT16, GATHER_REDUCTION_NONE, GATHER_ACCUMULATE_STEPS, 0, false, true, false, false, BY_CALL, 0, 1},
    {"shared", GATHER_TYPE_INT16, GATHER_REDUCTION_NONE, GATHER_ACCUMULATE_STEPS, 0, false, false, true, false, BY_CALL, 0, 1},
    {"planned", GATHER_TYPE_FLOAT32, GATHER_REDUCTION_MEAN, GATHER_ACCUMULATE_STEPS, 0, false, false, true, false, BY_PLAN, 0, 4},
    {"kept", GATHER_TYPE_FLOAT32, GATHER_REDUCTION_SUB, GATHER_ACCUMULATE_STEPS, 0, false, false, true, true, BY_KEPT, 0, 4},
};

static int32_t scatter_numbers[UPDATES];
static unsigned char scatter_data[CELLS * 4], scatter_updates[UPDATES * 4], scatter_out[CELLS * 8];

static gather_status scatter_by_plan(const scatter_case *c, const gather_tensor *tensors, const gather_scatter_options *options,
                                     gather_error *error) {
  gather_scatter_plan *plan = NULL;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  run.data = tensors[0].data, run.indices = tensors[1].data, run.updates = tensors[2].data, run.out = tensors[3].data;
  gather_status status =
      gather_scatter_plan_create(gather_scatter_op("scatter"), &tensors[0], &tensors[1], &tensors[2], &tensors[3], options, &plan, error);
  if (status == GATHER_OK && c->way == BY_KEPT) status = gather_scatter_plan_keep(plan, run.indices, NULL, error);
  if (status == GATHER_OK) status = gather_scatter_plan_run(plan, &run, error);
  gather_scatter_plan_destroy(plan);
  return status;
}

static gather_status scatter_once(const void *context, gather_error *error) {
  const scatter_case *c = context;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.reduction = c->reduction, options.accumulate = c->accumulate, options.neutral = c->neutral, options.unique = c->unique;
  const int64_t many = c->unique ? CELLS : UPDATES, gap = 8;
  gather_tensor tensors[] = {tensor_of(c->type, scatter_data, 1, DIMS(CELLS)), tensor_of(GATHER_TYPE_INT32, scatter_numbers, 1, &many),
                             tensor_of(c->type, scatter_updates, 1, &many), tensor_of(c->type, scatter_out, 1, DIMS(CELLS))};
  if (c->strided) tensors[3].strides = &gap;
  if (c->shared) tensors[1].flags = GATHER_TENSOR_SHARED;
  tune("scatter_method", c->method);
  memset(scatter_out, 0x5A, sizeof scatter_out);
  const gather_status status = c->way == BY_CALL ? gather_scatter_apply(gather_scatter_op("scatter"), &tensors[0], &tensors[1], &tensors[2],
                                                                        &tensors[3], &options, error)
                                                 : scatter_by_plan(c, tensors, &options, error);
  for (size_t i = 0; status != GATHER_OK && i < sizeof scatter_out; i++) assert_int_equal(scatter_out[i], 0x5A);
  /* With all its memory or without some, it is the same. */
  if (status == GATHER_OK && has_failed) {
    unsigned char got[sizeof scatter_out];
    memcpy(got, scatter_out, sizeof got);
    fail_no_more();
    atomic_store(&has_failed, false);
    assert_status(scatter_once(context, error), GATHER_OK);
    assert_memory_equal(scatter_out, got, sizeof got);
    atomic_store(&has_failed, true);
  }
  return status;
}

static void scatters(void **state) {
  for (int i = 0; i < UPDATES; i++) scatter_numbers[i] = i < CELLS ? (i * 7 + 3) % CELLS : i * i % CELLS;
  for (size_t i = 0; i < sizeof scatter_updates; i++) scatter_updates[i] = (unsigned char)(i * 37 % 61);
  for (size_t i = 0; i < COUNT(SCATTERS); i++) {
    const long asked_for = fail_each_as(scatter_once, &SCATTERS[i], GATHER_OK, SCATTERS[i].how | FAIL_EVERY);
    if (asked_for < SCATTERS[i].least) fail_msg("%s: %ld pieces of memory", SCATTERS[i].what, asked_for);
    if (SCATTERS[i].least == 0) assert_int_equal(asked_for, 0);
  }
  tune("scatter_method", 0);
}

/* StableHLO: a window of which two elements are inside. */
static gather_status scatter_window(gather_error *error) {
  static const int64_t start = 3, first[] = {0};
  static const int16_t before[] = {1, 2, 3, 4, 5}, window[] = {7, 8, 9}, want[] = {1, 2, 3, 7, 8};
  int16_t out[5];
  gather_dimension_numbers numbers = GATHER_DIMENSION_NUMBERS_INIT;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  numbers.offset_dims = numbers.start_index_map = first, numbers.offset_dims_count = numbers.start_index_map_count = 1;
  options.numbers = &numbers;
  const gather_tensor data = tensor_of(GATHER_TYPE_INT16, before, 1, DIMS(5)), to = tensor_of(GATHER_TYPE_INT16, out, 1, DIMS(5));
  const gather_tensor by = tensor_of(GATHER_TYPE_INT64, &start, 1, DIMS(1)), from = tensor_of(GATHER_TYPE_INT16, window, 1, DIMS(3));
  memset(out, 0x5A, sizeof out);
  const gather_status status = gather_scatter_apply(gather_op_find("scatter", "stablehlo-1"), &data, &by, &from, &to, &options, error);
  for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], status ? 0x5A : ((const unsigned char *)want)[i]);
  return status;
}

static void windows(void **state) { assert_true(fail_making(scatter_window) >= 2); }

static const float GRADIENT[5][6] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}};

static gather_status write_sparse(gather_sparse *sparse, gather_status status, const int64_t *want_ids, gather_error *error) {
  int64_t ids[3] = {0};
  float rows[3][3];
  if (status != GATHER_OK) {
    assert_null(sparse);
    return status;
  }
  memset(rows, 0x5A, sizeof rows);
  assert_int_equal(gather_sparse_rows(sparse, NULL), 3);
  status = gather_sparse_write(sparse, GRADIENT, ids, rows, NULL, error);
  if (status == GATHER_OK) {
    assert_memory_equal(ids, want_ids, sizeof ids);
    assert_memory_equal(rows, ((const float[3][3]){{4 + 10, 5 + 11, 6 + 12}, {7, 8, 9}, {1 + 13, 2 + 14, 3 + 15}}), sizeof rows);
  } else {
    for (size_t i = 0; i < sizeof rows; i++) assert_int_equal(((unsigned char *)rows)[i], 0x5A);
  }
  gather_sparse_destroy(sparse);
  return status;
}

static gather_status make_sparse(gather_error *error) {
  static const int64_t indices[] = {6, 0, 2, 0, -1}, strides[] = {24, 4};
  gather_sparse *sparse = NULL;
  const gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(7, 3));
  gather_tensor by = tensor_of(GATHER_TYPE_INT64, indices, 1, DIMS(5)), grad = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(5, 3));
  by.flags = GATHER_TENSOR_SHARED, grad.strides = strides;
  const gather_status status = gather_sparse_create(gather_op_find("Gather", "onnx-13"), &data, &by, &grad, NULL, &sparse, error);
  return write_sparse(sparse, status, ((const int64_t[]){0, 2, 6}), error);
}

static gather_status make_unique_rows(gather_error *error) {
  static const int64_t ids[] = {1000, 0, -9, -3, 9, -9, -9, -3, 1000, 9}, strides[] = {24, 4}, step = 16;
  gather_sparse *sparse = NULL;
  gather_tensor by = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(5)), rows = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(5, 3));
  by.flags = GATHER_TENSOR_SHARED, by.strides = &step, rows.strides = strides;
  const gather_status status = gather_unique_rows(&by, &rows, NULL, &sparse, error);
  return write_sparse(sparse, status, ((const int64_t[]){-9, 9, 1000}), error);
}

static void sparse_gradients(void **state) {
  assert_true(fail_making(make_sparse) >= 6);
  assert_true(fail_making(make_unique_rows) >= 6);
}

TESTS(one_call_takes_nothing, parts, staged, plans, copies, pools, scatters, windows, sparse_gradients)
