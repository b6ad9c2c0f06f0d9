/* SPDX-License-Identifier: MIT
 *
 * sched.h: giving up the CPU.
 */
#ifndef GATHER_POSIX_SCHED_H
#define GATHER_POSIX_SCHED_H

#include <posix_names.h>

int sched_yield(void) GATHER_POSIX(sched_yield);

#endif
