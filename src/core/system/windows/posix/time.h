/* SPDX-License-Identifier: MIT
 *
 * time.h: clocks.
 */
#ifndef GATHER_POSIX_TIME_H
#define GATHER_POSIX_TIME_H
#pragma GCC system_header /* #include_next is not C11 */

#include <posix_names.h>
/* mingw-w64's clocks are in its library of POSIX threads, which is not linked. */
#define WIN_PTHREADS_TIME_H
#include_next <time.h>

typedef int clockid_t;
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_PROCESS_CPUTIME_ID 2

int clock_gettime(clockid_t which, struct timespec *now) GATHER_POSIX(clock_gettime);
int nanosleep(const struct timespec *time, struct timespec *left) GATHER_POSIX(nanosleep);

#endif
