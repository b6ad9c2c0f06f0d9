/* SPDX-License-Identifier: MIT
 *
 * condition_macos.c: condition variables of macOS have no clock of their own, but can wait for a length of time.
 */
#include "core/system/condition.h"

static const int64_t SECOND = 1000000000;

static int64_t now(void) {
  struct timespec t = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec of(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = (time_t)(nanoseconds / SECOND), .tv_nsec = (long)(nanoseconds % SECOND)};
}

bool gather_condition_init(pthread_cond_t *condition) { return pthread_cond_init(condition, NULL) == 0; }

struct timespec gather_condition_end(int64_t nanoseconds) {
  return of(now() + nanoseconds);
}

bool gather_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *end) {
  const int64_t left = (int64_t)end->tv_sec * SECOND + end->tv_nsec - now();
  const struct timespec length = of(left > 0 ? left : 0);
  return pthread_cond_timedwait_relative_np(condition, lock, &length) == 0;
}
