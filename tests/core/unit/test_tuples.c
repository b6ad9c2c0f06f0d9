/* SPDX-License-Identifier: MIT
 *
 * test_tuples.c: nests in which an index is a tuple of numbers, built directly: the results beside a plain loop, the exact error, every
 * policy, threads, and indices that others may write.
 */
#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "core/plan/plan_indices.h"
#include "support/unit.h"

enum { MOST_COLUMNS = 3, MOST_TUPLES = 40000, MOST_CELLS = 512, MOST_ROW = 40 };

/* A nest: data[len 0][len 1]..[row], indices[tuples][columns], out[tuples][row]. All lengths in elements. */
typedef struct {
  gather_type type, index_type;
  int32_t columns;
  int64_t len[MOST_COLUMNS], row, pad, tuples; /* pad: elements between two rows of data */
  bool backwards;                              /* the axes of data have negative steps */
  bool turned;                                 /* indices[columns][tuples] in memory */
  bool swapped, negative, shared;
  gather_on_bad on_bad;
} job;

static unsigned char data[MOST_CELLS * MOST_ROW * 8], out[MOST_TUPLES * MOST_ROW], want[MOST_TUPLES * MOST_ROW];
static int64_t numbers[MOST_TUPLES * MOST_COLUMNS];
static unsigned char indices[MOST_TUPLES * MOST_COLUMNS * 8];
static const unsigned char fill[8] = {0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8};

static int64_t width_of(gather_type type) { return gather_type_get(type)->bits / 8; }

static int64_t cells(const job *j) {
  int64_t all = 1;
  for (int32_t c = 0; c < j->columns; c++) all *= j->len[c];
  return all;
}

/* Where number c of tuple t is in memory, in bytes. */
static int64_t place(const job *j, int64_t t, int32_t c) {
  return (j->turned ? c * j->tuples + t : t * j->columns + c) * width_of(j->index_type);
}

static void write_indices(const job *j) {
  const int64_t width = width_of(j->index_type);
  for (int64_t t = 0; t < j->tuples; t++)
    for (int32_t c = 0; c < j->columns; c++) {
      const uint64_t value = (uint64_t)numbers[t * j->columns + c];
      for (int64_t b = 0; b < width; b++) {
        const int64_t byte = (GATHER_BIG_ENDIAN != 0) != j->swapped ? width - 1 - b : b;
        indices[place(j, t, c) + b] = (unsigned char)(value >> 8 * byte);
      }
    }
}

/* What op/lower.c and a family would write for it. */
static void lower(const job *j, gather_plan *plan) {
  const gather_type_info *type = gather_type_get(j->type);
  const bool packed = type->bits < 8;
  const int64_t unit = packed ? 1 : type->bits / 8, width = width_of(j->index_type);
  int64_t steps[MOST_COLUMNS], low = 0, step = (j->row + j->pad) * unit;
  memset(plan, 0, sizeof *plan);
  plan->op = op_of("Gather", "onnx-13");
  plan->type = j->type;
  plan->out_rank = 2, plan->out_shape[0] = j->tuples, plan->out_shape[1] = j->row;
  plan->out_len = j->tuples * j->row;
  plan->rule = (gather_index_rule){ITEMS(.type = j->index_type, .swapped = j->swapped, .negative = j->negative, .on_bad = j->on_bad,
                                         .within = gather_kernel_within(j->index_type), .fold = gather_kernel_fold(j->index_type))};
  plan->tuple_dim = -1;
  plan->index_rank = 2, plan->index_shape[0] = j->tuples, plan->index_shape[1] = j->columns;
  plan->index_count = j->tuples * j->columns;
  plan->index_dense = !j->turned;
  plan->index_strides[0] = j->turned ? width : width * j->columns;
  plan->index_strides[1] = j->turned ? width * j->tuples : width;
  if (j->shared) { /* as set_shared in op/lower.c */
    memcpy(plan->shared_strides, plan->index_strides, sizeof plan->shared_strides);
    plan->shared = true, plan->shared_dense = plan->index_dense, plan->shared_swapped = j->swapped;
    plan->index_strides[0] = width * j->columns, plan->index_strides[1] = width;
    plan->index_dense = true, plan->rule.swapped = false;
    if (j->on_bad == GATHER_ON_BAD_PROMISE) plan->rule.on_bad = GATHER_ON_BAD_CLAMP;
  }
  plan->packed = packed;
  plan->layout.packing = type->packing, plan->layout.bits = type->bits;
  plan->layout.group_len = type->group_len, plan->layout.group_bytes = type->group_bytes;
  for (plan->layout.group_shift = 0; 1 << plan->layout.group_shift < type->group_len;) plan->layout.group_shift++;
  plan->row_bytes = unit;
  plan->out_dense = true;
  plan->fill = j->on_bad == GATHER_ON_BAD_FILL ? fill : NULL;
  plan->fill_bytes = unit;
  plan->fill_value = packed ? fill[0] & 15 : 0;
  for (int32_t c = j->columns; c-- > 0; step *= j->len[c]) {
    steps[c] = j->backwards ? -step : step;
    if (j->backwards) low -= (j->len[c] - 1) * step;
  }
  plan->data_extent = (gather_extent){low, low + cells(j) * (j->row + j->pad) * unit};
  plan->index_extent = (gather_extent){0, j->tuples * j->columns * width};
  plan->out_extent = (gather_extent){0, plan->out_len * unit};
  plan->loops[0] = (gather_loop){j->tuples, 0, plan->index_strides[0], j->row * unit};
  plan->loops[1] = (gather_loop){j->row, unit, 0, unit};
  plan->loop_count = 2;
  gather_plan_select_tuples(plan, j->columns, plan->index_strides[1], j->len, steps);
  gather_plan_simplify(plan);
  gather_plan_choose(plan);
}

