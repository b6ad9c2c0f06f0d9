/* SPDX-License-Identifier: MIT
 *
 * worker.c: workers, created when first needed and kept. The memory limits their number; further takes wait.
 */
#include "core/system/condition.h"
#include "table/table_internal.h"

#include "core/base/alloc.h"

static int64_t entries_bytes(const gather_table *table) {
  return table->budget.entries * (int64_t)sizeof(gather_entry);
}

/* Its buffers, and those of the client for its reads. */
static int64_t reader_bytes(const gather_table *table, const gather_worker *worker) {
  return gather_reader_memory(worker->reader) + table->budget.depth * table->budget.cover_bytes;
}

static int64_t worker_bytes(const gather_table *table, const gather_worker *worker) {
  return (worker->entries ? entries_bytes(table) : 0) + (worker->spare ? entries_bytes(table) : 0) +
         (worker->gaps ? (int64_t)sizeof *worker->gaps : 0) + (worker->reader ? reader_bytes(table, worker) : 0);
}

void gather_worker_destroy(gather_table *table, gather_worker *worker) {
  gather_table_count_memory(table, -worker_bytes(table, worker));
  gather_reader_destroy(worker->reader);
  gather_free(worker->entries);
  gather_free(worker->spare);
  gather_free(worker->gaps);
  gather_free(worker);
}

/* The system may refuse io_uring now although it did not when the table was opened (a limit on locked memory, a
 * filter): then threads read, and the statistics say so. */
static gather_status create_reader(gather_table *table, gather_worker *worker, gather_error *error) {
  gather_error why;
  gather_reader_plan plan = {table->engine, table->budget.depth, table->budget.slot_bytes, table->budget.queues,
                             table->client};
  gather_status status = gather_reader_create(&plan, &worker->reader, &why);
  if (status == GATHER_UNSUPPORTED && (plan.engine == GATHER_ENGINE_URING || plan.engine == GATHER_ENGINE_OVERLAPPED)) {
    plan.engine = GATHER_ENGINE_PREAD;
    gather_table_fall_back(table, plan.engine, &why);
    return gather_reader_create(&plan, &worker->reader, error);
  }
  if (status != GATHER_OK && error) *error = why;
  return status;
}

static gather_status create(gather_table *table, gather_worker **worker, gather_error *error) {
  gather_worker *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory to read rows");
  made->entries = gather_alloc(entries_bytes(table));
  made->spare = gather_alloc(entries_bytes(table));
  if (table->client) made->gaps = gather_alloc((int64_t)sizeof *made->gaps);
  const bool complete = made->entries && made->spare && (made->gaps || !table->client);
  gather_status status = complete ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory to read rows");
  gather_table_count_memory(table, worker_bytes(table, made));
  if (status == GATHER_OK)
    *worker = made;
  else
    gather_worker_destroy(table, made);
  return status;
}

gather_status gather_worker_ready(gather_table *table, gather_worker *worker, gather_error *error) {
  if (worker->reader) return GATHER_OK;
  GATHER_TRY(create_reader(table, worker, error));
  gather_table_count_memory(table, reader_bytes(table, worker));
  return GATHER_OK;
}

/* The longest wait between two checks for cancellation. */
enum { WAIT_NANOSECONDS = 20000000 };

/* An idle worker, or the right to create one (NULL); false if there is neither, also after waiting for some time. */
static bool claim(gather_table *table, bool wait, gather_worker **worker) {
  const struct timespec end = gather_condition_end(WAIT_NANOSECONDS);
  (void)pthread_mutex_lock(&table->lock);
  bool waiting = wait;
  while (waiting && !table->idle && table->worker_count >= table->budget.workers)
    waiting = gather_table_wait_until(table, &end);
  *worker = table->idle;
  bool claimed = *worker || table->worker_count < table->budget.workers;
  if (*worker)
    table->idle = (*worker)->next;
  else if (claimed)
    table->worker_count++;
  (void)pthread_mutex_unlock(&table->lock);
  return claimed;
}

gather_status gather_worker_get(const gather_taking *taking, bool wait, gather_worker **worker, gather_error *error) {
  gather_table *table = taking->table;
  bool claimed;
  while (!(claimed = claim(table, wait, worker)) && wait) GATHER_TRY(gather_taking_go_on(taking, error));
  if (!claimed || *worker) return GATHER_OK;
  gather_status status = create(table, worker, error);
  if (status == GATHER_OK) return GATHER_OK;
  (void)pthread_mutex_lock(&table->lock);
  table->worker_count--;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
  return status;
}

void gather_worker_put(gather_table *table, gather_worker *worker) {
  (void)pthread_mutex_lock(&table->lock);
  worker->next = table->idle;
  table->idle = worker;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
}
