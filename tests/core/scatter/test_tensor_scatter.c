/* SPDX-License-Identifier: MIT
 *
 * test_tensor_scatter.c: gather_tensor_scatter beside the loop of ONNX's document: random shapes, types (packed ones too), strides, index
 * types and threads, in place and not, linear and circular; exact errors.
 */
#include "gather/scatter.h"
#include "support/machines.h"
#include "support/unit.h"

enum { ROUNDS = 4000, ROOM = 1 << 16, MOST_RANK = 4 };

static uint64_t state_of_random;
static int64_t below(int64_t limit) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_random >> 33) % (uint64_t)limit);
}

/* ---- tensors in memory of their own. Elements are told apart by a byte or less of them. */

typedef struct {
  gather_tensor tensor;
  int64_t shape[MOST_RANK], strides[MOST_RANK], len;
  unsigned char bytes[ROOM];
} holder;

static bool is_packed(const holder *h) { return gather_type_get(h->tensor.type)->packing != GATHER_PACKING_BYTES; }

/* style 0: row-major; others: gaps, or the dimensions in another order. Packed ones may begin within a byte. */
static void place(holder *h, gather_type type, int32_t rank, const int64_t *shape, int64_t style) {
  const gather_type_info *info = gather_type_get(type);
  int64_t step = info->packing != GATHER_PACKING_BYTES ? 1 : info->bits / 8;
  h->len = 1;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t d = style == 2 ? i : rank - 1 - i;
    h->shape[d] = shape[d], h->strides[d] = step, h->len *= shape[d];
    step *= shape[d] > 0 ? shape[d] : 1;
    step += style == 1 ? info->packing != GATHER_PACKING_BYTES ? 3 : info->bits / 8 : 0;
  }
  assert_true(step < ROOM);
  h->tensor = tensor_of(type, h->bytes, rank, h->shape);
  if (style) h->tensor.strides = h->strides;
  if (is_packed(h) && style) h->tensor.packed_offset = below(9);
}

static int64_t offset_of(const holder *h, int64_t number) {
  int64_t offset = h->tensor.packed_offset;
  for (int32_t d = h->tensor.rank - 1; d >= 0; d--) offset += number % h->shape[d] * h->strides[d], number /= h->shape[d];
  return offset;
}

static unsigned read_code(const holder *h, int64_t number) {
  const int64_t at = offset_of(h, number), bits = gather_type_get(h->tensor.type)->bits;
  if (!is_packed(h)) return h->bytes[at];
  return (unsigned)h->bytes[at / (8 / bits)] >> at % (8 / bits) * bits & ((1u << bits) - 1);
}

static void put_code(holder *h, int64_t number, unsigned code) {
  const int64_t at = offset_of(h, number), bits = gather_type_get(h->tensor.type)->bits, shift = at % (8 / (bits < 8 ? bits : 8)) * bits;
  if (is_packed(h)) {
    unsigned char *byte = &h->bytes[at / (8 / bits)];
    const unsigned mask = ((1u << bits) - 1) << shift;
    *byte = (unsigned char)((*byte & ~mask) | (code << shift & mask));
  } else {
    memset(h->bytes + at, (int)code & 0xff, (size_t)bits / 8);
  }
}

static void fill_random(holder *h) {
  for (int64_t i = 0; i < h->len; i++) put_code(h, i, (unsigned)below(256));
}

/* ---- random cases */

typedef struct {
  holder data, updates, out;
  gather_tensor indices;
  int64_t index_shape[1], places[8];
  unsigned char index_bytes[64];
  bool circular, in_place, with_indices;
  int32_t axis;
} trial;

