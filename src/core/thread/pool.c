/* SPDX-License-Identifier: MIT
 *
 * pool.c: the built-in thread pool. The calling thread works too. At the end it waits only for workers that have begun a
 * task, never for one to wake up or to exist. So a thread that cannot be started, or is late, only costs its share of
 * the speed.
 *
 * Workers sleep between calls: spinning would take CPUs from the rest of the program. Only while calls follow each other
 * within microseconds they spin that long before they sleep, because waking them takes longer than such a call.
 *
 * Each thread has a range of the tasks, and takes from the ranges of others when its own is done. So call after call a
 * thread works on the same part of the same memory, which is in its own cache.
 */
#if !defined(GATHER_NO_THREADS) && (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getcpu */
#endif
#define _POSIX_C_SOURCE 200809L
#define GATHER_HAVE_PTHREADS 1
#else
#define GATHER_HAVE_PTHREADS 0
#endif
#include "core/thread/pool.h"
#include "core/system/machine.h"

#include "core/base/alloc.h"
#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/system/clock.h"

#if GATHER_HAVE_PTHREADS

#include <pthread.h>
#if defined(__linux__)
#include <sched.h>
#endif
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* What different threads write is two lines apart, because CPUs fetch lines in pairs. */
enum { APART = 120 };

/* A thread and its range of the tasks. */
typedef struct {
  gather_pool *pool;
  pthread_t thread;
  _Atomic int64_t next; /* the first task of its range not yet taken */
  int64_t end;
  char members_line[APART];
} member;

struct gather_pool {
  gather_executor executor;
  pid_t process;        /* process with the threads, not its children */
  uint32_t forks;       /* the number of forks when it was made */
  bool enough_cpus;     /* one for each thread: else a thread that spins takes it from another one */
  int32_t thread_count; /* workers */
  pthread_mutex_t turn; /* held during a parallel_for */
  pthread_mutex_t lock; /* for sleeping and waking */
  pthread_cond_t work, end;
  _Atomic int32_t asleep; /* written under the lock */
  _Atomic bool waits;     /* the caller sleeps until `inside` becomes 0 */
  _Atomic bool stop;
  /* Callers write these, workers seldom read them. */
  _Atomic int64_t seen;       /* when work was announced, or done, for the last time */
  _Atomic int64_t busy_until; /* until then CPUs are assumed to be busy with other programs */
  _Atomic int cpu;            /* of the last caller */
  _Atomic int64_t spin_ns;    /* how long workers spin for now */
  _Atomic int32_t in_a_row;   /* announcements soon after each other while all workers slept */
  char job_line[APART];
  uint32_t jobs;                           /* opened so far */
  _Atomic uint32_t job;                    /* the number of the open one; 0 = none */
  void (*task)(void *argument, int64_t i); /* of the open job; written while none is open and nobody is inside */
  void *argument;
  char inside_line[APART];
  _Atomic int32_t inside; /* workers that look at the job or run its tasks */
  char members_line[APART];
  member members[]; /* the calling thread, then the workers */
};

/* ---- children of fork() have no threads, and their locks may be held forever. getpid() would be a system call for each call */

static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static atomic_bool watched;
static _Atomic uint32_t forks;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }

static void watch_forks(void) { atomic_store(&watched, pthread_atfork(NULL, NULL, count_fork) == 0); }

static bool is_child(const gather_pool *pool) {
  if (atomic_load_explicit(&watched, memory_order_relaxed)) return pool->forks != atomic_load_explicit(&forks, memory_order_relaxed);
  return pool->process != getpid();
}

/* ---- tasks */

/* Runs the tasks of one's own range, then those that are left of the others'. */
static void run_tasks(gather_pool *pool, int32_t self) {
  for (int32_t k = 0; k <= pool->thread_count; k++) {
    member *m = &pool->members[(self + k) % (pool->thread_count + 1)];
    while (atomic_load_explicit(&m->next, memory_order_relaxed) < m->end) {
      int64_t i = atomic_fetch_add_explicit(&m->next, 1, memory_order_relaxed);
      if (i < m->end) pool->task(pool->argument, i);
    }
  }
}

static void share_out(gather_pool *pool, int64_t count) {
  const int64_t threads = pool->thread_count + 1, each = count / threads, more = count % threads;
  for (int64_t t = 0, first = 0; t < threads; t++) {
    member *m = &pool->members[t];
    atomic_store_explicit(&m->next, first, memory_order_relaxed);
    first += each + (t < more);
    m->end = first;
  }
}

