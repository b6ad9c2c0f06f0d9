/* SPDX-License-Identifier: MIT
 *
 * test_extremes.c: lengths, strides, offsets, attributes and tunings at the ends of their types, through the public functions. Under
 * UBSan no arithmetic on them may overflow; everywhere, a stride of a dimension of length 1 changes no answer. GATHER_TEST_SEED=N
 * looks at other cases.
 */
#include "gather/dlpack.h"
#include "gather/scatter.h"
#include "support/extremes.h"

enum { ROOM = 1 << 16 };

static const gather_type DATA_TYPES[] = {GATHER_TYPE_UINT8, GATHER_TYPE_INT16,  GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT64,
                                         GATHER_TYPE_UINT1, GATHER_TYPE_UINT2,  GATHER_TYPE_UINT3,   GATHER_TYPE_INT4,
                                         GATHER_TYPE_UINT6, GATHER_TYPE_STRING, GATHER_TYPE_OPAQUE,  GATHER_TYPE_COMPLEX128};
static const gather_type INDEX_TYPES[] = {GATHER_TYPE_INT8,  GATHER_TYPE_INT16,  GATHER_TYPE_INT32,  GATHER_TYPE_INT64,
                                          GATHER_TYPE_UINT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};
static const int64_t ITEMS[] = {0, 1, 3, 16, P(31), P(61), INT64_MAX};

typedef struct {
  gather_tensor tensor;
  int64_t shape[2 * MOST_RANK], strides[2 * MOST_RANK];
} view;

static void wild_view(view *v, gather_type type, bool tame_shape) {
  v->tensor = (gather_tensor){.type = type, .rank = (int32_t)below(MOST_RANK + 1), .shape = v->shape};
  for (int32_t d = 0; d < v->tensor.rank; d++) {
    v->shape[d] = tame_shape ? 1 + below(3) : PICK(LENGTHS);
    v->strides[d] = PICK(ENDS);
  }
  if (below(3)) v->tensor.strides = v->strides;
  v->tensor.item_bytes = PICK(ITEMS);
  if (below(2)) v->tensor.packed_offset = PICK(ENDS);
  if (below(4) == 0) v->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
}

static gather_options wild_options(void) {
  static const char element[16] = {1};
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = below(4) ? below(2 * MOST_RANK) - MOST_RANK : PICK(ENDS);
  options.batch_dims = below(3) ? 0 : below(2) ? below(5) - 2 : PICK(ENDS);
  options.on_bad = (gather_on_bad)below(GATHER_ON_BAD_PROMISE);
  options.negative = (gather_negative)below(3);
  options.fill = element;
  return options;
}

static const gather_op *wild_op(void) {
  int64_t count = 0;
  while (gather_op_at((size_t)count)) count++;
  return gather_op_at((size_t)below(count));
}

/* Dimension numbers with memory for their lists, which often fit tensors of these ranks: the first dimensions of data are collapsed or
 * batching, each window has any length. */
typedef struct {
  gather_dimension_numbers n;
  int64_t offset[2 * MOST_RANK], collapsed[MOST_RANK], map[MOST_RANK], slice[MOST_RANK];
} numbers_of;

static void wild_numbers(numbers_of *w, const view *data, const view *indices) {
  static const gather_dimension_numbers INIT = GATHER_DIMENSION_NUMBERS_INIT;
  const int32_t rank = data->tensor.rank, gone = rank > 0 ? (int32_t)below(rank + 1) : 0;
  w->n = INIT;
  w->n.offset_dims = w->offset, w->n.collapsed_slice_dims = w->collapsed;
  w->n.start_index_map = w->map, w->n.slice_sizes = w->slice;
  w->n.collapsed_slice_dims_count = gone, w->n.offset_dims_count = rank - gone, w->n.slice_sizes_count = rank;
  w->n.start_index_map_count = below(3) ? 1 : below(rank + 1);
  w->n.index_vector_dim = indices->tensor.rank - (below(3) ? 0 : below(2));
  for (int32_t d = 0; d < rank; d++) {
    w->collapsed[d] = w->offset[d] = w->map[d] = d;
    w->slice[d] = d < gone ? below(2) : below(2) ? below(3) : PICK(LENGTHS);
  }
  if (below(4) == 0 && rank > 0) w->map[0] = PICK(ENDS);
  if (below(8) == 0 && rank > 0) w->slice[0] = PICK(ENDS);
}

