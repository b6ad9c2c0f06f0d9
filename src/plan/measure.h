/* SPDX-License-Identifier: MIT
 *
 * measure.h: what only the machine itself can say.
 */
#ifndef GATHER_PLAN_MEASURE_H
#define GATHER_PLAN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of some clock. */
int64_t gather_clock(void);
/* Nanoseconds that this thread had a CPU, so that other programs disturb less, where the system tells; else as above. It costs
 * more: for what takes milliseconds. */
int64_t gather_thread_clock(void);

/* Whether elements of 4 or 8 bytes are gathered faster by the CPU's own instruction, from a table in the first cache. Measured at
 * the first call unless the tuning says it. */
bool gather_by_vector_pays(int64_t row_bytes);

#endif
