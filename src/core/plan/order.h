/* SPDX-License-Identifier: MIT
 *
 * order.h: the order of the indices of a large gather, from a sample. It decides which variants are tried, never the
 * result.
 */
#ifndef GATHER_PLAN_ORDER_H
#define GATHER_PLAN_ORDER_H

#include "core/plan/execution.h"

/* Samples 64 adjacent pairs, spread over all indices: about one microsecond. */
gather_order gather_order_sample(const gather_execution *e);
/* Whether to try a variant on indices in the order that was found. */
bool gather_order_suits(const gather_execution *e, const gather_variant *variant);

#endif
