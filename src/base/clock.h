/* SPDX-License-Identifier: MIT
 *
 * clock.h: the only place that asks for the time. Durations only: no clock here knows the date, and setting the date moves none.
 */
#ifndef GATHER_BASE_CLOCK_H
#define GATHER_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a clock that never goes back. */
int64_t gather_clock(void);
/* The same to within some milliseconds, for a few nanoseconds of work. */
int64_t gather_clock_coarse(void);
/* Nanoseconds of CPU time of the calling thread, so that other programs disturb less; gather_clock where the system does not
 * count them. A system call: for measurements of a millisecond or more. */
int64_t gather_thread_clock(void);

#endif
