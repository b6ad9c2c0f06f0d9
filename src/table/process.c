/* SPDX-License-Identifier: MIT
 *
 * process.c: a table in a child of fork(). Threads, rings and reads in flight stay with the parent; the child also has
 * the files, mappings and residency information.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "core/base/alloc.h"
#include "table/table_decode.h"

static void abandon(gather_table *table) {
  for (gather_worker *worker = table->idle, *next; worker; worker = next) {
    next = worker->next;
    if (worker->reader) gather_reader_abandon(worker->reader);
    gather_free(worker->entries);
    gather_free(worker->spare);
    gather_free(worker->gaps);
    gather_free(worker);
  }
  /* Busy workers and jobs belong to threads of the parent, and may be on their stacks: they are abandoned. */
  table->idle = NULL;
  table->worker_count = 0;
  table->queue = NULL, table->queue_end = &table->queue;
  table->running_jobs = NULL;
  table->threads = table->threads_idle = 0;
  gather_table_init_waiting(table);
  if (table->client) gather_remote_client_enter(table->client);
  if (table->cache) gather_cache_reset(table->cache);
  if (table->decoding) gather_scratch_abandon(table->decoding);
  atomic_store_explicit(&table->counts.memory, 0, memory_order_relaxed);
}

void gather_table_enter(gather_table *table) {
  int64_t here = (int64_t)getpid(), seen = atomic_load_explicit(&table->process, memory_order_acquire);
  while (seen != here) {
    /* The negative number marks that a thread of the child is doing this. */
    if (seen != -here && atomic_compare_exchange_strong(&table->process, &seen, -here)) {
      abandon(table);
      atomic_store_explicit(&table->process, here, memory_order_release);
    }
    seen = atomic_load_explicit(&table->process, memory_order_acquire);
  }
}
