/* SPDX-License-Identifier: MIT
 *
 * test_bags.c: gather_embedding_bag beside loops written from scatter.h: random cases of every type, form, reduction, way to accumulate,
 * stride, policy, number of threads and instruction set, between forbidden pages; exact errors; the documents' examples.
 */
#include <inttypes.h>
#include <math.h>

#include "gather/scatter.h"
#include "support/guard.h"
#include "support/machines.h"
#include "support/unit.h"

enum { ROUNDS = 4000, MOST_IDS = 4000, MOST_BAGS = 64, MOST_ROW = 5000, ROOM = 1 << 19 };

/* Each tensor in memory of its own. */
enum { TABLE, INDICES, ENDS, WEIGHTS, OUT, HOLDERS };
static struct guard memory[HOLDERS];

typedef struct {
  gather_tensor tensor;
  int64_t shape[3], strides[3];
} holder;

static uint64_t state_of_random;
static int64_t below(int64_t limit) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_random >> 33) % (uint64_t)limit);
}

static int64_t width_of(gather_type type) { return gather_type_get(type)->bits / 8; }
static bool is_float(gather_type type) { return gather_type_get(type)->kind == GATHER_KIND_FLOAT; }

/* ---- tensors */

/* Lays out a tensor whose lengths are set: row-major, with gaps, with the dimensions in the other order, or backwards. */
static void place(holder *h, int which, gather_type type, int32_t rank, int64_t style) {
  int64_t low = 0, step = width_of(type);
  const int64_t gap = style % 4 == 1 ? step * (1 + below(3)) : 0;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t d = style % 4 == 2 ? i : rank - 1 - i;
    h->strides[d] = style % 4 == 3 && below(2) ? -step : step;
    if (h->strides[d] < 0) low += step * (h->shape[d] > 0 ? h->shape[d] - 1 : 0);
    step *= h->shape[d] > 0 ? h->shape[d] : 1;
    step += gap;
  }
  if (step > ROOM) fail_msg("a tensor of %d bytes", (int)step);
  unsigned char *first = guard_place(memory[which], (size_t)step, below(2) == 0);
  h->tensor = tensor_of(type, first + low, rank, h->shape);
  if (style % 4) h->tensor.strides = h->strides;
}

static unsigned char *element_at(const holder *h, int64_t number) {
  unsigned char *at = h->tensor.data;
  for (int32_t d = h->tensor.rank - 1; d >= 0; d--) at += number % h->shape[d] * h->strides[d], number /= h->shape[d];
  return at;
}

static void put_integer(const holder *h, int64_t number, int64_t value) {
  const int64_t width = width_of(h->tensor.type);
  const bool swapped = (h->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  for (int64_t i = 0; i < width; i++) {
    const int64_t byte = (GATHER_BIG_ENDIAN != 0) != swapped ? width - 1 - i : i;
    element_at(h, number)[i] = (unsigned char)((uint64_t)value >> 8 * byte);
  }
}

/* ---- elements. Of floats the number, of integers the bits. */

typedef union {
  double real;
  uint64_t bits;
} value;

static value read_element(gather_type type, const unsigned char *at) {
  const int64_t width = width_of(type);
  value v = {0};
  if (is_float(type)) {
    assert_true(gather_float_read(type, at, &v.real));
    return v;
  }
  for (int64_t i = 0; i < width; i++) v.bits |= (uint64_t)at[GATHER_BIG_ENDIAN ? width - 1 - i : i] << 8 * i;
  return v;
}

static double half_number(gather_type type, uint32_t code) {
  const uint16_t half = (uint16_t)code;
  double number;
  assert_true(gather_float_read(type, &half, &number));
  return number;
}

/* The code of the nearest half, ties to even: codes from 0 on ascend. */
static uint16_t nearest_half(gather_type type, double number) {
  const uint32_t infinite = type == GATHER_TYPE_FLOAT16 ? 0x7c00 : 0x7f80;
  const uint32_t sign = signbit(number) ? 0x8000 : 0;
  const double size = fabs(number);
  uint32_t low = 0, high = infinite;
  if (number != number) return 0x7fff;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (half_number(type, middle) <= size)
      low = middle;
    else
      high = middle;
  }
  const double here = half_number(type, low);
  const double next = high == infinite ? 2 * here - half_number(type, low - 1) : half_number(type, high);
  if (size == here) return (uint16_t)(sign | low);
  const double up = next - size, down = size - here;
  return (uint16_t)(sign | (up < down || (up == down && low % 2) ? high : low));
}

/* A number as the type has it. */
static double rounded(gather_type type, double number) {
  if (type == GATHER_TYPE_FLOAT64) return number;
  if (type == GATHER_TYPE_FLOAT32) {
    const volatile float single = (float)number;
    return (double)single;
  }
  const uint16_t half = nearest_half(type, number);
  return half_number(type, half);
}

