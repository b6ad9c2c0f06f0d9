/* SPDX-License-Identifier: MIT
 *
 * condition.c: condition variables by POSIX. Systems without a monotonic clock for them wait by the date.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/system/condition.h"

#include <unistd.h>

#if defined(_POSIX_CLOCK_SELECTION) && _POSIX_CLOCK_SELECTION > 0
#define WAIT_CLOCK CLOCK_MONOTONIC
#else
#define WAIT_CLOCK CLOCK_REALTIME
#endif

bool gather_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) return false;
  const bool made = pthread_condattr_setclock(&attributes, WAIT_CLOCK) == 0 && pthread_cond_init(condition, &attributes) == 0;
  (void)pthread_condattr_destroy(&attributes);
  return made;
}

struct timespec gather_condition_end(int64_t nanoseconds) {
  const int64_t second = 1000000000;
  struct timespec end = {0};
  (void)clock_gettime(WAIT_CLOCK, &end);
  int64_t fraction = end.tv_nsec + nanoseconds % second;
  end.tv_sec += (time_t)(nanoseconds / second + fraction / second);
  end.tv_nsec = (long)(fraction % second);
  return end;
}

bool gather_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *end) {
  return pthread_cond_timedwait(condition, lock, end) == 0;
}
