/* SPDX-License-Identifier: MIT
 *
 * pool.c: the built-in pool of threads, by pthreadpool where it was found; else one thread, the caller's.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "gather/gather.h"

#if defined(GATHER_HAVE_PTHREADPOOL)
#include <pthreadpool.h>
#endif

struct gather_pool {
  gather_executor executor;
#if defined(GATHER_HAVE_PTHREADPOOL)
  pthreadpool_t threads;
#endif
};

#if defined(GATHER_HAVE_PTHREADPOOL)

typedef struct {
  void (*task)(void *argument, int64_t i);
  void *argument;
} job;

static void run_one(void *context, size_t i) {
  const job *j = context;
  j->task(j->argument, (int64_t)i);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_pool *pool = context;
  job j = {task, argument};
  /* Workers sleep when the work is done: spinning, pthreadpool's other way, takes CPUs that belong to the rest of the program. */
  pthreadpool_parallelize_1d(pool->threads, run_one, &j, (size_t)count, PTHREADPOOL_FLAG_YIELD_WORKERS);
}

static bool start(gather_pool *pool, int32_t threads) {
  pool->threads = pthreadpool_create((size_t)threads);
  if (!pool->threads) return false;
  pool->executor.threads = (int32_t)pthreadpool_get_threads_count(pool->threads);
  return true;
}

static void stop(gather_pool *pool) { pthreadpool_destroy(pool->threads); }

const char *gather_pool_library(void) { return "pthreadpool"; }

#else

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  (void)context;
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

static bool start(gather_pool *pool, int32_t threads) {
  (void)threads;
  pool->executor.threads = 1;
  return true;
}

static void stop(gather_pool *pool) { (void)pool; }

const char *gather_pool_library(void) { return "none"; }

#endif

gather_status gather_pool_create(int32_t threads, gather_pool **pool, gather_error *error) {
  enum { MOST_THREADS = 4096 };
  if (!pool) return gather_fail(error, GATHER_USAGE, "the place for the pool is NULL");
  *pool = NULL;
  if (threads < 0 || threads > MOST_THREADS)
    return gather_fail(error, GATHER_USAGE, "a pool of %d threads; 0 to %d are possible", (int)threads,
                       (int)MOST_THREADS);
  gather_pool *made = gather_alloc((int64_t)sizeof *made);
  if (!made || !start(made, threads > 0 ? threads : gather_cpu_count())) {
    gather_free(made);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a pool of threads");
  }
  made->executor.context = made;
  made->executor.parallel_for = parallel_for;
  *pool = made;
  return GATHER_OK;
}

void gather_pool_destroy(gather_pool *pool) {
  if (!pool) return;
  stop(pool);
  gather_free(pool);
}

const gather_executor *gather_pool_executor(const gather_pool *pool) { return pool ? &pool->executor : NULL; }
