/* SPDX-License-Identifier: MIT
 *
 * What `gather bench` says of its figures, tried with made-up ones: when a run is too noisy to tell, and when an engine is recommended.
 */
#include "bench_verdict.h"
#include "support/unit.h"

enum { ROUNDS = 5 };

static const double LIMIT[2 * ROUNDS] = {1000, 1010, 990, 1005, 995, 1000, 1020, 980, 1000, 1003};
static const double SLOW[ROUNDS] = {500, 510, 495, 505, 498};
static const double LIKE[ROUNDS] = {515, 505, 500, 520, 510};
static const double FAST[ROUNDS] = {800, 790, 810, 805, 795};

/* auto and two engines on a quiet disk. */
static gather_cli_bench_figures quiet(const double *automatic, const char *reads, const double *mmap, const double *uring) {
  return (gather_cli_bench_figures){
      ITEMS(.cold = true, .rounds = ROUNDS, .limit = LIMIT, .limit_count = 2 * ROUNDS, .engine_count = 3,
            .engine = {{"auto", reads, automatic, 0.5}, {"mmap", "mmap", mmap, 0.5}, {"uring", "uring", uring, 0.5}})};
}

static void expect(const gather_cli_bench_figures *figures, gather_cli_bench_verdict verdict, const char *words) {
  gather_cli_bench_judgement is = gather_cli_bench_judge(figures);
  assert_string_equal(gather_cli_bench_verdict_name(is.verdict), gather_cli_bench_verdict_name(verdict));
  assert_non_null(strstr(is.why, words));
}

static void test_the_middle_and_the_spread(void **state) {
  static const double ODD[] = {5, 1, 3, 4, 1000}, EVEN[] = {4, 1, 3, 2};
  gather_cli_bench_rate rate = gather_cli_bench_rate_of(ODD, 5);
  assert_true(rate.middle == 4 && rate.least == 1 && rate.most == 1000 && rate.spread == 0.25); /* (5 - 3) / 2 / 4 */
  rate = gather_cli_bench_rate_of(EVEN, 4);
  assert_true(rate.middle == 2.5 && rate.spread == 0.2);
  rate = gather_cli_bench_rate_of(ODD, 1);
  assert_true(rate.middle == 5 && rate.spread == 0);
  rate = gather_cli_bench_rate_of(ODD, 0);
  assert_true(rate.middle == 0 && rate.spread == 0);
}

static void test_a_faster_engine_is_named(void **state) {
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, FAST);
  expect(&figures, GATHER_CLI_BENCH_ENGINE, "uring was faster than auto in each of 5 rounds, by 60 %");
  assert_int_equal(gather_cli_bench_judge(&figures).best, 2);
}

static void test_engines_that_do_not_differ(void **state) {
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, LIKE);
  expect(&figures, GATHER_CLI_BENCH_AUTO, "uring and auto do not differ measurably");
}

/* Half again as fast in the median, but slower in one round: that may be chance. */
static void test_one_round_lost_is_no_win(void **state) {
  static const double MOSTLY[ROUNDS] = {750, 770, 490, 760, 755};
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, MOSTLY);
  expect(&figures, GATHER_CLI_BENCH_AUTO, "do not differ measurably");
}

static void test_auto_that_is_that_engine(void **state) {
  static const double LUCK[ROUNDS] = {600, 620, 610, 615, 605};
  gather_cli_bench_figures figures = quiet(SLOW, "uring", SLOW, LUCK);
  expect(&figures, GATHER_CLI_BENCH_AUTO, "auto uses uring");
  figures = quiet(FAST, "uring", SLOW, SLOW);
  expect(&figures, GATHER_CLI_BENCH_AUTO, "auto uses uring");
}

static void test_a_limit_that_varies(void **state) {
  static const double VARIES[2 * ROUNDS] = {1000, 300, 1100, 400, 900, 350, 1000, 500, 300, 1050};
  static const double FALLS[2 * ROUNDS] = {1400, 1390, 1400, 1200, 1180, 1100, 1000, 1000, 1010, 990};
  static const double STOPS[2 * ROUNDS] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 0, 0};
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, FAST);
  figures.limit = VARIES;
  expect(&figures, GATHER_CLI_BENCH_NOISY, "the disk limit, measured before and after each round, varied");
  figures.limit = FALLS;
  expect(&figures, GATHER_CLI_BENCH_NOISY, "the disk limit went from 1395 to 1000 blocks/s");
  figures.limit = STOPS;
  expect(&figures, GATHER_CLI_BENCH_NOISY, "the disk limit went from 1000 to 500 blocks/s");
}

static void test_more_than_the_disk_gives(void **state) {
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, FAST);
  figures.engine[2].share = 2.08;
  expect(&figures, GATHER_CLI_BENCH_NOISY, "uring reached 208 % of the disk limit");
  figures.engine[2].share = 1.05;
  expect(&figures, GATHER_CLI_BENCH_ENGINE, "uring");
  figures.engine[2].share = 2.08;
  figures.dense = true;
  expect(&figures, GATHER_CLI_BENCH_ENGINE, "uring");
}

static void test_engines_that_vary(void **state) {
  static const double WILD[ROUNDS] = {300, 900, 800, 350, 1200};
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, WILD);
  expect(&figures, GATHER_CLI_BENCH_NOISY, "the rounds of uring varied by +-");
  figures = quiet(WILD, "pread", SLOW, FAST);
  expect(&figures, GATHER_CLI_BENCH_NOISY, "the rounds of auto varied by +-");
  figures = quiet(SLOW, "pread", WILD, FAST); /* neither the best nor auto */
  figures.engine[1].rounds = (const double[ROUNDS]){100, 400, 90, 80, 300};
  expect(&figures, GATHER_CLI_BENCH_ENGINE, "uring");
}

/* One round that something disturbed changes nothing. */
static void test_an_outlier(void **state) {
  static const double ONCE[ROUNDS] = {800, 790, 20000, 805, 795};
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, ONCE);
  expect(&figures, GATHER_CLI_BENCH_ENGINE, "uring");
}

static void test_what_is_not_cold_or_not_chosen(void **state) {
  gather_cli_bench_figures figures = quiet(SLOW, "mmap", SLOW, FAST);
  figures.one_engine = true;
  expect(&figures, GATHER_CLI_BENCH_NOTHING, "");
  figures.cold = false;
  expect(&figures, GATHER_CLI_BENCH_UNKNOWN, "stays in the page cache");
  figures.cold = true;
  figures.engine_count = 0;
  expect(&figures, GATHER_CLI_BENCH_UNKNOWN, "");
  figures = quiet(SLOW, "mmap", SLOW, FAST);
  figures.limit = NULL; /* a file without a whole block */
  expect(&figures, GATHER_CLI_BENCH_ENGINE, "uring");
}

TESTS(test_the_middle_and_the_spread, test_a_faster_engine_is_named, test_engines_that_do_not_differ, test_one_round_lost_is_no_win,
      test_auto_that_is_that_engine, test_a_limit_that_varies, test_more_than_the_disk_gives, test_engines_that_vary, test_an_outlier,
      test_what_is_not_cold_or_not_chosen)
