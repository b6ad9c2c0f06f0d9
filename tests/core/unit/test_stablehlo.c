/* SPDX-License-Identifier: MIT
 *
 * test_stablehlo.c: StableHLO's gather beside the definition of its document, element by element: random dimension numbers, types, index
 * types, strides, policies, threads, by one call and by a plan; its example; each constraint; inferred shapes; formulas.
 */
#include "core/base/compiler.h"
#include "core/op/op.h"
#include "support/unit.h"

enum { MOST = 6, CELLS = 4096, ROUNDS = 24000, WIDE = 16 };

/* Dimension numbers with memory for their lists. */
typedef struct {
  gather_dimension_numbers n;
  int64_t offset[2 * MOST], collapsed[MOST], data_batch[MOST], index_batch[MOST], map[MOST], slice[MOST];
} numbers_of;

typedef struct {
  numbers_of numbers;
  gather_type type, index_type;
  int32_t data_rank, index_rank, out_rank;
  int64_t data_shape[MOST], index_shape[MOST], out_shape[2 * MOST];
  int64_t index_strides[MOST];
  int64_t ids[CELLS];
  gather_on_bad on_bad;
  bool negative, swapped, strided;
  /* The answer: the element of data of each element of the output, or -1: filled. */
  int64_t from[CELLS];
  int64_t bad, position[MOST], value, axis, high;
} hlo_case;

static uint64_t state_of_random = 5;
static int64_t below(int64_t limit) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_random >> 33) % (uint64_t)limit);
}

static int64_t product(int32_t rank, const int64_t *shape) {
  int64_t all = 1;
  for (int32_t d = 0; d < rank; d++) all *= shape[d];
  return all;
}

static int64_t place_in(const int64_t *list, int64_t count, int64_t dim) {
  for (int64_t i = 0; i < count; i++)
    if (list[i] == dim) return i;
  return -1;
}

static void settle(numbers_of *m) {
  m->n.size = sizeof m->n;
  m->n.offset_dims = m->offset, m->n.collapsed_slice_dims = m->collapsed;
  m->n.operand_batching_dims = m->data_batch, m->n.start_indices_batching_dims = m->index_batch;
  m->n.start_index_map = m->map, m->n.slice_sizes = m->slice;
}

/* ---- the document's definition */

static void unravel(int64_t at, int32_t rank, const int64_t *shape, int64_t *spot) {
  for (int32_t d = rank - 1; d >= 0; d--) spot[d] = at % shape[d], at /= shape[d];
}

static int64_t ravel(int32_t rank, const int64_t *shape, const int64_t *spot) {
  int64_t at = 0;
  for (int32_t d = 0; d < rank; d++) at = at * shape[d] + spot[d];
  return at;
}

/* Number j of the tuple at the batch index; its coordinates in indices. */
static int64_t number_of(const hlo_case *c, const int64_t *batch, int64_t j, int64_t *spot) {
  for (int32_t d = 0, b = 0; d < c->index_rank; d++) spot[d] = d == c->numbers.n.index_vector_dim ? j : batch[b++];
  return c->ids[ravel(c->index_rank, c->index_shape, spot)];
}

/* Where the window begins along the dimension that number j selects on; -1: filled. */
static int64_t start_of(const hlo_case *c, int64_t number, int64_t j, bool *bad) {
  const int64_t d = c->numbers.map[j], places = c->data_shape[d] - c->numbers.slice[d] + 1;
  if (c->negative && number < 0 && number >= -places) number += places;
  *bad = number < 0 || number >= places;
  if (!*bad) return number;
  if (c->on_bad == GATHER_ON_BAD_WRAP) return (number % places + places) % places;
  if (c->on_bad == GATHER_ON_BAD_ZERO || c->on_bad == GATHER_ON_BAD_FILL) return -1;
  return number < 0 ? 0 : places - 1;
}

