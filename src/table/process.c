/* SPDX-License-Identifier: MIT
 *
 * process.c: a table in a child of fork(). Threads, rings and reads in flight stay with the parent; files, mappings and what is known of
 * them are the child's too.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "base/alloc.h"
#include "table/table_internal.h"

static void abandon(gather_table *table) {
  for (gather_worker *worker = table->idle, *next; worker; worker = next) {
    next = worker->next;
    if (worker->reader) gather_reader_abandon(worker->reader);
    gather_free(worker->entries);
    gather_free(worker->spare);
    gather_free(worker);
  }
  /* Workers and jobs that were at work belong to threads of the parent, on whose stacks they may be: they are left to it. */
  table->idle = NULL;
  table->worker_count = 0;
  table->queue = NULL, table->queue_end = &table->queue;
  table->running_jobs = NULL;
  table->threads = table->threads_idle = 0;
  gather_table_init_waiting(table);
  if (table->cache) gather_cache_reset(table->cache);
  atomic_store_explicit(&table->counts.memory, 0, memory_order_relaxed);
}

void gather_table_enter(gather_table *table) {
  int64_t here = (int64_t)getpid(), seen = atomic_load_explicit(&table->process, memory_order_acquire);
  while (seen != here) {
    /* The negative number is the child's while one of its threads does this. */
    if (seen != -here && atomic_compare_exchange_strong(&table->process, &seen, -here)) {
      abandon(table);
      atomic_store_explicit(&table->process, here, memory_order_release);
    }
    seen = atomic_load_explicit(&table->process, memory_order_acquire);
  }
}
