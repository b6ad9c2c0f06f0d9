/* SPDX-License-Identifier: MIT
 *
 * cancel.c: cancels takes, by the caller's function or for a cancelled job; and waits with a timeout.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "table/table_internal.h"

/* macOS cannot set the clock of a condition variable. */
#if defined(_POSIX_CLOCK_SELECTION) && _POSIX_CLOCK_SELECTION > 0 && !defined(__APPLE__)
#define WAIT_CLOCK CLOCK_MONOTONIC
#else
#define WAIT_CLOCK CLOCK_REALTIME
#endif

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
#if defined(__APPLE__)
  (void)pthread_cond_init(&table->changed, NULL);
#else
  pthread_condattr_t attributes;
  bool chosen = pthread_condattr_init(&attributes) == 0;
  if (chosen) (void)pthread_condattr_setclock(&attributes, WAIT_CLOCK);
  (void)pthread_cond_init(&table->changed, chosen ? &attributes : NULL);
  if (chosen) (void)pthread_condattr_destroy(&attributes);
#endif
}

struct timespec gather_table_end_of(int64_t nanoseconds) {
  const int64_t second = 1000000000;
  struct timespec end = {0};
  (void)clock_gettime(WAIT_CLOCK, &end);
  int64_t fraction = end.tv_nsec + nanoseconds % second;
  end.tv_sec += (time_t)(nanoseconds / second + fraction / second);
  end.tv_nsec = (long)(fraction % second);
  return end;
}

bool gather_table_wait_until(gather_table *table, const struct timespec *end) {
  return pthread_cond_timedwait(&table->changed, &table->lock, end) == 0;
}