/* One element of the result: operand[start + batching + offset]. */
static int64_t source_of(const hlo_case *c, const int64_t *result) {
  const gather_dimension_numbers *n = &c->numbers.n;
  int64_t batch[2 * MOST], spot[MOST], at[MOST] = {0}, b = 0;
  for (int32_t d = 0; d < c->out_rank; d++)
    if (place_in(n->offset_dims, n->offset_dims_count, d) < 0) batch[b++] = result[d];
  for (int64_t j = 0; j < n->start_index_map_count; j++) {
    bool bad;
    const int64_t start = start_of(c, number_of(c, batch, j, spot), j, &bad);
    if (start < 0) return -1;
    at[n->start_index_map[j]] += start;
  }
  for (int64_t i = 0; i < n->operand_batching_dims_count; i++) {
    const int64_t d = n->start_indices_batching_dims[i];
    at[n->operand_batching_dims[i]] += batch[d - (d < n->index_vector_dim ? 0 : 1)];
  }
  for (int32_t d = 0, o = 0; d < c->data_rank; d++) {
    if (place_in(n->collapsed_slice_dims, n->collapsed_slice_dims_count, d) >= 0 ||
        place_in(n->operand_batching_dims, n->operand_batching_dims_count, d) >= 0)
      continue;
    at[d] += result[n->offset_dims[o++]];
  }
  return ravel(c->data_rank, c->data_shape, at);
}

static void answer(hlo_case *c) {
  const gather_dimension_numbers *n = &c->numbers.n;
  const int64_t k = n->start_index_map_count;
  int64_t spot[2 * MOST], batch[MOST], shape[MOST], b = 0, where[MOST];
  for (int32_t d = 0; d < c->index_rank; d++)
    if (d != n->index_vector_dim) shape[b++] = c->index_shape[d];
  c->bad = 0;
  for (int64_t t = 0; k > 0 && t < product((int32_t)b, shape); t++)
    for (int64_t j = 0; j < k; j++) {
      bool bad;
      unravel(t, (int32_t)b, shape, batch);
      const int64_t number = number_of(c, batch, j, where);
      (void)start_of(c, number, j, &bad);
      if (!bad || c->bad++ > 0) continue;
      memcpy(c->position, where, sizeof where);
      c->value = number, c->axis = n->start_index_map[j];
      c->high = c->data_shape[c->axis] - n->slice_sizes[c->axis];
    }
  for (int64_t i = 0; i < product(c->out_rank, c->out_shape); i++) {
    unravel(i, c->out_rank, c->out_shape, spot);
    c->from[i] = source_of(c, spot);
  }
}

/* ---- random cases */

static const gather_type TYPES[] = {GATHER_TYPE_FLOAT32,    GATHER_TYPE_UINT8, GATHER_TYPE_INT16, GATHER_TYPE_INT64,
                                    GATHER_TYPE_COMPLEX128, GATHER_TYPE_INT4,  GATHER_TYPE_UINT2, GATHER_TYPE_BFLOAT16};

static void shuffle(int64_t *list, int64_t count) {
  for (int64_t i = count - 1; i > 0; i--) {
    const int64_t j = below(i + 1), keep = list[i];
    list[i] = list[j], list[j] = keep;
  }
}

/* The roles of the dimensions of data, and the window. */
static void draw_data(hlo_case *c, int64_t batch_count) {
  numbers_of *m = &c->numbers;
  int64_t free_batch[MOST], free_data[MOST], others = 0, paired = 0;
  for (int64_t i = 0; i < batch_count; i++) free_batch[i] = i;
  shuffle(free_batch, batch_count);
  for (int32_t d = 0; d < c->data_rank; d++) {
    const int64_t role = below(5);
    c->data_shape[d] = 1 + below(5);
    if (role == 0 && paired < batch_count) {
      m->data_batch[m->n.operand_batching_dims_count++] = d;
      m->index_batch[m->n.start_indices_batching_dims_count++] = free_batch[paired++]; /* a batch number for now */
      m->slice[d] = 1;
      continue;
    }
    free_data[others++] = d;
    if (role <= 2) {
      m->collapsed[m->n.collapsed_slice_dims_count++] = d;
      m->slice[d] = 1;
    } else {
      m->n.offset_dims_count++;
      m->slice[d] = below(12) ? 1 + below(c->data_shape[d]) : 0;
    }
  }
  shuffle(free_data, others);
  m->n.start_index_map_count = below(12) ? (others ? 1 + below(others) : 0) : 0;
  memcpy(m->map, free_data, sizeof m->map);
  m->n.slice_sizes_count = c->data_rank;
}

