/* SPDX-License-Identifier: MIT
 *
 * test_gradients.c: gradients of every gather, dense, added and sparse, and sums of rows of equal ids, beside loops. Which element of data
 * an element of a gather comes from, a gather of the elements' numbers says. GATHER_TEST_ROUNDS=N and GATHER_TEST_SEED=N as elsewhere.
 */
#include "core/scatter/written.h"
#include "support/machines.h"

enum { ROUNDS = 250 /* of each operator */, UNIQUE_ROUNDS = 300, POOLS = 3 };

static const gather_type TYPES[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16, GATHER_TYPE_FLOAT64,
                                    GATHER_TYPE_INT8,    GATHER_TYPE_UINT32,  GATHER_TYPE_BOOL,     GATHER_TYPE_COMPLEX64};
static const gather_type INDEX_TYPES[] = {GATHER_TYPE_INT64, GATHER_TYPE_INT32, GATHER_TYPE_INT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT64};

static gather_pool *pools[POOLS];
static const gather_executor *executors[POOLS + 1];

static int begin(void **state) {
  for (int i = 0; i < POOLS; i++) {
    if (gather_pool_create(i == 2 ? 8 : i + 1, &pools[i], NULL) != GATHER_OK) return -1;
    executors[i] = gather_pool_executor(pools[i]);
  }
  return written_begin(state);
}

static int end(void **state) {
  for (int i = 0; i < POOLS; i++) gather_pool_destroy(pools[i]);
  return written_end(state);
}

static int64_t rounds_of(int64_t usual) {
  const char *rounds = getenv("GATHER_TEST_ROUNDS"), *machines = getenv("GATHER_TEST_MACHINES");
  return rounds ? strtoll(rounds, NULL, 10) : machines && atoi(machines) > 1 ? usual / 8 : usual;
}

static void seed_with(int64_t round, int64_t of) {
  const char *add = getenv("GATHER_TEST_SEED");
  state_of_random = (uint64_t)(round * 7919 + of * 104729) + (add ? strtoull(add, NULL, 10) * 1299709 : 1);
}

static void tune_by_chance(void) {
  tune("scatter_method", below(2) * below(7)), tune("isa", below(GATHER_ISA_ROWS)), tune("cache_bytes", below(2) ? 1 : 1 << 30);
  tune("task_bytes", 64), tune("awake_task_bytes", 64);
}

/* ---- a gather and its gradient: `DATA` is what the gather reads, and what the gradient is of */

typedef struct {
  const gather_op *op;
  holder tensors[HOLDERS]; /* UPDATES: the gradient of the gather's output; OUT: that of data */
  gather_scatter_options options;
  reducing reducing;
  int64_t row_len, bad;
  int64_t places[WRITTEN_UPDATES];
} trial;

/* Dimension numbers of windows of two dimensions, by tuples of two. */
static const int64_t WINDOW[] = {2, 3}, BOTH[] = {0, 1}, LATER[] = {1, 2}, FIRST[] = {0};
static gather_dimension_numbers windows_of(bool column_first, bool collapsed) {
  gather_dimension_numbers n = GATHER_DIMENSION_NUMBERS_INIT;
  static const int64_t ROW[] = {1, 3};
  n.offset_dims = collapsed ? LATER : LATER, n.offset_dims_count = collapsed ? 1 : 2;
  n.collapsed_slice_dims = FIRST, n.collapsed_slice_dims_count = collapsed;
  n.start_index_map = BOTH, n.start_index_map_count = 2, n.index_vector_dim = column_first ? 0 : 1;
  n.slice_sizes = collapsed ? ROW : WINDOW, n.slice_sizes_count = 2;
  return n;
}

static int64_t product(const int64_t *shape, int32_t from, int32_t to) {
  int64_t all = 1;
  for (int32_t d = from; d < to; d++) all *= shape[d];
  return all;
}

/* Few; or as many as a long round has. */
static int64_t some_indices(void) { return below(3) ? below(7) : 50 + below(20); }

