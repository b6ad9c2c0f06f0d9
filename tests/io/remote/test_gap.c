/* SPDX-License-Identifier: MIT
 *
 * test_gap.c: the gap that joins ranges, against every gap there is: the time of the model is as short, and not more bytes are read.
 */
#include "io/remote/pace.c"
#include "support/unit.h"

enum { MOST_RANGES = 3000, MIB = 1 << 20, SHORTEST = 4096 };

static uint64_t state = 1;

static uint64_t draw(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 20;
}

/* Ranges of one length at random places of a file, in order; returns how many are distinct. */
typedef struct places {
  int64_t at[MOST_RANGES], row_bytes;
  int count;
} places;

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void draw_places(places *p, int count, int64_t rows, int64_t row_bytes) {
  *p = (places){.row_bytes = row_bytes};
  for (int i = 0; i < count; i++) p->at[i] = (int64_t)(draw() % (uint64_t)rows) * row_bytes;
  qsort(p->at, (size_t)count, sizeof *p->at, compare);
  for (int i = 0; i < count; i++)
    if (i == 0 || p->at[i] != p->at[i - 1]) p->at[p->count++] = p->at[i];
}

static gather_remote_gaps summed(const places *p) {
  gather_remote_gaps gaps = {0};
  for (int i = 0; i < p->count; i++) gather_remote_gaps_add(&gaps, p->row_bytes, i == 0 ? -1 : p->at[i] - p->at[i - 1] - p->row_bytes);
  return gaps;
}

/* What is read if gaps up to this one are joined, in requests of any length. */
static void count_joined(const places *p, int64_t gap, int64_t *requests, int64_t *bytes) {
  *requests = *bytes = 0;
  for (int i = 0; i < p->count; i++) {
    const int64_t between = i == 0 ? -1 : p->at[i] - p->at[i - 1] - p->row_bytes;
    const bool joined = i > 0 && between <= gap;
    *requests += !joined;
    *bytes += p->row_bytes + (joined ? between : 0);
  }
}

/* The best of all gaps that these ranges have. */
static double best_of_all(const places *p, const gather_remote_costs *costs, int64_t *best_bytes) {
  double best = -1;
  for (int i = 0; i < p->count; i++) {
    int64_t requests, bytes, gap = i == 0 ? 0 : p->at[i] - p->at[i - 1] - p->row_bytes;
    count_joined(p, gap, &requests, &bytes);
    const int64_t busy = (int64_t)(costs->latency * costs->bandwidth / costs->connections);
    int64_t part = (bytes + costs->connections - 1) / costs->connections; /* long ranges are divided among the connections */
    if (part < busy) part = busy;
    if (part < SHORTEST) part = SHORTEST;
    const int64_t parts = (bytes + part - 1) / part;
    const double now = seconds_of(costs, parts > requests ? parts : requests, bytes);
    if (best >= 0 && now >= best) continue;
    best = now;
    *best_bytes = bytes;
  }
  return best;
}

static void test_brute_force(void **unused) {
  static const double LATENCY[] = {0.0005, 0.001, 0.02, 0.04, 0.1, 0.3}, BANDWIDTH[] = {1e6, 1e7, 125e6, 1.25e9};
  static const int32_t CONNECTIONS[] = {1, 4, 16, 64, 256};
  static places p;
  int joined = 0, single = 0;
  for (int round = 0; round < 400; round++) {
    const gather_remote_costs costs = {LATENCY[draw() % 6], BANDWIDTH[draw() % 4], CONNECTIONS[draw() % 5], 0, 0, false};
    const int count = 2 + (int)(draw() % (round % 4 == 0 ? MOST_RANGES - 2 : 300));
    const int64_t row_bytes = 1 + (int64_t)(draw() % 5000);
    draw_places(&p, count, (int64_t)count << (draw() % 16), row_bytes);
    const gather_remote_gaps gaps = summed(&p);
    gather_remote_joining joining;
    int64_t best_bytes = 0, requests, bytes;
    gather_remote_join(&gaps, &costs, INT64_MAX, &joining);
    const double best = best_of_all(&p, &costs, &best_bytes);
    count_joined(&p, joining.gap_bytes, &requests, &bytes);
    assert_int_equal(bytes, joining.bytes);
    assert_true(joining.requests >= requests);
    assert_true(joining.seconds <= best * 1.1);
    assert_true((double)bytes <= (double)best_bytes * 1.3);
    joined += requests < p.count;
    single += requests == p.count;
  }
  assert_true(joined > 50 && single > 50); /* both kinds were drawn */
}

/* The figures of the measurements that the model stands on: 2000 rows of 512 bytes, 40 ms, 1 Gbit/s. */
static void test_sparse_and_dense(void **unused) {
  static places p;
  gather_remote_joining joining;
  const gather_remote_costs costs = {0.04, 125e6, 64, 0, 0, false};
  draw_places(&p, 2000, 8000000, 512);
  gather_remote_gaps gaps = summed(&p);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_true(joining.bytes < 2 * gaps.bytes); /* a gap of 1 MiB reads 350 times as much */
  assert_true(joining.requests <= 31 * 64);    /* a 32nd round would be for 16 rows */
  draw_places(&p, 2000, 200000, 512);
  gaps = summed(&p);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_in_range(joining.gap_bytes, 30 << 10, 100 << 10);
}

/* Nothing is read for ranges that all fit into the connections. */
static void test_few(void **unused) {
  static places p;
  gather_remote_joining joining;
  const gather_remote_costs costs = {0.1, 125e6, 64, 0, 0, false};
  draw_places(&p, 60, 6000, 512);
  const gather_remote_gaps gaps = summed(&p);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_int_equal(joining.gap_bytes, 0);
  assert_int_equal(joining.bytes, gaps.bytes);
}

