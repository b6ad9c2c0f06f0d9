/* SPDX-License-Identifier: MIT
 *
 * remote_gap.c: chooses the gap by the model of remote_gap.h. The end of every class is tried.
 */
#include "io/remote/remote_gap.h"

#include "core/base/checked.h"

enum { STEPS = GATHER_REMOTE_GAP_STEPS, STEP_BITS = 5, LEAST_PART = 4096 };

/* The model is not exact to so much: a time that is so close to the best is as good, and reads less. */
static const double AS_GOOD = 1.05;

/* ---- classes */

static int log2_of(uint64_t value) {
  int log = 0;
  while (value >>= 1) log++;
  return log;
}

/* Class 1 + STEPS * k + j has the gaps from 2^k * (1 + j/STEPS) on. */
static int class_of(int64_t gap) {
  if (gap <= 0) return 0;
  const uint64_t value = (uint64_t)gap;
  const int log = log2_of(value);
  const uint64_t scaled = log >= STEP_BITS ? value >> (log - STEP_BITS) : value << (STEP_BITS - log);
  return 1 + STEPS * log + (int)(scaled - STEPS);
}

/* The longest gap of a class. */
static int64_t class_end(int number) {
  if (number == 0) return 0;
  const int log = (number - 1) / STEPS;
  const uint64_t next = (uint64_t)STEPS + (uint64_t)((number - 1) % STEPS) + 1;
  if (log >= STEP_BITS) return (int64_t)((next << (log - STEP_BITS)) - 1);
  return (int64_t)((next + (1u << (STEP_BITS - log)) - 1) >> (STEP_BITS - log)) - 1;
}

static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return gather_add(a, b, &sum) ? sum : INT64_MAX;
}

void gather_remote_gaps_add(gather_remote_gaps *gaps, int64_t bytes, int64_t gap) {
  gaps->ranges++;
  gaps->bytes = add(gaps->bytes, bytes);
  if (gap < 0) return;
  const int number = class_of(gap);
  gaps->count[number]++;
  gaps->sum[number] = add(gaps->sum[number], gap);
}

/* ---- the model */

double gather_remote_seconds(const gather_remote_costs *costs, int64_t requests, int64_t bytes) {
  if (requests <= 0) return 0;
  const int64_t connections = costs->connections > 0 ? costs->connections : 1;
  const double rounds = (double)(requests / connections + (requests % connections != 0));
  const double each =
      costs->bandwidth > 0 ? (double)bytes / (double)requests * (double)connections / costs->bandwidth : 0;
  const double paced = costs->rate > 0 ? (double)requests / costs->rate : 0;
  const double moved = costs->bandwidth > 0 ? (double)bytes / costs->bandwidth : 0;
  double seconds = rounds * (costs->latency + each);
  if (seconds < paced) seconds = paced;
  return seconds < moved ? moved : seconds;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* From this length on a request reads for longer than it waits. Short answers measure little bandwidth: still, a part is longer than
 * the headers of a request and its answer, so that short rows are not cut. */
static int64_t busy_bytes(const gather_remote_costs *costs) {
  const int64_t connections = most(costs->connections, 1);
  const double bytes = costs->latency * costs->bandwidth / (double)connections;
  return bytes < (double)LEAST_PART ? LEAST_PART : bytes > 1e15 ? (int64_t)1e15 : (int64_t)bytes;
}

/* The length of a part if `bytes` are read in all. */
static int64_t part_of(const gather_remote_costs *costs, int64_t bytes, int64_t most_bytes) {
  const int64_t connections = most(costs->connections, 1);
  const int64_t part = most(bytes / connections + (bytes % connections != 0), busy_bytes(costs));
  return part < most_bytes ? part : most_bytes;
}

/* What is read if gaps up to that of `class` are joined. */
static void evaluate(const gather_remote_costs *costs, int64_t most_bytes, int64_t ranges, int64_t bytes,
                     gather_remote_joining *joining) {
  joining->part_bytes = part_of(costs, bytes, most_bytes);
  joining->requests = most(ranges, bytes / joining->part_bytes + (bytes % joining->part_bytes != 0));
  joining->bytes = bytes;
  joining->seconds = gather_remote_seconds(costs, joining->requests, bytes);
}

void gather_remote_join(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes,
                        gather_remote_joining *joining) {
  double best = -1;
  for (int pass = 0; pass < 2; pass++) { /* the best time, then the least gap that is as good */
    int64_t ranges = gaps->ranges, bytes = gaps->bytes;
    for (int number = 0; number < GATHER_REMOTE_GAP_CLASSES; number++) {
      if (number > 0 && gaps->count[number] == 0) continue;
      ranges -= gaps->count[number];
      bytes = add(bytes, gaps->sum[number]);
      evaluate(costs, most_bytes, ranges, bytes, joining);
      joining->gap_bytes = class_end(number);
      if (pass == 0 && (best < 0 || joining->seconds < best)) best = joining->seconds;
      if (pass == 1 && joining->seconds <= best * AS_GOOD) return;
    }
  }
}

void gather_remote_join_by(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes,
                           int64_t gap_bytes, gather_remote_joining *joining) {
  int64_t ranges = gaps->ranges, bytes = gaps->bytes;
  const int last = class_of(gap_bytes);
  for (int number = 0; number <= last; number++) {
    ranges -= gaps->count[number];
    bytes = add(bytes, gaps->sum[number]);
  }
  evaluate(costs, most_bytes, ranges, bytes, joining);
  joining->gap_bytes = gap_bytes;
}