/* ---- descriptions: nothing is read, so that they need no memory */

static void describe(const view *v) {
  int64_t strides[GATHER_MAX_RANK];
  gather_dl_tensor dl;
  gather_tensor back;
  if (gather_tensor_check(&v->tensor, NULL) != GATHER_OK) return;
  assert_true(gather_tensor_len(&v->tensor) >= 0);
  assert_true(gather_tensor_bytes(&v->tensor) >= 0);
  if (gather_tensor_to_dlpack(&v->tensor, strides, &dl, NULL) != GATHER_OK) return;
  int64_t again[GATHER_MAX_RANK];
  dl.byte_offset = (uint64_t)PICK(ENDS);
  (void)!gather_tensor_from_dlpack(&dl, again, &back, NULL);
}

static void plan_it(const gather_op *op, const view *data, const view *indices, const view *out, const gather_options *options) {
  gather_plan *plan;
  gather_error error;
  char text[600];
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  if (gather_output_shape(op, &data->tensor, &indices->tensor, options, shape, &rank, &error) != GATHER_OK) return;
  if (gather_plan_create(op, &data->tensor, &indices->tensor, out ? &out->tensor : NULL, options, &plan, &error) != GATHER_OK) return;
  assert_true(gather_plan_print(plan, text, sizeof text) > 0);
  assert_int_equal(gather_plan_shape(plan, shape), rank);
  gather_plan_destroy(plan);
}

static void plans_of_any_description(void **unused) {
  for (int i = 0; i < ROUNDS; i++) {
    view data, indices, out;
    const bool tame = below(2);
    gather_options options = wild_options();
    wild_view(&data, PICK(DATA_TYPES), below(4) == 0);
    wild_view(&indices, PICK(INDEX_TYPES), tame);
    wild_view(&out, data.tensor.type, tame);
    if (options.on_bad == GATHER_ON_BAD_FILL && data.tensor.type == GATHER_TYPE_OPAQUE) data.tensor.item_bytes = 16;
    const gather_op *op = below(4) ? wild_op() : op_of("gather", "stablehlo-1");
    numbers_of numbers;
    if (strcmp(op->dialect, "stablehlo") == 0) {
      wild_numbers(&numbers, &data, &indices);
      options.numbers = &numbers.n;
      if (below(4)) options.axis = 0, options.batch_dims = 0;
    }
    describe(&data), describe(&indices), describe(&out);
    plan_it(op, &data, &indices, below(2) ? &out : NULL, &options);
  }
}

/* ---- the same of operators that write */

static const gather_op *wild_writer(void) {
  static const char *const OWN[] = {"scatter", "scatter_elements", "scatter_nd"};
  for (int tries = 0; tries < 40; tries++) {
    const gather_op *op = wild_op();
    if (strstr(op->name, "catter")) return op;
  }
  return gather_scatter_op(PICK(OWN));
}

static gather_scatter_options wild_scatter_options(void) {
  const gather_options base = wild_options();
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.axis = base.axis, options.batch_dims = below(8) ? 0 : base.batch_dims, options.negative = base.negative;
  options.on_bad = below(4) ? base.on_bad : GATHER_ON_BAD_SKIP;
  options.reduction = below(2) ? GATHER_REDUCTION_NONE : (gather_reduction)below(7), options.accumulate = (gather_accumulate)below(4);
  options.neutral = below(2), options.unique = below(2), options.whole_windows = below(2);
  return options;
}

