/* SPDX-License-Identifier: MIT
 *
 * test_winners.c: a kept plan remembers the winner of its calibration run, by the order of the indices; its line names it; the bytes
 * are the same whichever variant a run uses, by many threads at once.
 */
#include <pthread.h>

#include "core/plan/calibrate.c"
#include "support/unit.h"
#include "support/wrapped.h"

enum { ROWS = 200 * 1000, COUNT_OF_ROWS = 2000, ROW = 64, MARK = 65535 /* a percentage that no run finds */ };

static uint8_t table[ROWS * ROW];
static int64_t random_ids[COUNT_OF_ROWS], sorted_ids[COUNT_OF_ROWS];

static void tune(const char *name, int64_t value) { assert_status(gather_tuning_set(name, value, NULL), GATHER_OK); }

/* Numbers that let small gathers do a calibration run, among variants for rows out of cache. */
static int as_large(void **state) {
  tune("calibration_bytes", 1), tune("nontemporal_bytes", 1), tune("cache_bytes", 1), tune("task_bytes", 4096);
  return 0;
}

static int reset(void **state) {
  for (int32_t i = 0; gather_tuning_at(i); i++) tune(gather_tuning_at(i)->name, gather_tuning_at(i)->initial);
  return 0;
}

static gather_plan *plan_of(int64_t count) {
  gather_plan *plan = NULL;
  gather_tensor data = tensor_of(GATHER_TYPE_UINT8, NULL, 2, DIMS(ROWS, ROW));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(count));
  assert_status(gather_plan_create(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, NULL), GATHER_OK);
  return plan;
}

static bool is_right(const gather_plan *plan, const int64_t *ids, const gather_executor *executor) {
  uint8_t *out = calloc(COUNT_OF_ROWS, ROW);
  gather_run run = GATHER_RUN_INIT;
  run.data = table, run.indices = ids, run.out = out, run.executor = executor;
  bool right = out && gather_plan_run(plan, &run, NULL) == GATHER_OK;
  for (int64_t i = 0; right && i < COUNT_OF_ROWS; i++) right = memcmp(out + i * ROW, table + ids[i] * ROW, ROW) == 0;
  free(out);
  return right;
}

static int32_t percent_of(const gather_plan *plan, gather_order order) {
  gather_winner winner;
  return gather_winners_get(plan, order, &winner) ? winner.percent : 0;
}

/* Runs 0 and 1 do a calibration run, then one in calibration_runs: only those replace the mark. */
static void calibrated_now_and_then(void **state) {
  gather_plan *plan = plan_of(COUNT_OF_ROWS);
  tune("calibration_runs", 5);
  for (int run = 0; run < 21; run++) {
    keep_winner(plan, GATHER_ORDER_RANDOM, run % plan->variant_count, 1, 0, MARK);
    assert_true(is_right(plan, random_ids, NULL));
    if (run < 2 || run % 5 == 0)
      assert_int_not_equal(percent_of(plan, GATHER_ORDER_RANDOM), MARK);
    else
      assert_int_equal(percent_of(plan, GATHER_ORDER_RANDOM), MARK);
  }
  gather_plan_destroy(plan);
}

static void never_again_or_each_time(void **state) {
  for (int period = -1; period <= 1; period++) {
    gather_plan *plan = plan_of(COUNT_OF_ROWS);
    tune("calibration_runs", period);
    for (int run = 0; run < 10; run++) {
      assert_int_equal(is_due(plan, GATHER_ORDER_SORTED), run < 2 || period == 1);
      keep_winner(plan, GATHER_ORDER_SORTED, 1, 1, 0, 2);
    }
    gather_plan_destroy(plan);
  }
}

/* What was found for indices in one order is not used for another. */
static void by_the_order_of_the_indices(void **state) {
  gather_plan *plan = plan_of(COUNT_OF_ROWS);
  assert_true(is_right(plan, sorted_ids, NULL));
  assert_true(percent_of(plan, GATHER_ORDER_SORTED) >= 100);
  assert_int_equal(percent_of(plan, GATHER_ORDER_RANDOM), 0);
  assert_true(is_right(plan, random_ids, NULL));
  assert_true(percent_of(plan, GATHER_ORDER_RANDOM) >= 100);
  gather_plan_destroy(plan);
}

/* Small gathers do none, and learn nothing. */
static void small_gathers(void **state) {
  tune("calibration_bytes", INT32_MAX);
  gather_plan *plan = plan_of(COUNT_OF_ROWS);
  assert_true(is_right(plan, random_ids, NULL));
  for (int order = 0; order < GATHER_ORDERS; order++) assert_int_equal(percent_of(plan, (gather_order)order), 0);
  gather_plan_destroy(plan);
}