static void draw(hlo_case *c) {
  const int64_t batch_count = below(4);
  numbers_of *m = &c->numbers;
  int64_t lengths[MOST], all[2 * MOST];
  memset(c, 0, sizeof *c);
  settle(m);
  c->data_rank = (int32_t)below(5);
  for (int64_t i = 0; i < batch_count; i++) lengths[i] = below(20) ? 1 + below(4) : 0;
  draw_data(c, batch_count);
  const bool plain = m->n.start_index_map_count == 1 && below(2) == 0;
  c->index_rank = (int32_t)(batch_count + !plain);
  m->n.index_vector_dim = plain ? batch_count : below(batch_count + 1);
  for (int32_t d = 0, b = 0; d < c->index_rank; d++)
    c->index_shape[d] = d == m->n.index_vector_dim ? m->n.start_index_map_count : lengths[b++];
  for (int64_t i = 0; i < m->n.operand_batching_dims_count; i++) {
    const int64_t b = m->index_batch[i];
    c->data_shape[m->data_batch[i]] = lengths[b];
    m->index_batch[i] = b < m->n.index_vector_dim ? b : b + 1;
    if (lengths[b] == 0) m->slice[m->data_batch[i]] = 0;
  }
  c->out_rank = (int32_t)(batch_count + m->n.offset_dims_count);
  for (int32_t d = 0; d < c->out_rank; d++) all[d] = d;
  shuffle(all, c->out_rank);
  int64_t o = 0;
  for (int32_t d = 0; d < c->out_rank; d++)
    if (place_in(all, m->n.offset_dims_count, d) >= 0) m->offset[o++] = d;
  for (int32_t d = 0, b = 0, dim = -1; d < c->out_rank; d++) {
    if (place_in(m->offset, m->n.offset_dims_count, d) < 0) {
      c->out_shape[d] = lengths[b++];
      continue;
    }
    for (dim++; place_in(m->collapsed, m->n.collapsed_slice_dims_count, dim) >= 0 ||
                place_in(m->data_batch, m->n.operand_batching_dims_count, dim) >= 0;)
      dim++;
    c->out_shape[d] = m->slice[dim];
  }
  c->type = TYPES[below(COUNT(TYPES))];
  c->index_type = (gather_type)(GATHER_TYPE_INT8 + below(8));
  const bool is_signed = gather_type_get(c->index_type)->kind == GATHER_KIND_INT;
  const int64_t spread = below(3) ? 5 : 12;
  for (int64_t i = 0; i < product(c->index_rank, c->index_shape); i++)
    c->ids[i] = is_signed ? below(2 * spread) - spread / 2 : below(spread);
  static const gather_on_bad POLICIES[] = {GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_ERROR,
                                           GATHER_ON_BAD_WRAP,    GATHER_ON_BAD_ZERO,    GATHER_ON_BAD_FILL};
  c->on_bad = POLICIES[below(COUNT(POLICIES))];
  c->negative = below(4) == 0, c->swapped = below(3) == 0, c->strided = below(2) == 0;
}

/* ---- memory */

static unsigned char data[CELLS * WIDE], out[CELLS * WIDE], other[CELLS * WIDE], index_bytes[4 * CELLS * 8];
static const unsigned char fill[16] = {0xF3, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8};

/* The indices in memory: in another order of dimensions if strided, backwards, with gaps. */
static void *write_indices(hlo_case *c) {
  const int64_t width = gather_type_get(c->index_type)->bits / 8;
  int64_t order[MOST], step = width, base = 0, spot[MOST];
  for (int32_t d = 0; d < c->index_rank; d++) order[d] = d;
  if (c->strided) shuffle(order, c->index_rank);
  for (int32_t i = c->index_rank - 1; i >= 0; i--) {
    c->index_strides[order[i]] = step;
    step *= c->index_shape[order[i]] > 0 ? c->index_shape[order[i]] : 1;
    if (c->strided && below(2)) {
      base += (c->index_shape[order[i]] > 0 ? c->index_shape[order[i]] - 1 : 0) * c->index_strides[order[i]];
      c->index_strides[order[i]] *= -1;
    }
  }
  assert_true(step <= (int64_t)sizeof index_bytes);
  for (int64_t i = 0; i < product(c->index_rank, c->index_shape); i++) {
    unravel(i, c->index_rank, c->index_shape, spot);
    unsigned char *to = index_bytes + base;
    for (int32_t d = 0; d < c->index_rank; d++) to += spot[d] * c->index_strides[d];
    for (int64_t b = 0; b < width; b++)
      to[b] = (unsigned char)((uint64_t)c->ids[i] >> 8 * ((GATHER_BIG_ENDIAN != 0) != c->swapped ? width - 1 - b : b));
  }
  return index_bytes + base;
}

