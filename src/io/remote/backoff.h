/* SPDX-License-Identifier: MIT
 *
 * backoff.h: how long to wait before a request is sent again: twice as long each time, with jitter, so that many clients do not come back
 * at once. Each client has a generator of its own.
 */
#ifndef GATHER_REMOTE_BACKOFF_H
#define GATHER_REMOTE_BACKOFF_H

#include <stdint.h>

typedef struct gather_backoff {
  uint64_t state;
} gather_backoff;

void gather_backoff_seed(gather_backoff *backoff, uint64_t seed);
/* Nanoseconds to wait after try number `tries` (from 1): between half and all of 0.1 s x 2^(tries - 1), of 10 s at most; at least
 * `asked` seconds, which the server asked for (-1: it did not). */
int64_t gather_backoff_wait(gather_backoff *backoff, int32_t tries, int64_t asked);

#endif
