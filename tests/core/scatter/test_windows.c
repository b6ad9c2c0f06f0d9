/* SPDX-License-Identifier: MIT
 *
 * test_windows.c: StableHLO's scatter beside the loop of its document: random dimension numbers, index types, strides, reductions and
 * threads, in place and not, in one call and with indices that are kept, of windows that are inside, partly outside, outside and empty;
 * its example; its constraints.
 */
#include "gather/scatter.h"
#include "support/machines.h"
#include "support/unit.h"

enum { ROUNDS = 6000, MOST = 5, CELLS = 1 << 13 };

static uint64_t state_of_random;
static int64_t below(int64_t limit) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_random >> 33) % (uint64_t)limit);
}

/* A tensor of int32 or integers of other widths, row-major or with its dimensions in the other order. */
typedef struct {
  gather_tensor tensor;
  int64_t shape[2 * MOST], strides[2 * MOST], len;
  int64_t cells[CELLS]; /* room for elements of any width */
} holder;

static void place(holder *h, gather_type type, int32_t rank, bool turned) {
  int64_t step = gather_type_get(type)->bits / 8;
  h->len = 1;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t d = turned ? i : rank - 1 - i;
    h->strides[d] = step, step *= h->shape[d], h->len *= h->shape[d];
  }
  assert_true(h->len < CELLS);
  h->tensor = tensor_of(type, h->cells, rank, h->shape);
  if (turned) h->tensor.strides = h->strides;
}

static unsigned char *element_at(holder *h, int64_t number) {
  unsigned char *at = (unsigned char *)h->cells;
  for (int32_t d = h->tensor.rank - 1; d >= 0; d--) at += number % h->shape[d] * h->strides[d], number /= h->shape[d];
  return at;
}

static int32_t get(holder *h, int64_t number) {
  int32_t value;
  memcpy(&value, element_at(h, number), sizeof value);
  return value;
}
static void put(holder *h, int64_t number, int32_t value) { memcpy(element_at(h, number), &value, sizeof value); }

static void unravel(int64_t at, int32_t rank, const int64_t *shape, int64_t *spot) {
  for (int32_t d = rank - 1; d >= 0; d--) spot[d] = at % shape[d], at /= shape[d];
}

static int64_t position_in(const int64_t *list, int64_t count, int64_t dim) {
  for (int64_t i = 0; i < count; i++)
    if (list[i] == dim) return i;
  return -1;
}

/* ---- cases */

typedef struct {
  holder data, indices, updates, out;
  int64_t ids[CELLS]; /* the indices, in row-major order */
  gather_dimension_numbers n;
  int64_t window[MOST], inserted[MOST], batching[MOST], index_batching[MOST], map[MOST];
  gather_reduction reduction;
  bool whole, in_place, unique, kept;
} trial;

