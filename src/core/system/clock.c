/* SPDX-License-Identifier: MIT
 *
 * clock.c: the monotonic clocks of POSIX. Standard C has only the time of day, which jumps when it is set: it is the
 * fallback.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* CLOCK_MONOTONIC_COARSE */
#include "core/system/clock.h"

#include <time.h>

static int64_t nanoseconds(const struct timespec *t) { return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec; }

int64_t gather_clock(void) {
  struct timespec t = {0};
#if defined(CLOCK_MONOTONIC)
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
#else
  (void)timespec_get(&t, TIME_UTC);
#endif
  return nanoseconds(&t);
}

int64_t gather_clock_coarse(void) {
#if defined(CLOCK_MONOTONIC_COARSE)
  struct timespec t;
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &t) == 0) return nanoseconds(&t);
#endif
  return gather_clock();
}

int64_t gather_thread_clock(void) {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) return nanoseconds(&t);
#endif
  return gather_clock();
}
