/* SPDX-License-Identifier: MIT
 *
 * order.h: in what order the indices of a large gather come, as a sample of them says. It decides which ways are tried, never
 * what comes out.
 */
#ifndef GATHER_PLAN_ORDER_H
#define GATHER_PLAN_ORDER_H

#include "plan/execution.h"

/* Looks at 64 pairs of neighbours, spread over all indices: about one microsecond. */
gather_order gather_order_sample(const gather_execution *e);
/* Whether a way is worth trying on indices in the order that was found. */
bool gather_order_suits(const gather_execution *e, const gather_variant *variant);

#endif
