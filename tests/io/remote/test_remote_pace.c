/* SPDX-License-Identifier: MIT
 *
 * test_remote_pace.c: how long a retry waits, how many requests are in flight, and percentiles.
 */
#include "io/remote/pace.c"
#include "support/unit.h"

static const int64_t SECOND = 1000000000;

static void test_backoff(void **state) {
  gather_backoff one, same, other;
  one.state = 1;
  same.state = 1;
  other.state = 2;
  int differ = 0;
  for (int32_t tries = 1; tries < 40; tries++) {
    int64_t whole = tries < 8 ? (SECOND / 10) << (tries - 1) : 10 * SECOND;
    if (whole > 10 * SECOND) whole = 10 * SECOND;
    int64_t wait = gather_backoff_wait(&one, tries, -1);
    assert_true(wait >= whole / 2 && wait <= whole);
    assert_true(wait == gather_backoff_wait(&same, tries, -1));
    differ += wait != gather_backoff_wait(&other, tries, -1);
  }
  assert_true(differ > 30);
  /* What the server asks for is waited, and a little more, so that not all come back at once. */
  assert_in_range(gather_backoff_wait(&one, 1, 3), 3 * SECOND + SECOND / 200, 3 * SECOND + SECOND / 100);
  assert_true(gather_backoff_wait(&one, 1, INT64_MAX) < 100000 * SECOND);
}

/* Plays rounds of a network: `rate` gives the requests a second at a depth. Returns the depth after so many answers. */
static int32_t play(gather_depth *depth, int answers, double (*rate)(int32_t depth), int64_t *now) {
  for (int i = 0; i < answers; i++) {
    *now += (int64_t)(1e9 / rate(depth->now));
    gather_depth_answered(depth, 512, true, *now);
    assert_in_range(depth->now, 1, depth->limit);
  }
  return depth->now;
}

static double by_latency(int32_t depth) { return depth / 0.04; }
static double saturated(int32_t depth) { return depth < 128 ? depth / 0.04 : 3200; }

static void test_depth_grows(void **state) {
  int64_t now = 5;
  gather_depth depth;
  gather_depth_init(&depth, 256, now);
  assert_int_equal(depth.now, 64);                                 /* a take of some hundred rows is over before it could grow */
  assert_int_equal(play(&depth, 64 + 128, by_latency, &now), 256); /* doubled in each round trip */
  gather_depth_init(&depth, 4, now);
  assert_int_equal(depth.now, 4);
  assert_int_equal(play(&depth, 1000, by_latency, &now), 4);
}

/* Where throughput does not grow, neither does the depth, but it goes on trying from time to time. */
static void test_depth_stays(void **state) {
  int64_t now = 5;
  gather_depth depth;
  gather_depth_init(&depth, 1024, now);
  (void)play(&depth, 64 + 128 + 256 + 512, saturated, &now);
  int32_t reached = depth.now;
  assert_in_range(reached, 256, 512);
  assert_int_equal(play(&depth, reached * 5, saturated, &now), reached);
  assert_true(play(&depth, reached * 20, saturated, &now) > reached);
}

static void test_depth_halves(void **state) {
  int64_t now = 5;
  gather_depth depth;
  gather_depth_init(&depth, 64, now);
  (void)play(&depth, 32, by_latency, &now);
  assert_int_equal(depth.now, 64);
  /* All requests that were in flight together halve it once. */
  int64_t sent = now;
  for (int i = 0; i < 64; i++) gather_depth_refused(&depth, sent, ++now);
  assert_int_equal(depth.now, 32);
  gather_depth_refused(&depth, now, now + 1);
  assert_int_equal(depth.now, 16);
  /* Then it grows slowly. */
  now += 10;
  int32_t before = depth.now;
  (void)play(&depth, before, by_latency, &now);
  assert_in_range(depth.now, before + 1, before + 2);
  for (int i = 0; i < 20; i++) {
    now += 10;
    gather_depth_refused(&depth, now, now + 1);
  }
  assert_int_equal(depth.now, 1);
}

