/* SPDX-License-Identifier: MIT
 *
 * test_order.c: indices in every order, by every variant: runs of rows, rows near each other, sorted ones, random ones that
 * are radix partitioned. All variants give the bytes that a plain loop gives, with any number of threads and any size of block; and
 * the order is seen for what it is.
 */
#include "core/kernel/radix.h"
#include "core/plan/execution.h"
#include "support/unit.h"

enum { MOST_ROWS = 70000, MOST_COUNT = 5000, MOST_ROW = 200, VARIANTS = 14 };
enum { DENSE, RUNS, SORTED, LOCAL, FEW, RANDOM, FALLING, ORDERS };

static uint8_t table[MOST_ROWS * 8], out[MOST_COUNT * MOST_ROW + 64], want[MOST_COUNT * MOST_ROW + 64];
static int64_t wide[MOST_COUNT];
static int32_t narrow[MOST_COUNT];
static const char *const names[ORDERS] = {"dense", "runs", "sorted", "local", "few", "random", "falling"};

static void tune(const char *name, int64_t value) { assert_status(gather_tuning_set(name, value, NULL), GATHER_OK); }

static void reset(void) {
  for (int32_t i = 0; gather_tuning_at(i); i++) tune(gather_tuning_at(i)->name, gather_tuning_at(i)->initial);
}

static uint32_t drawn(int64_t i) { return (uint32_t)(((uint64_t)i + 1) * 0x9E3779B97F4A7C15u >> 33); }

/* Index number i of an order. */
static int64_t index_of(int order, int64_t i, int64_t count, int64_t rows) {
  switch (order) {
    case DENSE:
      return i % rows;
    case RUNS:
      return (drawn(i / 37) + i % 37) % rows;
    case SORTED:
      return i * rows / count;
    case LOCAL:
      return (i / 8 + drawn(i) % 4) % rows;
    case FEW:
      return drawn(i) % 5 * (rows / 5);
    case FALLING:
      return rows - 1 - i % rows;
    default:
      return drawn(i) % rows;
  }
}

/* All tasks by one thread, the last first. */
static void backwards(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = count; i-- > 0;) task(argument, i);
}

static const gather_executor three = {NULL, backwards, 3};
static gather_pool *pool; /* real threads */

struct shape {
  int64_t row, rows, count;
};

static void fill(struct shape s, int order, bool negative) {
  for (int64_t i = 0; i < s.count; i++) {
    wide[i] = index_of(order, i, s.count, s.rows);
    memcpy(want + i * s.row, table + wide[i] * s.row, (size_t)s.row);
    if (negative && i % 3 == 1) wide[i] -= s.rows;
    narrow[i] = (int32_t)wide[i];
  }
}

/* One gather to an output that begins `skip` bytes into a line; nothing round it changes. */
static void gather_once(struct shape s, bool int32, int64_t skip, const gather_executor *executor, const char *what) {
  uint8_t *to = out + skip;
  gather_tensor data = tensor_of(GATHER_TYPE_UINT8, table, 2, DIMS(s.rows, s.row));
  gather_tensor indices =
      int32 ? tensor_of(GATHER_TYPE_INT32, narrow, 1, DIMS(s.count)) : tensor_of(GATHER_TYPE_INT64, wide, 1, DIMS(s.count));
  gather_tensor result = tensor_of(GATHER_TYPE_UINT8, to, 2, DIMS(s.count, s.row));
  gather_options options = options_of(0, 0);
  gather_error error;
  options.executor = executor;
  memset(out, 0xEE, (size_t)(s.count * s.row + skip + 32));
  if (gather_apply(op_of("Gather", "onnx-13"), &data, &indices, &result, &options, &error) != GATHER_OK)
    fail_msg("%s: %s", what, error.message);
  if (memcmp(to, want, (size_t)(s.count * s.row)) != 0) fail_msg("%s: wrong bytes", what);
  for (int64_t i = 0; i < 32; i++)
    if (to[s.count * s.row + i] != 0xEE || (i < skip && out[i] != 0xEE)) fail_msg("%s: bytes round the output", what);
}

