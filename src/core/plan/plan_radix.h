/* SPDX-License-Identifier: MIT
 *
 * plan_radix.h: radix partitioning (kernel/radix.h), the only variant that needs memory.
 */
#ifndef GATHER_PLAN_RADIX_H
#define GATHER_PLAN_RADIX_H

#include "core/plan/execution.h"

/* Whether the plan can use it: short elements of one large table, many indices. */
bool gather_radix_suits(const gather_plan *plan);
/* For plans with a radix_variant: uses radix partitioning if it is set or turns out to be the fastest. Returns how many
 * rows were moved: all, or those of the calibration run, or none. Without memory, other variants move the rows. */
int64_t gather_radix_run(gather_execution *e, const gather_executor *executor);

#endif
