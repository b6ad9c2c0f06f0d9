/* SPDX-License-Identifier: MIT
 *
 * measure.h: decisions that need a measurement on the machine.
 */
#ifndef GATHER_PLAN_MEASURE_H
#define GATHER_PLAN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the CPU's gather instruction is faster for elements of 4 or 8 bytes from a table in L1. Measured at the first
 * call, unless a tuning parameter sets it. */
bool gather_instruction_pays(int64_t row_bytes);

#endif
