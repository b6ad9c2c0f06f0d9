/* SPDX-License-Identifier: MIT
 *
 * node_threads.c: runs the library's tasks on the threads of the session.
 *
 * The host does not say how many those are. Where it is one, a gather in tasks costs up to a third more than one without: so a node
 * whose tasks were all run by the caller, several times in a row, gathers without tasks, and tries again now and then.
 */
#include <pthread.h>

#include "node_internal.h"

enum { ALONE = 4 /* times in a row */, AGAIN = 64 /* how often it tries again */ };

typedef struct {
  void (*task)(void *argument, int64_t i);
  void *argument;
  pthread_t caller;
  atomic_bool helped; /* another thread ran a task */
} tasks;

static void run_task(void *argument, size_t i) {
  tasks *t = argument;
  if (!pthread_equal(pthread_self(), t->caller)) atomic_store_explicit(&t->helped, true, memory_order_relaxed);
  t->task(t->argument, (int64_t)i);
}

static void note(atomic_uint *alone, bool helped) {
  if (helped)
    atomic_store_explicit(alone, 0, memory_order_relaxed);
  else
    atomic_fetch_add_explicit(alone, 1, memory_order_relaxed);
}

/* Whether this gather is one of those that go without tasks. */
static bool stays_alone(atomic_uint *alone) {
  const unsigned times = atomic_load_explicit(alone, memory_order_relaxed);
  if (times < ALONE || times % AGAIN == 0) return false;
  atomic_fetch_add_explicit(alone, 1, memory_order_relaxed);
  return true;
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  const ort_threads *threads = context;
  tasks all = {task, argument, pthread_self(), false};
  OrtStatus *status = ORT(threads->host, KernelContext_ParallelFor)(threads->context, run_task, (size_t)count, 0, &all);
  if (!status) {
    if (count > 1) note(threads->alone, atomic_load_explicit(&all.helped, memory_order_relaxed));
    return;
  }
  /* The host refuses before the first task. */
  ORT(threads->host, ReleaseStatus)(status);
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

const gather_executor *gather_ort_threads(ort_node *node, const OrtKernelContext *context, int64_t bytes, ort_threads *threads) {
  enum {
    WORTH_IT = 2 * 1024 * 1024 /* less is moved before another thread has woken up, and the caller has to wait for it */
  };
  if (bytes < WORTH_IT || node->threads < 2 || stays_alone(&node->alone)) return NULL;
  threads->host = &node->host, threads->context = context, threads->alone = &node->alone;
  threads->executor = (gather_executor){threads, parallel_for, node->threads};
  return &threads->executor;
}
