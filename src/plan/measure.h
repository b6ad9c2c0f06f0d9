/* SPDX-License-Identifier: MIT
 *
 * measure.h: what only the machine itself can say.
 */
#ifndef GATHER_PLAN_MEASURE_H
#define GATHER_PLAN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether elements of 4 or 8 bytes are gathered faster by the CPU's own instruction, from a table in the first cache. Measured at
 * the first call unless the tuning says it. */
bool gather_instruction_pays(int64_t row_bytes);

#endif
