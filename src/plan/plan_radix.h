/* SPDX-License-Identifier: MIT
 *
 * plan_radix.h: gathers by radix partitioning (kernel/radix.h), the only way that needs memory of its own.
 */
#ifndef GATHER_PLAN_RADIX_H
#define GATHER_PLAN_RADIX_H

#include "plan/execution.h"

/* Whether the plan could be run so: short elements of one large table, many indices. */
bool gather_radix_suits(const gather_plan *plan);
/* For plans with a radix_variant: runs the plan by radix partitioning where that is the way, or where it turns out to be the fastest. Returns how many rows were moved: all,
 * or the first ones, which the decision took, or none. Without memory the rows are moved in another way. */
int64_t gather_radix_run(gather_execution *e, const gather_executor *executor);

#endif