static void put_index(trial *t, int64_t i, int64_t value) {
  const int64_t width = gather_type_get(t->indices.type)->bits / 8;
  const bool swapped = (t->indices.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  for (int64_t b = 0; b < width; b++)
    t->index_bytes[i * width + ((GATHER_BIG_ENDIAN != 0) != swapped ? width - 1 - b : b)] = (unsigned char)((uint64_t)value >> 8 * b);
}

static void make_trial(trial *t) {
  static const gather_type TYPES[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_INT8,       GATHER_TYPE_INT4,  GATHER_TYPE_BFLOAT16,
                                      GATHER_TYPE_UINT2,   GATHER_TYPE_COMPLEX128, GATHER_TYPE_STRING};
  static const gather_type INDEX_TYPES[] = {GATHER_TYPE_INT64, GATHER_TYPE_INT32, GATHER_TYPE_UINT8, GATHER_TYPE_UINT64, GATHER_TYPE_INT16};
  const gather_type type = TYPES[below((int64_t)COUNT(TYPES))];
  const int32_t rank = (int32_t)(2 + below(MOST_RANK - 1));
  int64_t shape[MOST_RANK];
  t->axis = (int32_t)(1 + below(rank - 1));
  for (int32_t d = 0; d < rank; d++) shape[d] = below(30) ? 1 + below(6) : 0;
  place(&t->data, type, rank, shape, below(3));
  t->in_place = below(2);
  place(&t->out, type, rank, shape, below(3));
  shape[t->axis] = below(shape[t->axis] + 1);
  place(&t->updates, type, rank, shape, below(3));
  memset(t->out.bytes, 0x5A, ROOM), memset(t->data.bytes, 0xA5, ROOM);
  fill_random(&t->data), fill_random(&t->updates);
  t->circular = below(2), t->with_indices = below(8) > 0;
  t->index_shape[0] = shape[0];
  t->indices = tensor_of(INDEX_TYPES[below((int64_t)COUNT(INDEX_TYPES))], t->index_bytes, 1, t->index_shape);
  t->indices.flags = (below(3) ? 0u : (uint32_t)GATHER_TENSOR_BYTE_SWAPPED) | (below(3) ? 0u : (uint32_t)GATHER_TENSOR_SHARED);
  for (int64_t b = 0; b < shape[0]; b++) {
    const int64_t room = t->data.shape[t->axis] - shape[t->axis];
    t->places[b] = !t->with_indices ? 0 : t->circular ? below(100) : below(room + 1);
    put_index(t, b, t->places[b]);
  }
}

/* The loop of the document, on what was data. */
static void write_expected(const trial *t, holder *want) {
  const int64_t len = want->shape[t->axis], updates_len = t->updates.shape[t->axis];
  int64_t inner = 1;
  for (int32_t d = t->axis + 1; d < want->tensor.rank; d++) inner *= want->shape[d];
  for (int64_t i = 0; i < t->updates.len; i++) {
    const int64_t outer = i / inner / updates_len, batch = i / (t->updates.len / t->updates.shape[0]);
    int64_t place = t->places[batch] + i / inner % updates_len;
    if (t->circular) place %= len;
    put_code(want, (outer * len + place) * inner + i % inner, read_code(&t->updates, i));
  }
}

static void run_trial(trial *t, const gather_executor *executor) {
  static holder want;
  holder *out = t->in_place ? &t->data : &t->out;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_error error;
  int64_t bad = -1;
  options.executor = executor, options.bad_count = &bad;
  want = *out;
  for (int64_t i = 0; i < want.len; i++) put_code(&want, i, read_code(&t->data, i));
  write_expected(t, &want);
  const int64_t axis = below(2) ? t->axis : t->axis - out->tensor.rank;
  if (gather_tensor_scatter(&t->data.tensor, &t->updates.tensor, t->with_indices ? &t->indices : NULL, axis, t->circular, &out->tensor,
                            &options, &error) != GATHER_OK)
    fail_msg("%s", error.message);
  assert_int_equal(bad, 0);
  for (int64_t i = 0; i < want.len; i++)
    if (read_code(out, i) != read_code(&want, i))
      fail_msg("%s: element %d is %u, not %u", gather_type_get(out->tensor.type)->name, (int)i, read_code(out, i), read_code(&want, i));
  /* What is between the elements is kept; but the last bits of a row-major packed output may be cleared where data is copied. */
  if (!is_packed(out) || t->in_place) assert_memory_equal(out->bytes, want.bytes, ROOM / 16);
}

static void random_cases(void **state) {
  static trial t;
  gather_pool *pools[3];
  for (int i = 0; i < 3; i++) assert_status(gather_pool_create(i + 1, &pools[i], NULL), GATHER_OK);
  assert_status(gather_tuning_set("task_bytes", 16, NULL), GATHER_OK);
  assert_status(gather_tuning_set("awake_task_bytes", 16, NULL), GATHER_OK);
  for (int64_t i = 0; i < ROUNDS; i++) {
    state_of_random = (uint64_t)i * 7919 + 3;
    make_trial(&t);
    const int64_t pool = below(4);
    run_trial(&t, pool == 3 ? NULL : gather_pool_executor(pools[pool]));
  }
  for (int i = 0; i < 3; i++) gather_pool_destroy(pools[i]);
  machine_reset();
}

/* ---- errors: a cache [2, 4, 3] of int16, updates [2, 2, 3] */

typedef struct {
  int64_t indices[2];
  gather_type type;
  bool circular;
  int64_t axis, updates_len, index_len;
  gather_status status;
  const char *input, *message;
  int64_t position, value, high, bad;
} failure;

/* clang-format off */
static const failure FAILURES[] = {
    {{1, 3}, GATHER_TYPE_INT64, false, 1, 2, 2, GATHER_INDEX_OUT_OF_RANGE, "write_indices",
     "write_indices[1] = 3 is outside [0, 2]: 2 of 4 entries of axis 1 are written (TensorScatter onnx-24); 1 of 2 is bad", 1, 3, 2, 1},
    {{-1, -2}, GATHER_TYPE_INT32, false, -2, 2, 2, GATHER_INDEX_OUT_OF_RANGE, "write_indices",
     "write_indices[0] = -1 is outside [0, 2]: 2 of 4 entries of axis 1 are written (TensorScatter onnx-24); 2 of 2 are bad", 0, -1, 2, 2},
    {{7, -1}, GATHER_TYPE_INT8, true, 1, 2, 2, GATHER_INDEX_OUT_OF_RANGE, "write_indices",
     "write_indices[1] = -1 is below 0: 2 of 4 entries of axis 1 are written (TensorScatter onnx-24); 1 of 2 is bad", 1, -1, INT64_MAX, 1},
    {{0, -1}, GATHER_TYPE_UINT64, false, 1, 2, 2, GATHER_INDEX_OUT_OF_RANGE, "write_indices",
     "write_indices[1] = 18446744073709551615 is outside [0, 2]: 2 of 4 entries of axis 1 are written (TensorScatter onnx-24); 1 of 2 is bad",
     1, -1, 2, 1},
    {{0, 0}, GATHER_TYPE_INT64, false, 0, 2, 2, GATHER_AXIS_OUT_OF_RANGE, "axis",
     "axis 0 is outside [-3, 2], or is 0, the axis of the batch (TensorScatter of data of rank 3)", 0, 0, 0, 0},
    {{0, 0}, GATHER_TYPE_INT64, false, 3, 2, 2, GATHER_AXIS_OUT_OF_RANGE, "axis",
     "axis 3 is outside [-3, 2], or is 0, the axis of the batch (TensorScatter of data of rank 3)", 0, 0, 0, 0},
    {{0, 0}, GATHER_TYPE_INT64, false, 1, 5, 2, GATHER_SHAPE_MISMATCH, "updates",
     "the updates have the shape [2, 5, 3]; it must be that of data, [2, 4, 3], or shorter on axis 1", 0, 0, 0, 0},
    {{0, 0}, GATHER_TYPE_INT64, false, 1, 2, 1, GATHER_SHAPE_MISMATCH, "write_indices",
     "write_indices has the shape [1]; it must be [2]", 0, 0, 0, 0},
    {{0, 0}, GATHER_TYPE_FLOAT32, false, 1, 2, 2, GATHER_TYPE_UNSUPPORTED, "write_indices",
     "write_indices must be integers, not float32", 0, 0, 0, 0},
};
/* clang-format on */

static void check_failure(const failure *f) {
  static trial t;
  int16_t cache[24] = {0}, updates[30] = {0}, out[24];
  gather_error error = dirty_error();
  const gather_tensor data = tensor_of(GATHER_TYPE_INT16, cache, 3, DIMS(2, 4, 3)),
                      target = tensor_of(GATHER_TYPE_INT16, out, 3, DIMS(2, 4, 3));
  const gather_tensor rows = tensor_of(GATHER_TYPE_INT16, updates, 3, DIMS(2, f->updates_len, 3));
  t.indices = tensor_of(f->type, t.index_bytes, 1, DIMS(f->index_len));
  for (int64_t i = 0; i < 2; i++) put_index(&t, i, f->indices[i]);
  memset(out, 0x5A, sizeof out);
  assert_status(gather_tensor_scatter(&data, &rows, &t.indices, f->axis, f->circular, &target, NULL, &error), f->status);
  assert_error(&error, f->status);
  assert_string_equal(error.message, f->message);
  assert_string_equal(error.input, f->input);
  assert_string_equal(error.op, "TensorScatter");
  for (size_t i = 0; i < COUNT(out); i++) assert_int_equal(out[i], 0x5A5A);
  if (f->status != GATHER_INDEX_OUT_OF_RANGE) return;
  assert_int_equal(error.position_rank, 1);
  assert_int_equal(error.axis, 1);
  assert_int_equal(error.position[0], f->position);
  assert_int_equal(error.value, f->value);
  assert_int_equal(error.low, 0);
  assert_int_equal(error.high, f->high);
  assert_int_equal(error.bad_count, f->bad);
}

static void failures(void **state) {
  for (size_t i = 0; i < COUNT(FAILURES); i++) check_failure(&FAILURES[i]);
}

/* An output that overlaps what is read, but is not data itself. */
static void overlaps(void **state) {
  int16_t memory[60] = {0};
  const gather_tensor data = tensor_of(GATHER_TYPE_INT16, memory, 3, DIMS(2, 4, 3));
  const gather_tensor shifted = tensor_of(GATHER_TYPE_INT16, memory + 1, 3, DIMS(2, 4, 3));
  const gather_tensor inside = tensor_of(GATHER_TYPE_INT16, memory + 6, 3, DIMS(2, 2, 3));
  const gather_tensor apart = tensor_of(GATHER_TYPE_INT16, memory + 40, 3, DIMS(2, 2, 3));
  gather_error error;
  assert_status(gather_tensor_scatter(&data, &apart, NULL, 1, false, &shifted, NULL, &error), GATHER_USAGE);
  assert_string_equal(error.message, "the output overlaps data in memory");
  assert_status(gather_tensor_scatter(&data, &inside, NULL, 1, false, &data, NULL, &error), GATHER_USAGE);
  assert_string_equal(error.message, "the output overlaps updates in memory");
  assert_status(gather_tensor_scatter(&data, &apart, NULL, 1, false, &data, NULL, &error), GATHER_OK);
}

TESTS(random_cases, failures, overlaps)
