/* SPDX-License-Identifier: MIT
 *
 * remote_measure.c: see remote_measure.h.
 */
#include "io/remote/remote_measure.h"

/* LONG: shorter answers say nothing about bandwidth. FEW: so many waits of a kind, and the shortest is not far from the latency.
 * OPENING_COUNTS: after so many times its bytes, the opening answer is history. */
enum { LONG = 16384, FEW = 12, OPENING_COUNTS = 512 };
/* CAUTION: noise may also have been in our favour, and reading too few bytes too many times is the cheaper mistake. */
static const double CAUTION = 0.75;
/* The first answer of a connection: so much of its wait is taken for latency, as long as no connection was used again. */
static const double OF_NEW = 0.5;
/* Not the median: where a machine is busy, many waits are its own, and not the network's. */
static const double QUARTER = 0.25;
/* How much one answer changes what is known: a slower one may have shared the network with others, or the machine was busy. */
static const double QUICKLY = 0.25, SLOWLY = 0.0625;
static const double LEAST_TIME = 0.5e6; /* what arrives at once came out of somebody's buffer */

void gather_remote_measure_wait(gather_remote_measure *measure, gather_remote_age age, int64_t wait) {
  if (wait < 1) wait = 1;
  gather_histogram_add(&measure->waits[age], wait);
  if (measure->least_wait[age] == 0 || wait < measure->least_wait[age]) measure->least_wait[age] = wait;
}

/* Bytes a second of an answer's body; 0: it came so early that nothing can be told. */
static double rate_of(const gather_remote_measure *measure, gather_remote_age age, int64_t bytes, int64_t time) {
  const double body = (double)(time - measure->least_wait[age]);
  if (body <= 0) return 0;
  return (double)bytes * 1e9 / (body > LEAST_TIME ? body : LEAST_TIME);
}

static void see(gather_remote_measure *measure, int64_t bytes, int64_t time) {
  if (time < 1) return;
  const double rate = (double)bytes * 1e9 / (double)time;
  if (rate > measure->seen) measure->seen = rate;
}

void gather_remote_measure_answer(gather_remote_measure *measure, gather_remote_age age, int64_t bytes, int64_t time) {
  measure->bytes += bytes;
  if (bytes < LONG) return;
  see(measure, bytes, time);
  if (age == GATHER_REMOTE_NEW && bytes >= measure->opening_bytes) {
    measure->opening_bytes = bytes;
    measure->opening_time = time;
  }
  if (age == GATHER_REMOTE_NEW || measure->waits[age].count < FEW) return;
  const double rate = rate_of(measure, age, bytes, time), weight = rate > measure->each ? QUICKLY : SLOWLY;
  measure->each = measure->each > 0 ? (1 - weight) * measure->each + weight * rate : rate;
}

void gather_remote_measure_window(gather_remote_measure *measure, int64_t bytes, int64_t time) {
  see(measure, bytes, time);
}

double gather_remote_measure_latency(const gather_remote_measure *measure) {
  const gather_remote_age age = measure->waits[GATHER_REMOTE_USED].count > 0 ? GATHER_REMOTE_USED : GATHER_REMOTE_NEW;
  const double wait = (double)gather_histogram_share(&measure->waits[age], QUARTER) * 1e-9;
  return age == GATHER_REMOTE_NEW ? OF_NEW * wait : wait;
}

/* What the opening answer tells; 0: nothing yet, or no longer. Of a network that was only fast at first, later answers are slow: all
 * connections together would not bring as much. */
static double opening_rate(const gather_remote_measure *measure, int32_t connections) {
  if (measure->opening_bytes == 0 || measure->waits[GATHER_REMOTE_NEW].count < FEW) return 0;
  if (measure->bytes > OPENING_COUNTS * measure->opening_bytes ||
      (double)measure->least_wait[GATHER_REMOTE_NEW] < GATHER_REMOTE_NEAR * 1e9) /* windows tell soon */
    return 0;
  const double rate = rate_of(measure, GATHER_REMOTE_NEW, measure->opening_bytes, measure->opening_time);
  const double most = measure->each * (double)connections;
  return measure->each > 0 && most < rate ? most : rate;
}

double gather_remote_measure_bandwidth(const gather_remote_measure *measure, int32_t connections) {
  const double opening = opening_rate(measure, connections);
  const double more = opening > measure->each ? opening : measure->each;
  return CAUTION * (more > measure->seen ? more : measure->seen);
}