/* One long range is divided among the connections, in parts that are worth a request each; a whole file is read in parts as long as
 * memory allows. */
static void test_parts(void **unused) {
  gather_remote_gaps gaps = {0};
  gather_remote_joining joining;
  const gather_remote_costs costs = {0.04, 125e6, 64, 0, 0, false};
  gather_remote_gaps_add(&gaps, 10 * MIB, -1);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_int_equal(joining.part_bytes, 10 * MIB / 64);
  assert_int_equal(joining.requests, 64);
  gaps = (gather_remote_gaps){0};
  gather_remote_gaps_add(&gaps, 100 << 10, -1);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_int_equal(joining.part_bytes, (int64_t)(0.04 * 125e6 / 64));
  gaps = (gather_remote_gaps){0};
  gather_remote_gaps_add(&gaps, (int64_t)64 << 30, -1);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_int_equal(joining.part_bytes, 16 * MIB);
  assert_int_equal(joining.requests, 4096);
}

/* Rows of 16 bytes, of which little bandwidth was measured: each is one request. */
static void test_short_rows(void **unused) {
  gather_remote_gaps gaps = {0};
  gather_remote_joining joining;
  const gather_remote_costs costs = {0.0005, 1e6, 64, 0, 0, false};
  for (int i = 0; i < 2; i++) gather_remote_gaps_add(&gaps, 16, i == 0 ? -1 : 1000);
  gather_remote_join(&gaps, &costs, 16 * MIB, &joining);
  assert_int_equal(joining.requests, 2);
  assert_int_equal(joining.part_bytes, SHORTEST);
  gather_remote_join_by(&gaps, &costs, 16 * MIB, 0, &joining);
  assert_int_equal(joining.part_bytes, SHORTEST);
  gather_remote_join(&gaps, &costs, 10, &joining); /* no room for more */
  assert_int_equal(joining.part_bytes, 10);
}

/* Half of all blocks: everything is one range. */
static void test_share(void **unused) {
  gather_remote_joining joining;
  const gather_remote_costs costs = {0.04, 125e6, 64, 0, 0, false};
  for (int share = 0; share < 2; share++) { /* one block of 4 KiB in two; one in 4096 */
    gather_remote_gaps gaps = {0};
    for (int i = 0; i < 100000; i++) gather_remote_gaps_add(&gaps, 4096, i == 0 ? -1 : share == 0 ? 4096 : 4095 * 4096);
    gather_remote_join(&gaps, &costs, MIB, &joining);
    assert_int_equal(joining.bytes, share == 0 ? gaps.bytes * 2 - 4096 : gaps.bytes);
    assert_int_equal(joining.requests, share == 0 ? joining.bytes / MIB + 1 : 100000);
  }
}

static void test_given(void **unused) {
  static places p;
  const gather_remote_costs costs = {0.04, 125e6, 64, 0, 0, false};
  gather_remote_joining joining;
  draw_places(&p, 1000, 100000, 512);
  const gather_remote_gaps gaps = summed(&p);
  for (int32_t connections = 1; connections <= 64; connections *= 8) { /* the parts are long enough for what the gap joins */
    const gather_remote_costs few = {0.0001, 1e6, connections, 0, 0, false};
    gather_remote_gaps even = {0};
    for (int i = 0; i < 100; i++) gather_remote_gaps_add(&even, 512, i == 0 ? -1 : 9728);
    gather_remote_join_by(&even, &few, 16 * MIB, 9728, &joining);
    assert_int_equal(joining.requests, connections);
    gather_remote_join_by(&even, &few, 16 * MIB, 9000, &joining);
    assert_int_equal(joining.bytes, 51200);
  }
  gather_remote_join_by(&gaps, &costs, MIB, 0, &joining);
  assert_int_equal(joining.bytes, gaps.bytes);
  gather_remote_join_by(&gaps, &costs, INT64_MAX, INT64_MAX, &joining);
  assert_int_equal(joining.bytes, p.at[p.count - 1] - p.at[0] + 512);
}

/* The terms of the model, one by one; and numbers that would overflow. */
static void test_model(void **unused) {
  gather_remote_costs costs = {0.1, 1e6, 10, 0, 0, false};
  gather_remote_gaps gaps = {0};
  gather_remote_joining joining;
  assert_true(seconds_of(&costs, 0, 0) == 0);
  assert_float_equal(seconds_of(&costs, 10, 0), 0.1, 1e-12);
  assert_float_equal(seconds_of(&costs, 11, 0), 0.2, 1e-12);
  assert_float_equal(seconds_of(&costs, 10, 1000000), 1.1, 1e-12);
  assert_float_equal(seconds_of(&costs, 1, 1000000), 10.1, 1e-12);
  costs.rate = 5;
  assert_float_equal(seconds_of(&costs, 10, 0), 2, 1e-12);
  costs = (gather_remote_costs){0};
  assert_true(seconds_of(&costs, 1, INT64_MAX) == 0);
  for (int i = 0; i < 3; i++) gather_remote_gaps_add(&gaps, INT64_MAX, i == 0 ? -1 : INT64_MAX);
  gather_remote_join(&gaps, &costs, INT64_MAX, &joining);
  assert_int_equal(joining.bytes, INT64_MAX);
}

TESTS(test_brute_force, test_sparse_and_dense, test_few, test_parts, test_short_rows, test_share, test_given, test_model)
