/* SPDX-License-Identifier: MIT
 *
 * times.h: the clock and quantiles of the programs that measure threads. Included once per program, which defines _GNU_SOURCE or
 * _DEFAULT_SOURCE for the clock.
 */
#ifndef GATHER_BENCH_TIMES_H
#define GATHER_BENCH_TIMES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Nanoseconds. */
static int64_t now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int rising(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Sorts, and returns the quantile. */
static double quantile(double *values, int count, double share) {
  qsort(values, (size_t)count, sizeof *values, rising);
  return values[(int)(share * (count - 1) + 0.5)];
}

#endif