/* ---- workers. `inside`, `job`, `asleep`, `waits` and `stop` are sequentially consistent: each side writes its own before it reads
 * the other's, so that one of them sees the other. */

/* Whether there is a job that this worker has not joined yet. */
static bool is_new(const gather_pool *pool, uint32_t last) {
  const uint32_t job = atomic_load(&pool->job);
  return job != 0 && job != last;
}

static bool sleeps(const gather_pool *pool, uint32_t last) { return !is_new(pool, last) && !atomic_load(&pool->stop); }

static void fall_asleep(gather_pool *pool, uint32_t last) {
  (void)pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->asleep, 1);
  if (sleeps(pool, last)) (void)pthread_cond_wait(&pool->work, &pool->lock);
  atomic_fetch_sub(&pool->asleep, 1);
  (void)pthread_mutex_unlock(&pool->lock);
}

/* ---- whether CPUs are free. Where other programs use them, a thread that spins may take its CPU from the caller, and one that has
 * a task may lose its own. */

static int this_cpu(void) {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/* A thread lost so many nanoseconds: for BUSY_SHARE times as long no small work is shared, so that this costs little of
 * the time. */
static void note_busy(gather_pool *pool, int64_t now, int64_t lost) {
  enum { BUSY_SHARE = 16 };
  atomic_store_explicit(&pool->busy_until, now + BUSY_SHARE * lost, memory_order_relaxed);
}

/* Whether this worker has the caller's CPU, or just lost its own for a while. */
static bool is_in_the_way(gather_pool *pool, int64_t before, int64_t now) {
  enum {
    LOST = 20000 /* nanoseconds: far more than some looks take */,
    SAME = 100000 /* about a time slice's share */
  };
  const int cpu = this_cpu();
  const bool same = cpu >= 0 && cpu == atomic_load_explicit(&pool->cpu, memory_order_relaxed);
  if (!same && now - before < LOST) return false;
  note_busy(pool, now, same ? SAME : now - before);
  return true;
}

/* Spins a while for a job. */
static void spin(gather_pool *pool, uint32_t last) {
  enum { LOOKS = 32 /* a microsecond, so that reading the clock takes a small share */ };
  const int64_t ns = atomic_load_explicit(&pool->spin_ns, memory_order_relaxed);
  if (ns <= 0) return;
  const int64_t start = gather_clock();
  for (int64_t now = start, before = start; now - start < ns && !is_in_the_way(pool, before, now);) {
    for (int i = 0; i < LOOKS; i++) {
      if (!sleeps(pool, last)) return;
      GATHER_PAUSE();
    }
    before = now, now = gather_clock();
  }
}

static void leave(gather_pool *pool) {
  if (atomic_fetch_sub(&pool->inside, 1) != 1 || !atomic_load(&pool->waits)) return;
  (void)pthread_mutex_lock(&pool->lock);
  (void)pthread_cond_signal(&pool->end);
  (void)pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument) {
  member *self = argument;
  gather_pool *pool = self->pool;
  uint32_t last = 0;
  while (!atomic_load(&pool->stop)) {
    spin(pool, last);
    if (sleeps(pool, last)) fall_asleep(pool, last);
    atomic_fetch_add(&pool->inside, 1); /* from here on the caller waits, if the job is still open */
    const uint32_t job = atomic_load(&pool->job);
    if (job != 0 && job != last) last = job, run_tasks(pool, (int32_t)(self - pool->members));
    leave(pool);
  }
  return NULL;
}

/* ---- the calling thread */

/* Wakes as many workers as there are tasks beside the caller's first and the workers that are awake. */
static void wake(gather_pool *pool, int64_t count) {
  const int32_t asleep = atomic_load(&pool->asleep), awake = pool->thread_count - asleep;
  if (asleep == 0 || awake >= count - 1) return;
  const int64_t wanted = count - 1 - awake;
  (void)pthread_mutex_lock(&pool->lock); /* who is falling asleep has begun to wait */
  (void)pthread_mutex_unlock(&pool->lock);
  if (wanted >= asleep)
    (void)pthread_cond_broadcast(&pool->work);
  else
    for (int64_t i = 0; i < wanted; i++) (void)pthread_cond_signal(&pool->work);
}

static void open_job(gather_pool *pool, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  pool->task = task, pool->argument = argument;
  share_out(pool, count);
  if (++pool->jobs == 0) pool->jobs = 1;
  atomic_store(&pool->job, pool->jobs);
}

/* Workers end at about the same time: check before sleeping. */
static void close_job(gather_pool *pool) {
  enum { LOOKS = 4000 /* some 50 us */, FEW_LOOKS = 100 /* where the worker may need this CPU */ };
  const int looks = pool->enough_cpus ? LOOKS : FEW_LOOKS;
  atomic_store(&pool->job, 0); /* a worker that wakes up now finds no work */
  for (int i = 0; i < looks && atomic_load(&pool->inside) > 0; i++) GATHER_PAUSE();
  if (atomic_load(&pool->inside) == 0) return;
  const int64_t start = gather_clock();
  (void)pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->waits, true);
  while (atomic_load(&pool->inside) > 0) (void)pthread_cond_wait(&pool->end, &pool->lock);
  atomic_store(&pool->waits, false);
  (void)pthread_mutex_unlock(&pool->lock);
  const int64_t now = gather_clock();
  note_busy(pool, now, now - start);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_pool *pool = context;
  if (count <= 1 || pool->thread_count == 0 || is_child(pool)) {
    for (int64_t i = 0; i < count; i++) task(argument, i);
    return;
  }
  (void)pthread_mutex_lock(&pool->turn);
  open_job(pool, count, task, argument);
  wake(pool, count);
  run_tasks(pool, 0);
  close_job(pool);
  (void)pthread_mutex_unlock(&pool->turn);
  atomic_store_explicit(&pool->seen, gather_clock(), memory_order_relaxed);
}