/* Shapes of data and indices, and the attributes, of operators without dimension numbers. */
static void shape_generic(trial *t) {
  holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES];
  const int32_t rank = 1 + (int32_t)below(4);
  for (int32_t d = 0; d < rank; d++) data->shape[d] = 1 + below(5);
  data->tensor.rank = rank;
  const bool tuples = t->op->tuples != GATHER_TUPLES_NONE, elements = t->op->family == GATHER_FAMILY_ELEMENTS;
  const int32_t batch = t->op->batch_dims ? (int32_t)below(rank) : 0;
  int32_t index_rank = 0;
  t->options.batch_dims = batch;
  t->options.axis = tuples ? 0 : batch + below(rank - batch);
  for (int32_t d = 0; d < rank && elements; d++)
    indices->shape[index_rank++] = d == t->options.axis                       ? some_indices()
                                   : t->op->off_axis == GATHER_OFF_AXIS_EQUAL ? data->shape[d]
                                                                              : 1 + below(data->shape[d]);
  for (int32_t d = 0; d < batch; d++) indices->shape[index_rank++] = data->shape[d];
  const int64_t more = elements ? 0 : below(3);
  for (int64_t i = 0; i < more; i++) indices->shape[index_rank++] = more == 1 ? some_indices() : below(9) ? 1 + below(6) : 0;
  const int32_t least = t->op->tuples == GATHER_TUPLES_ANY && batch == 0 ? 0 : 1;
  if (tuples) indices->shape[index_rank++] = least + below(rank - batch - least + 1);
  indices->tensor.rank = index_rank;
  const int64_t numbers = tuples ? indices->shape[index_rank - 1] : 1;
  t->row_len = elements ? 1 : product(data->shape, (int32_t)(tuples ? batch + numbers : t->options.axis + 1), rank);
}

static void shape_windows(trial *t, gather_dimension_numbers *n) {
  const bool column_first = below(2), collapsed = below(2);
  holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES];
  *n = windows_of(column_first, collapsed);
  t->options.numbers = n;
  data->tensor.rank = indices->tensor.rank = 2;
  data->shape[0] = 2 + below(5), data->shape[1] = 3 + below(4);
  indices->shape[!column_first] = 2, indices->shape[column_first] = below(7);
}

/* The length of the axis of number i of the indices. */
static int64_t axis_len(const trial *t, int64_t i) {
  const holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES];
  if (t->options.numbers) return data->shape[0] < data->shape[1] ? data->shape[0] : data->shape[1];
  if (t->op->tuples == GATHER_TUPLES_NONE) return data->shape[t->options.axis];
  return data->shape[t->options.batch_dims + i % indices->shape[indices->tensor.rank - 1]];
}

static void make_indices(trial *t) {
  static const gather_on_bad POLICIES[] = {GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP,
                                           GATHER_ON_BAD_ZERO};
  holder *indices = &t->tensors[INDICES];
  const gather_type type = PICK(INDEX_TYPES);
  t->options.on_bad = PICK(POLICIES);
  const gather_on_bad policy = t->options.on_bad ? t->options.on_bad : t->op->on_bad;
  place(indices, INDICES, type, indices->tensor.rank, (arrangement)below(REPEATING));
  indices->tensor.flags = below(5) ? 0 : (uint32_t)GATHER_TENSOR_SHARED | (item_of(indices) > 1 ? (uint32_t)GATHER_TENSOR_BYTE_SWAPPED : 0);
  for (int64_t i = 0; i < len_of(indices); i++) {
    const int64_t n = axis_len(t, i);
    int64_t index = policy != GATHER_ON_BAD_ERROR && below(3) == 0 ? below(20) - (type <= GATHER_TYPE_INT64 ? 10 : 0) : below(n);
    if (t->op->negative && type <= GATHER_TYPE_INT64 && below(4) == 0) index = -1 - below(n);
    put_integer(indices, i, index);
  }
}

