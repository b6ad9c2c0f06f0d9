/* SPDX-License-Identifier: MIT
 *
 * node_threads.c: runs the library's tasks on the threads of the session.
 */
#include "node_internal.h"

typedef struct {
  void (*task)(void *argument, int64_t i);
  void *argument;
} tasks;

static void run_task(void *argument, size_t i) {
  const tasks *t = argument;
  t->task(t->argument, (int64_t)i);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  const ort_threads *threads = context;
  tasks all = {task, argument};
  OrtStatus *status = ORT(threads->host, KernelContext_ParallelFor)(threads->context, run_task, (size_t)count, 0, &all);
  if (!status) return;
  /* The host refuses before the first task. */
  ORT(threads->host, ReleaseStatus)(status);
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

const gather_executor *gather_ort_threads(const ort_node *node, const OrtKernelContext *context, int64_t bytes,
                                          ort_threads *threads) {
  enum { WORTH_IT = 512 * 1024 /* two tasks */ };
  if (bytes < WORTH_IT || node->threads < 2) return NULL;
  threads->host = &node->host, threads->context = context;
  threads->executor = (gather_executor){threads, parallel_for, node->threads};
  return &threads->executor;
}