/* Updates that fit where they can. */
static void fit_updates(const gather_op *op, const view *data, const view *indices, const gather_scatter_options *options, view *updates) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  if (options->numbers || below(8) == 0) return;
  if (gather_scatter_updates_shape(op, &data->tensor, &indices->tensor, options, shape, &rank, NULL) != GATHER_OK || rank > 2 * MOST_RANK)
    return;
  memcpy(updates->shape, shape, (size_t)rank * sizeof *shape);
  for (int32_t d = MOST_RANK; d < rank; d++) updates->strides[d] = PICK(ENDS);
  updates->tensor.rank = rank;
  if (below(3) == 0) updates->tensor.strides = NULL;
}

static void make_out(const view *data, view *out) {
  *out = *data;
  out->tensor.shape = out->shape, out->tensor.strides = below(2) ? NULL : out->strides;
  if (below(4) == 0) out->strides[0] = PICK(ENDS);
}

static bool plan_scatter(const gather_op *op, const view *data, const view *indices, const view *updates, const view *out,
                         const gather_scatter_options *options) {
  gather_scatter_plan *plan;
  gather_error error;
  char text[600];
  if (gather_scatter_plan_create(op, &data->tensor, &indices->tensor, &updates->tensor, out ? &out->tensor : NULL, options, &plan, &error))
    return false;
  assert_true(gather_scatter_plan_print(plan, text, sizeof text) > 0);
  gather_scatter_plan_destroy(plan);
  return true;
}

static void scatters_of_any_description(void **unused) {
  int made = 0;
  for (int i = 0; i < ROUNDS; i++) {
    view data, indices, updates, out;
    const bool tame = below(2);
    const gather_op *op = below(4) ? wild_writer() : wild_op();
    gather_scatter_options options = wild_scatter_options();
    numbers_of numbers;
    wild_view(&data, PICK(DATA_TYPES), tame);
    wild_view(&indices, PICK(INDEX_TYPES), tame);
    wild_view(&updates, data.tensor.type, tame);
    updates.tensor.item_bytes = data.tensor.item_bytes;
    if (below(4)) updates.tensor.flags = data.tensor.flags;
    if (below(2)) options.axis = 0, options.reduction = GATHER_REDUCTION_NONE;
    if (data.tensor.rank == 0) data.tensor.rank = 1, data.shape[0] = below(4), data.strides[0] = below(64);
    if (strcmp(op->dialect, "stablehlo") == 0) {
      wild_numbers(&numbers, &data, &indices);
      options.numbers = &numbers.n;
      if (below(4)) options.axis = 0;
    }
    fit_updates(op, &data, &indices, &options, &updates);
    make_out(&data, &out);
    made += plan_scatter(op, &data, &indices, &updates, below(2) ? &out : NULL, &options);
  }
  assert_true(made > ROUNDS / 100);
}

/* ---- memory: strides of dimensions of length 1 are extreme, the others stay inside */

typedef struct {
  view v;
  unsigned char *memory;
} filled;

static void small_view(filled *f, gather_type type, int32_t rank) {
  view *v = &f->v;
  v->tensor = (gather_tensor){.type = type, .rank = rank, .shape = v->shape, .strides = v->strides, .item_bytes = 3};
  v->tensor.data = f->memory + ROOM / 2;
  for (int32_t d = 0; d < rank; d++) {
    v->shape[d] = below(2) ? 1 : 1 + below(4);
    v->strides[d] = v->shape[d] == 1 ? PICK(ENDS) : below(33) - 16;
  }
}

static void fill_indices(const filled *indices) {
  static const unsigned char bytes[] = {0, 0, 0, 0, 1, 2, 255, 254, 128, 127};
  for (int i = 0; i < ROOM; i++) indices->memory[i] = below(8) ? 0 : PICK(bytes);
}

