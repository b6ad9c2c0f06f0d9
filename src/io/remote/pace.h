/* SPDX-License-Identifier: MIT
 *
 * pace.h: when, how many and how much at once. Pure functions: they know numbers, no network.
 */
#ifndef GATHER_REMOTE_PACE_H
#define GATHER_REMOTE_PACE_H

#include "io/remote/remote_client.h"

/* ---- how long to wait before a request is sent again: twice as long each time, with jitter, so that many clients do not come back
 * at once. Each client has a generator of its own. */

typedef struct gather_backoff {
  uint64_t state;
} gather_backoff;

/* Nanoseconds to wait after try number `tries` (from 1): between half and all of 0.1 s x 2^(tries - 1), of 10 s at most; at least
 * `asked` seconds, which the server asked for (-1: it did not). */
int64_t gather_backoff_wait(gather_backoff *backoff, int32_t tries, int64_t asked);

/* ---- how many requests may be in flight. It begins with a few, grows while that brings more throughput, and halves when the
 * server says that it is too much. */

typedef struct gather_depth {
  int32_t now, limit; /* requests in flight that are allowed; never more than limit */
  bool doubling;      /* until the server says that it is too much */
  bool starved;       /* in this round fewer requests were waiting than allowed: it measures nothing */
  int32_t left;       /* of this round */
  int32_t flat;       /* rounds since growing brought nothing */
  int64_t began;      /* of this round */
  double work;        /* of this round */
  double rate;        /* of the round before the depth grew last; 0: none */
  bool grew;          /* this round is the first with a new depth */
  int64_t halved;     /* when */
} gather_depth;

void gather_depth_init(gather_depth *depth, int32_t limit, int64_t now);
/* A request was answered. waiting: whether others wait for their turn. */
void gather_depth_answered(gather_depth *depth, int64_t bytes, bool waiting, int64_t now);
/* A request that was sent at `sent` was refused with 429 or 503: halves the depth, once for all requests that were in flight together. */
void gather_depth_refused(gather_depth *depth, int64_t sent, int64_t now);

/* ---- how often durations occurred, for percentiles. 16 classes to each doubling: a percentile is within 3 %. */

enum { GATHER_HISTOGRAM_CLASSES = 16 * 44 };

/* All zero is empty. */
typedef struct gather_histogram {
  int64_t count;
  uint32_t classes[GATHER_HISTOGRAM_CLASSES];
} gather_histogram;

/* The duration that a share (0 to 1) of those added does not exceed; 0 if it is empty. */
int64_t gather_histogram_share(const gather_histogram *histogram, double share);

/* ---- what the answers so far say about the network: its latency, and how many bytes a second it brings.
 *
 * The bandwidth is a cautious figure. What was seen is a lower bound: bytes that arrived, divided by all the time that they took. An answer
 * long enough tells more, if the time to the first byte is taken away: the shortest of its kind, since noise makes answers later, never
 * earlier. */

/* Seconds. Of a server nearer than that, noise is as large as what an answer's bytes take; but rounds are short. */
#define GATHER_REMOTE_NEAR 0.01

/* The first answer of a connection takes longer: the server, or a proxy on the way, has to set up things. */
typedef enum gather_remote_age { GATHER_REMOTE_NEW, GATHER_REMOTE_USED } gather_remote_age;

/* All zero at first. Times in nanoseconds, without those to connect. */
typedef struct gather_remote_measure {
  gather_histogram waits[2]; /* to the first byte, by the age of the connection */
  int64_t least_wait[2];     /* the shortest; 0: none */
  /* Of the longest answer of a new connection, from the request to its last byte. */
  int64_t opening_bytes, opening_time;
  double each;                  /* bytes a second of one connection, by long answers of used ones; 0: none */
  double seen;                  /* the most that arrived in a second: a lower bound */
  int64_t bytes;                /* that arrived in answers: what the figures stand on */
  gather_histogram first_bytes; /* waits of either age */
  gather_histogram durations;   /* of requests, from when they began: for percentiles */
} gather_remote_measure;

/* The first byte of an answer arrived. */
void gather_remote_measure_wait(gather_remote_measure *measure, gather_remote_age age, int64_t wait);
/* An answer of so many bytes is complete, `time` after it was asked for, and `whole` after its request began. */
void gather_remote_measure_answer(gather_remote_measure *measure, gather_remote_age age, int64_t bytes, int64_t time, int64_t whole);
/* So many bytes arrived in so much time, in all connections. */
void gather_remote_measure_window(gather_remote_measure *measure, int64_t bytes, int64_t time);
/* What was measured, for so many connections together: latency is the lower quartile of used connections, or half of that of new ones where
 * there are no others; 0: not measured. */
void gather_remote_measured(const gather_remote_measure *measure, int32_t connections, gather_remote_costs *costs);

/* ---- which ranges of a file are read by one request. A model of the network says how long a set of requests takes; the
 * ranges are joined so that this is as short as it can be.
 *
 * The model: R requests for `bytes` bytes over C connections take
 *
 *     max( ceil(R / C) * (latency + bytes / (R * b)), R / rate, bytes / bandwidth )        b = bandwidth / C
 *
 * A connection has its share of the bandwidth (b): then two ranges are worth one request if the gap between them is below
 * latency * bandwidth / C, which is also the length from which on a request takes longer than it waits. */

/* Ranges by the gap before them, in classes a 32nd of an octave wide; class 0 is no gap. */
enum { GATHER_REMOTE_GAP_STEPS = 32, GATHER_REMOTE_GAP_CLASSES = 1 + GATHER_REMOTE_GAP_STEPS * 63 };

typedef struct gather_remote_gaps {
  int64_t ranges, bytes; /* how many, and how long together */
  /* How many have a range before them in the same file, by the gap between them; and these gaps together, in bytes. */
  int64_t count[GATHER_REMOTE_GAP_CLASSES];
  int64_t sum[GATHER_REMOTE_GAP_CLASSES];
} gather_remote_gaps;

/* Adds a range of so many bytes, which begins `gap` bytes behind the end of the previous one; gap < 0: it cannot be joined with
 * one. gaps: all zero at first. */
void gather_remote_gaps_add(gather_remote_gaps *gaps, int64_t bytes, int64_t gap);

/* How ranges are to be read. */
typedef struct gather_remote_joining {
  int64_t gap_bytes;       /* ranges with at most this gap between them are one request */
  int64_t part_bytes;      /* unless it would be longer than this */
  int64_t requests, bytes; /* expected */
  double seconds;          /* expected */
} gather_remote_joining;

/* The least gap that takes at most a twentieth and half a latency longer than the best one, and the length of parts: as many as there are
 * connections, but none that waits longer than it reads, and none longer than most_bytes. */
void gather_remote_join(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes,
                        gather_remote_joining *joining);
/* The same for a gap that was given. */
void gather_remote_join_by(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes, int64_t gap_bytes,
                           gather_remote_joining *joining);

#endif