/* Element i of a row-major tensor as a number that identifies it. */
static uint64_t element_of(gather_type type, const unsigned char *memory, int64_t i) {
  const int32_t bits = gather_type_get(type)->bits;
  uint64_t number = 0;
  if (bits < 8) return (unsigned)memory[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
  for (int32_t b = 0; b < bits / 8; b++) number = number * 1099511628211u + memory[i * (bits / 8) + b] + 1;
  return number;
}

static gather_pool *pool;

static void one_case(hlo_case *c) {
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error = dirty_error();
  int64_t shape[GATHER_MAX_RANK], bad = -1;
  int32_t rank = -1;
  const gather_op *op = op_of("gather", "stablehlo-1");
  gather_tensor d = tensor_of(c->type, data, c->data_rank, c->data_shape);
  gather_tensor x = tensor_of(c->index_type, write_indices(c), c->index_rank, c->index_shape);
  gather_tensor o = tensor_of(c->type, out, c->out_rank, c->out_shape);
  x.strides = c->index_strides;
  x.flags = (c->swapped ? (uint32_t)GATHER_TENSOR_BYTE_SWAPPED : 0) | (below(4) ? 0 : (uint32_t)GATHER_TENSOR_SHARED);
  options.numbers = &c->numbers.n, options.on_bad = c->on_bad, options.fill = fill, options.bad_count = &bad;
  options.negative = c->negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_DEFAULT;
  if (below(2)) options.executor = gather_pool_executor(pool);
  answer(c);
  assert_status(gather_output_shape(op, &d, &x, &options, shape, &rank, &error), GATHER_OK);
  assert_int_equal(rank, c->out_rank);
  if (rank > 0) assert_memory_equal(shape, c->out_shape, (size_t)rank * sizeof *shape);
  memset(out, 0x5A, sizeof out);
  const bool fails = c->on_bad == GATHER_ON_BAD_ERROR && c->bad > 0;
  gather_status status = gather_apply(op, &d, &x, &o, &options, &error);
  if (status != (fails ? GATHER_INDEX_OUT_OF_RANGE : GATHER_OK)) fail_msg("%s: %s", gather_status_name(status), error.message);
  gather_plan *plan;
  gather_run run = GATHER_RUN_INIT;
  gather_error again;
  memset(other, 0x5A, sizeof other);
  run.data = data, run.indices = x.data, run.out = other;
  assert_status(gather_plan_create(op, &d, &x, &o, &options, &plan, &again), GATHER_OK);
  assert_status(gather_plan_run(plan, &run, &again), status);
  gather_plan_destroy(plan);
  assert_memory_equal(out, other, sizeof out);
  if (fails) {
    assert_string_equal(error.message, again.message);
    assert_int_equal(error.value, c->value);
    assert_int_equal(error.low, c->negative ? -c->high - 1 : 0);
    assert_int_equal(error.high, c->high);
    assert_int_equal(error.axis, c->axis);
    assert_int_equal(error.bad_count, c->bad);
    assert_int_equal(error.position_rank, c->index_rank);
    for (int32_t i = 0; i < c->index_rank; i++) assert_int_equal(error.position[i], c->position[i]);
    for (size_t i = 0; i < sizeof out; i++) assert_int_equal(out[i], 0x5A);
    return;
  }
  const int64_t cells = product(c->out_rank, c->out_shape);
  assert_int_equal(bad, cells ? c->bad : c->on_bad == GATHER_ON_BAD_ERROR ? 0 : bad);
  for (int64_t i = 0; i < cells; i++) {
    static const unsigned char zeros[16];
    const uint64_t want = c->from[i] >= 0                   ? element_of(c->type, data, c->from[i])
                          : c->on_bad == GATHER_ON_BAD_FILL ? element_of(c->type, fill, 0)
                                                            : element_of(c->type, zeros, 0);
    if (element_of(c->type, out, i) != want) fail_msg("element %d of %d", (int)i, (int)cells);
  }
}

static void random_cases(void **state) {
  static hlo_case c;
  int failing = 0, moved = 0, elements = 0, turned = 0, paired = 0;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(below(256));
  for (int i = 0; i < ROUNDS; i++) {
    draw(&c);
    if (product(c.out_rank, c.out_shape) > CELLS || product(c.data_rank, c.data_shape) > CELLS) continue;
    one_case(&c);
    failing += c.on_bad == GATHER_ON_BAD_ERROR && c.bad > 0, moved += c.on_bad == GATHER_ON_BAD_DEFAULT && c.bad > 0;
    elements += product(c.out_rank, c.out_shape) > 1, turned += c.numbers.n.index_vector_dim < c.index_rank - 1;
    paired += c.numbers.n.operand_batching_dims_count > 0;
  }
  assert_true(failing > ROUNDS / 30 && moved > ROUNDS / 10 && elements > ROUNDS / 2);
  assert_true(turned > ROUNDS / 6 && paired > ROUNDS / 8);
}

/* ---- the document's example */
#define LIST(n, field, ...) (n).field = DIMS(__VA_ARGS__), (n).field##_count = (int64_t)(sizeof(DIMS(__VA_ARGS__)) / sizeof(int64_t))

static void example_of_the_document(void **state) {
  static const int64_t ids[24] = {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0};
  static const int32_t want[48] = {1, 2, 3, 4, 3,  4,  5,  6,  13, 14, 15, 16, 33, 34, 35, 36, 35, 36, 37, 38, 41, 42, 43, 44,
                                   1, 2, 3, 4, 13, 14, 15, 16, 21, 22, 23, 24, 43, 44, 45, 46, 33, 34, 35, 36, 27, 28, 29, 30};
  const gather_op *op = op_of("gather", "stablehlo-1");
  gather_dimension_numbers n = GATHER_DIMENSION_NUMBERS_INIT;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error = dirty_error();
  int32_t numbers[48], result[48];
  char text[200];
  for (int32_t i = 0; i < 48; i++) numbers[i] = i + 1;
  gather_tensor d = tensor_of(GATHER_TYPE_INT32, numbers, 4, DIMS(2, 3, 4, 2)), x = tensor_of(GATHER_TYPE_INT64, ids, 4, DIMS(2, 2, 3, 2));
  gather_tensor o = tensor_of(GATHER_TYPE_INT32, result, 5, DIMS(2, 2, 3, 2, 2));
  LIST(n, offset_dims, 3, 4), LIST(n, collapsed_slice_dims, 1), LIST(n, operand_batching_dims, 0);
  LIST(n, start_indices_batching_dims, 1), LIST(n, start_index_map, 2, 1), LIST(n, slice_sizes, 1, 1, 2, 2);
  n.index_vector_dim = 3, options.numbers = &n;
  assert_status(gather_apply(op, &d, &x, &o, &options, &error), GATHER_OK);
  assert_memory_equal(result, want, sizeof want);
  /* The 9 is clamped; as an error it has its place: a window of 1 has 3 places along dimension 1. */
  options.on_bad = GATHER_ON_BAD_ERROR;
  assert_status(gather_apply(op, &d, &x, &o, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.message,
                      "indices[0, 1, 2, 1] = 9, component 1 of tuple [0, 1, 2], is outside [0, 2] of axis 1 (gather "
                      "stablehlo-1); 1 of 24 indices is bad");
  assert_status(gather_output_formula(op, 4, 4, 2, &options, text, sizeof text, &error), GATHER_OK);
  assert_string_equal(text, "out[i, j, k, l, m] = data[j, idx[i, j, k, 1], idx[i, j, k, 0] + l, m]");
  gather_plan *plan;
  assert_status(gather_plan_create(op, &d, &x, NULL, &options, &plan, &error), GATHER_OK);
  (void)gather_plan_print(plan, text, sizeof text);
  assert_non_null(strstr(text, "axes 2, 1: "));
  gather_plan_destroy(plan);
}

/* The numbers of the tuples in the first dimension of indices, and no dimension at all. */
static void other_places_of_the_tuples(void **state) {
  static const int32_t ids[6] = {0, 2, 1, 3, 0, 8};
  const gather_op *op = op_of("gather", "stablehlo-1");
  gather_dimension_numbers n = GATHER_DIMENSION_NUMBERS_INIT;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error = dirty_error();
  uint8_t numbers[12], result[3];
  char text[100];
  for (int i = 0; i < 12; i++) numbers[i] = (uint8_t)i;
  gather_tensor d = tensor_of(GATHER_TYPE_UINT8, numbers, 2, DIMS(3, 4)), x = tensor_of(GATHER_TYPE_INT32, ids, 2, DIMS(2, 3));
  gather_tensor o = tensor_of(GATHER_TYPE_UINT8, result, 1, DIMS(3));
  LIST(n, collapsed_slice_dims, 0, 1), LIST(n, start_index_map, 0, 1), LIST(n, slice_sizes, 1, 1);
  options.numbers = &n, options.on_bad = GATHER_ON_BAD_ERROR;
  assert_status(gather_apply(op, &d, &x, &o, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_non_null(strstr(error.message, "indices[1, 2] = 8, component 1 of tuple [2], is outside [0, 3] of axis 1"));
  options.on_bad = GATHER_ON_BAD_DEFAULT;
  assert_status(gather_apply(op, &d, &x, &o, &options, &error), GATHER_OK);
  assert_int_equal(result[0], 3);
  assert_int_equal(result[1], 8);
  assert_int_equal(result[2], 7);
  /* Scalars: each number is a tuple. */
  x = tensor_of(GATHER_TYPE_INT32, ids, 1, DIMS(3));
  LIST(n, collapsed_slice_dims, 1), LIST(n, start_index_map, 1), LIST(n, offset_dims, 0), LIST(n, slice_sizes, 3, 1);
  n.index_vector_dim = 1;
  o = tensor_of(GATHER_TYPE_UINT8, result, 2, DIMS(3, 3));
  assert_status(gather_output_formula(op, 2, 1, -1, &options, text, sizeof text, &error), GATHER_OK);
  assert_string_equal(text, "out[i, j] = data[i, idx[j]]");
  x.shape = DIMS(1), o.shape = DIMS(3, 1),
  x.data = (union {
             const int32_t *from;
             void *to;
           }){ids + 5}
               .to;
  options.on_bad = GATHER_ON_BAD_ERROR;
  assert_status(gather_apply(op, &d, &x, &o, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_non_null(strstr(error.message, "indices[0] = 8 is outside [0, 3] of axis 1"));
}

/* ---- constraints */

typedef struct {
  gather_dimension_numbers n;
  gather_options options;
  gather_tensor d, x;
} valid;

static uint8_t few[64];
static int64_t zeros[64];

/* data [2, 5, 4], indices [3, 2, 2]: out [3, 2, 2] */
static valid start(void) {
  static const int64_t offset[] = {2}, collapsed[] = {1}, data_batch[] = {0}, index_batch[] = {1}, map[] = {2, 1}, slice[] = {1, 1, 2};
  valid v = {GATHER_DIMENSION_NUMBERS_INIT, GATHER_OPTIONS_INIT, tensor_of(GATHER_TYPE_UINT8, few, 3, NULL),
             tensor_of(GATHER_TYPE_INT64, zeros, 3, NULL)};
  static const int64_t data_shape[] = {2, 5, 4}, index_shape[] = {3, 2, 2};
  v.d.shape = data_shape, v.x.shape = index_shape;
  v.n.offset_dims = offset, v.n.offset_dims_count = 1, v.n.collapsed_slice_dims = collapsed, v.n.collapsed_slice_dims_count = 1;
  v.n.operand_batching_dims = data_batch, v.n.operand_batching_dims_count = 1;
  v.n.start_indices_batching_dims = index_batch, v.n.start_indices_batching_dims_count = 1;
  v.n.start_index_map = map, v.n.start_index_map_count = 2, v.n.index_vector_dim = 2;
  v.n.slice_sizes = slice, v.n.slice_sizes_count = 3;
  return v;
}

static void refused(valid *v, gather_status status, const char *words) {
  const gather_op *op = op_of("gather", "stablehlo-1");
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error = dirty_error();
  if (v->options.numbers != (void *)1) v->options.numbers = &v->n;
  if (v->options.numbers == (void *)1) v->options.numbers = NULL;
  assert_status(gather_output_shape(op, &v->d, &v->x, &v->options, shape, &rank, &error), status);
  if (status == GATHER_OK) return;
  assert_error(&error, status);
  if (!strstr(error.message, words)) fail_msg("'%s' has no '%s'", error.message, words);
  assert_string_equal(error.op, "gather");
  assert_string_equal(error.rules, "stablehlo-1");
}

#define TRY_WITH(status, words, ...)     \
  do {                                   \
    valid v = start();                   \
    __VA_ARGS__;                         \
    refused(&v, GATHER_##status, words); \
  } while (0)

static void constraints(void **state) {
  TRY_WITH(OK, "", (void)0);
  TRY_WITH(USAGE, "options.numbers is NULL", v.options.numbers = (void *)1);
  TRY_WITH(USAGE, "gather_dimension_numbers.size is 0", v.n.size = 0);
  TRY_WITH(USAGE, "slice_sizes is NULL", v.n.slice_sizes = NULL);
  TRY_WITH(USAGE, "offset_dims has -1 dimensions", v.n.offset_dims_count = -1);
  TRY_WITH(USAGE, "start_index_map has 65 dimensions", v.n.start_index_map_count = 65);
  TRY_WITH(AXIS_OUT_OF_RANGE, "dimension numbers instead", v.options.axis = 1);
  TRY_WITH(BATCH_DIMS_OUT_OF_RANGE, "dimension numbers instead", v.options.batch_dims = 1);
  TRY_WITH(RANK_MISMATCH, "have 2 dimensions together, data has 3", v.n.offset_dims_count = 0);            /* C1 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "index_vector_dim 4 is outside [0, 3]", v.n.index_vector_dim = 4);           /* C2 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "index_vector_dim -1 is outside [0, 3]", v.n.index_vector_dim = -1);         /* C2 */
  TRY_WITH(SHAPE_MISMATCH, "is 3; start_index_map has 2", v.x.shape = DIMS(3, 2, 3));                      /* C3 */
  TRY_WITH(SHAPE_MISMATCH, "each number is a tuple, but start_index_map has 2", v.n.index_vector_dim = 3); /* C3 */
  TRY_WITH(SHAPE_MISMATCH, "dimension 1 is given twice in offset_dims", LIST(v.n, offset_dims, 1, 1), v.n.collapsed_slice_dims_count = 0,
           LIST(v.n, slice_sizes, 1, 2, 2)); /* C4 */
  TRY_WITH(SHAPE_MISMATCH, "offset_dims must be in ascending order, but 0 follows 1", LIST(v.n, offset_dims, 1, 0),
           v.n.collapsed_slice_dims_count = 0, LIST(v.n, slice_sizes, 1, 2, 2));                                                /* C4 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "offset_dims[0] = 3 is outside [0, 2], the dimensions of the output", LIST(v.n, offset_dims, 3)); /* C5 */
  TRY_WITH(SHAPE_MISMATCH, "dimension 0 of data is in both collapsed_slice_dims and operand_batching_dims",
           LIST(v.n, collapsed_slice_dims, 0)); /* C6 */
  TRY_WITH(SHAPE_MISMATCH, "collapsed_slice_dims must be in ascending order", LIST(v.n, collapsed_slice_dims, 2, 1),
           v.n.offset_dims_count = 0); /* C7 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "collapsed_slice_dims[0] = 3 is outside [0, 2], the dimensions of data",
           LIST(v.n, collapsed_slice_dims, 3)); /* C8 */
  TRY_WITH(SHAPE_MISMATCH, "slice_sizes[1] is 2; it is at most 1 for a dimension of collapsed_slice_dims",
           LIST(v.n, slice_sizes, 1, 2, 2)); /* C9 */
  TRY_WITH(SHAPE_MISMATCH, "operand_batching_dims must be in ascending order", LIST(v.n, operand_batching_dims, 1, 0),
           LIST(v.n, start_indices_batching_dims, 0, 1), v.n.collapsed_slice_dims_count = 0);                    /* C10 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "operand_batching_dims[0] = -1 is outside", LIST(v.n, operand_batching_dims, -1)); /* C11 */
  TRY_WITH(SHAPE_MISMATCH, "slice_sizes[0] is 2; it is at most 1 for a dimension of operand_batching_dims",
           LIST(v.n, slice_sizes, 2, 1, 2)); /* C12 */
  TRY_WITH(SHAPE_MISMATCH, "dimension 1 is given twice in start_indices_batching_dims", LIST(v.n, operand_batching_dims, 0, 1),
           LIST(v.n, start_indices_batching_dims, 1, 1), v.n.collapsed_slice_dims_count = 0, LIST(v.n, start_index_map, 2)); /* C13 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "start_indices_batching_dims[0] = 3 is outside [0, 2], the dimensions of indices",
           LIST(v.n, start_indices_batching_dims, 3));                                                                         /* C14 */
  TRY_WITH(SHAPE_MISMATCH, "index_vector_dim 2 is in start_indices_batching_dims", LIST(v.n, start_indices_batching_dims, 2)); /* C15 */
  TRY_WITH(SHAPE_MISMATCH, "operand_batching_dims has 1 dimensions, start_indices_batching_dims 0",
           v.n.start_indices_batching_dims_count = 0); /* C16 */
  TRY_WITH(SHAPE_MISMATCH, "dimension 0 of data is 2, and dimension 1 of indices, its batching dimension, is 3",
           v.x.shape = DIMS(3, 3, 2)); /* C17 */
  TRY_WITH(SHAPE_MISMATCH, "dimension 0 of data is in both start_index_map and operand_batching_dims",
           LIST(v.n, start_index_map, 0, 1));                                                                  /* C18 */
  TRY_WITH(SHAPE_MISMATCH, "dimension 1 is given twice in start_index_map", LIST(v.n, start_index_map, 1, 1)); /* C18 */
  TRY_WITH(AXIS_OUT_OF_RANGE, "start_index_map[1] = 3 is outside [0, 2], the dimensions of data",
           LIST(v.n, start_index_map, 1, 3));                                                                                /* C19 */
  TRY_WITH(RANK_MISMATCH, "data has rank 3, but slice_sizes has 2 lengths", v.n.slice_sizes_count = 2);                      /* C20 */
  TRY_WITH(SHAPE_MISMATCH, "slice_sizes[2] is 5, but this dimension of data has length 4", LIST(v.n, slice_sizes, 1, 1, 5)); /* C21 */
  TRY_WITH(SHAPE_MISMATCH, "slice_sizes[2] is -1", LIST(v.n, slice_sizes, 1, 1, -1));                                        /* C21 */
  TRY_WITH(SHAPE_MISMATCH, "slice_sizes[1] is 0: the output, which lacks this dimension", LIST(v.n, slice_sizes, 1, 0, 2));
  TRY_WITH(OK, "", LIST(v.n, slice_sizes, 1, 0, 0));
}

/* ---- inferred shapes */

static void inferred_shapes(void **state) {
  const gather_op *op = op_of("gather", "stablehlo-1");
  const gather_dim any = {0, GATHER_DIM_UNBOUNDED, NULL};
  valid v = start();
  gather_shape d = {.rank = 3, .dims = {{2, 9, "B"}, any, any}}, x = {.rank = 3, .dims = {{3, 3, NULL}, {0, 4, NULL}, any}}, o;
  const gather_shape unknown = {.rank = -1};
  gather_error error = dirty_error();
  v.options.numbers = &v.n;
  assert_status(gather_infer_shape(op, &d, &x, &v.options, &o, &error), GATHER_OK);
  assert_int_equal(o.rank, 3);
  assert_int_equal(o.dims[0].min, 3);
  assert_int_equal(o.dims[1].min, 2);
  assert_int_equal(o.dims[1].max, 4);
  assert_string_equal(o.dims[1].symbol, "B");
  assert_int_equal(o.dims[2].min, 2);
  assert_int_equal(o.dims[2].max, 2);
  assert_status(gather_infer_shape(op, &unknown, &x, &v.options, &o, &error), GATHER_OK);
  assert_int_equal(o.dims[1].max, 4);
  assert_status(gather_infer_shape(op, &d, &unknown, &v.options, &o, &error), GATHER_OK);
  assert_int_equal(o.rank, -1);
  x.dims[2] = (gather_dim){3, 9, NULL};
  assert_status(gather_infer_shape(op, &d, &x, &v.options, &o, &error), GATHER_SHAPE_MISMATCH);
  x.dims[2] = any, x.dims[1] = (gather_dim){10, 12, NULL};
  assert_status(gather_infer_shape(op, &d, &x, &v.options, &o, &error), GATHER_SHAPE_MISMATCH);
  x.dims[1] = any, d.dims[2] = (gather_dim){0, 1, NULL};
  assert_status(gather_infer_shape(op, &d, &x, &v.options, &o, &error), GATHER_SHAPE_MISMATCH);
  d.rank = 2;
  assert_status(gather_infer_shape(op, &d, &x, &v.options, &o, &error), GATHER_RANK_MISMATCH);
  v.options.numbers = NULL;
  assert_status(gather_infer_shape(op, &unknown, &unknown, &v.options, &o, &error), GATHER_USAGE);
}

int main(void) {
  if (gather_tuning_set("task_bytes", 64, NULL) != GATHER_OK || gather_pool_create(3, &pool, NULL) != GATHER_OK) return 1;
  const int failed = RUN_TESTS(random_cases, example_of_the_document, other_places_of_the_tuples, constraints, inferred_shapes);
  gather_pool_destroy(pool);
  return failed;
}
