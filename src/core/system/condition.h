/* SPDX-License-Identifier: MIT
 *
 * condition.h: condition variables that threads wait for until a time, which does not change when the date is set.
 */
#ifndef GATHER_BASE_CONDITION_H
#define GATHER_BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* False if the system refuses. */
bool gather_condition_init(pthread_cond_t *condition);
/* The time in so many nanoseconds, for gather_condition_wait. */
struct timespec gather_condition_end(int64_t nanoseconds);
/* Waits until somebody signals; false at the end of the time. The lock is held before and after. */
bool gather_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *end);

#endif