/* The row of data that a tuple selects, counted from the first in memory; -1 = filled. */
static int64_t row_of(const job *j, int64_t t, int64_t *bad) {
  int64_t row = 0;
  bool filled = false;
  for (int32_t c = 0; c < j->columns; c++) {
    const int64_t n = j->len[c];
    int64_t i = numbers[t * j->columns + c];
    if (j->negative && i < 0 && i >= -n) i += n;
    if (i < 0 || i >= n) {
      ++*bad;
      filled = filled || j->on_bad == GATHER_ON_BAD_ZERO || j->on_bad == GATHER_ON_BAD_FILL;
      i = j->on_bad == GATHER_ON_BAD_WRAP ? (i % n + n) % n : i < 0 ? 0 : n - 1;
    }
    row = row * n + (j->backwards ? n - 1 - i : i);
  }
  return filled ? -1 : row;
}

static int get(const unsigned char *from, int64_t i) { return from[i / 2] >> (i & 1) * 4 & 15; }

static void put(unsigned char *to, int64_t i, int value) {
  to[i / 2] = (unsigned char)(i & 1 ? (to[i / 2] & 15) | value << 4 : (to[i / 2] & 0xF0) | value);
}

/* The plain loop. Packed: int4, two in a byte. */
static int64_t expect(const job *j) {
  int64_t bad = 0;
  const bool packed = gather_type_get(j->type)->bits < 8;
  const int64_t bytes = packed ? 0 : j->row * width_of(j->type);
  memset(want, 0, sizeof want);
  for (int64_t t = 0; t < j->tuples; t++) {
    const int64_t row = row_of(j, t, &bad);
    for (int64_t k = 0; packed && k < j->row; k++)
      put(want, t * j->row + k, row >= 0 ? get(data, row * (j->row + j->pad) + k) : j->on_bad == GATHER_ON_BAD_FILL ? fill[0] & 15 : 0);
    for (int64_t k = 0; k < bytes; k++)
      want[t * bytes + k] = row >= 0                          ? data[row * (bytes + j->pad * width_of(j->type)) + k]
                            : j->on_bad == GATHER_ON_BAD_FILL ? fill[k % width_of(j->type)]
                                                              : 0;
  }
  return bad;
}

static const void *first_cell(const job *j) {
  const int64_t bytes = (j->row + j->pad) * gather_type_get(j->type)->bits / 8;
  return j->backwards ? data + (cells(j) - 1) * bytes : data;
}

static gather_status run(const job *j, const gather_executor *executor, int64_t *bad, gather_error *error) {
  gather_plan plan;
  gather_run r = GATHER_RUN_INIT;
  write_indices(j);
  lower(j, &plan);
  memset(out, 0x77, sizeof out);
  r.data = first_cell(j), r.indices = indices, r.out = out, r.executor = executor, r.bad_count = bad;
  return gather_plan_run(&plan, &r, error);
}