static gather_status run_it(const gather_op *op, const filled *data, const filled *indices, const gather_options *options,
                            unsigned char *out, int64_t *bad) {
  int64_t shape[GATHER_MAX_RANK];
  gather_options with = *options;
  gather_tensor made = data->v.tensor;
  gather_status status = gather_output_shape(op, &data->v.tensor, &indices->v.tensor, options, shape, &made.rank, NULL);
  if (status != GATHER_OK) return status;
  made.shape = shape, made.strides = NULL, made.packed_offset = 0, made.data = out;
  if (gather_tensor_bytes(&made) > ROOM) return GATHER_UNSUPPORTED;
  with.bad_count = bad;
  return gather_apply(op, &data->v.tensor, &indices->v.tensor, &made, &with, NULL);
}

static void strides_of_length_one_do_not_matter(void **unused) {
  filled data = {.memory = malloc(ROOM)}, indices = {.memory = malloc(ROOM)};
  unsigned char *outs = calloc(2, ROOM);
  assert_non_null(data.memory);
  assert_non_null(indices.memory);
  assert_non_null(outs);
  for (int i = 0; i < ROOM; i++) data.memory[i] = (unsigned char)below(256);
  for (int i = 0; i < ROUNDS; i++) {
    gather_options options = wild_options();
    int64_t bad[2] = {0, 0};
    const gather_op *op = wild_op();
    int32_t rank = 1 + (int32_t)below(3);
    small_view(&data, PICK(DATA_TYPES), rank);
    small_view(&indices, PICK(INDEX_TYPES), below(2) ? rank : (int32_t)below(3));
    if (i % 16 == 0) fill_indices(&indices);
    gather_status first = run_it(op, &data, &indices, &options, outs, &bad[0]);
    filled *both[] = {&data, &indices};
    for (int b = 0; b < 2; b++)
      for (int32_t d = 0; d < both[b]->v.tensor.rank; d++)
        if (both[b]->v.shape[d] == 1) both[b]->v.strides[d] = 0;
    assert_status(run_it(op, &data, &indices, &options, outs + ROOM, &bad[1]), first);
    if (first != GATHER_OK) continue;
    assert_memory_equal(outs, outs + ROOM, ROOM);
    assert_int_equal(bad[0], bad[1]);
  }
  free(data.memory), free(indices.memory), free(outs);
}

/* ---- the three that were found first */

static void many_rows_of_one_with_the_lowest_stride(void **unused) {
  enum { MANY = 600 };
  static int64_t indices[MANY];
  static float out[MANY];
  float element = 3;
  int64_t stride = INT64_MIN;
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, &element, 1, DIMS(1));
  gather_tensor ids = tensor_of(GATHER_TYPE_INT64, indices, 1, DIMS(MANY));
  gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, 1, DIMS(MANY));
  data.strides = &stride;
  for (int radix = 0; radix < 2; radix++) { /* the second: numbers that let it be put into parts */
    if (radix) assert_status(gather_tuning_set("radix_bytes", 0, NULL), GATHER_OK);
    if (radix) assert_status(gather_tuning_set("radix_block", 16, NULL), GATHER_OK);
    memset(out, 0, sizeof out);
    assert_status(gather_take(&data, &ids, 0, &to, NULL), GATHER_OK);
    for (int i = 0; i < MANY; i++) assert_true(out[i] == element);
  }
  assert_status(gather_tuning_set("radix_bytes", 268435456, NULL), GATHER_OK);
  assert_status(gather_tuning_set("radix_block", 4194304, NULL), GATHER_OK);
}

