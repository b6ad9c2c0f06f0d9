/* SPDX-License-Identifier: MIT
 *
 * shuffle_progress.c: reports progress to the caller, and checks for cancellation.
 */
#include "table/shuffle/shuffle_internal.h"

void gather_shuffle_show(const gather_shuffle *job, gather_shuffle_step step, int64_t done, int64_t total) {
  if (!job->options.progress) return;
  const gather_shuffle_progress progress = {step, done, total, job->noted ? job->folder.path : NULL};
  job->options.progress(job->options.progress_context, &progress);
}

bool gather_shuffle_stopped(const gather_shuffle *job) {
  if (atomic_load_explicit(job->stopped, memory_order_relaxed)) return true;
  if (!job->options.stop || !job->options.stop(job->options.stop_context)) return false;
  atomic_store_explicit(job->stopped, true, memory_order_relaxed);
  return true;
}

gather_status gather_shuffle_go_on(const gather_shuffle *job, gather_error *error) {
  return gather_shuffle_stopped(job) ? gather_fail(error, GATHER_CANCELLED, "the shuffle was cancelled") : GATHER_OK;
}

typedef struct tasks {
  const gather_shuffle *job;
  void (*task)(void *argument, int64_t i);
  void *argument;
} tasks;

static void run_unless_stopped(void *argument, int64_t i) {
  const tasks *all = argument;
  if (!gather_shuffle_stopped(all->job)) all->task(all->argument, i);
}

void gather_shuffle_parallel(const gather_shuffle *job, const gather_executor *executor, int64_t count,
                             void (*task)(void *argument, int64_t i), void *argument) {
  tasks all = {job, task, argument};
  if (executor && count > 1) {
    executor->parallel_for(executor->context, count, run_unless_stopped, &all);
    return;
  }
  for (int64_t i = 0; i < count; i++) run_unless_stopped(&all, i);
}
