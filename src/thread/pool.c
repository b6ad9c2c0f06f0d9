/* SPDX-License-Identifier: MIT
 *
 * pool.c: the built-in thread pool. Workers sleep until there is work: spinning would take CPUs from the rest of the
 * program. The calling thread works too. At the end it waits only for workers that have begun a task, never for one to
 * wake up or to exist. So a thread that cannot be started, or is late, only costs its share of the speed.
 */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#define GATHER_HAVE_PTHREADS 1
#else
#define GATHER_HAVE_PTHREADS 0
#endif
#include "base/alloc.h"
#include "base/error.h"
#include "gather/gather.h"

#if GATHER_HAVE_PTHREADS

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct gather_pool {
  gather_executor executor;
  pid_t process;        /* process with the threads, not its children */
  pthread_mutex_t turn; /* held during a parallel_for */
  pthread_mutex_t lock; /* for all fields below except `next`, which workers of one job share, and constants */
  pthread_cond_t work, end;
  void (*task)(void *argument, int64_t i);
  void *argument;
  int64_t count;
  _Atomic int64_t next;   /* the first task not yet taken */
  int32_t wanted;         /* workers that may still join; 0 = no work */
  _Atomic int32_t inside; /* workers that have joined; written under the lock */
  bool waits;             /* the caller waits for `inside` to become 0 */
  bool stop;
  int32_t thread_count;
  pthread_t threads[];
};

static void run_tasks(gather_pool *pool) {
  for (;;) {
    int64_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (i >= pool->count) return;
    pool->task(pool->argument, i);
  }
}

/* Under the lock. A worker that wakes up when all tasks are taken sleeps again. */
static bool has_work(const gather_pool *pool) {
  return pool->wanted > 0 && atomic_load_explicit(&pool->next, memory_order_relaxed) < pool->count;
}

static void *work(void *argument) {
  gather_pool *pool = argument;
  (void)pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (!has_work(pool) && !pool->stop) (void)pthread_cond_wait(&pool->work, &pool->lock);
    if (pool->stop) break;
    pool->wanted--;
    atomic_fetch_add_explicit(&pool->inside, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&pool->lock);
    run_tasks(pool);
    (void)pthread_mutex_lock(&pool->lock);
    pool->wanted = 0; /* all tasks are taken */
    bool last = atomic_fetch_sub_explicit(&pool->inside, 1, memory_order_release) == 1;
    if (last && pool->waits) (void)pthread_cond_signal(&pool->end);
  }
  (void)pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* Wakes as many workers as there are tasks beside the caller's first. */
static void hand_out(gather_pool *pool, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  const int32_t wanted = count - 1 < pool->thread_count ? (int32_t)(count - 1) : pool->thread_count;
  (void)pthread_mutex_lock(&pool->lock);
  pool->task = task, pool->argument = argument, pool->count = count, pool->wanted = wanted;
  atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
  (void)pthread_mutex_unlock(&pool->lock);
  if (wanted == pool->thread_count)
    (void)pthread_cond_broadcast(&pool->work);
  else
    for (int32_t i = 0; i < wanted; i++) (void)pthread_cond_signal(&pool->work);
}

/* Workers end at about the same time: check before sleeping. */
static void wait_for_workers(gather_pool *pool) {
  enum { LOOKS = 20000 };
  for (int i = 0; i < LOOKS && atomic_load_explicit(&pool->inside, memory_order_relaxed) > 0; i++) continue;
  (void)pthread_mutex_lock(&pool->lock);
  pool->wanted = 0; /* a worker that wakes up now finds no work */
  pool->waits = true;
  while (atomic_load_explicit(&pool->inside, memory_order_acquire) > 0)
    (void)pthread_cond_wait(&pool->end, &pool->lock);
  pool->waits = false;
  (void)pthread_mutex_unlock(&pool->lock);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_pool *pool = context;
  if (count <= 1 || pool->thread_count == 0 || pool->process != getpid()) {
    for (int64_t i = 0; i < count; i++) task(argument, i);
    return;
  }
  (void)pthread_mutex_lock(&pool->turn);
  hand_out(pool, count, task, argument);
  run_tasks(pool);
  wait_for_workers(pool);
  (void)pthread_mutex_unlock(&pool->turn);
}

static bool make_locks(gather_pool *pool) {
  if (pthread_mutex_init(&pool->turn, NULL) != 0) return false;
  if (pthread_mutex_init(&pool->lock, NULL) == 0) {
    if (pthread_cond_init(&pool->work, NULL) == 0) {
      if (pthread_cond_init(&pool->end, NULL) == 0) return true;
      (void)pthread_cond_destroy(&pool->work);
    }
    (void)pthread_mutex_destroy(&pool->lock);
  }
  (void)pthread_mutex_destroy(&pool->turn);
  return false;
}

/* Signals of the program are for its own threads. Signals that a task may raise itself are not blocked: blocked, they
 * would end the process in spite of a handler. */
static void start_threads(gather_pool *pool, int32_t threads) {
  static const int OWN[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
  sigset_t all, before;
  (void)sigfillset(&all);
  for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++) (void)sigdelset(&all, OWN[i]);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  while (pool->thread_count < threads && pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0)
    pool->thread_count++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static gather_pool *create(int32_t threads) {
  gather_pool *pool = gather_alloc((int64_t)sizeof *pool + (int64_t)sizeof *pool->threads * (threads - 1));
  if (!pool) return NULL;
  if (!make_locks(pool)) {
    gather_free(pool);
    return NULL;
  }
  pool->process = getpid();
  start_threads(pool, threads - 1);
  pool->executor = (gather_executor){pool, parallel_for, pool->thread_count + 1};
  return pool;
}

/* A child of fork() has no threads, and its locks may be held forever: only the memory is freed. */
static void destroy(gather_pool *pool) {
  if (pool->process == getpid()) {
    (void)pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 0; i < pool->thread_count; i++) (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->end);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_mutex_destroy(&pool->turn);
  }
  gather_free(pool);
}

const char *gather_pool_library(void) { return "pthreads"; }

#else

struct gather_pool {
  gather_executor executor;
};

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  (void)context;
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

static gather_pool *create(int32_t threads) {
  gather_pool *pool = gather_alloc((int64_t)sizeof *pool);
  (void)threads;
  if (pool) pool->executor = (gather_executor){pool, parallel_for, 1};
  return pool;
}

static void destroy(gather_pool *pool) { gather_free(pool); }

const char *gather_pool_library(void) { return "none"; }

#endif

gather_status gather_pool_create(int32_t threads, gather_pool **pool, gather_error *error) {
  enum { MOST_THREADS = 4096 };
  if (!pool) return gather_fail(error, GATHER_USAGE, "`pool` is NULL");
  *pool = NULL;
  if (threads < 0 || threads > MOST_THREADS)
    return gather_fail(error, GATHER_USAGE, "a pool of %d threads; 0 to %d are possible", (int)threads,
                       (int)MOST_THREADS);
  *pool = create(threads > 0 ? threads : gather_cpu_count());
  return *pool ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a thread pool");
}

void gather_pool_destroy(gather_pool *pool) {
  if (pool) destroy(pool);
}

const gather_executor *gather_pool_executor(const gather_pool *pool) { return pool ? &pool->executor : NULL; }