/* The gather of the elements' numbers, from 1 on: what is filled is 0. */
static void find_places(trial *t) {
  static int64_t numbers[WRITTEN_CELLS];
  holder *grad = &t->tensors[UPDATES];
  gather_options options = options_of(t->options.axis, t->options.batch_dims);
  gather_error error;
  options.on_bad = t->options.on_bad, options.numbers = t->options.numbers, options.bad_count = &t->bad;
  for (int64_t i = 0; i < WRITTEN_CELLS; i++) numbers[i] = i + 1;
  gather_tensor data = tensor_of(GATHER_TYPE_INT64, numbers, t->tensors[DATA].tensor.rank, t->tensors[DATA].shape);
  int64_t shape[GATHER_MAX_RANK];
  if (gather_output_shape(t->op, &data, &t->tensors[INDICES].tensor, &options, shape, &grad->tensor.rank, &error))
    fail_msg("%s", error.message);
  assert_true(grad->tensor.rank <= WRITTEN_RANK);
  memcpy(grad->shape, shape, (size_t)grad->tensor.rank * sizeof *shape);
  gather_tensor out = tensor_of(GATHER_TYPE_INT64, t->places, grad->tensor.rank, grad->shape);
  assert_true(gather_tensor_len(&out) <= WRITTEN_UPDATES);
  if (gather_apply(t->op, &data, &t->tensors[INDICES].tensor, &out, &options, &error)) fail_msg("%s", error.message);
  for (int64_t u = 0; u < gather_tensor_len(&out); u++) t->places[u]--;
  t->reducing.places = t->places;
}

static void make_trial(trial *t, const gather_op *op, gather_dimension_numbers *numbers) {
  const gather_type type = PICK(TYPES);
  holder *grad = &t->tensors[UPDATES], *out = &t->tensors[OUT];
  t->op = op;
  t->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  t->options.accumulate = (gather_accumulate)below(4), t->options.reduction = GATHER_REDUCTION_MAX; /* which is not read */
  t->reducing = (reducing){.reduction = GATHER_REDUCTION_ADD};
  t->reducing.numbers = numbers_of(type, t->options.accumulate ? t->options.accumulate : GATHER_ACCUMULATE_HALVES);
  if (op->family == GATHER_FAMILY_STABLEHLO)
    shape_windows(t, numbers);
  else
    shape_generic(t);
  make_indices(t);
  find_places(t);
  place(grad, UPDATES, type, grad->tensor.rank, (arrangement)below(LAYOUTS));
  fill_random(grad);
  memcpy(out->shape, t->tensors[DATA].shape, sizeof out->shape);
  place(out, OUT, type, t->tensors[DATA].tensor.rank, (arrangement)below(REPEATING));
}

/* ---- dense */

static void check_dense(trial *t, bool add, const char *what) {
  static unsigned char before[WRITTEN_ROOM], wanted[WRITTEN_ROOM];
  static const unsigned char zero[WRITTEN_ITEM];
  gather_error error;
  int64_t bad = -1;
  fill_random(&t->tensors[OUT]);
  memcpy(before, t->tensors[OUT].first, (size_t)t->tensors[OUT].bytes), memcpy(wanted, before, (size_t)t->tensors[OUT].bytes);
  const holder from = moved_to(&t->tensors[OUT], before), want = moved_to(&t->tensors[OUT], wanted);
  for (int64_t i = 0; i < len_of(&from) && !add; i++) put_element(&from, i, zero);
  scatter_loop(&t->reducing, &from, &t->tensors[UPDATES], &want);
  t->options.bad_count = &bad;
  if (gather_backward(t->op, &t->tensors[UPDATES].tensor, &t->tensors[INDICES].tensor, &t->tensors[OUT].tensor, add, &t->options, &error))
    fail_msg("%s: %s", what, error.message);
  assert_same(what, &t->tensors[OUT], &want);
  assert_int_equal(bad, t->bad);
}

/* ---- sparse: the rows of the dense one that have a place */

