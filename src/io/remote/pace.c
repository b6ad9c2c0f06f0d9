/* SPDX-License-Identifier: MIT
 *
 * pace.c: when, how many and how much at once: waits between tries, requests in flight, what answers say about the network, and which
 * ranges are one request. Pure: it knows numbers, no network.
 */
#include "io/remote/pace.h"

#include "core/base/checked.h"

/* ---- back-off: exponential, with jitter. The generator is SplitMix64 (Steele, Lea, Flood 2014) */

enum { FIRST_WAIT = 100000000, MOST_DOUBLINGS = 7, MOST_ASKED = 86400 };
static const int64_t LONGEST_WAIT = 10000000000;

static uint64_t next_random(gather_backoff *backoff) {
  uint64_t z = backoff->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t gather_backoff_wait(gather_backoff *backoff, int32_t tries, int64_t asked) {
  int32_t doublings = tries < 1 ? 0 : tries - 1 > MOST_DOUBLINGS ? MOST_DOUBLINGS : tries - 1;
  int64_t longest = (int64_t)FIRST_WAIT << doublings;
  if (longest > LONGEST_WAIT) longest = LONGEST_WAIT;
  int64_t wait = longest / 2 + (int64_t)(next_random(backoff) % (uint64_t)(longest / 2 + 1));
  if (asked > MOST_ASKED) asked = MOST_ASKED;
  return asked > 0 ? wait / 10 + asked * 1000000000 : wait;
}

/* ---- depth: rounds of as many answers as requests are allowed. It begins wide: most takes are of some hundred rows, and
 * are over before it could have grown. After a round the depth grows: doubled at first, by a sixteenth once the
 * server has refused. Where two rounds with a new depth brought no gain, it stays for some rounds before it tries again: noise must not
 * hold it down for ever. */

enum { FIRST_DEPTH = 64, WORK_OF_A_REQUEST = 1024, STAY = 8 };
static const double GAIN = 1.05;

static void begin_round(gather_depth *depth, int64_t now) {
  depth->left = depth->now;
  depth->began = now;
  depth->work = 0;
  depth->starved = false;
}

void gather_depth_init(gather_depth *depth, int32_t limit, int64_t now) {
  *depth = (gather_depth){.now = limit < FIRST_DEPTH ? limit : FIRST_DEPTH, .limit = limit, .doubling = true, .halved = now};
  begin_round(depth, now);
}

static void grow(gather_depth *depth, double rate) {
  int32_t more = depth->doubling ? depth->now : depth->now / 16 + 1;
  depth->rate = rate;
  depth->now = depth->now + more < depth->limit ? depth->now + more : depth->limit;
  depth->grew = true;
}

static void end_round(gather_depth *depth, double rate) {
  if (depth->grew && rate < depth->rate * GAIN)
    depth->flat++;
  else if (depth->grew)
    depth->flat = 0;
  depth->grew = false;
  if (depth->now == depth->limit) return;
  if (depth->flat >= 2 && depth->flat < 2 + STAY) {
    depth->flat++;
    return;
  }
  if (depth->flat >= 2) depth->flat = 1;
  grow(depth, rate);
}

void gather_depth_answered(gather_depth *depth, int64_t bytes, bool waiting, int64_t now) {
  depth->work += (double)bytes + (double)WORK_OF_A_REQUEST;
  depth->starved |= !waiting;
  if (--depth->left > 0) return;
  double seconds = (double)(now - depth->began) * 1e-9;
  if (!depth->starved) end_round(depth, depth->work / (seconds > 1e-9 ? seconds : 1e-9));
  begin_round(depth, now);
}

void gather_depth_refused(gather_depth *depth, int64_t sent, int64_t now) {
  if (sent < depth->halved) return;
  depth->now = depth->now > 1 ? depth->now / 2 : 1;
  depth->doubling = depth->grew = false;
  depth->halved = now;
  depth->rate = 0;
  begin_round(depth, now);
}

/* ---- percentiles: classes of durations: below 16 ns one each, then 16 to each doubling */

static int duration_class(int64_t value) {
  int doublings = 0;
  if (value < 0) value = 0;
  while (value >= 32) value >>= 1, doublings++;
  int found = doublings * 16 + (int)value;
  return found < GATHER_HISTOGRAM_CLASSES ? found : GATHER_HISTOGRAM_CLASSES - 1;
}

/* The middle of a class. */
static int64_t class_duration(int found) {
  if (found < 32) return found;
  int doublings = found / 16 - 1;
  int64_t low = (int64_t)(found - doublings * 16) << doublings;
  return low + (((int64_t)1 << doublings) >> 1);
}

static void add_duration(gather_histogram *histogram, int64_t nanoseconds) {
  histogram->classes[duration_class(nanoseconds)]++;
  histogram->count++;
}

int64_t gather_histogram_share(const gather_histogram *histogram, double share) {
  int64_t wanted = (int64_t)(share * (double)histogram->count), seen = 0;
  if (wanted >= histogram->count) wanted = histogram->count - 1;
  for (int i = 0; i < GATHER_HISTOGRAM_CLASSES; i++) {
    seen += histogram->classes[i];
    if (seen > wanted) return class_duration(i);
  }
  return 0;
}

/* ---- what answers say about the network */

/* LONG: shorter answers say nothing about bandwidth. FEW: so many waits of a kind, and the shortest is not far from the latency.
 * OPENING_COUNTS: after so many times its bytes, the opening answer is history. */
enum { LONG = 16384, FEW = 12, OPENING_COUNTS = 512 };
/* CAUTION: noise may also have been in our favour, and reading too few bytes too many times is the cheaper mistake. */
static const double CAUTION = 0.75;
/* The first answer of a connection: so much of its wait is taken for latency, as long as no connection was used again. */
static const double OF_NEW = 0.5;
/* If the other connections were opened ahead, the wait of the opening answer is the only one of its kind. Up to twice that of used
 * connections is believed: more is noise, and would leave too little time for the bytes. */
static const double OF_AHEAD = 0.5;
/* Not the median: where a machine is busy, many waits are its own, and not the network's. */
static const double QUARTER = 0.25;
/* How much one answer changes what is known: a slower one may have shared the network with others, or the machine was busy. */
static const double QUICKLY = 0.25, SLOWLY = 0.0625;
static const double LEAST_TIME = 0.5e6; /* what arrives at once came out of somebody's buffer */

void gather_remote_measure_wait(gather_remote_measure *measure, gather_remote_age age, int64_t wait) {
  if (wait < 1) wait = 1;
  add_duration(&measure->first_bytes, wait);
  add_duration(&measure->waits[age], wait);
  if (measure->least_wait[age] == 0 || wait < measure->least_wait[age]) measure->least_wait[age] = wait;
}

/* Bytes a second of an answer's body, which began after `wait`; 0: it came so early that nothing can be told. */
static double rate_of(int64_t wait, int64_t bytes, int64_t time) {
  const double body = (double)(time - wait);
  if (body <= 0) return 0;
  return (double)bytes * 1e9 / (body > LEAST_TIME ? body : LEAST_TIME);
}

static void see(gather_remote_measure *measure, int64_t bytes, int64_t time) {
  if (time < 1) return;
  const double rate = (double)bytes * 1e9 / (double)time;
  if (rate > measure->seen) measure->seen = rate;
}

void gather_remote_measure_answer(gather_remote_measure *measure, gather_remote_age age, int64_t bytes, int64_t time, int64_t whole) {
  add_duration(&measure->durations, whole);
  measure->bytes += bytes;
  if (bytes < LONG) return;
  see(measure, bytes, time);
  if (age == GATHER_REMOTE_NEW && bytes >= measure->opening_bytes) {
    measure->opening_bytes = bytes;
    measure->opening_time = time;
  }
  if (age == GATHER_REMOTE_NEW || measure->waits[age].count < FEW) return;
  const double rate = rate_of(measure->least_wait[age], bytes, time), weight = rate > measure->each ? QUICKLY : SLOWLY;
  measure->each = measure->each > 0 ? (1 - weight) * measure->each + weight * rate : rate;
}

void gather_remote_measure_window(gather_remote_measure *measure, int64_t bytes, int64_t time) { see(measure, bytes, time); }

/* Seconds to the first byte: the lower quartile of used connections, or half of that of new ones where there are no others; 0: not
 * measured. */
static double latency_of(const gather_remote_measure *measure) {
  const gather_remote_age age = measure->waits[GATHER_REMOTE_USED].count > 0 ? GATHER_REMOTE_USED : GATHER_REMOTE_NEW;
  const double wait = (double)gather_histogram_share(&measure->waits[age], QUARTER) * 1e-9;
  return age == GATHER_REMOTE_NEW ? OF_NEW * wait : wait;
}

/* What the opening answer tells; 0: nothing yet, or no longer. Of a network that was only fast at first, later answers are slow: all
 * connections together would not bring as much. */
static double opening_rate(const gather_remote_measure *measure, int32_t connections) {
  const int64_t used = measure->least_wait[GATHER_REMOTE_USED], count = measure->waits[GATHER_REMOTE_NEW].count;
  const bool ahead = count == 1 && measure->waits[GATHER_REMOTE_USED].count >= FEW;
  int64_t wait = measure->least_wait[GATHER_REMOTE_NEW];
  if (measure->opening_bytes == 0 || (count < FEW && !ahead)) return 0;
  if (measure->bytes > OPENING_COUNTS * measure->opening_bytes) return 0;
  if ((double)wait < GATHER_REMOTE_NEAR * 1e9) return 0; /* windows tell soon */
  if (ahead && wait > 2 * used) wait = 2 * used;
  const double rate = (ahead ? OF_AHEAD : 1) * rate_of(wait, measure->opening_bytes, measure->opening_time);
  const double most = measure->each * (double)connections;
  return measure->each > 0 && most < rate ? most : rate;
}

/* Bytes a second of so many connections together; 0: not measured. */
static double bandwidth_of(const gather_remote_measure *measure, int32_t connections) {
  const double opening = opening_rate(measure, connections);
  const double more = opening > measure->each ? opening : measure->each;
  return CAUTION * (more > measure->seen ? more : measure->seen);
}

void gather_remote_measured(const gather_remote_measure *measure, int32_t connections, gather_remote_costs *costs) {
  *costs = (gather_remote_costs){.latency = latency_of(measure),
                                 .bandwidth = bandwidth_of(measure, connections),
                                 .connections = connections,
                                 .bytes = measure->bytes + 1,
                                 .guessed = measure->each == 0};
}

/* ---- gaps: chosen by the model of pace.h. The end of every class is tried */

enum { STEPS = GATHER_REMOTE_GAP_STEPS, STEP_BITS = 5, LEAST_PART = 4096 };

/* The model is not exact to so much: a time that is so close to the best is as good, and reads less. But a whole round of requests counts,
 * however many there are. */
static const double AS_GOOD = 0.05, OF_ROUND = 0.5;

static int log2_of(uint64_t value) {
  int log = 0;
  while (value >>= 1) log++;
  return log;
}

/* Class 1 + STEPS * k + j has the gaps from 2^k * (1 + j/STEPS) on. */
static int gap_class(int64_t gap) {
  if (gap <= 0) return 0;
  const uint64_t value = (uint64_t)gap;
  const int log = log2_of(value);
  const uint64_t scaled = log >= STEP_BITS ? value >> (log - STEP_BITS) : value << (STEP_BITS - log);
  return 1 + STEPS * log + (int)(scaled - STEPS);
}

/* The longest gap of a class. */
static int64_t gap_class_end(int number) {
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
  const int number = gap_class(gap);
  gaps->count[number]++;
  gaps->sum[number] = add(gaps->sum[number], gap);
}

/* The seconds that requests take; 0 for none. */
static double seconds_of(const gather_remote_costs *costs, int64_t requests, int64_t bytes) {
  if (requests <= 0) return 0;
  const int64_t connections = costs->connections > 0 ? costs->connections : 1;
  const double rounds = (double)(requests / connections + (requests % connections != 0));
  const double each = costs->bandwidth > 0 ? (double)bytes / (double)requests * (double)connections / costs->bandwidth : 0;
  const double paced = costs->rate > 0 ? (double)requests / costs->rate : 0;
  const double moved = costs->bandwidth > 0 ? (double)bytes / costs->bandwidth : 0;
  double seconds = rounds * (costs->latency + each);
  if (seconds < paced) seconds = paced;
  return seconds < moved ? moved : seconds;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static double least(double a, double b) { return a < b ? a : b; }

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
static void evaluate(const gather_remote_costs *costs, int64_t most_bytes, int64_t ranges, int64_t bytes, gather_remote_joining *joining) {
  joining->part_bytes = part_of(costs, bytes, most_bytes);
  joining->requests = most(ranges, bytes / joining->part_bytes + (bytes % joining->part_bytes != 0));
  joining->bytes = bytes;
  joining->seconds = seconds_of(costs, joining->requests, bytes);
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
      joining->gap_bytes = gap_class_end(number);
      if (pass == 0 && (best < 0 || joining->seconds < best)) best = joining->seconds;
      if (pass == 1 && joining->seconds <= best + least(best * AS_GOOD, costs->latency * OF_ROUND)) return;
    }
  }
}

void gather_remote_join_by(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes, int64_t gap_bytes,
                           gather_remote_joining *joining) {
  int64_t ranges = gaps->ranges, bytes = gaps->bytes;
  const int last = gap_class(gap_bytes);
  for (int number = 0; number <= last; number++) {
    ranges -= gaps->count[number];
    bytes = add(bytes, gaps->sum[number]);
  }
  evaluate(costs, most_bytes, ranges, bytes, joining);
  joining->gap_bytes = gap_bytes;
}
