/* SPDX-License-Identifier: MIT
 *
 * tasks.c: the size and number of tasks.
 */
#include "core/plan/tasks.h"

#include "core/base/error.h"
#include "core/kernel/tuning.h"
#include "core/thread/pool.h"

typedef struct {
  void (*body)(void *argument, int64_t first, int64_t last);
  void *argument;
  int64_t count, chunk;
} split;

static void run_chunk(void *argument, int64_t i) {
  const split *s = argument;
  int64_t first = i * s->chunk, left = s->count - first;
  s->body(s->argument, first, first + (left < s->chunk ? left : s->chunk));
}

gather_status gather_executor_check(const gather_executor *executor, gather_error *error) {
  if (!executor || (executor->parallel_for && executor->threads >= 1)) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "the executor has no parallel_for or fewer than one thread");
}

/* The items of a task; count = all in one, on the calling thread. */
static int64_t chunk_of(const gather_executor *executor, int64_t count, int64_t unit_bytes) {
  int64_t large = gather_tuned(GATHER_TUNING_task_bytes), small = gather_tuned(GATHER_TUNING_awake_task_bytes);
  if (small > large) small = large;
  unit_bytes = unit_bytes > 0 ? unit_bytes : 1;
  int64_t chunk = small > unit_bytes ? small / unit_bytes : 1;
  if (count / chunk < 3) return count; /* sharing two small tasks gains less than it costs, some microseconds */
  /* Waking threads takes longer than small work: only threads that are awake share it. */
  if (gather_pool_announce(executor, gather_tuned(GATHER_TUNING_spin_ns)) == 0) chunk = large > unit_bytes ? large / unit_bytes : 1;
  if (count <= chunk) return count;
  int64_t threads = executor->threads > 1 ? executor->threads : 1, tasks = gather_tuned(GATHER_TUNING_thread_tasks);
  int64_t most = tasks < 1 ? threads : tasks > INT32_MAX ? threads * INT32_MAX : threads * tasks;
  return count / chunk > most ? count / most : chunk;
}

void gather_split(const gather_executor *executor, int64_t count, int64_t unit_bytes, int64_t round,
                  void (*body)(void *argument, int64_t first, int64_t last), void *argument) {
  if (count <= 0) return;
  int64_t chunk = executor ? chunk_of(executor, count, unit_bytes) : count;
  chunk = (chunk - 1) / round < INT64_MAX / round ? ((chunk - 1) / round + 1) * round : count;
  split s = {body, argument, count, chunk};
  int64_t tasks = (count - 1) / chunk + 1;
  if (tasks == 1)
    body(argument, 0, count);
  else
    executor->parallel_for(executor->context, tasks, run_chunk, &s);
}