static void put_random(const holder *h, int64_t number) {
  const gather_type type = h->tensor.type;
  const double special[] = {INFINITY, -INFINITY, NAN, -0.0, 0.0, 1.0};
  unsigned char *at = element_at(h, number);
  double real = (double)(below(INT64_C(1) << 31) - (INT64_C(1) << 30)) / (double)(1 << 28);
  if (below(60) == 0) real = special[below(6)];
  if (!is_float(type)) {
    put_integer(h, number, below(INT64_C(1) << 31) * 4294967291 + below(7));
  } else if (type == GATHER_TYPE_FLOAT64) {
    real += real / 3;
    memcpy(at, &real, sizeof real);
  } else if (type == GATHER_TYPE_FLOAT32) {
    const float single = (float)real;
    memcpy(at, &single, sizeof single);
  } else {
    const uint16_t half = nearest_half(type, real);
    memcpy(at, &half, sizeof half);
  }
}

/* ---- the loop */

typedef struct {
  gather_type type;
  gather_accumulate accumulate;
} numbers;

/* The type in which a step's result is rounded. */
static gather_type type_of_sum(const numbers *n) {
  const bool half = n->type == GATHER_TYPE_FLOAT16 || n->type == GATHER_TYPE_BFLOAT16;
  if (half) return n->accumulate == GATHER_ACCUMULATE_STEPS ? n->type : GATHER_TYPE_FLOAT32;
  return n->accumulate == GATHER_ACCUMULATE_WIDE && n->type == GATHER_TYPE_FLOAT32 ? GATHER_TYPE_FLOAT64 : n->type;
}

static value times(const numbers *n, value a, value b) {
  value v;
  if (is_float(n->type)) {
    const volatile double product = a.real * b.real;
    v.real = rounded(type_of_sum(n), product);
  } else {
    v.bits = a.bits * b.bits;
  }
  return v;
}

static value plus(const numbers *n, value a, value b) {
  value v;
  if (is_float(n->type)) {
    const volatile double sum = a.real + b.real;
    v.real = rounded(type_of_sum(n), sum);
  } else {
    v.bits = a.bits + b.bits;
  }
  return v;
}

/* The bits of an integer type as a number. */
static int64_t signed_of(gather_type type, uint64_t bits) {
  const int64_t unused = 64 - 8 * width_of(type);
  return (int64_t)(bits << unused) >> unused;
}
static uint64_t unsigned_of(gather_type type, uint64_t bits) { return bits << (64 - 8 * width_of(type)) >> (64 - 8 * width_of(type)); }

static value larger(const numbers *n, value row, value acc) {
  if (is_float(n->type)) return row.real > acc.real || row.real != row.real ? row : acc;
  if (n->type <= GATHER_TYPE_INT64) return signed_of(n->type, row.bits) > signed_of(n->type, acc.bits) ? row : acc;
  return unsigned_of(n->type, row.bits) > unsigned_of(n->type, acc.bits) ? row : acc;
}

static value mean(const numbers *n, value sum, int64_t count) {
  value v;
  if (is_float(n->type)) {
    const volatile double quotient = sum.real / (double)count;
    v.real = rounded(type_of_sum(n), quotient);
  } else if (n->type <= GATHER_TYPE_INT64) {
    const int64_t number = signed_of(n->type, sum.bits);
    v.bits = (uint64_t)(number / count - (number % count < 0));
  } else {
    v.bits = unsigned_of(n->type, sum.bits) / (uint64_t)count;
  }
  return v;
}

/* A case, and what is expected of it. */
typedef struct {
  holder tensors[HOLDERS];
  numbers numbers;
  gather_reduction reduction;
  bool weighted;
  gather_bags bags;
  gather_scatter_options options;
  int64_t rows, row_len, count, ids, bad;
  int64_t lens[MOST_BAGS], starts[MOST_BAGS];
  int64_t row_of[MOST_IDS]; /* -1: left out */
} trial;

static value expected(const trial *t, int64_t bag, int64_t column) {
  const holder *table = &t->tensors[TABLE], *weights = &t->tensors[WEIGHTS];
  const gather_type type = t->numbers.type;
  value acc = {0};
  int64_t count = 0;
  for (int64_t i = t->starts[bag]; i < t->starts[bag] + t->lens[bag]; i++) {
    if (t->row_of[i] < 0) continue;
    value row = read_element(type, element_at(table, t->row_of[i] * t->row_len + column));
    if (t->weighted) row = times(&t->numbers, row, read_element(type, element_at(weights, i)));
    if (count++ == 0)
      acc = row;
    else
      acc = t->reduction == GATHER_REDUCTION_MAX ? larger(&t->numbers, row, acc) : plus(&t->numbers, acc, row);
  }
  if (count == 0 && t->bags.default_index >= 0) return read_element(type, element_at(table, t->bags.default_index * t->row_len + column));
  return count > 0 && t->reduction == GATHER_REDUCTION_MEAN ? mean(&t->numbers, acc, count) : acc;
}