/* A window without elements has one place more than data is long: 2^63 of them. */
static void windows_on_the_longest_dimension(void **unused) {
  static const struct {
    int64_t slice, index;
    gather_status status; /* of the policy `error` */
  } CASES[] = {{0, 0, GATHER_OK},
               {0, INT64_MAX - 1, GATHER_OK},
               {1, INT64_MAX - 1, GATHER_OK},
               {1, INT64_MAX, GATHER_INDEX_OUT_OF_RANGE},
               {2, INT64_MAX - 2, GATHER_OK},
               {2, INT64_MAX - 1, GATHER_INDEX_OUT_OF_RANGE},
               {INT64_MAX, 0, GATHER_OK},
               {INT64_MAX, 1, GATHER_INDEX_OUT_OF_RANGE},
               {0, -1, GATHER_INDEX_OUT_OF_RANGE},
               {0, INT64_MIN, GATHER_INDEX_OUT_OF_RANGE}};
  for (size_t i = 0; i < COUNT(CASES); i++)
    for (int32_t tuples = 1; tuples <= 2; tuples++)
      for (int policy = GATHER_ON_BAD_DEFAULT; policy < GATHER_ON_BAD_PROMISE; policy++) {
        int64_t slice[] = {CASES[i].slice, 0}, map[] = {0, 1}, offset[] = {0, 1}, shape[2], bad, numbers[] = {CASES[i].index, 0};
        char none[1], element[1] = {0};
        gather_dimension_numbers n = GATHER_DIMENSION_NUMBERS_INIT;
        gather_options options = GATHER_OPTIONS_INIT;
        n.offset_dims = offset, n.offset_dims_count = 2, n.slice_sizes = slice, n.slice_sizes_count = 2;
        n.start_index_map = map, n.start_index_map_count = tuples, n.index_vector_dim = 0;
        options.numbers = &n, options.on_bad = (gather_on_bad)policy, options.fill = element, options.bad_count = &bad;
        gather_tensor data = tensor_of(GATHER_TYPE_UINT8, none, 2, DIMS(INT64_MAX, 0));
        gather_tensor ids = tensor_of(GATHER_TYPE_INT64, numbers, 1, DIMS(tuples));
        gather_tensor out = {.type = GATHER_TYPE_UINT8, .data = none, .shape = shape};
        assert_status(gather_output_shape(op_of("gather", "stablehlo-1"), &data, &ids, &options, shape, &out.rank, NULL), GATHER_OK);
        assert_int_equal(shape[0], CASES[i].slice);
        const gather_status wanted = policy == GATHER_ON_BAD_ERROR ? CASES[i].status : GATHER_OK;
        assert_status(gather_apply(op_of("gather", "stablehlo-1"), &data, &ids, &out, &options, NULL), wanted);
      }
}

static void more_packed_elements_than_offsets(void **unused) {
  view data = {.shape = {0, P(62) - 1}}, indices = {.shape = {0}};
  gather_options options = GATHER_OPTIONS_INIT;
  data.tensor = (gather_tensor){.type = GATHER_TYPE_UINT3, .rank = 2, .shape = data.shape, .packed_offset = 3};
  indices.tensor = (gather_tensor){.type = GATHER_TYPE_INT64};
  plan_it(op_of("Gather", "onnx-13"), &data, &indices, NULL, &options);
}

/* ---- shapes that are not known, tunings */

static void wild_shape(gather_shape *shape) {
  shape->rank = (int32_t)below(MOST_RANK + 2) - 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t a = PICK(LENGTHS), b = PICK(LENGTHS);
    shape->dims[d] = (gather_dim){a < b ? a : b, a < b ? b : a, below(2) ? "N" : NULL};
  }
}

static void inferred_shapes(void **unused) {
  for (int i = 0; i < ROUNDS; i++) {
    gather_shape data, indices, out;
    gather_options options = wild_options();
    wild_shape(&data), wild_shape(&indices);
    (void)!gather_infer_shape(wild_op(), &data, &indices, &options, &out, NULL);
  }
}

