/* SPDX-License-Identifier: MIT
 *
 * timed.c: a clock around work on several threads. The threads are made for the call and wait for one another before the clock
 * starts, so that what is measured is the memory and not the waking.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "native.h"

enum { MAX_THREADS = 256 };

typedef struct {
  work_fn work;
  const job *j;
  int32_t threads;
  int64_t rounds;
  atomic_int ready, next, done;
} gang;

int64_t bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_for(atomic_int *count, int32_t wanted) {
  for (int spins = 0; atomic_load_explicit(count, memory_order_acquire) < wanted; spins++) {
    if (spins > 10000) sched_yield();
  }
}

/* Part 0 is the caller's. After each round all wait for one another, as a gather that has returned is complete. */
static void take_part(gang *g, int32_t part) {
  atomic_fetch_add(&g->ready, 1);
  wait_for(&g->ready, g->threads);
  for (int64_t round = 0; round < g->rounds; round++) {
    g->work(g->j, part, g->threads);
    atomic_fetch_add(&g->done, 1);
    wait_for(&g->done, (int32_t)(round + 1) * g->threads);
  }
}

static void *helper(void *argument) {
  gang *g = argument;
  take_part(g, atomic_fetch_add(&g->next, 1));
  return NULL;
}

int64_t bench_timed(work_fn work, const job *j, int32_t threads, int64_t rounds) {
  pthread_t helpers[MAX_THREADS];
  gang g = {.work = work, .j = j, .threads = 1, .rounds = rounds};
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  g.threads = threads;
  atomic_store(&g.next, 1);
  for (int32_t i = 1; i < threads; i++) {
    /* Without the thread the wait would never end. */
    if (pthread_create(&helpers[i], NULL, helper, &g) != 0) return -1;
  }
  wait_for(&g.ready, threads - 1);
  int64_t start = bench_now();
  take_part(&g, 0);
  int64_t end = bench_now();
  for (int32_t i = 1; i < threads; i++) pthread_join(helpers[i], NULL);
  return end - start;
}