static void check_element(const trial *t, int64_t bag, int64_t column) {
  const value want = expected(t, bag, column);
  value got = read_element(t->numbers.type, element_at(&t->tensors[OUT], bag * t->row_len + column));
  value due = want;
  if (is_float(t->numbers.type)) due.real = rounded(t->numbers.type, want.real);
  if (is_float(t->numbers.type) && due.real != due.real && got.real != got.real) return;
  if (!is_float(t->numbers.type)) due.bits = unsigned_of(t->numbers.type, due.bits);
  if (due.bits == got.bits) return;
  fail_msg("%s, reduction %d, accumulate %d: bag %d of %d rows, element %d of %d: %.17g (%" PRIx64 ") is not %.17g (%" PRIx64 ")",
           gather_type_get(t->numbers.type)->name, (int)t->reduction, (int)t->numbers.accumulate, (int)bag, (int)t->lens[bag], (int)column,
           (int)t->row_len, got.real, got.bits, due.real, due.bits);
}

/* ---- random cases */

static const gather_type TYPES[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16, GATHER_TYPE_FLOAT64,
                                    GATHER_TYPE_FLOAT32, GATHER_TYPE_INT8,    GATHER_TYPE_INT16,    GATHER_TYPE_INT32,
                                    GATHER_TYPE_INT64,   GATHER_TYPE_UINT8,   GATHER_TYPE_UINT16,   GATHER_TYPE_UINT32,
                                    GATHER_TYPE_UINT64};
static const gather_type INDEX_TYPES[] = {GATHER_TYPE_INT64,  GATHER_TYPE_INT32, GATHER_TYPE_INT64,  GATHER_TYPE_INT16,
                                          GATHER_TYPE_UINT64, GATHER_TYPE_INT8,  GATHER_TYPE_UINT32, GATHER_TYPE_UINT16};

static uint32_t random_flags(void) {
  return (below(4) ? 0 : (uint32_t)GATHER_TENSOR_BYTE_SWAPPED) | (below(4) ? 0 : (uint32_t)GATHER_TENSOR_SHARED);
}

static void make_table(trial *t) {
  holder *table = &t->tensors[TABLE];
  const int64_t kind = below(40), rank = below(5) == 0 ? 1 : below(4) == 0 ? 3 : 2;
  t->rows = kind == 1 ? 3 : 1 + below(90);
  t->row_len = rank == 1 ? 1 : kind == 1 ? MOST_ROW - below(900) : kind < 8 ? below(6) : 1 + below(150);
  table->shape[0] = t->rows, table->shape[1] = t->row_len, table->shape[2] = 1;
  if (rank == 3) {
    table->shape[2] = 1 + below(9), table->shape[1] = kind == 1 ? 1 : below(12);
    t->row_len = table->shape[1] * table->shape[2];
  }
  place(table, TABLE, t->numbers.type, (int32_t)rank, below(6));
  for (int64_t i = 0; i < t->rows * t->row_len; i++) put_random(table, i);
}

/* The lengths of the bags, and where they begin. Packed ones are of one length. */
static void make_bags(trial *t, bool packed) {
  const bool long_rows = t->row_len > 1000;
  const int64_t most = long_rows ? 6 : MOST_BAGS, packed_len = below(8);
  const int64_t long_bag = (long_rows ? below(30) : below(25)) == 0 ? below(most) : -1;
  t->count = below(6) ? below(most) : 0;
  t->ids = packed || below(8) ? 0 : below(5); /* those before belong to no bag */
  for (int64_t i = 0; i < t->count; i++) {
    t->starts[i] = t->ids;
    t->lens[i] = packed ? packed_len : i == long_bag ? 500 + below(long_rows ? 50 : 900) : below(3) ? below(9) : 0;
    t->ids += t->lens[i];
  }
}

static int64_t random_index(const trial *t, gather_type type, bool repaired, bool negative) {
  const bool is_signed = type <= GATHER_TYPE_INT64;
  if (repaired && below(4) == 0) return is_signed ? below(255) - 127 : below(256);
  return negative && is_signed ? below(2 * t->rows) - t->rows : below(t->rows);
}

/* The row that an index selects. */
static int64_t resolved(trial *t, int64_t index) {
  const int64_t n = t->rows;
  if (index >= 0 && index < n) return index;
  if (t->options.negative == GATHER_NEGATIVE_ON && index < 0 && index >= -n) return index + n;
  t->bad++;
  if (t->options.on_bad == GATHER_ON_BAD_CLAMP) return index < 0 ? 0 : n - 1;
  return t->options.on_bad == GATHER_ON_BAD_WRAP ? (index % n + n) % n : -1;
}