static void put_index(trial *t, int64_t i, int64_t value) {
  const int64_t width = gather_type_get(t->indices.tensor.type)->bits / 8;
  const bool swapped = (t->indices.tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  for (int64_t b = 0; b < width; b++)
    element_at(&t->indices, i)[(GATHER_BIG_ENDIAN != 0) != swapped ? width - 1 - b : b] = (unsigned char)((uint64_t)value >> 8 * b);
  t->ids[i] = value;
}

/* Each dimension of data is batching, inserted, or along the windows; the tuples select on some of those that are not batching. */
static void make_numbers(trial *t, int32_t rank, int64_t *window_lens) {
  gather_dimension_numbers *n = &t->n;
  *n = (gather_dimension_numbers)GATHER_DIMENSION_NUMBERS_INIT;
  n->offset_dims = t->window, n->collapsed_slice_dims = t->inserted, n->operand_batching_dims = t->batching;
  n->start_indices_batching_dims = t->index_batching, n->start_index_map = t->map;
  for (int64_t d = 0; d < rank; d++) {
    const int64_t kind = below(5);
    const int64_t len = t->data.shape[d] = below(30) ? 1 + below(5) : 0;
    if (kind == 0 && n->operand_batching_dims_count < 2) {
      t->batching[n->operand_batching_dims_count++] = d;
    } else if (kind == 1) {
      t->inserted[n->collapsed_slice_dims_count++] = d;
    } else {
      window_lens[n->offset_dims_count++] = len > 0 && below(8) ? below(20) > 0 ? 1 + below(len) : 0 : len;
    }
    if (kind != 0 && below(3)) t->map[n->start_index_map_count++] = d;
  }
  for (int64_t i = 0; i + 1 < n->start_index_map_count; i++) { /* in any order */
    const int64_t k = i + below(n->start_index_map_count - i), kept = t->map[i];
    t->map[i] = t->map[k], t->map[k] = kept;
  }
}

/* The shapes of indices and updates, whose dimensions that are no windows' are those of indices. */
static void make_shapes(trial *t, const int64_t *window_lens) {
  gather_dimension_numbers *n = &t->n;
  const int64_t paired = n->operand_batching_dims_count, batches = paired + below(3);
  int64_t lens[2 * MOST], windows = 0, batch = 0;
  for (int64_t i = 0; i < batches; i++) lens[i] = i < paired ? t->data.shape[t->batching[i]] : 1 + below(4);
  n->start_indices_batching_dims_count = paired;
  n->index_vector_dim = n->start_index_map_count == 1 && below(2) ? batches : below(batches + 1);
  const bool own = n->start_index_map_count != 1 || n->index_vector_dim < batches || below(2);
  for (int64_t i = 0; i < batches; i++) {
    const int64_t d = own && i >= n->index_vector_dim ? i + 1 : i;
    t->indices.shape[d] = lens[i];
    if (i < paired) t->index_batching[i] = d;
  }
  if (own) t->indices.shape[n->index_vector_dim] = n->start_index_map_count;
  t->indices.tensor.rank = (int32_t)(batches + own);
  const int64_t rank = batches + n->offset_dims_count;
  for (int64_t o = 0; o < rank; o++) {
    const bool is_window = windows < n->offset_dims_count && (batch == batches || below(2));
    if (is_window) t->window[windows] = o;
    t->updates.shape[o] = is_window ? window_lens[windows++] : lens[batch++];
  }
  t->updates.tensor.rank = (int32_t)rank;
}

static void make_trial(trial *t) {
  static const gather_type INDEX_TYPES[] = {GATHER_TYPE_INT64, GATHER_TYPE_INT32, GATHER_TYPE_INT8, GATHER_TYPE_UINT8, GATHER_TYPE_UINT64};
  static const gather_reduction REDUCTIONS[] = {GATHER_REDUCTION_NONE, GATHER_REDUCTION_ADD, GATHER_REDUCTION_SUB, GATHER_REDUCTION_MAX};
  const int32_t rank = (int32_t)(1 + below(MOST - 1));
  int64_t window_lens[MOST];
  make_numbers(t, rank, window_lens);
  make_shapes(t, window_lens);
  const gather_type type = INDEX_TYPES[below((int64_t)COUNT(INDEX_TYPES))];
  place(&t->indices, type, t->indices.tensor.rank, below(3) == 0);
  t->indices.tensor.flags = (below(3) ? 0u : (uint32_t)GATHER_TENSOR_BYTE_SWAPPED) | (below(3) ? 0u : (uint32_t)GATHER_TENSOR_SHARED);
  const int64_t spread = below(3) ? 7 : 3;
  for (int64_t i = 0; i < t->indices.len; i++) put_index(t, i, type < GATHER_TYPE_UINT8 ? below(spread + 2) - 2 : below(spread));
  if (t->indices.len > 0 && below(20) == 0) put_index(t, below(t->indices.len), type == GATHER_TYPE_INT64 ? INT64_MAX : 127);
  if (type == GATHER_TYPE_UINT64 && t->indices.len > 0 && below(5) == 0) put_index(t, 0, -1);
  place(&t->data, GATHER_TYPE_INT32, rank, below(3) == 0);
  memcpy(t->out.shape, t->data.shape, sizeof t->out.shape);
  place(&t->out, GATHER_TYPE_INT32, rank, below(3) == 0);
  place(&t->updates, GATHER_TYPE_INT32, t->updates.tensor.rank, below(3) == 0);
  for (int64_t i = 0; i < t->data.len; i++) put(&t->data, i, (int32_t)below(1000));
  for (int64_t i = 0; i < t->updates.len; i++) put(&t->updates, i, (int32_t)below(1000) + 1000);
  t->reduction = REDUCTIONS[below(4)];
  t->whole = below(3) == 0, t->in_place = below(2), t->unique = below(4) == 0, t->kept = below(3) == 0;
}

/* ---- the document's loop */

/* The number in the indices of component `number` of the tuple of an update. */
static int64_t index_of(const trial *t, const int64_t *spot, int64_t number) {
  int64_t at = 0, batch[2 * MOST], count = 0;
  for (int32_t o = 0; o < t->updates.tensor.rank; o++)
    if (position_in(t->window, t->n.offset_dims_count, o) < 0) batch[count++] = spot[o];
  for (int32_t d = 0, b = 0; d < t->indices.tensor.rank; d++)
    at = at * t->indices.shape[d] + (d == t->n.index_vector_dim ? number : batch[b++]);
  return at;
}

/* Where an update begins, and what of its window it is, along dimension d of data; and the length of the window. */
static int64_t start_of(const trial *t, const int64_t *spot, int64_t d, int64_t *within, int64_t *len) {
  const gather_dimension_numbers *n = &t->n;
  const int64_t number = position_in(t->map, n->start_index_map_count, d),
                batch = position_in(t->batching, n->operand_batching_dims_count, d);
  int64_t window = 0;
  *within = 0, *len = 1;
  if (batch >= 0) { /* the coordinate of the dimension of indices that it is paired with */
    int64_t o = 0, i = 0;
    for (;; o++) {
      if (position_in(t->window, n->offset_dims_count, o) >= 0) continue;
      if (i == n->index_vector_dim) i++;
      if (i++ == t->index_batching[batch]) break;
    }
    return spot[o];
  }
  for (int64_t k = 0; k < d; k++)
    window +=
        position_in(t->batching, n->operand_batching_dims_count, k) < 0 && position_in(t->inserted, n->collapsed_slice_dims_count, k) < 0;
  if (position_in(t->inserted, n->collapsed_slice_dims_count, d) < 0)
    *within = spot[t->window[window]], *len = t->updates.shape[t->window[window]];
  return number < 0 ? 0 : t->ids[index_of(t, spot, number)];
}

/* The element of data that an update goes to; -1: it is skipped. */
static int64_t target_of(const trial *t, int64_t update, bool *is_bad) {
  int64_t spot[2 * MOST], at = 0;
  bool outside = false;
  *is_bad = false;
  unravel(update, t->updates.tensor.rank, t->updates.shape, spot);
  for (int32_t d = 0; d < t->data.tensor.rank; d++) {
    int64_t within, len;
    const int64_t start = start_of(t, spot, d, &within, &len), size = t->data.shape[d];
    const bool huge = start > size || (t->indices.tensor.type == GATHER_TYPE_UINT64 && start < 0);
    if (huge || start < 0 || start + len > size) *is_bad = true;
    outside = outside || huge || start + within < 0 || start + within >= size;
    at = at * size + (outside ? 0 : start + within);
  }
  return outside || (t->whole && *is_bad) ? -1 : at;
}

static int32_t reduced(gather_reduction reduction, int32_t a, int32_t b) {
  if (reduction == GATHER_REDUCTION_ADD) return (int32_t)((uint32_t)a + (uint32_t)b);
  if (reduction == GATHER_REDUCTION_SUB) return (int32_t)((uint32_t)a - (uint32_t)b);
  return reduction == GATHER_REDUCTION_MAX && a > b ? a : b;
}

/* Returns the first update that repeats a place, or -1; *first: the one that it repeats. */
static int64_t run_loop(trial *t, int32_t *want, int64_t *first) {
  static int64_t seen[CELLS];
  int64_t repeated = -1;
  for (int64_t i = 0; i < t->data.len; i++) seen[i] = -1, want[i] = get(&t->data, i);
  for (int64_t i = 0; i < t->updates.len; i++) {
    bool bad;
    const int64_t at = target_of(t, i, &bad);
    if (at < 0) continue;
    want[at] = reduced(t->reduction, want[at], get(&t->updates, i));
    if (seen[at] >= 0 && repeated < 0) repeated = i, *first = seen[at];
    if (seen[at] < 0) seen[at] = i;
  }
  return repeated;
}

/* The number of an index, whose tuple's first number is that of an update. */
static void check_position(const trial *t, const int64_t *position, int64_t update) {
  int64_t spot[2 * MOST], at = 0;
  unravel(update, t->updates.tensor.rank, t->updates.shape, spot);
  for (int32_t d = 0; d < t->indices.tensor.rank; d++) at = at * t->indices.shape[d] + position[d];
  assert_int_equal(at, index_of(t, spot, 0));
}

/* By a plan that is given its indices before, and runs twice. */
static gather_status run_kept(const trial *t, const holder *out, const gather_scatter_options *options, gather_error *error) {
  gather_scatter_plan *plan = NULL;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  int64_t bad = -1, kept_bad = -1;
  const gather_op *op = op_of("scatter", "stablehlo-1");
  gather_status status =
      gather_scatter_plan_create(op, &t->data.tensor, &t->indices.tensor, &t->updates.tensor, &out->tensor, options, &plan, error);
  run.indices = t->indices.tensor.data, run.executor = options->executor, run.bad_count = &bad;
  if (status == GATHER_OK) status = gather_scatter_plan_check(plan, &run, error);
  if (status == GATHER_OK) status = gather_scatter_plan_keep(plan, run.indices, options->executor, error);
  if (status == GATHER_OK) status = gather_scatter_plan_keep(plan, run.indices, NULL, error);
  run.data = t->data.tensor.data, run.updates = t->updates.tensor.data, run.out = out->tensor.data, run.indices = NULL;
  run.bad_count = &kept_bad;
  for (int turn = t->in_place; status == GATHER_OK && turn < 2; turn++) status = gather_scatter_plan_run(plan, &run, error);
  if (status == GATHER_OK) assert_int_equal(kept_bad, bad);
  gather_scatter_plan_destroy(plan);
  return status;
}

static void run_trial(trial *t, const gather_executor *executor) {
  static int32_t want[CELLS];
  holder *out = t->in_place ? &t->data : &t->out;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_error error;
  int64_t first = -1;
  options.reduction = t->reduction, options.numbers = &t->n, options.whole_windows = t->whole, options.unique = t->unique;
  options.executor = executor;
  memset(t->out.cells, 0x5A, sizeof t->out.cells);
  const int64_t repeated = run_loop(t, want, &first);
  const gather_status status = t->kept ? run_kept(t, out, &options, &error)
                                       : gather_scatter_apply(op_of("scatter", "stablehlo-1"), &t->data.tensor, &t->indices.tensor,
                                                              &t->updates.tensor, &out->tensor, &options, &error);
  if (t->unique && repeated >= 0) {
    assert_status(status, GATHER_INDEX_REPEATED);
    if (t->indices.len > 0) check_position(t, error.position, repeated), check_position(t, error.first_position, first);
    return;
  }
  if (status != GATHER_OK) fail_msg("%s", error.message);
  for (int64_t i = 0; i < out->len; i++)
    if (get(out, i) != want[i]) fail_msg("element %d is %d, not %d", (int)i, (int)get(out, i), (int)want[i]);
}

static void random_cases(void **state) {
  static trial t;
  gather_pool *pools[3];
  for (int i = 0; i < 3; i++) assert_status(gather_pool_create(i + 1, &pools[i], NULL), GATHER_OK);
  for (int64_t i = 0; i < ROUNDS; i++) {
    state_of_random = (uint64_t)i * 7919 + 11;
    make_trial(&t);
    const int64_t pool = below(4);
    run_trial(&t, pool == 3 ? NULL : gather_pool_executor(pools[pool]));
  }
  for (int i = 0; i < 3; i++) gather_pool_destroy(pools[i]);
}

/* ---- the document's example */

/* updates_shape: NULL: as in the example. */
static gather_status run_example(const gather_dimension_numbers *numbers, const int64_t *updates_shape, gather_reduction reduction,
                                 int32_t *out, gather_error *error) {
  static const int64_t IDS[] = {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0};
  int32_t cells[48], ones[256];
  for (int32_t i = 0; i < 48; i++) cells[i] = i + 1;
  for (int32_t i = 0; i < 256; i++) ones[i] = 1;
  const gather_tensor data = tensor_of(GATHER_TYPE_INT32, cells, 4, DIMS(2, 3, 4, 2));
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, IDS, 4, DIMS(2, 2, 3, 2));
  const gather_tensor updates = tensor_of(GATHER_TYPE_INT32, ones, 5, updates_shape ? updates_shape : DIMS(2, 2, 3, 2, 2));
  const gather_tensor target = tensor_of(GATHER_TYPE_INT32, out, 4, DIMS(2, 3, 4, 2));
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.reduction = reduction, options.numbers = numbers;
  return gather_scatter_apply(op_of("scatter", "stablehlo-1"), &data, &indices, &updates, &target, &options, error);
}