static void tunings_decide_no_answer(void **unused) {
  enum { ROWS = 3000 };
  static uint32_t table[ROWS], out[ROWS];
  static int32_t indices[ROWS];
  gather_tensor data = tensor_of(GATHER_TYPE_UINT32, table, 1, DIMS(ROWS));
  gather_tensor ids = tensor_of(GATHER_TYPE_INT32, indices, 1, DIMS(ROWS));
  gather_tensor to = tensor_of(GATHER_TYPE_UINT32, out, 1, DIMS(ROWS));
  gather_options options = GATHER_OPTIONS_INIT;
  const gather_tuning *tuning;
  for (int i = 0; i < ROWS; i++) table[i] = (uint32_t)i * 7u, indices[i] = (int32_t)(below(2 * ROWS) - ROWS);
  for (int32_t t = 0; (tuning = gather_tuning_at(t)); t++) {
    for (size_t e = 0; e < COUNT(ENDS); e++)
      for (int far = 0; far < 2; far++) {
        assert_status(gather_tuning_set("cache_bytes", far ? 64 : 0, NULL), GATHER_OK);
        assert_status(gather_tuning_set(tuning->name, ENDS[e], NULL), GATHER_OK);
        options.fresh_output = below(2);
        memset(out, 0, sizeof out);
        assert_status(gather_apply(op_of("Gather", "onnx-13"), &data, &ids, &to, &options, NULL), GATHER_OK);
        for (int i = 0; i < ROWS; i++) assert_int_equal(out[i], table[indices[i] < 0 ? indices[i] + ROWS : indices[i]]);
      }
    assert_status(gather_tuning_set(tuning->name, tuning->initial, NULL), GATHER_OK);
  }
  assert_status(gather_tuning_set("cache_bytes", 0, NULL), GATHER_OK);
}

static void tunings_decide_no_scatter(void **unused) {
  enum { ROWS = 9, MANY = 700 };
  static float from[MANY][2], cells[ROWS][2], want[ROWS][2];
  static int32_t indices[MANY];
  const gather_tuning *tuning;
  gather_pool *pool;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  options.executor = gather_pool_executor(pool), options.reduction = GATHER_REDUCTION_ADD;
  for (int i = 0; i < MANY; i++) {
    indices[i] = i * 5 % (2 * ROWS) - ROWS;
    for (int k = 0; k < 2; k++) want[(indices[i] + ROWS) % ROWS][k] += from[i][k] = (float)(i + k);
  }
  const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, cells, 2, DIMS(ROWS, 2)),
                      ids = tensor_of(GATHER_TYPE_INT32, indices, 1, DIMS(MANY));
  const gather_tensor updates = tensor_of(GATHER_TYPE_FLOAT32, from, 2, DIMS(MANY, 2));
  for (int32_t t = 0; (tuning = gather_tuning_at(t)); t++) {
    for (size_t e = 0; e < COUNT(ENDS); e++)
      for (int how = 0; how < 8; how++) {
        assert_status(gather_tuning_set("scatter_method", how, NULL), GATHER_OK);
        assert_status(gather_tuning_set(tuning->name, ENDS[e], NULL), GATHER_OK);
        options.accumulate = (gather_accumulate)(how % 4);
        memset(cells, 0, sizeof cells);
        assert_status(gather_scatter_apply(gather_scatter_op("scatter"), &to, &ids, &updates, &to, &options, NULL), GATHER_OK);
        assert_memory_equal(cells, want, sizeof cells);
      }
    assert_status(gather_tuning_set(tuning->name, tuning->initial, NULL), GATHER_OK);
  }
  assert_status(gather_tuning_set("scatter_method", 0, NULL), GATHER_OK);
  gather_pool_destroy(pool);
}

int main(void) {
  extremes_seed();
  return RUN_TESTS(many_rows_of_one_with_the_lowest_stride, windows_on_the_longest_dimension, more_packed_elements_than_offsets,
                   plans_of_any_description, scatters_of_any_description, tunings_decide_no_scatter, strides_of_length_one_do_not_matter,
                   inferred_shapes, tunings_decide_no_answer);
}
