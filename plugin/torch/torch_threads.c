/* SPDX-License-Identifier: MIT
 *
 * torch_threads.c: gathers run on PyTorch's threads, as many as torch.set_num_threads() says.
 */
#include <pthread.h>

#include "torch_operator.h"

typedef struct work {
  void (*task)(void *argument, int64_t i);
  void *argument;
} work;

static void run_range(int64_t begin, int64_t end, void *argument) {
  const work *what = argument;
  for (int64_t i = begin; i < end; i++) what->task(what->argument, i);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  (void)context;
  work what = {task, argument};
  if (torch_parallel_for(0, count, 1, run_range, &what)) run_range(0, count, &what);
}

static bool forked;
static void in_child(void) { forked = true; }

void gather_torch_watch_forks(void) { (void)pthread_atfork(NULL, NULL, in_child); }

const gather_executor *gather_torch_executor(gather_executor *executor) {
  uint32_t threads = 1;
  if (forked || torch_get_num_threads(&threads) || threads < 2) return NULL;
  *executor = (gather_executor){NULL, parallel_for, threads > 4096 ? 4096 : (int32_t)threads};
  return executor;
}
