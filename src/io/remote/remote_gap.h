/* SPDX-License-Identifier: MIT
 *
 * remote_gap.h: which ranges of a file are read by one request. A model of the network says how long a set of requests takes; the
 * ranges are joined so that this is as short as it can be. Pure functions: they know numbers, no network.
 *
 * The model: R requests for `bytes` bytes over C connections take
 *
 *     max( ceil(R / C) * (latency + bytes / (R * b)), R / rate, bytes / bandwidth )        b = bandwidth / C
 *
 * A connection has its share of the bandwidth (b): then two ranges are worth one request if the gap between them is below
 * latency * bandwidth / C, which is also the length from which on a request takes longer than it waits.
 */
#ifndef GATHER_REMOTE_GAP_H
#define GATHER_REMOTE_GAP_H

#include "io/remote/remote_client.h"

/* Ranges by the gap before them, in classes a 32nd of an octave wide; class 0 is no gap. */
enum { GATHER_REMOTE_GAP_STEPS = 32, GATHER_REMOTE_GAP_CLASSES = 1 + GATHER_REMOTE_GAP_STEPS * 63 };

typedef struct gather_remote_gaps {
  int64_t ranges, bytes; /* how many, and how long together */
  int64_t
      count[GATHER_REMOTE_GAP_CLASSES];   /* that have a range before them in the same file, by the gap between them */
  int64_t sum[GATHER_REMOTE_GAP_CLASSES]; /* of these gaps, in bytes */
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

/* The seconds that requests take; 0 for none. */
double gather_remote_seconds(const gather_remote_costs *costs, int64_t requests, int64_t bytes);
/* The least gap that takes at most a twentieth longer than the best one, and the length of parts: as many as there are
 * connections, but none that waits longer than it reads, and none longer than most_bytes. */
void gather_remote_join(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes,
                        gather_remote_joining *joining);
/* The same for a gap that was given. */
void gather_remote_join_by(const gather_remote_gaps *gaps, const gather_remote_costs *costs, int64_t most_bytes,
                           int64_t gap_bytes, gather_remote_joining *joining);

#endif