static void check_rows(const trial *t, int64_t rows, const int64_t *ids, const unsigned char *sums, const char *what) {
  static unsigned char zeros[WRITTEN_ROOM], wanted[WRITTEN_ROOM];
  const int64_t cells = product(t->tensors[OUT].shape, 0, t->tensors[OUT].tensor.rank), item = item_of(&t->tensors[OUT]);
  static bool touched[WRITTEN_CELLS];
  holder from = {.tensor = tensor_of(t->tensors[OUT].tensor.type, zeros, 1, &cells)}, want = {.tensor = from.tensor};
  from.shape[0] = want.shape[0] = cells, from.tensor.shape = from.shape, want.tensor.shape = want.shape, want.tensor.data = wanted;
  memset(touched, 0, sizeof touched), memset(zeros, 0, (size_t)(cells * item));
  scatter_loop(&t->reducing, &from, &t->tensors[UPDATES], &want);
  for (int64_t u = 0; u < len_of(&t->tensors[UPDATES]); u++)
    if (t->places[u] >= 0) touched[t->places[u] / t->row_len] = true;
  int64_t at = 0;
  for (int64_t row = 0; row < cells / t->row_len; row++) {
    if (!touched[row]) continue;
    if (at >= rows || ids[at] != row) fail_msg("%s: row %d is missing", what, (int)row);
    for (int64_t k = 0; k < t->row_len; k++)
      if (!are_equal(&t->reducing.numbers, item, sums + (at * t->row_len + k) * item, wanted + (row * t->row_len + k) * item))
        fail_msg("%s: element %d of row %d differs", what, (int)k, (int)row);
    at++;
  }
  assert_int_equal(at, rows);
}

static void check_sparse(trial *t, const char *what) {
  static int64_t ids[WRITTEN_CELLS];
  static unsigned char sums[WRITTEN_ROOM];
  gather_sparse *sparse = NULL;
  gather_error error;
  int64_t row_len = -1, bad = -1;
  const gather_tensor *grad = &t->tensors[UPDATES].tensor;
  gather_tensor data = tensor_of(grad->type, NULL, t->tensors[DATA].tensor.rank, t->tensors[DATA].shape);
  t->options.bad_count = &bad;
  if (gather_sparse_create(t->op, &data, &t->tensors[INDICES].tensor, grad, &t->options, &sparse, &error))
    fail_msg("%s: %s", what, error.message);
  assert_int_equal(bad, t->bad);
  const int64_t rows = gather_sparse_rows(sparse, &row_len);
  assert_int_equal(row_len, t->row_len);
  assert_true(rows <= WRITTEN_CELLS);
  assert_status(gather_sparse_write(sparse, grad->data, ids, sums, t->options.executor, NULL), GATHER_OK);
  check_rows(t, rows, ids, sums, what);
  gather_sparse_destroy(sparse);
}

static void every_gather(void **state) {
  static trial t;
  char what[200];
  gather_dimension_numbers numbers;
  for (size_t row = 0; gather_op_at(row); row++) {
    const gather_op *op = gather_op_at(row);
    const bool windows = op->family == GATHER_FAMILY_STABLEHLO;
    if (!windows && !is_generic(op)) continue;
    for (int64_t round = 0; round < rounds_of(ROUNDS); round++) {
      seed_with(round, (int64_t)row);
      make_trial(&t, op, &numbers);
      tune_by_chance();
      t.options.executor = executors[below(POOLS + 1)];
      snprintf(what, sizeof what, "case %d of %s %s, %s", (int)round, op->name, op->rules, gather_type_get(t.reducing.numbers.type)->name);
      check_dense(&t, below(2), what);
      if (!windows) check_sparse(&t, what);
    }
  }
  machine_reset();
}

/* ---- rows of equal ids */

typedef struct {
  holder ids, rows;
  int64_t values[WRITTEN_CELLS], sorted[WRITTEN_CELLS];
  int64_t many, row_len, different;
  reducing reducing;
} unique_trial;