static void the_line_names_the_winner(void **state) {
  char text[2000];
  gather_plan *plan = plan_of(COUNT_OF_ROWS);
  gather_plan_print(plan, text, sizeof text);
  assert_null(strstr(text, "fastest"));
  assert_true(is_right(plan, random_ids, NULL));
  gather_plan_print(plan, text, sizeof text);
  assert_non_null(strstr(text, "; fastest for random indices: "));
  keep_winner(plan, GATHER_ORDER_RANDOM, 1, 100, 0, 124);
  keep_winner(plan, GATHER_ORDER_SORTED, 0, 0, 1, 0); /* a clock that stood still */
  gather_plan_print(plan, text, sizeof text);
  assert_non_null(strstr(text, "; fastest for random indices: rows, 1.24 times as fast as prefetched rows"));
  assert_non_null(strstr(text, "; fastest for sorted indices: prefetched rows, 1.00 times as fast as rows"));
  gather_plan_destroy(plan);
}

/* Ratios that do not fit; and a plan that runs once remembers nothing. */
static void what_is_not_kept(void **state) {
  gather_plan *plan = plan_of(COUNT_OF_ROWS), once = *plan;
  gather_winner winner;
  keep_winner(plan, GATHER_ORDER_NEAR, 2, 1, 1, INT64_C(1) << 40);
  assert_true(gather_winners_get(plan, GATHER_ORDER_NEAR, &winner));
  assert_int_equal(winner.variant, 2);
  assert_int_equal(winner.next, 1);
  assert_int_equal(winner.percent, UINT16_MAX);
  once.winners = NULL;
  keep_winner(&once, GATHER_ORDER_NEAR, 2, 1, 1, 2);
  assert_false(gather_winners_get(&once, GATHER_ORDER_NEAR, &winner));
  for (int run = 0; run < 5; run++) assert_true(is_due(&once, GATHER_ORDER_NEAR));
  gather_plan_destroy(plan);
}

/* ---- a told clock */

enum { MOST_TRIALS = 64 };

static bool told;
static int64_t now, times[MOST_TRIALS]; /* how long each trial takes, in their order */
static int looks;                       /* at the clock: two a trial */

static int64_t told_clock(void) {
  const int trial = looks++ / 2;
  if (looks % 2 == 0 && trial < MOST_TRIALS) now += times[trial];
  return now;
}

WRAPPED(int64_t, gather_clock, (void)) { return told ? told_clock() : REAL(gather_clock)(); }
WRAPPED(int64_t, gather_thread_clock, (void)) { return told ? told_clock() : REAL(gather_thread_clock)(); }

/* The winner of a calibration run whose trials took the times of `times`. */
static gather_winner winner_by_times(void) {
  gather_plan *plan = plan_of(COUNT_OF_ROWS);
  gather_winner winner = {-1, -1, -1};
  told = true, looks = 0;
  assert_true(is_right(plan, random_ids, NULL));
  told = false;
  assert_true(gather_winners_get(plan, GATHER_ORDER_RANDOM, &winner));
  gather_plan_destroy(plan);
  return winner;
}

/* Trial number t of round `round` is of candidate (t + round) % count: each round begins with another one. */
static void set_time(int candidate, int round, int count, int64_t time) {
  times[round * count + (candidate - round + count) % count] = time;
}

/* Of a variant's two trials the shorter one counts, whichever that is, and whatever the times are. */
static void the_shorter_trial_counts(void **state) {
  int32_t variants[MOST_TRIALS] = {0};
  for (int t = 0; t < MOST_TRIALS; t++) times[t] = 1000;
  (void)winner_by_times();
  const int count = looks / 2 / TRIALS;
  assert_int_equal(looks, 2 * TRIALS * count);
  assert_in_range(count, 2, MOST_TRIALS / TRIALS);
  for (int short_round = 0; short_round < TRIALS; short_round++)
    for (int fastest = 0; fastest < count; fastest++)
      for (int64_t unit = 1; unit < INT64_C(1) << 40; unit <<= 13) {
        for (int c = 0; c < count; c++)
          for (int round = 0; round < TRIALS; round++) set_time(c, round, count, 2000 * unit);
        set_time((fastest + 1) % count, 1 - short_round, count, 1500 * unit); /* the second */
        set_time(fastest, short_round, count, 1000 * unit);
        const gather_winner winner = winner_by_times();
        assert_int_equal(winner.percent, 150);
        if (short_round == 0 && unit == 1) variants[fastest] = winner.variant;
        assert_int_equal(winner.variant, variants[fastest]); /* each time the same one */
      }
  for (int c = 1; c < count; c++) assert_true(variants[c - 1] < variants[c]); /* and each is another */
}