static gather_dimension_numbers numbers_of_example(void) {
  static const int64_t WINDOW[] = {3, 4}, INSERTED[] = {1}, BATCHING[] = {0}, INDEX_BATCHING[] = {1}, MAP[] = {2, 1};
  gather_dimension_numbers n = GATHER_DIMENSION_NUMBERS_INIT;
  n.offset_dims = WINDOW, n.offset_dims_count = 2, n.collapsed_slice_dims = INSERTED, n.collapsed_slice_dims_count = 1;
  n.operand_batching_dims = BATCHING, n.operand_batching_dims_count = 1, n.start_indices_batching_dims = INDEX_BATCHING;
  n.start_indices_batching_dims_count = 1, n.start_index_map = MAP, n.start_index_map_count = 2, n.index_vector_dim = 3;
  return n;
}

static void example(void **state) {
  static const int32_t WANT[48] = {3,  4,  6,  7,  6,  7,  7,  8,  9,  10, 11, 12, 15, 16, 17, 18, 17, 18, 19, 20, 22, 23, 24, 25,
                                   25, 26, 28, 29, 30, 31, 31, 32, 35, 36, 38, 39, 38, 39, 39, 40, 41, 42, 44, 45, 46, 47, 47, 48};
  const gather_dimension_numbers n = numbers_of_example();
  int32_t out[48];
  assert_status(run_example(&n, NULL, GATHER_REDUCTION_ADD, out, NULL), GATHER_OK);
  for (int i = 0; i < 48; i++)
    if (out[i] != WANT[i]) fail_msg("element %d is %d, not %d", i, (int)out[i], (int)WANT[i]);
}

