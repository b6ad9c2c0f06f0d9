/* SPDX-License-Identifier: MIT
 *
 * parallel.c: a few threads for tasks that wait (POSIX).
 */
#define _POSIX_C_SOURCE 200809L
#include "io/remote/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { MOST_THREADS = 64 };

typedef struct parallel {
  atomic_llong next;
  int64_t count;
  void (*task)(void *argument, int64_t i);
  void *argument;
} parallel;

static void run_tasks(parallel *all) {
  for (;;) {
    const int64_t i = atomic_fetch_add(&all->next, 1);
    if (i >= all->count) return;
    all->task(all->argument, i);
  }
}

static void *run_thread(void *argument) {
  run_tasks(argument);
  return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(pthread_t *thread, parallel *all) {
  sigset_t every, before;
  (void)sigfillset(&every);
  (void)pthread_sigmask(SIG_SETMASK, &every, &before);
  const bool started = pthread_create(thread, NULL, run_thread, all) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void gather_remote_parallel(int64_t count, int32_t threads, void (*task)(void *argument, int64_t i), void *argument) {
  pthread_t started[MOST_THREADS];
  parallel all = {.count = count, .task = task, .argument = argument};
  int32_t len = 0, most = threads < MOST_THREADS ? threads : MOST_THREADS;
  while (len + 1 < most && len + 1 < count && start_thread(&started[len], &all)) len++;
  run_tasks(&all);
  for (int32_t i = 0; i < len; i++) (void)pthread_join(started[i], NULL);
}
