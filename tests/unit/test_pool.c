/* SPDX-License-Identifier: MIT
 *
 * test_pool.c: the built-in pool where the system gives fewer threads than asked for, or none; with several callers; after fork().
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/support.h"

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

static int allowed = -1; /* threads that can be made; -1 = any number */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  if (allowed == 0) return EAGAIN;
  if (allowed > 0) allowed--;
  return __real_pthread_create(thread, attributes, start, argument);
}

enum { TASKS = 200, SECONDS = 60 };

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
  (void)state;
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

static void a_gather_without_threads(void **state) {
  enum { ROWS = 1 << 20 };
  int32_t *data = malloc(ROWS * sizeof *data), *out = malloc(ROWS * sizeof *out);
  int64_t *ids = malloc(ROWS * sizeof *ids);
  gather_options options = GATHER_OPTIONS_INIT;
  (void)state;
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
  (void)state;
  for (int c = 0; c < CALLERS; c++) assert_int_equal(pthread_create(&callers[c], NULL, call_often, &executor), 0);
  for (int c = 0; c < CALLERS; c++) assert_int_equal(pthread_join(callers[c], NULL), 0);
  gather_pool_destroy(pool);
}

/* ---- children */

static void a_child_works_alone(void **state) {
  gather_pool *pool = pool_of(3);
  (void)state;
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
  (void)number;
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
  (void)state;
  caller = pthread_self();
  assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
  for (int i = 0; i < 50; i++) executor->parallel_for(executor->context, 8, raise_it, NULL);
  assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
  assert_int_equal(atomic_load(&handled_elsewhere), 0);
  gather_pool_destroy(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_that_cannot_be_made), cmocka_unit_test(a_gather_without_threads),
      cmocka_unit_test(callers_take_turns),          cmocka_unit_test(a_child_works_alone),
      cmocka_unit_test(signals_are_for_the_program),
  };
  (void)alarm(SECONDS); /* nothing hangs */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
