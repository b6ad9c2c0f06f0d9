/* SPDX-License-Identifier: MIT
 *
 * checked.h: arithmetic on sizes from files and callers. Each function returns whether the result fits.
 */
#ifndef GATHER_BASE_CHECKED_H
#define GATHER_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

/* a * b for any a, b; false if it does not fit. */
GATHER_INLINE bool gather_mul(int64_t a, int64_t b, int64_t *product) {
#if defined(__GNUC__)
  return !__builtin_mul_overflow(a, b, product);
#else
  if (a != 0 && b != 0) {
    if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return false;
    int64_t limit = (a > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
    if (b != -1 && ((a > 0) ? (b > 0 ? a > limit / b : b < limit / a) : (b > 0 ? a < limit / b : a < limit / b))) return false;
  }
  *product = a * b;
  return true;
#endif
}

/* a + b for any a, b; false if it does not fit. */
GATHER_INLINE bool gather_add(int64_t a, int64_t b, int64_t *sum) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
  *sum = a + b;
  return true;
}

#endif