static void every_way(struct shape s, int order, bool negative, bool int32, int64_t skip) {
  char what[200];
  fill(s, order, negative);
  for (int variant = -1; variant < VARIANTS; variant++)
    for (int threads = 0; threads < 3; threads++) {
      tune("variant", variant);
      snprintf(what, sizeof what, "%s, %d rows of %d, %d indices of %d bits%s, variant %d, %s", names[order], (int)s.rows, (int)s.row,
               (int)s.count, int32 ? 32 : 64, negative ? " below 0 too" : "", variant,
               threads == 0   ? "one thread"
               : threads == 1 ? "tasks"
                              : "threads");
      gather_once(s, int32, skip, threads == 0 ? NULL : threads == 1 ? &three : gather_pool_executor(pool), what);
    }
}

/* Numbers that let small gathers use the variants of large ones. */
static void as_large(int64_t block, int isa, bool far) {
  tune("calibration_bytes", 1), tune("nontemporal_bytes", 1), tune("task_bytes", 64), tune("radix_bytes", 1);
  tune("radix_block", block), tune("radix_ps", -1), tune("isa", isa);
  tune("cache_bytes", far ? 1 : (int64_t)1 << 40);
}

static void all_orders_all_ways(void **state) {
  static const struct shape shapes[] = {{1, 1000, 3001}, {2, 777, 2049}, {3, 500, 700}, {4, 65536, 4999}, {4, 3, 1500},   {8, 69999, 777},
                                        {8, 1, 600},     {16, 100, 333}, {40, 99, 200}, {64, 300, 600},   {72, 333, 901}, {200, 100, 600}};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (int order = 0; order < ORDERS; order++)
      for (int isa = 0; isa < 4; isa++) {
        as_large(i % 2 ? 64 : 71, isa, (i + (size_t)isa) % 4 != 0);
        every_way(shapes[i], order, order % 2, (order + isa) % 2, (int64_t)(i % 3 == 0 ? 8 : i));
      }
  reset();
}

/* Elements along the last axis: each round has its own table, and blocks end in the middle of rounds. */
static void elements_in_rounds(void **state) {
  enum { ROUNDS = 3, LEN = 1100, COUNT_EACH = 1000 };
  for (int order = 0; order < ORDERS; order++)
    for (int variant = -1; variant < VARIANTS; variant++)
      for (int tasks = 0; tasks < 2; tasks++) {
        as_large(90, 99, true);
        tune("variant", variant);
        for (int r = 0; r < ROUNDS; r++)
          for (int64_t i = 0; i < COUNT_EACH; i++) {
            wide[r * COUNT_EACH + i] = index_of(order, i + r, COUNT_EACH + ROUNDS, LEN);
            memcpy(want + (r * COUNT_EACH + i) * 4, table + (r * LEN + wide[r * COUNT_EACH + i]) * 4, 4);
          }
        gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, table, 2, DIMS(ROUNDS, LEN));
        gather_tensor indices = tensor_of(GATHER_TYPE_INT64, wide, 2, DIMS(ROUNDS, COUNT_EACH));
        gather_tensor result = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(ROUNDS, COUNT_EACH));
        gather_options options = options_of(1, 0);
        options.executor = tasks ? &three : NULL;
        memset(out, 0xEE, sizeof out);
        assert_status(gather_apply(op_of("GatherElements", "onnx-13"), &data, &indices, &result, &options, NULL), GATHER_OK);
        if (memcmp(out, want, ROUNDS * COUNT_EACH * 4) != 0) fail_msg("%s, variant %d: wrong bytes", names[order], variant);
      }
  reset();
}

