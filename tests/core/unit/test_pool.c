/* SPDX-License-Identifier: MIT
 *
 * test_pool.c: the built-in pool where the system gives fewer threads than asked for, or none; with several callers; after fork().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/plan/tasks.h"
#include "core/system/machine.h"
#include "core/thread/pool.h"
#include "support/fail_each.h"

static int allowed = -1; /* threads that can be made; -1 = any number */

WRAPPED(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)) {
  if (allowed == 0) return EAGAIN;
  if (allowed > 0) allowed--;
  return REAL(pthread_create)(thread, attributes, start, argument);
}

/* Locks, conditions and memory fail, and what was made and not ended is counted. */
WRAPPED(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes)) {
  const int number = fails_now() ? ENOMEM : REAL(pthread_mutex_init)(mutex, attributes);
  atomic_fetch_add(&alive, number == 0);
  return number;
}

WRAPPED(int, pthread_cond_init, (pthread_cond_t * condition, const pthread_condattr_t *attributes)) {
  const int number = fails_now() ? ENOMEM : REAL(pthread_cond_init)(condition, attributes);
  atomic_fetch_add(&alive, number == 0);
  return number;
}

WRAPPED(int, pthread_mutex_destroy, (pthread_mutex_t * mutex)) {
  atomic_fetch_sub(&alive, 1);
  return REAL(pthread_mutex_destroy)(mutex);
}

WRAPPED(int, pthread_cond_destroy, (pthread_cond_t * condition)) {
  atomic_fetch_sub(&alive, 1);
  return REAL(pthread_cond_destroy)(condition);
}

static bool no_affinity;

WRAPPED(int, sched_getaffinity, (pid_t process, size_t bytes, cpu_set_t *set)) {
  return no_affinity ? -1 : REAL(sched_getaffinity)(process, bytes, set);
}

/* How many CPUs the pool is told of, so that pools of many threads spin here, too; 0 = the truth. */
static int32_t told_cpus;

WRAPPED(int32_t, gather_cpu_count, (void)) { return told_cpus > 0 ? told_cpus : REAL(gather_cpu_count)(); }

/* Told times, so that a busy machine decides no test: each look at the clock takes a microsecond of the thread that looks, since a
 * thread that waits for its turn must not see the looks of others as time it lost; and no two threads share a CPU. */
static atomic_bool told;
static _Thread_local int64_t clock_looks;

WRAPPED(int64_t, gather_clock, (void)) { return atomic_load(&told) ? 1000 * clock_looks++ : REAL(gather_clock)(); }

WRAPPED(int, sched_getcpu, (void)) { return atomic_load(&told) ? -1 : REAL(sched_getcpu)(); }

enum { TASKS = 200, SECONDS = 60, LONG_NS = 1000000000 };

static void count_task(void *argument, int64_t i) {
  atomic_int *counts = argument;
  atomic_fetch_add(&counts[i], 1);
}

static void run_once(const gather_executor *executor, int64_t count) {
  atomic_int counts[TASKS];
  for (int i = 0; i < TASKS; i++) atomic_init(&counts[i], 0);
  executor->parallel_for(executor->context, count, count_task, counts);
  for (int i = 0; i < TASKS; i++) assert_int_equal(atomic_load(&counts[i]), i < count);
}

static gather_pool *pool_of(int32_t threads) {
  gather_pool *pool = NULL;
  assert_status(gather_pool_create(threads, &pool, NULL), GATHER_OK);
  return pool;
}

static void threads_that_cannot_be_made(void **state) {
  for (int32_t threads = 1; threads <= 6; threads++)
    for (int made = 0; made <= 6; made++) {
      allowed = made;
      gather_pool *pool = pool_of(threads);
      allowed = -1;
      const gather_executor *executor = gather_pool_executor(pool);
      assert_int_equal(executor->threads, 1 + (made < threads - 1 ? made : threads - 1));
      for (int64_t count = 0; count <= TASKS; count = count * 3 + 1) run_once(executor, count);
      gather_pool_destroy(pool);
    }
}

static gather_status make_and_run(const void *context, gather_error *error) {
  gather_pool *pool = NULL;
  const gather_status status = gather_pool_create(3, &pool, error);
  fail_no_more();
  if (status != GATHER_OK) assert_null(pool);
  if (status == GATHER_OK) run_once(gather_pool_executor(pool), TASKS);
  gather_pool_destroy(pool);
  return status;
}

/* Each lock, condition and allocation of a pool that cannot be had. */
static void pools_that_cannot_be_made(void **state) {
  assert_int_equal(fail_each_as(make_and_run, NULL, GATHER_OK, FAIL_EVERY), 5); /* memory, two locks and two conditions */
}

