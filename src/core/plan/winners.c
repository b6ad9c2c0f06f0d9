/* SPDX-License-Identifier: MIT
 *
 * winners.c: remembers the winner of a calibration run for the next runs of a kept plan.
 */
#include "core/plan/winners.h"

#include "core/kernel/tuning.h"

/* The first run often pays for new pages of the output, so the second one is calibrated, too. */
enum { FIRST_RUNS = 2 };

bool gather_winners_due(const gather_plan *plan, gather_order order) {
  if (!plan->winners) return true;
  const int64_t period = gather_tuned(GATHER_TUNING_calibration_runs);
  const uint32_t run = atomic_fetch_add_explicit(&plan->winners->of[order].runs, 1, memory_order_relaxed);
  return run < FIRST_RUNS || (period > 0 && run % period == 0) ||
         atomic_load_explicit(&plan->winners->of[order].result, memory_order_relaxed) == 0;
}

/* Numbers of variants take 8 bits each, the percentage 16. It is at least 100, so that no result is 0. */
bool gather_winners_get(const gather_plan *plan, gather_order order, gather_winner *winner) {
  if (!plan->winners) return false;
  const uint32_t result = atomic_load_explicit(&plan->winners->of[order].result, memory_order_relaxed);
  *winner = (gather_winner){(int32_t)(result & 0xff), (int32_t)(result >> 8 & 0xff), (int32_t)(result >> 16)};
  return result != 0;
}

void gather_winners_keep(const gather_plan *plan, gather_order order, int32_t variant, int64_t took, int32_t next,
                         int64_t next_took) {
  if (!plan->winners) return;
  int64_t percent = took > 0 ? next_took * 100 / took : 100;
  percent = percent < 100 ? 100 : percent > UINT16_MAX ? UINT16_MAX : percent;
  const uint32_t result = (uint32_t)variant | (uint32_t)next << 8 | (uint32_t)percent << 16;
  atomic_store_explicit(&plan->winners->of[order].result, result, memory_order_relaxed);
}