/* The plan's line names radix partitioning exactly where it may be used. */
static bool has_parts(int64_t row, int64_t rows, int64_t count) {
  char text[1000];
  gather_plan *plan;
  gather_tensor data = tensor_of(GATHER_TYPE_UINT8, NULL, 2, DIMS(rows, row));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, NULL, 1, DIMS(count));
  assert_status(gather_plan_create(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, NULL), GATHER_OK);
  gather_plan_print(plan, text, sizeof text);
  gather_plan_destroy(plan);
  return strstr(text, "radix partitioning") != NULL;
}

static void when_parts_are_tried(void **state) {
  const int64_t mega = 1 << 20;
  assert_true(has_parts(4, 64 * mega, 4 * mega));
  assert_true(has_parts(8, 32 * mega, 4 * mega));
  assert_false(has_parts(4, 63 * mega, 4 * mega));  /* the table is too small */
  assert_false(has_parts(4, 64 * mega, mega));      /* too few indices */
  assert_false(has_parts(16, 64 * mega, 4 * mega)); /* rows are too long */
  assert_false(has_parts(3, 512 * mega, 4 * mega)); /* no size of an element */
}

/* A sample of an order, as a run takes it. */
static gather_order seen(int order) {
  const int64_t count = MOST_COUNT, rows = 1 << 24;
  gather_plan plan = {0};
  for (int64_t i = 0; i < count; i++) wide[i] = index_of(order, i, count, rows);
  plan.rule.type = GATHER_TYPE_INT64, plan.rule.axis_len = rows, plan.rule.negative = true;
  plan.rule.on_bad = GATHER_ON_BAD_ERROR;
  plan.axis_step = 64, plan.loop_count = 1, plan.row_count = count;
  plan.loops[0] = (gather_loop){count, 0, 8, 64};
  gather_execution e = {.plan = &plan, .indices = (const char *)wide};
  return gather_order_sample(&e);
}

static void orders_are_seen(void **state) {
  assert_int_equal(seen(DENSE), GATHER_ORDER_RUNS);
  assert_int_equal(seen(RUNS), GATHER_ORDER_RUNS);
  assert_int_equal(seen(SORTED), GATHER_ORDER_SORTED);
  assert_int_equal(seen(LOCAL), GATHER_ORDER_NEAR);
  assert_int_equal(seen(FEW), GATHER_ORDER_NEAR);
  assert_int_equal(seen(FALLING), GATHER_ORDER_NEAR);
  assert_int_equal(seen(RANDOM), GATHER_ORDER_RANDOM);
}

/* Steps of radix partitioning that no table of a test is large enough for: rows beyond 2^31 by either width of index. */
static void far_rows(void **state) {
  static const uint32_t indices[] = {4294967295u, 0, 2147483648u, 7, 4294967295u, 4026531840u, 16777216u};
  enum { LAST = COUNT(indices) };
  static uint64_t numbers[LAST];
  uint32_t entries[LAST];
  gather_radix r = {.indices = (const char *)indices, .count = LAST, .shift = 26, .entries = entries};
  for (int width = 0; width < 2; width++) {
    for (size_t i = 0; i < LAST; i++) numbers[i] = indices[i];
    if (width) r.indices = (const char *)numbers;
    const gather_radix_kernel *kernel = gather_kernel_radix(width, 4);
    kernel->part(&r);
    for (size_t i = 1; i < LAST; i++) assert_true(entries[i - 1] >> 26 <= entries[i] >> 26);
    uint32_t back[LAST];
    kernel->join(&r, 0, 3, (char *)back);
    kernel->join(&r, 3, LAST - 3, (char *)(back + 3));
    assert_memory_equal(back, indices, sizeof back);
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof table; i++) table[i] = (uint8_t)(drawn((int64_t)i) >> 9);
  if (gather_pool_create(3, &pool, NULL) != GATHER_OK) return 1;
  int failed = RUN_TESTS(all_orders_all_ways, elements_in_rounds, when_parts_are_tried, orders_are_seen, far_rows);
  gather_pool_destroy(pool);
  return failed;
}