/* Numbers of threads that are none, and the number of CPUs that stands for 0. */
static void numbers_of_threads(void **state) {
  static const int32_t WRONG[] = {-1, INT32_MIN, 4097, INT32_MAX};
  gather_error error;
  for (size_t i = 0; i < COUNT(WRONG); i++) {
    gather_pool *pool = (gather_pool *)&error;
    assert_status(gather_pool_create(WRONG[i], &pool, &error), GATHER_USAGE);
    assert_error(&error, GATHER_USAGE);
    assert_null(pool);
  }
  assert_status(gather_pool_create(1, NULL, &error), GATHER_USAGE);
  assert_null(gather_pool_executor(NULL));
  gather_pool_destroy(NULL);
  for (told_cpus = 1; told_cpus <= 3; told_cpus++) {
    gather_pool *pool = pool_of(0);
    assert_int_equal(gather_pool_executor(pool)->threads, told_cpus);
    gather_pool_destroy(pool);
  }
  told_cpus = 0;
  no_affinity = true;
  assert_int_equal(gather_cpu_count(), 1);
  no_affinity = false;
  assert_true(gather_cpu_count() >= 1);
}

static void a_gather_without_threads(void **state) {
  enum { ROWS = 1 << 20 };
  int32_t *data = malloc(ROWS * sizeof *data), *out = malloc(ROWS * sizeof *out);
  int64_t *ids = malloc(ROWS * sizeof *ids);
  gather_options options = GATHER_OPTIONS_INIT;
  assert_true(data && out && ids);
  for (int i = 0; i < ROWS; i++) data[i] = i * 3, ids[i] = (int64_t)i * 7919 % ROWS;
  gather_tensor table = tensor_of(GATHER_TYPE_INT32, data, 1, DIMS(ROWS));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(ROWS)), to = table;
  to.data = out;
  for (int made = 0; made <= 1; made++) {
    allowed = made;
    gather_pool *pool = pool_of(4);
    options.executor = gather_pool_executor(pool);
    memset(out, 0, ROWS * sizeof *out);
    assert_status(gather_apply(op_of("Gather", "onnx-13"), &table, &indices, &to, &options, NULL), GATHER_OK);
    for (int i = 0; i < ROWS; i++) assert_int_equal(out[i], ids[i] * 3);
    gather_pool_destroy(pool);
  }
  allowed = -1;
  free(data), free(out), free(ids);
}

/* ---- several callers of one pool, many calls */

static void *call_often(void *argument) {
  for (int i = 0; i < 500; i++) run_once(argument, 1 + i % TASKS);
  return NULL;
}

static void callers_take_turns(void **state) {
  enum { CALLERS = 4 };
  pthread_t callers[CALLERS];
  gather_pool *pool = pool_of(3);
  gather_executor executor = *gather_pool_executor(pool);
  for (int c = 0; c < CALLERS; c++) assert_int_equal(pthread_create(&callers[c], NULL, call_often, &executor), 0);
  for (int c = 0; c < CALLERS; c++) assert_int_equal(pthread_join(callers[c], NULL), 0);
  gather_pool_destroy(pool);
}

/* ---- children */

static void a_child_works_alone(void **state) {
  gather_pool *pool = pool_of(3);
  run_once(gather_pool_executor(pool), TASKS);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int sum = 0;
    atomic_int counts[TASKS];
    for (int i = 0; i < TASKS; i++) atomic_init(&counts[i], 0);
    const gather_executor *executor = gather_pool_executor(pool);
    executor->parallel_for(executor->context, TASKS, count_task, counts);
    for (int i = 0; i < TASKS; i++) sum += atomic_load(&counts[i]);
    gather_pool_destroy(pool);
    _exit(sum == TASKS ? 0 : 1);
  }
  int answer = -1;
  assert_int_equal(waitpid(child, &answer, 0), child);
  assert_true(WIFEXITED(answer) && WEXITSTATUS(answer) == 0);
  run_once(gather_pool_executor(pool), TASKS);
  gather_pool_destroy(pool);
}

/* ---- signals */

static atomic_int handled_elsewhere;
static pthread_t caller;

static void handle(int number) {
  if (!pthread_equal(pthread_self(), caller)) atomic_fetch_add(&handled_elsewhere, 1);
}

static void raise_it(void *argument, int64_t i) {
  (void)argument, (void)i;
  (void)kill(getpid(), SIGUSR1);
}