static void make_indices(trial *t, bool packed) {
  static const gather_on_bad POLICIES[] = {GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_ERROR, GATHER_ON_BAD_PROMISE, GATHER_ON_BAD_CLAMP,
                                           GATHER_ON_BAD_WRAP,    GATHER_ON_BAD_ZERO,  GATHER_ON_BAD_SKIP};
  holder *indices = &t->tensors[INDICES];
  const gather_type type = INDEX_TYPES[below((int64_t)COUNT(INDEX_TYPES))];
  t->options.on_bad = POLICIES[below((int64_t)COUNT(POLICIES))];
  t->options.negative = below(3) ? GATHER_NEGATIVE_DEFAULT : GATHER_NEGATIVE_ON;
  const bool repaired = t->options.on_bad >= GATHER_ON_BAD_CLAMP && t->options.on_bad != GATHER_ON_BAD_PROMISE;
  indices->shape[0] = packed ? t->count : t->ids, indices->shape[1] = t->count > 0 ? t->lens[0] : below(3);
  place(indices, INDICES, type, packed ? 2 : 1, below(5));
  indices->tensor.flags = random_flags();
  for (int64_t i = 0; i < t->ids; i++) {
    const int64_t index = random_index(t, type, repaired, t->options.negative == GATHER_NEGATIVE_ON);
    put_integer(indices, i, index);
    t->row_of[i] = resolved(t, index);
  }
  t->bags.indices = &indices->tensor;
}

static void make_ends(trial *t, bool segments) {
  holder *ends = &t->tensors[ENDS];
  const gather_type type = segments || t->ids < 128 ? INDEX_TYPES[below((int64_t)COUNT(INDEX_TYPES))] : GATHER_TYPE_INT32;
  t->bags.last_offset = !segments && (t->count == 0 || below(2));
  ends->shape[0] = segments ? t->ids : t->count + t->bags.last_offset;
  place(ends, ENDS, type, 1, below(5));
  ends->tensor.flags = random_flags();
  for (int64_t bag = 0; bag < t->count; bag++) {
    if (!segments) put_integer(ends, bag, t->starts[bag]);
    for (int64_t i = 0; segments && i < t->lens[bag]; i++) put_integer(ends, t->starts[bag] + i, bag);
  }
  if (t->bags.last_offset) put_integer(ends, t->count, t->ids);
  *(segments ? &t->bags.segment_ids : &t->bags.offsets) = &ends->tensor;
  t->bags.segments = segments ? t->count : 0;
  if (below(2)) t->bags.default_index = below(t->rows);
}

static void make_weights(trial *t, bool packed) {
  holder *weights = &t->tensors[WEIGHTS];
  t->weighted = t->reduction <= GATHER_REDUCTION_ADD && below(2);
  if (!t->weighted) return;
  weights->shape[0] = t->tensors[INDICES].shape[0], weights->shape[1] = t->tensors[INDICES].shape[1];
  place(weights, WEIGHTS, t->numbers.type, packed ? 2 : 1, below(5));
  for (int64_t i = 0; i < t->ids; i++) put_random(weights, i);
  t->bags.weights = &weights->tensor;
}

static void make_trial(trial *t) {
  static const gather_reduction REDUCTIONS[] = {GATHER_REDUCTION_NONE, GATHER_REDUCTION_ADD, GATHER_REDUCTION_MEAN, GATHER_REDUCTION_MAX};
  const int64_t form = below(3);
  t->bags = (gather_bags)GATHER_BAGS_INIT;
  t->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  t->bad = 0;
  t->numbers.type = TYPES[below((int64_t)COUNT(TYPES))];
  t->options.accumulate = t->numbers.accumulate = (gather_accumulate)below(4);
  t->options.reduction = t->reduction = REDUCTIONS[below(4)];
  make_table(t);
  make_bags(t, form == 0);
  if (form == 2 && t->count > 0) t->ids -= t->starts[0]; /* every index has a segment */
  for (int64_t i = 0, first = t->starts[0]; form == 2 && i < t->count; i++) t->starts[i] -= first;
  if (form == 2 && t->count == 0) t->ids = 0;
  make_indices(t, form == 0);
  if (form > 0) make_ends(t, form == 2);
  make_weights(t, form == 0);
  holder *out = &t->tensors[OUT];
  memcpy(out->shape, t->tensors[TABLE].shape, sizeof out->shape);
  out->shape[0] = t->count;
  place(out, OUT, t->numbers.type, t->tensors[TABLE].tensor.rank, below(6));
}

