/* SPDX-License-Identifier: MIT
 *
 * remainder.h: remainders of integers; the divisor is not 0.
 */
#ifndef GATHER_MODEL_REMAINDER_H
#define GATHER_MODEL_REMAINDER_H

#include <stdint.h>

#include "core/base/compiler.h"

/* With the sign of the dividend: C's, which itself overflows for INT64_MIN by -1. */
GATHER_INLINE int64_t gather_remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

/* With the sign of the divisor. */
GATHER_INLINE int64_t gather_floor_remainder(int64_t a, int64_t b) {
  const int64_t rest = gather_remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

#endif