static void signals_are_for_the_program(void **state) {
  gather_pool *pool = pool_of(4);
  const gather_executor *executor = gather_pool_executor(pool);
  struct sigaction action = {.sa_handler = handle}, before;
  caller = pthread_self();
  assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
  for (int i = 0; i < 50; i++) executor->parallel_for(executor->context, 8, raise_it, NULL);
  assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
  assert_int_equal(atomic_load(&handled_elsewhere), 0);
  gather_pool_destroy(pool);
}

/* ---- workers that spin, and small work */

static void run_ranges(void *argument, int64_t first, int64_t last) {
  atomic_int *counts = argument;
  for (int64_t i = first; i < last; i++) atomic_fetch_add(&counts[i], 1);
}

/* Each item is in one range. */
static void split_all(const gather_executor *executor, int64_t count, int64_t unit_bytes) {
  atomic_int counts[TASKS + 1];
  for (int i = 0; i <= TASKS; i++) atomic_init(&counts[i], 0);
  gather_split(executor, count, unit_bytes, 1, run_ranges, counts);
  for (int i = 0; i <= TASKS; i++) assert_int_equal(atomic_load(&counts[i]), i < count);
}

static int64_t tasks_seen;

static void count_tasks(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  tasks_seen = count;
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

/* Work that does not repay waking a thread, on an executor whose threads may sleep. */
static void what_is_shared(void **state) {
  static const struct {
    int64_t count, unit_bytes, tasks;
  } works[] = {{1, INT64_MAX, 0}, {4, 65536, 0},     {100, 2621, 0},       {100, 5243, 3},
               {4, 262144, 4},    {200, 262144, 64}, {200, INT64_MAX, 64}, {200, 0, 0}};
  const gather_executor two = {NULL, count_tasks, 2};
  for (size_t i = 0; i < COUNT(works); i++) {
    tasks_seen = 0;
    split_all(&two, works[i].count, works[i].unit_bytes);
    assert_in_range(tasks_seen, works[i].tasks, works[i].tasks * 3 / 2);
  }
}

/* Whether workers are awake some time after calls that follow each other. */
static bool wakes(const gather_executor *executor, int64_t spin_ns, int rounds) {
  for (int i = 0; i < rounds; i++) {
    if (gather_pool_announce(executor, spin_ns) > 0) return true;
    run_once(executor, 3);
    (void)sched_yield();
  }
  return false;
}

static void workers_spin_between_calls(void **state) {
  atomic_store(&told, true);
  for (int32_t threads = 1; threads <= 8; threads++) {
    told_cpus = 8;
    gather_pool *pool = pool_of(threads);
    told_cpus = 0;
    const gather_executor *executor = gather_pool_executor(pool);
    assert_int_equal(wakes(executor, LONG_NS, threads > 1 ? 100000 : 100), threads > 1);
    for (int i = 0; i < 300; i++) {
      (void)gather_pool_announce(executor, i % 50 ? LONG_NS : 0);
      run_once(executor, 1 + i % TASKS);
      split_all(executor, 1 + i % TASKS, 65536);
    }
    assert_false(wakes(executor, 0, 100));
    gather_pool_destroy(pool);
  }
  atomic_store(&told, false);
}

/* Small calls that never use the workers wake them if they are many; the caller does not wait for it. */
static void small_calls_wake_the_workers(void **state) {
  const gather_executor other = {NULL, count_tasks, 4};
  atomic_store(&told, true);
  told_cpus = 4;
  gather_pool *pool = pool_of(4);
  told_cpus = 0;
  const gather_executor *executor = gather_pool_executor(pool);
  int64_t awake = 0;
  for (int64_t i = 0; i < 1000000 && awake == 0; i++) {
    awake = gather_pool_announce(executor, LONG_NS);
    if (i % 8 == 0) (void)sched_yield();
  }
  assert_in_range(awake, 1, 3);
  assert_int_equal(gather_pool_announce(&other, LONG_NS), 0);
  gather_pool_destroy(pool);
  atomic_store(&told, false);
}

/* A thread that spins takes the CPU of one that works. */
static void no_spinning_without_a_cpu_for_each_thread(void **state) {
  told_cpus = 2;
  gather_pool *pool = pool_of(3);
  told_cpus = 0;
  assert_false(wakes(gather_pool_executor(pool), LONG_NS, 100));
  gather_pool_destroy(pool);
}

int main(void) {
  (void)alarm(SECONDS); /* nothing hangs */
  return RUN_TESTS(threads_that_cannot_be_made, pools_that_cannot_be_made, numbers_of_threads, a_gather_without_threads, callers_take_turns,
                   a_child_works_alone, signals_are_for_the_program, what_is_shared, workers_spin_between_calls,
                   small_calls_wake_the_workers, no_spinning_without_a_cpu_for_each_thread);
}
