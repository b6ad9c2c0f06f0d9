/* SPDX-License-Identifier: MIT
 *
 * depth.h: how many requests may be in flight. It begins with a few, grows while that brings more throughput, and halves when the
 * server says that it is too much.
 */
#ifndef GATHER_REMOTE_DEPTH_H
#define GATHER_REMOTE_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
