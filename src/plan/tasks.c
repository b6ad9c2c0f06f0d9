/* SPDX-License-Identifier: MIT
 *
 * tasks.c: the size and number of tasks.
 */
#include "plan/tasks.h"

#include "base/error.h"
#include "kernel/tuning.h"

enum { TASKS_PER_THREAD = 32 /* so that a slow thread does not keep the others waiting */ };

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

void gather_split(const gather_executor *executor, int64_t count, int64_t unit_bytes, int64_t round,
                  void (*body)(void *argument, int64_t first, int64_t last), void *argument) {
  if (count <= 0) return;
  int64_t task = gather_tuned(GATHER_TUNING_task_bytes);
  int64_t chunk = unit_bytes < task ? task / (unit_bytes > 0 ? unit_bytes : 1) : 1;
  if (!executor || count <= chunk) {
    body(argument, 0, count);
    return;
  }
  int64_t threads = executor->threads > 1 ? executor->threads : 1;
  int64_t most = threads * TASKS_PER_THREAD;
  if (count / chunk > most) chunk = count / most;
  chunk = (chunk + round - 1) / round * round;
  split s = {body, argument, count, chunk};
  int64_t tasks = (count - 1) / chunk + 1;
  if (tasks == 1)
    body(argument, 0, count);
  else
    executor->parallel_for(executor->context, tasks, run_chunk, &s);
}