int32_t gather_pool_announce(const gather_executor *executor, int64_t spin_ns) {
  enum { ENOUGH = 8 /* in a row, before workers are woken for the next: waking them costs as much as some of them */ };
  if (executor->parallel_for != parallel_for) return 0;
  gather_pool *pool = executor->context;
  if (pool->thread_count == 0 || !pool->enough_cpus || spin_ns <= 0 || is_child(pool)) return 0;
  const int64_t now = gather_clock(), before = atomic_exchange_explicit(&pool->seen, now, memory_order_relaxed);
  const bool soon = now - before < spin_ns && now >= atomic_load_explicit(&pool->busy_until, memory_order_relaxed);
  atomic_store_explicit(&pool->spin_ns, soon ? spin_ns : 0, memory_order_relaxed);
  const int32_t awake = pool->thread_count - atomic_load_explicit(&pool->asleep, memory_order_relaxed);
  if (awake > 0 || !soon) {
    atomic_store_explicit(&pool->in_a_row, 0, memory_order_relaxed);
  } else if (atomic_fetch_add_explicit(&pool->in_a_row, 1, memory_order_relaxed) + 1 >= ENOUGH) {
    atomic_store_explicit(&pool->in_a_row, 0, memory_order_relaxed);
    (void)pthread_cond_broadcast(&pool->work); /* they find no job yet, and spin */
  }
  if (soon) atomic_store_explicit(&pool->cpu, this_cpu(), memory_order_relaxed);
  return soon ? awake : 0;
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
  while (pool->thread_count < threads) {
    member *m = &pool->members[pool->thread_count + 1];
    m->pool = pool;
    if (pthread_create(&m->thread, NULL, work, m) != 0) break;
    pool->thread_count++;
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static gather_pool *create(int32_t threads) {
  gather_pool *pool = gather_alloc((int64_t)sizeof *pool + (int64_t)sizeof *pool->members * threads);
  if (!pool) return NULL;
  if (!make_locks(pool)) {
    gather_free(pool);
    return NULL;
  }
  (void)pthread_once(&watch_once, watch_forks);
  pool->process = getpid(), pool->forks = atomic_load(&forks);
  pool->enough_cpus = gather_cpu_count() >= threads;
  start_threads(pool, threads - 1);
  pool->executor = (gather_executor){pool, parallel_for, pool->thread_count + 1};
  return pool;
}

/* A child of fork() has no threads, and its locks may be held forever: only the memory is freed. */
static void destroy(gather_pool *pool) {
  if (!is_child(pool)) {
    (void)pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stop, true);
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 0; i < pool->thread_count; i++) (void)pthread_join(pool->members[i + 1].thread, NULL);
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

int32_t gather_pool_announce(const gather_executor *executor, int64_t spin_ns) {
  (void)executor, (void)spin_ns;
  return 0;
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
    return gather_fail(error, GATHER_USAGE, "a pool cannot have %d threads; 0 to %d are supported", (int)threads, (int)MOST_THREADS);
  *pool = create(threads > 0 ? threads : gather_cpu_count());
  return *pool ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a thread pool");
}

void gather_pool_destroy(gather_pool *pool) {
  if (pool) destroy(pool);
}

const gather_executor *gather_pool_executor(const gather_pool *pool) { return pool ? &pool->executor : NULL; }