/* One thread, or several that share even the smallest work; any instruction set. */
static void run_trial(trial *t, const gather_executor *executor, int isa) {
  int64_t bad = -1, count = -1;
  gather_error error;
  t->options.executor = executor, t->options.bad_count = &bad;
  for (int64_t i = 0; i < t->count * t->row_len; i++) memset(element_at(&t->tensors[OUT], i), 0x5A, (size_t)width_of(t->numbers.type));
  assert_status(gather_tuning_set("isa", isa, NULL), GATHER_OK);
  assert_status(gather_bags_count(&t->bags, &count, NULL), GATHER_OK);
  assert_int_equal(count, t->count);
  if (gather_embedding_bag(NULL, &t->tensors[TABLE].tensor, &t->bags, &t->tensors[OUT].tensor, &t->options, &error) != GATHER_OK)
    fail_msg("%s", error.message);
  assert_int_equal(bad, t->row_len == 0 ? 0 : t->bad); /* as for gathers */
  for (int64_t bag = 0; bag < t->count; bag++)
    for (int64_t column = 0; column < t->row_len; column++) check_element(t, bag, column);
}

static void random_cases(void **state) {
  static const int THREADS[] = {1, 2, 3, 8};
  static trial t;
  gather_pool *pools[COUNT(THREADS)];
  for (size_t i = 0; i < COUNT(THREADS); i++) assert_status(gather_pool_create(THREADS[i], &pools[i], NULL), GATHER_OK);
  const char *every = getenv("GATHER_TEST_MACHINES"), *rounds = getenv("GATHER_TEST_ROUNDS");
  const int64_t n = rounds ? strtoll(rounds, NULL, 10) : every && atoi(every) > 1 ? ROUNDS / 8 : ROUNDS;
  assert_status(gather_tuning_set("task_bytes", 64, NULL), GATHER_OK);
  assert_status(gather_tuning_set("awake_task_bytes", 64, NULL), GATHER_OK);
  for (int64_t i = 0; i < n; i++) {
    state_of_random = (uint64_t)i * 7919 + 1;
    make_trial(&t);
    assert_status(gather_tuning_set("cache_bytes", below(2) ? 1 : 1 << 30, NULL), GATHER_OK);
    assert_status(gather_tuning_set("prefetch_bytes", below(3) ? 8192 : 100, NULL), GATHER_OK);
    const int64_t pool = below((int64_t)COUNT(THREADS) + 1) - 1;
    run_trial(&t, pool < 0 ? NULL : gather_pool_executor(pools[pool]), (int)below(GATHER_ISA_ROWS));
  }
  for (size_t i = 0; i < COUNT(THREADS); i++) gather_pool_destroy(pools[i]);
  machine_reset();
}

/* ---- the documents' examples */

static const float TABLE_5_2[5][2] = {{-0.2f, -0.6f}, {-0.1f, -0.4f}, {-1.9f, -1.8f}, {-1.0f, 1.5f}, {0.8f, -0.7f}};

static void check_example(const char *name, const char *rules, gather_reduction reduction, const gather_bags *bags, const float *want) {
  float out[3][2];
  const gather_tensor table = tensor_of(GATHER_TYPE_FLOAT32, TABLE_5_2, 2, DIMS(5, 2));
  const gather_tensor target = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(3, 2));
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.reduction = reduction;
  assert_status(gather_embedding_bag(op_of(name, rules), &table, bags, &target, &options, NULL), GATHER_OK);
  for (int i = 0; i < 6; i++)
    if (fabsf(out[i / 2][i % 2] - want[i]) > 1e-6f) fail_msg("%s %s: number %d is %g, not %g", name, rules, i, out[i / 2][i % 2], want[i]);
}

static void examples(void **state) {
  static const float WEIGHTED[] = {-1.05f, -1.2f, -0.2f, -0.6f, -0.1f, 0.4f}, PACKED[] = {-1.05f, -1.2f, -1.0f, -1.1f, -0.1f, 0.4f};
  const float halves[6] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT32, ((const int32_t[]){0, 2, 3, 4}), 1, DIMS(4));
  const gather_tensor packed = tensor_of(GATHER_TYPE_INT32, ((const int32_t[]){0, 2, 1, 2, 3, 4}), 2, DIMS(3, 2));
  const gather_tensor offsets = tensor_of(GATHER_TYPE_INT32, ((const int32_t[]){0, 2, 2}), 1, DIMS(3));
  const gather_tensor ids = tensor_of(GATHER_TYPE_INT32, ((const int32_t[]){0, 0, 2, 2}), 1, DIMS(4));
  const gather_tensor weights = tensor_of(GATHER_TYPE_FLOAT32, halves, 1, DIMS(4));
  const gather_tensor packed_weights = tensor_of(GATHER_TYPE_FLOAT32, halves, 2, DIMS(3, 2));
  gather_bags bags = GATHER_BAGS_INIT;
  bags.indices = &indices, bags.offsets = &offsets, bags.weights = &weights, bags.default_index = 0;
  check_example("EmbeddingBagOffsetsSum", "openvino-3", GATHER_REDUCTION_ADD, &bags, WEIGHTED);
  check_example("EmbeddingBagOffsets", "openvino-15", GATHER_REDUCTION_ADD, &bags, WEIGHTED);
  bags.weights = NULL; /* both bags have two rows: their mean is half of their sum */
  check_example("EmbeddingBagOffsets", "openvino-15", GATHER_REDUCTION_MEAN, &bags, WEIGHTED);
  bags.offsets = NULL, bags.segment_ids = &ids, bags.segments = 3, bags.weights = &weights;
  check_example("EmbeddingSegmentsSum", "openvino-3", GATHER_REDUCTION_NONE, &bags, WEIGHTED);
  bags = (gather_bags)GATHER_BAGS_INIT;
  bags.indices = &packed, bags.weights = &packed_weights;
  check_example("EmbeddingBagPackedSum", "openvino-3", GATHER_REDUCTION_ADD, &bags, PACKED);
  bags.weights = NULL;
  check_example("EmbeddingBagPacked", "openvino-15", GATHER_REDUCTION_MEAN, &bags, PACKED);
}

