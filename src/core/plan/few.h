/* SPDX-License-Identifier: MIT
 *
 * few.h: gathers of a few rows.
 */
#ifndef GATHER_PLAN_FEW_H
#define GATHER_PLAN_FEW_H

#include "gather/gather.h"

struct gather_few;

/* Fills in plan->few; the last step of building a plan. */
void gather_few_prepare(gather_plan *plan);
/* Runs the plan, if all indices are in range and nothing is unusual. Returns false, having written nothing, otherwise. */
bool gather_few_run(const struct gather_few *few, const gather_run *run);

#endif