static int compare(const void *a, const void *b) {
  const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

static int64_t random_id(gather_type type) {
  static const int64_t ENDS[] = {0, INT64_MAX, INT64_MIN, -1, 1, INT64_C(1) << 40, -(INT64_C(1) << 40)};
  const int bits = gather_type_get(type)->bits;
  if (type == GATHER_TYPE_INT64 && below(3)) return PICK(ENDS);
  const int64_t id = below(3) ? below(9) : below(bits == 8 ? 100 : 30000);
  return type <= GATHER_TYPE_INT64 && below(3) == 0 ? -id : type == GATHER_TYPE_UINT64 && below(5) == 0 ? INT64_MAX - id : id;
}

static void make_unique(unique_trial *t) {
  const gather_type type = PICK(TYPES), id_type = PICK(INDEX_TYPES);
  const int32_t rank = (int32_t)below(3), more = (int32_t)below(3);
  t->reducing = (reducing){.reduction = GATHER_REDUCTION_ADD, .numbers = numbers_of(type, GATHER_ACCUMULATE_HALVES)};
  for (int32_t d = 0; d < rank; d++) t->ids.shape[d] = t->rows.shape[d] = below(8) ? 1 + below(20) : 0;
  for (int32_t d = rank; d < rank + more; d++) t->rows.shape[d] = 1 + below(5);
  t->many = product(t->ids.shape, 0, rank), t->row_len = product(t->rows.shape, rank, rank + more);
  place(&t->ids, INDICES, id_type, rank, (arrangement)below(REPEATING)),
      place(&t->rows, UPDATES, type, rank + more, (arrangement)below(LAYOUTS));
  t->ids.tensor.flags = below(3) ? 0 : (uint32_t)GATHER_TENSOR_SHARED;
  t->ids.tensor.flags |= below(3) || item_of(&t->ids) == 1 ? 0 : (uint32_t)GATHER_TENSOR_BYTE_SWAPPED;
  fill_random(&t->rows);
  for (int64_t i = 0; i < t->many; i++) put_integer(&t->ids, i, t->values[i] = t->sorted[i] = random_id(id_type));
  qsort(t->sorted, (size_t)t->many, sizeof *t->sorted, compare);
  t->different = 0;
  for (int64_t i = 0; i < t->many; i++)
    if (i == 0 || t->sorted[i] != t->sorted[i - 1]) t->sorted[t->different++] = t->sorted[i];
}

/* The sums as a scatter into as many rows as there are different ids. */
static void check_unique(const unique_trial *t, const int64_t *ids, const unsigned char *sums) {
  static int64_t places[WRITTEN_UPDATES];
  static unsigned char zeros[WRITTEN_ROOM], wanted[WRITTEN_ROOM];
  const int64_t cells = t->different * t->row_len, item = item_of(&t->rows);
  assert_memory_equal(ids, t->sorted, (size_t)t->different * sizeof *ids);
  for (int64_t u = 0; u < t->many * t->row_len; u++) {
    const int64_t *at = bsearch(&t->values[u / t->row_len], t->sorted, (size_t)t->different, sizeof *t->sorted, compare);
    places[u] = (at - t->sorted) * t->row_len + u % t->row_len;
  }
  reducing all = t->reducing;
  holder from = {.tensor = tensor_of(t->rows.tensor.type, zeros, 1, &cells)}, want = {.tensor = from.tensor};
  from.shape[0] = want.shape[0] = cells, from.tensor.shape = from.shape, want.tensor.shape = want.shape, want.tensor.data = wanted;
  all.places = places;
  scatter_loop(&all, &from, &t->rows, &want);
  for (int64_t i = 0; i < cells; i++) assert_true(are_equal(&all.numbers, item, sums + i * item, wanted + i * item));
}

static void unique_rows(void **state) {
  static unique_trial t;
  static int64_t ids[WRITTEN_CELLS];
  static unsigned char sums[WRITTEN_ROOM];
  for (int64_t round = 0; round < rounds_of(UNIQUE_ROUNDS); round++) {
    gather_sparse *sparse = NULL;
    gather_error error;
    int64_t row_len = -1;
    seed_with(round, -1);
    make_unique(&t);
    tune_by_chance();
    gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
    options.executor = executors[below(POOLS + 1)];
    if (gather_unique_rows(&t.ids.tensor, &t.rows.tensor, &options, &sparse, &error)) fail_msg("round %d: %s", (int)round, error.message);
    if (gather_sparse_rows(sparse, &row_len) != t.different)
      fail_msg("round %d: %d ids, not %d", (int)round, (int)gather_sparse_rows(sparse, NULL), (int)t.different);
    assert_int_equal(row_len, t.row_len);
    assert_status(gather_sparse_write(sparse, t.rows.tensor.data, ids, sums, options.executor, NULL), GATHER_OK);
    check_unique(&t, ids, sums);
    gather_sparse_destroy(sparse);
  }
  machine_reset();
}

/* ---- cases of their own */

static void ids_from_2_63_on_are_refused(void **state) {
  const uint64_t ids[] = {1, UINT64_C(1) << 63};
  const float rows[] = {1, 2};
  gather_sparse *sparse = NULL;
  gather_error error;
  const gather_tensor which = tensor_of(GATHER_TYPE_UINT64, ids, 1, DIMS(2)), what = tensor_of(GATHER_TYPE_FLOAT32, rows, 1, DIMS(2));
  assert_status(gather_unique_rows(&which, &what, NULL, &sparse, &error), GATHER_USAGE);
  assert_string_equal(error.input, "ids");
  assert_null(sparse);
}

/* Of data only the shape is read: it may be larger than any memory. Offsets of its rows are no numbers that float64 has. */
static void rows_of_huge_data(void **state) {
  const int64_t len = INT64_C(1) << 57, indices[] = {len - 1, 1, len - 2, len - 1, len / 3 * 2 + 1};
  const float grad[5][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}};
  const int64_t want_ids[] = {1, len / 3 * 2 + 1, len - 2, len - 1};
  const float want[4][3] = {{4, 5, 6}, {13, 14, 15}, {7, 8, 9}, {11, 13, 15}};
  int64_t ids[4] = {0};
  float rows[4][3];
  gather_sparse *sparse = NULL;
  const gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, ((const int64_t[]){len, 3}));
  const gather_tensor which = tensor_of(GATHER_TYPE_INT64, indices, 1, DIMS(5)), from = tensor_of(GATHER_TYPE_FLOAT32, grad, 2, DIMS(5, 3));
  if (sizeof(void *) < 8) return; /* data would not fit memory */
  assert_status(gather_sparse_create(op_of("Gather", "onnx-13"), &data, &which, &from, NULL, &sparse, NULL), GATHER_OK);
  assert_int_equal(gather_sparse_rows(sparse, NULL), 4);
  assert_status(gather_sparse_write(sparse, grad, ids, rows, NULL, NULL), GATHER_OK);
  assert_memory_equal(ids, want_ids, sizeof ids);
  assert_memory_equal(rows, want, sizeof rows);
  gather_sparse_destroy(sparse);
}