/* ---- many rows */

/* Sums of 4,096 ones: exact in float32, and rounded once. */
static void many_ones(void **state) {
  enum { ONES = 4096 };
  static const struct {
    gather_type type;
    uint16_t one;
    gather_accumulate accumulate;
    double want;
  } cases[] = {{GATHER_TYPE_BFLOAT16, 0x3f80, GATHER_ACCUMULATE_DEFAULT, 4096},
               {GATHER_TYPE_FLOAT16, 0x3c00, GATHER_ACCUMULATE_HALVES, 4096},
               {GATHER_TYPE_BFLOAT16, 0x3f80, GATHER_ACCUMULATE_STEPS, 256},
               {GATHER_TYPE_FLOAT16, 0x3c00, GATHER_ACCUMULATE_STEPS, 2048}};
  static const int64_t indices[ONES];
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint16_t out[20], ones[20];
    for (size_t k = 0; k < COUNT(ones); k++) ones[k] = cases[i].one;
    const gather_tensor table = tensor_of(cases[i].type, ones, 2, DIMS(1, 20)), target = tensor_of(cases[i].type, out, 2, DIMS(1, 20));
    const gather_tensor packed = tensor_of(GATHER_TYPE_INT64, indices, 2, DIMS(1, ONES));
    gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
    gather_bags bags = GATHER_BAGS_INIT;
    bags.indices = &packed, options.accumulate = cases[i].accumulate;
    assert_status(gather_embedding_bag(NULL, &table, &bags, &target, &options, NULL), GATHER_OK);
    for (size_t k = 0; k < COUNT(out); k++) assert_true(half_number(cases[i].type, out[k]) == cases[i].want);
  }
}

/* ---- errors */

enum { IDS = 6, NUMBERS = 4 };

/* A call that fails. Tensors: a table of 10 rows of 3, 6 indices, offsets {0, 2, 4} or ids {0, 0, 1, 1, 2, 2}, and 3 bags. */
typedef struct {
  const char *name, *rules;      /* NULL: none */
  const char *form;              /* "offsets", "segments" or "packed" ([3, 2]) */
  int64_t index[IDS], ends[IDS]; /* instead; -9 = as above */
  gather_reduction reduction;
  bool weighted, last;
  int64_t default_index, segments;
  gather_on_bad on_bad;
  gather_status status;
  const char *input, *message;
  int64_t position, value, low, high, bad; /* of an index out of range */
} failure;

#define SAME \
  { -9, -9, -9, -9, -9, -9 }