/* A take that ends measures nothing. */
static void test_depth_starved(void **state) {
  gather_depth depth;
  gather_depth_init(&depth, 256, 0);
  for (int i = 0; i < 200; i++) gather_depth_answered(&depth, 512, i % 64 != 3, i * SECOND);
  assert_int_equal(depth.now, 64);
}

static void test_histogram(void **state) {
  static gather_histogram histogram;
  assert_int_equal(gather_histogram_share(&histogram, 0.5), 0);
  for (int64_t i = 1; i <= 1000; i++) add_duration(&histogram, i * 1000000);
  assert_in_range(gather_histogram_share(&histogram, 0.5), 485000000, 515000000);
  assert_in_range(gather_histogram_share(&histogram, 0.99), 960000000, 1020000000);
  assert_in_range(gather_histogram_share(&histogram, 1), 960000000, 1040000000);
  assert_in_range(gather_histogram_share(&histogram, 0), 970000, 1030000);
  static gather_histogram ends;
  add_duration(&ends, INT64_MAX);
  add_duration(&ends, -1);
  add_duration(&ends, 0);
  assert_int_equal(gather_histogram_share(&ends, 0.5), 0);
  assert_true(gather_histogram_share(&ends, 1) > 3600 * SECOND);
  static gather_histogram small;
  for (int64_t i = 0; i < 64; i++) {
    small = (gather_histogram){0};
    add_duration(&small, i);
    assert_in_range(gather_histogram_share(&small, 0.5), i > 1 ? i - 1 : 0, i + 1);
  }
}

/* A server 40 ms away, behind which 10 MB/s pass; connections that are opened wait twice as long for their first answer. */
static void test_measure(void **state) {
  enum { MS = 1000000, HEAD = 65536, CONNECTIONS = 64 };
  static gather_remote_measure m;
  assert_true(latency_of(&m) == 0 && bandwidth_of(&m, CONNECTIONS) == 0);
  gather_remote_measure_wait(&m, GATHER_REMOTE_NEW, 86 * MS); /* it arrived at once: nothing tells the 6 ms of its bytes */
  gather_remote_measure_answer(&m, GATHER_REMOTE_NEW, HEAD, 86 * MS, 1);
  assert_in_range((int64_t)(latency_of(&m) * 1000), 40, 46);
  assert_true(bandwidth_of(&m, CONNECTIONS) < (double)HEAD / 0.086); /* proved, and no more */
  for (int i = 0; i < 16; i++) gather_remote_measure_wait(&m, GATHER_REMOTE_NEW, (80 + i / 2) * MS);
  gather_remote_measure_wait(&m, GATHER_REMOTE_USED, 40 * MS);
  assert_in_range((int64_t)(latency_of(&m) * 1000), 38, 42);
  double rate = bandwidth_of(&m, CONNECTIONS); /* by the 6 ms more that it took */
  assert_true(rate > 7e6 && rate < 11e6);
  /* The first answer came out of a buffer: later ones are slow, and all connections together would not bring as much. */
  for (int i = 0; i < 16; i++) gather_remote_measure_wait(&m, GATHER_REMOTE_USED, 40 * MS);
  gather_remote_measure_answer(&m, GATHER_REMOTE_USED, 20000, 1040 * MS, 1);
  assert_true(bandwidth_of(&m, CONNECTIONS) < 0.02e6 * (double)CONNECTIONS);
  gather_remote_measure_window(&m, 10000000, SECOND);
  rate = bandwidth_of(&m, CONNECTIONS);
  assert_true(rate > 7e6 && rate <= 10e6);
  assert_int_equal(m.bytes, HEAD + 20000);
  /* Of a server that is near, the opening answer proves no more than what it took in all. */
  static gather_remote_measure near;
  for (int i = 0; i < 16; i++) gather_remote_measure_wait(&near, GATHER_REMOTE_NEW, 2 * MS);
  gather_remote_measure_answer(&near, GATHER_REMOTE_NEW, HEAD, 2 * MS + 1000, 1);
  assert_true(bandwidth_of(&near, CONNECTIONS) <= (double)HEAD / 0.002);
}

TESTS(test_backoff, test_depth_grows, test_depth_stays, test_depth_halves, test_depth_starved, test_measure, test_histogram)