static size_t out_bytes(const job *j) { return (size_t)((j->tuples * j->row * gather_type_get(j->type)->bits + 7) / 8); }

static void check(const job *j, const gather_executor *executor) {
  gather_error error;
  int64_t bad = -1, wanted = expect(j);
  gather_status status = run(j, executor, &bad, &error);
  if (status != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(bad, wanted);
  assert_memory_equal(out, want, out_bytes(j));
  assert_true(out_bytes(j) == sizeof out || out[out_bytes(j)] == 0x77);
}

static uint32_t drawn(void) {
  static uint64_t seed = 7;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

static bool is_signed(gather_type type) { return gather_type_get(type)->kind == GATHER_KIND_INT; }

/* Numbers in range; one in `some` is out of it (0 = none). */
static void draw(const job *j, uint32_t some) {
  const bool from_end = j->negative && is_signed(j->index_type);
  for (int64_t t = 0; t < j->tuples; t++)
    for (int32_t c = 0; c < j->columns; c++) {
      const int64_t n = j->len[c];
      int64_t i = (int64_t)(drawn() % (uint32_t)n) - (from_end && drawn() % 3 == 0 ? n : 0);
      if (some && drawn() % some == 0) i = is_signed(j->index_type) && drawn() % 2 ? -n - 1 - drawn() % 9 : n + drawn() % 9;
      numbers[t * j->columns + c] = i;
    }
}

static void reverse(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = count; i-- > 0;) task(argument, i);
}

static const gather_executor three = {NULL, reverse, 3};
static gather_pool *pool;

static const gather_type index_types[] = {GATHER_TYPE_INT8,  GATHER_TYPE_INT16,  GATHER_TYPE_INT32,  GATHER_TYPE_INT64,
                                          GATHER_TYPE_UINT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};
static const gather_type types[] = {GATHER_TYPE_UINT8, GATHER_TYPE_FLOAT32, GATHER_TYPE_INT64, GATHER_TYPE_INT4};
static const gather_on_bad repairs[] = {GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP, GATHER_ON_BAD_ZERO, GATHER_ON_BAD_FILL};

/* Two and three columns, every index type, both orders of memory and of bytes, private and shared; with and without bad numbers. */
static void against_a_plain_loop(void **state) {
  for (int round = 0; round < 4000; round++) {
    job j = {ITEMS(.type = types[drawn() % COUNT(types)], .index_type = index_types[drawn() % COUNT(index_types)],
                   .columns = 2 + (int32_t)(drawn() % 2), .row = 1 + drawn() % 5, .pad = drawn() % 2,
                   .tuples = 1 + drawn() % (round % 10 ? 9 : 700), .turned = drawn() % 2, .swapped = drawn() % 4 == 0,
                   .negative = drawn() % 2, .shared = drawn() % 3 == 0)};
    j.backwards = j.type != GATHER_TYPE_INT4 && drawn() % 2;
    for (int32_t c = 0; c < j.columns; c++) j.len[c] = 1 + drawn() % 7;
    j.on_bad = round % 3 ? repairs[drawn() % COUNT(repairs)] : GATHER_ON_BAD_ERROR;
    if (width_of(j.index_type) == 1) j.swapped = false;
    draw(&j, j.on_bad == GATHER_ON_BAD_ERROR ? 0 : 6);
    check(&j, round % 4 == 1 ? &three : NULL);
  }
}

/* As many rows as tasks, prefetches and trials of variants take; rows of every class. */
static void large_ones(void **state) {
  for (int round = 0; round < 24; round++) {
    job j = {ITEMS(.type = GATHER_TYPE_FLOAT32, .index_type = round % 2 ? GATHER_TYPE_INT64 : GATHER_TYPE_INT32, .columns = 2 + round % 2,
                   .len = {8, 8, 8}, .row = (int64_t[]){1, 2, 10}[round % 3], .tuples = MOST_TUPLES, .negative = round % 4 < 2,
                   .shared = round >= 16, .on_bad = round % 5 ? GATHER_ON_BAD_ERROR : GATHER_ON_BAD_CLAMP)};
    draw(&j, j.on_bad == GATHER_ON_BAD_CLAMP ? 1000 : 0);
    check(&j, NULL);
    check(&j, &three);
    check(&j, gather_pool_executor(pool));
  }
}

/* Every variant that the plan offers gives the same. */
static void every_variant(void **state) {
  assert_status(gather_tuning_set("cache_bytes", 64, NULL), GATHER_OK);
  assert_status(gather_tuning_set("nontemporal_bytes", 4096, NULL), GATHER_OK);
  for (int variant = 0; variant < 6; variant++)
    for (int32_t columns = 2; columns <= 3; columns++)
      for (int64_t row = 1; row <= 40; row += 13) {
        job j = {ITEMS(.type = GATHER_TYPE_UINT8, .index_type = GATHER_TYPE_INT64, .columns = columns, .len = {8, 8, 8}, .row = row,
                       .tuples = 9000, .negative = true, .on_bad = GATHER_ON_BAD_ERROR)};
        assert_status(gather_tuning_set("variant", variant, NULL), GATHER_OK);
        draw(&j, 0);
        check(&j, NULL);
      }
  for (int32_t i = 0; gather_tuning_at(i); i++)
    assert_status(gather_tuning_set(gather_tuning_at(i)->name, gather_tuning_at(i)->initial, NULL), GATHER_OK);
}

/* The first bad number in row-major order, its value, its axis and that axis' range; and the output as it was. */
static void the_exact_error(void **state) {
  for (int round = 0; round < 64; round++) {
    job j = {ITEMS(.type = GATHER_TYPE_FLOAT32, .index_type = GATHER_TYPE_INT64, .columns = 3, .len = {4, 5, 6}, .row = 2,
                   .tuples = round % 16 == 15 ? 5000 : 7, .negative = round & 1, .turned = round & 2, .shared = round & 4,
                   .on_bad = GATHER_ON_BAD_ERROR)};
    gather_error error = dirty_error();
    const int64_t at = j.tuples - 3;
    draw(&j, 0);
    numbers[at * 3 + 1] = 5, numbers[at * 3 + 2] = -77; /* both in one tuple: the first column counts */
    numbers[(at + 1) * 3] = 4;
    assert_status(run(&j, round & 8 ? &three : NULL, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
    assert_int_equal(error.position_rank, 2);
    assert_int_equal(error.position[0], at);
    assert_int_equal(error.position[1], 1);
    assert_int_equal(error.value, 5);
    assert_int_equal(error.axis, 1);
    assert_int_equal(error.low, j.negative ? -5 : 0);
    assert_int_equal(error.high, 4);
    assert_int_equal(error.bad_count, 3);
    for (size_t i = 0; i < out_bytes(&j); i++) assert_int_equal(out[i], 0x77);
    if (j.tuples == 7 && !j.negative)
      assert_string_equal(error.message, "indices[4, 1] = 5 is outside [0, 4] of axis 1 (Gather onnx-13); 3 of 21 indices are bad");

    gather_plan plan;
    gather_run r = GATHER_RUN_INIT;
    lower(&j, &plan);
    r.indices = indices, r.executor = round & 8 ? &three : NULL;
    error = dirty_error();
    assert_status(gather_plan_check(&plan, &r, &error), GATHER_INDEX_OUT_OF_RANGE);
    assert_int_equal(error.position[0], at);
    assert_int_equal(error.position[1], 1);
    assert_int_equal(error.bad_count, 3);
  }
}

/* Nothing is in range of an axis without elements: an error, or filled rows; clamp has no row to offer. */
static void an_axis_without_elements(void **state) {
  job j = {ITEMS(.type = GATHER_TYPE_FLOAT32, .index_type = GATHER_TYPE_INT64, .columns = 2, .len = {3, 0}, .row = 2, .tuples = 4,
                 .on_bad = GATHER_ON_BAD_ZERO)};
  gather_error error;
  int64_t bad = 0;
  memset(numbers, 0, 8 * sizeof *numbers);
  assert_status(run(&j, NULL, &bad, &error), GATHER_OK);
  assert_int_equal(bad, 4);
  for (size_t i = 0; i < out_bytes(&j); i++) assert_int_equal(out[i], 0);
  j.on_bad = GATHER_ON_BAD_CLAMP;
  assert_status(run(&j, NULL, &bad, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.axis, 1);
  assert_non_null(strstr(error.message, "cannot be in range: axis 1 has length 0"));
}

/* Clamp and wrap fail only for an axis without elements: the error names it, whatever was out of range before it, and counts all. */
static void the_axis_that_cannot_be_repaired(void **state) {
  static const struct {
    int32_t columns;
    int64_t len[MOST_COLUMNS];
    int32_t axis; /* the first one without elements */
  } CASES[] = {{2, {3, 0}, 1}, {2, {0, 3}, 0}, {3, {3, 0, 2}, 1}, {3, {3, 2, 0}, 2}, {3, {4, 0, 0}, 1}};
  static const gather_on_bad POLICIES[] = {GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP, GATHER_ON_BAD_ERROR};
  for (size_t i = 0; i < COUNT(CASES); i++)
    for (int variant = 0; variant < (int)COUNT(POLICIES) * 8; variant++) {
      job j = {.type = GATHER_TYPE_FLOAT32, .index_type = GATHER_TYPE_INT64, .columns = CASES[i].columns, .row = 2, .tuples = 5000};
      const bool several = variant & 4;
      gather_error error;
      int64_t bad = 0;
      memcpy(j.len, CASES[i].len, sizeof j.len);
      j.on_bad = POLICIES[variant / 8], j.turned = variant & 1, j.shared = variant & 2;
      for (int64_t k = 0; k < j.tuples * j.columns; k++) numbers[k] = 7 + k; /* every number is out of range */
      assert_status(run(&j, several ? &three : NULL, &bad, &error), GATHER_INDEX_OUT_OF_RANGE);
      const int32_t axis = j.on_bad == GATHER_ON_BAD_ERROR ? 0 : CASES[i].axis;
      assert_int_equal(error.axis, axis);
      assert_int_equal(error.position[0], 0);
      assert_int_equal(error.position[1], axis);
      assert_int_equal(error.value, 7 + axis);
      assert_int_equal(error.bad_count, j.tuples * j.columns);
      assert_int_equal(strstr(error.message, "cannot be in range: axis") != NULL, j.len[axis] == 0);
    }
}

/* A type that cannot leave one axis may leave another: each column is judged by its own length. */
static void columns_are_judged_one_by_one(void **state) {
  job j = {ITEMS(.type = GATHER_TYPE_UINT8, .index_type = GATHER_TYPE_UINT8, .columns = 2, .len = {256, 2}, .row = 1, .tuples = 3,
                 .on_bad = GATHER_ON_BAD_ERROR)};
  gather_error error;
  memcpy(numbers, ((const int64_t[]){255, 1, 0, 0, 255, 2}), 6 * sizeof *numbers);
  assert_status(run(&j, NULL, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position[0], 2);
  assert_int_equal(error.position[1], 1);
  numbers[5] = 1;
  check(&j, NULL);
}

/* One column is a plain index, whatever it is called. */
static void one_column(void **state) {
  job j = {ITEMS(.type = GATHER_TYPE_FLOAT32, .index_type = GATHER_TYPE_INT32, .columns = 1, .len = {9}, .row = 3, .tuples = 100,
                 .negative = true, .on_bad = GATHER_ON_BAD_WRAP)};
  gather_plan plan;
  draw(&j, 5);
  check(&j, NULL);
  lower(&j, &plan);
  assert_int_equal(plan.column_count, 1);
  assert_int_equal(plan.axis_step, 12);
}

static void a_plan_in_words(void **state) {
  job j = {ITEMS(.type = GATHER_TYPE_FLOAT32, .index_type = GATHER_TYPE_INT32, .columns = 2, .len = {4, 5}, .row = 3, .tuples = 10,
                 .on_bad = GATHER_ON_BAD_ERROR)};
  gather_plan plan;
  char text[512];
  lower(&j, &plan);
  (void)gather_plan_print(&plan, text, sizeof text);
  assert_memory_equal(text, "Gather onnx-13, float32, axes 0 to 1: 10 of 4*5 rows x 12 B; int32 indices, error, negative off", 95);
}

int main(void) {
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + (i >> 8) * 11);
  if (gather_pool_create(3, &pool, NULL) != GATHER_OK) return 1;
  int failed = RUN_TESTS(against_a_plain_loop, large_ones, every_variant, the_exact_error, an_axis_without_elements,
                         the_axis_that_cannot_be_repaired, columns_are_judged_one_by_one, one_column, a_plan_in_words);
  gather_pool_destroy(pool);
  return failed;
}