#define AS_DOCUMENT GATHER_ON_BAD_DEFAULT
/* clang-format off */
static const failure FAILURES[] = {
    {"EmbeddingBagOffsetsSum", "openvino-3", "offsets", {-9, -9, 12, -9, -1, -9}, SAME, GATHER_REDUCTION_ADD, false, false, -1, 0,
     AS_DOCUMENT, GATHER_INDEX_OUT_OF_RANGE, "indices",
     "indices[2] = 12 is outside [0, 9] of axis 0 (EmbeddingBagOffsetsSum openvino-3); 2 of 6 indices are bad", 2, 12, 0, 9, 2},
    {NULL, NULL, "packed", {-9, -9, -9, -9, -9, 10}, SAME, GATHER_REDUCTION_MAX, false, false, -1, 0, GATHER_ON_BAD_ERROR,
     GATHER_INDEX_OUT_OF_RANGE, "indices", "indices[2, 1] = 10 is outside [0, 9] of axis 0 (embedding_bag); 1 of 6 indices is bad",
     2, 10, 0, 9, 1},
    {"EmbeddingBagOffsets", "openvino-15", "offsets", SAME, {-9, 7, -9, -9, -9, -9}, GATHER_REDUCTION_MEAN, false, false, -1, 0,
     GATHER_ON_BAD_SKIP, GATHER_INDEX_OUT_OF_RANGE, "offsets",
     "offsets[1] = 7 is outside [0, 6] (EmbeddingBagOffsets openvino-15); 1 of 3 is bad", 1, 7, 0, 6, 1},
    {NULL, NULL, "offsets", SAME, {-1, -9, 1, -9, -9, -9}, GATHER_REDUCTION_ADD, false, false, -1, 0, GATHER_ON_BAD_SKIP,
     GATHER_INDEX_OUT_OF_RANGE, "offsets", "offsets[0] = -1 is outside [0, 6] (embedding_bag); 2 of 3 are bad", 0, -1, 0, 6, 2},
    {NULL, NULL, "offsets", SAME, {-9, 5, 3, -9, -9, -9}, GATHER_REDUCTION_ADD, false, false, -1, 0, GATHER_ON_BAD_SKIP,
     GATHER_INDEX_OUT_OF_RANGE, "offsets",
     "offsets[2] = 3 is outside [5, 6], whose lower end is the value before it (embedding_bag); 1 of 3 is bad", 2, 3, 5, 6, 1},
    {NULL, NULL, "offsets", SAME, {-9, -9, -9, 7, -9, -9}, GATHER_REDUCTION_ADD, false, true, -1, 0, AS_DOCUMENT,
     GATHER_INDEX_OUT_OF_RANGE, "offsets",
     "offsets[3] = 7 is outside [4, 6], whose lower end is the value before it (embedding_bag); 1 of 4 is bad", 3, 7, 4, 6, 1},
    {"EmbeddingSegmentsSum", "openvino-3", "segments", SAME, {-9, -9, -9, -9, 3, 1}, GATHER_REDUCTION_ADD, false, false, -1, 3,
     AS_DOCUMENT, GATHER_INDEX_OUT_OF_RANGE, "segment_ids",
     "segment_ids[4] = 3 is outside [1, 2], whose lower end is the value before it (EmbeddingSegmentsSum openvino-3); 1 of 6 is bad",
     4, 3, 1, 2, 1},
    {NULL, NULL, "segments", SAME, {2, -9, -9, -9, -9, -9}, GATHER_REDUCTION_ADD, false, false, -1, 3, AS_DOCUMENT,
     GATHER_INDEX_OUT_OF_RANGE, "segment_ids",
     "segment_ids[1] = 0 is outside [2, 2], whose lower end is the value before it (embedding_bag); 3 of 6 are bad", 1, 0, 2, 2, 3},
    {"EmbeddingBagOffsetsSum", "openvino-3", "offsets", SAME, SAME, GATHER_REDUCTION_ADD, false, false, 10, 0, AS_DOCUMENT,
     GATHER_INDEX_OUT_OF_RANGE, "default_index", "default_index = 10 is outside [-1, 9] (EmbeddingBagOffsetsSum openvino-3)",
     -1, 10, -1, 9, 1},
    {NULL, NULL, "packed", SAME, SAME, GATHER_REDUCTION_ADD, false, false, 1, 0, AS_DOCUMENT, GATHER_UNSUPPORTED, "default_index",
     "packed bags have no default_index", 0, 0, 0, 0, 0},
    {"EmbeddingBagPackedSum", "openvino-3", "offsets", SAME, SAME, GATHER_REDUCTION_ADD, false, false, -1, 0, AS_DOCUMENT,
     GATHER_UNSUPPORTED, "indices", "EmbeddingBagPackedSum openvino-3 has packed indices, not offsets", 0, 0, 0, 0, 0},
    {"EmbeddingBagOffsetsSum", "openvino-3", "offsets", SAME, SAME, GATHER_REDUCTION_MEAN, false, false, -1, 0, AS_DOCUMENT,
     GATHER_UNSUPPORTED, NULL, "EmbeddingBagOffsetsSum openvino-3 has no reduction \"mean\"", 0, 0, 0, 0, 0},
    {"EmbeddingBagOffsets", "openvino-15", "offsets", SAME, SAME, GATHER_REDUCTION_MAX, false, false, -1, 0, AS_DOCUMENT,
     GATHER_UNSUPPORTED, NULL, "EmbeddingBagOffsets openvino-15 has no reduction \"max\"", 0, 0, 0, 0, 0},
    {NULL, NULL, "offsets", SAME, SAME, GATHER_REDUCTION_MIN, false, false, -1, 0, AS_DOCUMENT, GATHER_UNSUPPORTED, NULL,
     "embedding_bag has no reduction \"min\"", 0, 0, 0, 0, 0},
    {"EmbeddingBagOffsetsSum", "openvino-3", "offsets", SAME, SAME, GATHER_REDUCTION_ADD, false, true, -1, 0, AS_DOCUMENT,
     GATHER_UNSUPPORTED, "offsets", "EmbeddingBagOffsetsSum openvino-3 has no last offset: its last bag ends with the indices",
     0, 0, 0, 0, 0},
    {"ScatterUpdate", "openvino-3", "offsets", SAME, SAME, GATHER_REDUCTION_ADD, false, false, -1, 0, AS_DOCUMENT, GATHER_UNSUPPORTED,
     NULL, "ScatterUpdate openvino-3 is not an operator of embedding bags", 0, 0, 0, 0, 0},
    {NULL, NULL, "offsets", SAME, SAME, GATHER_REDUCTION_MEAN, true, false, -1, 0, AS_DOCUMENT, GATHER_UNSUPPORTED, "weights",
     "weights are for sums, not for means and maxima", 0, 0, 0, 0, 0},
    {NULL, NULL, "segments", SAME, SAME, GATHER_REDUCTION_ADD, false, false, -1, -2, AS_DOCUMENT, GATHER_SHAPE_MISMATCH, "segment_ids",
     "the number of segments is -2, which is negative", 0, 0, 0, 0, 0},
    {NULL, NULL, "offsets", SAME, SAME, GATHER_REDUCTION_ADD, false, false, -1, 0, GATHER_ON_BAD_FILL, GATHER_USAGE, NULL,
     "invalid options.on_bad 5", 0, 0, 0, 0, 0},
};
/* clang-format on */

