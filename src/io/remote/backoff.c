/* SPDX-License-Identifier: MIT
 *
 * backoff.c: exponential back-off with jitter. The generator is SplitMix64 (Steele, Lea, Flood 2014).
 */
#include "io/remote/backoff.h"

enum { FIRST = 100000000, MOST_DOUBLINGS = 7, MOST_ASKED = 86400 };
static const int64_t LONGEST = 10000000000;

void gather_backoff_seed(gather_backoff *backoff, uint64_t seed) { backoff->state = seed; }

static uint64_t next(gather_backoff *backoff) {
  uint64_t z = backoff->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t gather_backoff_wait(gather_backoff *backoff, int32_t tries, int64_t asked) {
  int32_t doublings = tries < 1 ? 0 : tries - 1 > MOST_DOUBLINGS ? MOST_DOUBLINGS : tries - 1;
  int64_t longest = (int64_t)FIRST << doublings;
  if (longest > LONGEST) longest = LONGEST;
  int64_t wait = longest / 2 + (int64_t)(next(backoff) % (uint64_t)(longest / 2 + 1));
  if (asked > MOST_ASKED) asked = MOST_ASKED;
  return asked > 0 ? wait / 10 + asked * 1000000000 : wait;
}