/* 4,096 ones in half precision: summed in float32, and rounded once. */
static void many_ones(void **state) {
  enum { ONES = 4096 };
  static const int64_t zeros[ONES];
  static uint16_t ones[ONES];
  static const struct {
    gather_type type;
    uint16_t one, want;
  } CASES[] = {{GATHER_TYPE_BFLOAT16, 0x3f80, 0x4580}, {GATHER_TYPE_FLOAT16, 0x3c00, 0x6c00}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    uint16_t out[2] = {9, 9};
    for (int k = 0; k < ONES; k++) ones[k] = CASES[i].one;
    const gather_tensor to = tensor_of(CASES[i].type, out, 1, DIMS(2)), from = tensor_of(CASES[i].type, ones, 1, DIMS(ONES));
    const gather_tensor which = tensor_of(GATHER_TYPE_INT64, zeros, 1, DIMS(ONES));
    assert_status(gather_backward(op_of("Gather", "onnx-13"), &from, &which, &to, false, NULL, NULL), GATHER_OK);
    assert_int_equal(out[0], CASES[i].want);
    assert_int_equal(out[1], 0);
  }
}

/* All indices are skipped: there is nothing to write, and no row. */
static void data_without_elements(void **state) {
  static const float grad[2][300] = {{1}};
  static const int64_t indices[] = {0, 5};
  int64_t bad = -1, row_len;
  gather_error error;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  const gather_op *op = op_of("Gather", "openvino-8");
  const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(0, 300)),
                      from = tensor_of(GATHER_TYPE_FLOAT32, grad, 2, DIMS(2, 300));
  const gather_tensor by = tensor_of(GATHER_TYPE_INT64, indices, 1, DIMS(2));
  options.bad_count = &bad;
  for (int method = 0; method < 7; method++)
    for (int accumulate = 0; accumulate < 4; accumulate++)
      for (int threads = 0; threads <= POOLS; threads++) {
        gather_sparse *sparse = NULL;
        tune("scatter_method", method);
        options.accumulate = (gather_accumulate)accumulate, options.executor = executors[threads], bad = -1;
        assert_status(gather_backward(op, &from, &by, &to, threads & 1, &options, NULL), GATHER_OK);
        assert_int_equal(bad, 2);
        if (gather_sparse_create(op, &to, &by, &from, &options, &sparse, &error)) fail_msg("%s", error.message);
        assert_int_equal(gather_sparse_rows(sparse, &row_len), 0);
        assert_int_equal(row_len, 300);
        assert_status(gather_sparse_write(sparse, grad, NULL, NULL, options.executor, NULL), GATHER_OK);
        gather_sparse_destroy(sparse);
      }
  machine_reset();
}

