/* SPDX-License-Identifier: MIT
 *
 * cancel.c: cancels takes, by the caller's function or for a cancelled job; and waits with a timeout.
 */
#include "core/system/condition.h"
#include "table/table_internal.h"

bool gather_taking_stopped(const gather_taking *taking) {
  gather_cancel *cancel = taking->cancel;
  if (!cancel) return false;
  if (atomic_load_explicit(&cancel->stopped, memory_order_relaxed)) return true;
  if (!cancel->stop || !cancel->stop(cancel->context)) return false;
  atomic_store_explicit(&cancel->stopped, true, memory_order_relaxed);
  return true;
}

gather_status gather_taking_go_on(const gather_taking *taking, gather_error *error) {
  return gather_taking_stopped(taking) ? gather_fail(error, GATHER_CANCELLED, "the take was cancelled") : GATHER_OK;
}

void gather_table_init_waiting(gather_table *table) {
  (void)pthread_mutex_init(&table->lock, NULL);
  if (!gather_condition_init(&table->changed)) (void)pthread_cond_init(&table->changed, NULL);
}

bool gather_table_wait_until(gather_table *table, const struct timespec *end) {
  return gather_condition_wait(&table->changed, &table->lock, end);
}
