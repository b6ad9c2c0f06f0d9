/* SPDX-License-Identifier: MIT
 *
 * extremes.h: numbers at the ends of their types, by chance. GATHER_TEST_SEED=N gives others.
 */
#ifndef GATHER_TESTS_SUPPORT_EXTREMES_H
#define GATHER_TESTS_SUPPORT_EXTREMES_H

#include <stdlib.h>

#include "support/unit.h"

enum { MOST_RANK = 4, ROUNDS = 30000 };

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static int64_t below(int64_t n) { return (int64_t)(next_random() % (uint64_t)n); }
#define PICK(array) (array)[below((int64_t)COUNT(array))]

#define P(n) ((int64_t)1 << (n))
static const int64_t ENDS[] = {ITEMS(0, 1, -1, 2, -2, 3, 7, -8, 64, P(31) - 1, P(31), -P(31), P(32), -P(33), P(60), -P(60), P(61) - 1,
                                     P(61), -P(61), P(62) - 1, P(62), -P(62), P(62) + 1, -P(62) - 1, INT64_MAX, INT64_MIN, INT64_MIN + 1,
                                     INT64_MAX - 1, INT64_MAX / 3, INT64_MAX / 8)};
static const int64_t LENGTHS[] = {0, 1, 1, 1, 2, 2, 3, 5, 64, P(31), P(32), P(60), P(61), P(62) - 1, P(62), INT64_MAX};

static inline void extremes_seed(void) {
  const char *seed = getenv("GATHER_TEST_SEED");
  if (seed) state += strtoull(seed, NULL, 10) * 2654435761u;
}

#endif