static void check_failure(const failure *f, const gather_executor *executor) {
  static const int64_t INDEX[IDS] = {3, 9, 0, 4, 5, 6}, OFFSETS[IDS] = {0, 2, 4, 6}, SEGMENTS[IDS] = {0, 0, 1, 1, 2, 2};
  const bool packed = strcmp(f->form, "packed") == 0, segments = strcmp(f->form, "segments") == 0;
  int64_t index[IDS], ends[IDS];
  float rows[10][3] = {{0}}, weight[IDS] = {0}, out[3][3];
  for (int i = 0; i < IDS; i++) {
    index[i] = f->index[i] == -9 ? INDEX[i] : f->index[i];
    ends[i] = f->ends[i] == -9 ? (segments ? SEGMENTS : OFFSETS)[i] : f->ends[i];
  }
  const gather_tensor table = tensor_of(GATHER_TYPE_FLOAT32, rows, 2, DIMS(10, 3)),
                      target = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(3, 3));
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, index, packed ? 2 : 1, packed ? DIMS(3, 2) : DIMS(6));
  const gather_tensor starts = tensor_of(GATHER_TYPE_INT64, ends, 1, segments ? DIMS(6) : f->last ? DIMS(4) : DIMS(3));
  const gather_tensor weights = tensor_of(GATHER_TYPE_FLOAT32, weight, 1, DIMS(6));
  gather_bags bags = GATHER_BAGS_INIT;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  gather_error error = dirty_error();
  bags.indices = &indices, bags.last_offset = f->last, bags.default_index = f->default_index, bags.segments = f->segments;
  if (!packed) *(segments ? &bags.segment_ids : &bags.offsets) = &starts;
  if (f->weighted) bags.weights = &weights;
  options.reduction = f->reduction, options.on_bad = f->on_bad, options.executor = executor;
  memset(out, 0x5A, sizeof out);
  const gather_op *op = f->name ? op_of(f->name, f->rules) : NULL;
  assert_status(gather_embedding_bag(op, &table, &bags, &target, &options, &error), f->status);
  assert_error(&error, f->status);
  assert_string_equal(error.message, f->message);
  if (f->input)
    assert_string_equal(error.input, f->input);
  else
    assert_null(error.input);
  assert_string_equal(error.op, f->name ? f->name : "embedding_bag");
  for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], 0x5A);
  if (f->status != GATHER_INDEX_OUT_OF_RANGE) return;
  assert_int_equal(error.position_rank, f->position < 0 ? 0 : packed ? 2 : 1);
  if (f->position >= 0) assert_int_equal(error.position[0], f->position);
  assert_int_equal(error.value, f->value);
  assert_int_equal(error.low, f->low);
  assert_int_equal(error.high, f->high);
  assert_int_equal(error.bad_count, f->bad);
}

static void failures(void **state) {
  gather_pool *pool;
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  for (size_t i = 0; i < COUNT(FAILURES); i++) {
    check_failure(&FAILURES[i], NULL);
    check_failure(&FAILURES[i], gather_pool_executor(pool));
  }
  gather_pool_destroy(pool);
}

static int begin(void **state) {
  for (int i = 0; i < HOLDERS; i++) memory[i] = guard_create(ROOM);
  return 0;
}
static int end(void **state) {
  for (int i = 0; i < HOLDERS; i++) guard_destroy(memory[i]);
  return 0;
}

TESTS_WITHIN(begin, end, random_cases, examples, many_ones, failures)
