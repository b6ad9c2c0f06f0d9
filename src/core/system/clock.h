/* SPDX-License-Identifier: MIT
 *
 * clock.h: the only place that reads a clock. Only durations: no clock here knows the date or depends on it.
 */
#ifndef GATHER_BASE_CLOCK_H
#define GATHER_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a monotonic clock. */
int64_t gather_clock(void);
/* The same to within some milliseconds, for a few nanoseconds of work. */
int64_t gather_clock_coarse(void);
/* Nanoseconds of CPU time of the calling thread, which other programs disturb less; gather_clock if the system has no
 * such clock. A system call: for measurements of a millisecond or more. */
int64_t gather_thread_clock(void);

#endif