/* ---- constraints, by changes of the example */

typedef struct {
  int64_t window[2], inserted, batching, index_batching, map[2], index_vector_dim, updates[5];
  gather_reduction reduction;
  gather_status status;
  const char *message;
} failure;

/* clang-format off */
static const failure FAILURES[] = {
    {{4, 3}, 1, 0, 1, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "offset_dims must be in ascending order, but 3 follows 4"},
    {{3, 3}, 1, 0, 1, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH, "dimension 3 is given twice in offset_dims"},
    {{3, 5}, 1, 0, 1, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_AXIS_OUT_OF_RANGE,
     "offset_dims[1] = 5 is outside [0, 4], the dimensions of the output"},
    {{3, 4}, 4, 0, 1, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_AXIS_OUT_OF_RANGE,
     "collapsed_slice_dims[0] = 4 is outside [0, 3], the dimensions of data"},
    {{3, 4}, 0, 0, 1, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "dimension 0 of data is in both collapsed_slice_dims and operand_batching_dims"},
    {{3, 4}, 1, 0, 3, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "index_vector_dim 3 is in start_indices_batching_dims"},
    {{3, 4}, 1, 0, 2, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "dimension 0 of data is 2, and dimension 2 of indices, its batching dimension, is 3"},
    {{3, 4}, 1, 0, 1, {2, 0}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "dimension 0 of data is in both start_index_map and operand_batching_dims"},
    {{3, 4}, 1, 0, 1, {2, 1}, 5, {2, 2, 3, 2, 2}, GATHER_REDUCTION_ADD, GATHER_AXIS_OUT_OF_RANGE,
     "index_vector_dim 5 is outside [0, 4], the rank of indices"},
    {{3, 4}, 1, 0, 1, {2, 1}, 3, {2, 2, 3, 5, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "dimension 3 of the updates, that of windows along dimension 2 of data, is 5; data has the length 4 there"},
    {{3, 4}, 1, 0, 1, {2, 1}, 3, {2, 2, 2, 2, 2}, GATHER_REDUCTION_ADD, GATHER_SHAPE_MISMATCH,
     "the updates have the shape [2, 2, 2, 2, 2]; they must be [2, 2, 3, 2, 2]"},
    {{3, 4}, 1, 0, 1, {2, 1}, 3, {2, 2, 3, 2, 2}, GATHER_REDUCTION_MEAN, GATHER_UNSUPPORTED,
     "scatter stablehlo-1 has no reduction \"mean\""},
};
/* clang-format on */

static void failures(void **state) {
  for (size_t i = 0; i < COUNT(FAILURES); i++) {
    const failure *f = &FAILURES[i];
    int32_t out[48];
    gather_dimension_numbers n = numbers_of_example();
    gather_error error = dirty_error();
    n.offset_dims = f->window, n.collapsed_slice_dims = &f->inserted, n.operand_batching_dims = &f->batching;
    n.start_indices_batching_dims = &f->index_batching, n.start_index_map = f->map, n.index_vector_dim = f->index_vector_dim;
    memset(out, 0x5A, sizeof out);
    assert_status(run_example(&n, f->updates, f->reduction, out, &error), f->status);
    assert_error(&error, f->status);
    assert_string_equal(error.message, f->message);
    for (int k = 0; k < 48; k++) assert_int_equal(out[k], 0x5A5A5A5A);
  }
}

TESTS(random_cases, example, failures)
