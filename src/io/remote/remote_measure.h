/* SPDX-License-Identifier: MIT
 *
 * remote_measure.h: what the answers so far say about the network: its latency, and how many bytes a second it brings. Pure: it knows
 * numbers, no network.
 *
 * The bandwidth is a cautious figure. What was seen is a lower bound: bytes that arrived, divided by all the time that they took. An answer
 * long enough tells more, if the time to the first byte is taken away: the shortest of its kind, since noise makes answers later, never
 * earlier.
 */
#ifndef GATHER_REMOTE_MEASURE_H
#define GATHER_REMOTE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/remote/histogram.h"

/* Seconds. Of a server nearer than that, noise is as large as what an answer's bytes take; but rounds are short. */
#define GATHER_REMOTE_NEAR 0.01

/* The first answer of a connection takes longer: the server, or a proxy on the way, has to set up things. */
typedef enum gather_remote_age { GATHER_REMOTE_NEW, GATHER_REMOTE_USED } gather_remote_age;

/* All zero at first. Times in nanoseconds, without those to connect. */
typedef struct gather_remote_measure {
  gather_histogram waits[2]; /* to the first byte, by the age of the connection */
  int64_t least_wait[2];     /* the shortest; 0: none */
  int64_t opening_bytes,
      opening_time; /* of the longest answer of a new connection, from the request to its last byte */
  double each;      /* bytes a second of one connection, by long answers of used ones; 0: none */
  double seen;      /* the most that arrived in a second: a lower bound */
  int64_t bytes;    /* that arrived in answers: what the figures stand on */
} gather_remote_measure;

/* The first byte of an answer arrived. */
void gather_remote_measure_wait(gather_remote_measure *measure, gather_remote_age age, int64_t wait);
/* An answer of so many bytes is complete, `time` after it was asked for. */
void gather_remote_measure_answer(gather_remote_measure *measure, gather_remote_age age, int64_t bytes, int64_t time);
/* So many bytes arrived in so much time, in all connections. */
void gather_remote_measure_window(gather_remote_measure *measure, int64_t bytes, int64_t time);
/* Seconds to the first byte: the lower quartile of used connections, or half of that of new ones where there are no others; 0: not measured. */
double gather_remote_measure_latency(const gather_remote_measure *measure);
/* Bytes a second of so many connections together; 0: not measured. */
double gather_remote_measure_bandwidth(const gather_remote_measure *measure, int32_t connections);

#endif