/* Radix partitioning writes as the fastest other variant does: with non-temporal stores if that one uses them. Blocks are larger than what
 * is collected for these stores (4096 bytes), and the output begins at any element of a line. */
static void parts_after_each_winner(void **state) {
  static const int64_t WIDTHS[] = {4, 8};
  static _Alignas(64) uint8_t out[COUNT_OF_ROWS * 8 + 64];
  int nontemporal = 0;
  tune("radix_bytes", 1), tune("radix_block", COUNT_OF_ROWS), tune("radix_ps", -1);
  for (size_t w = 0; w < COUNT(WIDTHS); w++) {
    const int64_t width = WIDTHS[w];
    gather_tensor data = tensor_of(GATHER_TYPE_UINT8, NULL, 2, DIMS(ROWS, width));
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, NULL, 1, DIMS(COUNT_OF_ROWS));
    for (int fastest = 0, count = 1; fastest < count; fastest++)
      for (int64_t skip = 0; skip < 64; skip += width) {
        gather_plan *plan = NULL;
        gather_winner winner = {0};
        gather_run run = GATHER_RUN_INIT;
        assert_status(gather_plan_create(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, NULL), GATHER_OK);
        count = plan->variant_count - 1; /* the last one is radix partitioning */
        assert_int_equal(plan->radix_variant, count);
        for (int t = 0; t < MOST_TRIALS; t++) times[t] = t < TRIALS * count ? 2000 : 0;
        for (int round = 0; round < TRIALS; round++) set_time(fastest, round, count, 1000);
        memset(out, 0, sizeof out);
        run.data = table, run.indices = random_ids, run.out = out + skip;
        told = true, looks = 0;
        const gather_status status = gather_plan_run(plan, &run, NULL);
        told = false;
        assert_status(status, GATHER_OK);
        for (int64_t i = 0; i < COUNT_OF_ROWS; i++)
          assert_memory_equal(out + skip + i * width, table + random_ids[i] * width, (size_t)width);
        assert_true(gather_winners_get(plan, GATHER_ORDER_RANDOM, &winner));
        assert_int_equal(winner.variant, plan->radix_variant);
        nontemporal += plan->variants[winner.next].nontemporal;
        gather_plan_destroy(plan);
      }
  }
  if (gather_kernel_nontemporal_copy()) assert_true(nontemporal > 0);
}

/* ---- many threads */

typedef struct {
  const gather_plan *plan;
  const gather_executor *executor;
  bool right;
} caller;

static void *call_often(void *argument) {
  caller *c = argument;
  c->right = true;
  for (int run = 0; run < 20; run++) {
    char text[2000];
    c->right &= is_right(c->plan, run % 3 ? random_ids : sorted_ids, run % 2 ? c->executor : NULL);
    c->right &= gather_plan_print(c->plan, text, sizeof text) > 0;
  }
  return NULL;
}

static void many_threads_at_once(void **state) {
  enum { CALLERS = 4 };
  pthread_t threads[CALLERS];
  caller callers[CALLERS];
  gather_pool *pool;
  gather_plan *plan = plan_of(COUNT_OF_ROWS);
  tune("calibration_runs", 3);
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  for (int c = 0; c < CALLERS; c++) {
    callers[c] = (caller){plan, gather_pool_executor(pool), false};
    assert_int_equal(pthread_create(&threads[c], NULL, call_often, &callers[c]), 0);
  }
  for (int c = 0; c < CALLERS; c++) {
    assert_int_equal(pthread_join(threads[c], NULL), 0);
    assert_true(callers[c].right);
  }
  gather_pool_destroy(pool);
  gather_plan_destroy(plan);
}

int main(void) {
  for (size_t i = 0; i < sizeof table; i++) table[i] = (uint8_t)(i * 2654435761u >> 13);
  for (int64_t i = 0; i < COUNT_OF_ROWS; i++) {
    random_ids[i] = (int64_t)((uint32_t)(i + 1) * 2654435761u >> 7) % ROWS;
    sorted_ids[i] = i * (ROWS / COUNT_OF_ROWS);
  }
  return RUN_TESTS_EACH(as_large, reset, calibrated_now_and_then, never_again_or_each_time, by_the_order_of_the_indices, small_gathers,
                        the_line_names_the_winner, what_is_not_kept, the_shorter_trial_counts, parts_after_each_winner,
                        many_threads_at_once);
}