/* Rows without elements are repeated as others are. */
static void rows_without_elements(void **state) {
  static const int64_t PAIRS[2][4] = {{0, 2, 2, 0}, {0, 2, 1, 1}}; /* of two batches */
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  const gather_op *op = op_of("Gather", "openvino-8");
  const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, NULL, 4, DIMS(2, 0, 3, 5)),
                      from = tensor_of(GATHER_TYPE_FLOAT32, NULL, 4, DIMS(2, 0, 2, 5));
  options.axis = 2, options.batch_dims = 1, options.unique = true;
  for (int twice = 0; twice < 2; twice++) {
    gather_error error;
    gather_sparse *sparse = NULL;
    int64_t row_len = -1;
    const gather_status status = twice ? GATHER_INDEX_REPEATED : GATHER_OK;
    const gather_tensor by = tensor_of(GATHER_TYPE_INT64, PAIRS[twice], 2, DIMS(2, 2));
    assert_status(gather_backward(op, &from, &by, &to, false, &options, &error), status);
    if (twice) assert_true(error.position[0] == 1 && error.position[1] == 1);
    assert_status(gather_sparse_create(op, &to, &by, &from, &options, &sparse, NULL), status);
    if (sparse) assert_int_equal(gather_sparse_rows(sparse, &row_len), 0);
    gather_sparse_destroy(sparse);
  }
}

static void windows_have_no_sparse_gradient(void **state) {
  const int64_t starts[2] = {0, 0};
  const float grad[6] = {0};
  gather_dimension_numbers numbers = windows_of(false, false);
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_sparse *sparse = NULL;
  gather_error error = dirty_error();
  const gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(4, 4)),
                      which = tensor_of(GATHER_TYPE_INT64, starts, 2, DIMS(1, 2));
  const gather_tensor from = tensor_of(GATHER_TYPE_FLOAT32, grad, 3, DIMS(1, 2, 3));
  options.numbers = &numbers;
  assert_status(gather_sparse_create(op_of("gather", "stablehlo-1"), &data, &which, &from, &options, &sparse, &error), GATHER_UNSUPPORTED);
  assert_error(&error, GATHER_UNSUPPORTED);
  assert_null(sparse);
}

TESTS_WITHIN(begin, end, every_gather, unique_rows, ids_from_2_63_on_are_refused, rows_of_huge_data, many_ones, data_without_elements,
             rows_without_elements, windows_have_no_sparse_gradient)
