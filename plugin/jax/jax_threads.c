/* SPDX-License-Identifier: MIT
 *
 * jax_threads.c: runs the tasks of a gather on the thread pool of XLA's CPU runtime.
 *
 * The runtime may call a handler on a thread of that pool, and all threads of it may wait in handlers. So nobody waits for a task
 * that has not begun: the calling thread takes tasks like the others, and in the end waits only for those that others took. A
 * scheduled helper that begins after the last task was taken finds nothing to do; it holds a reference to what it looks at.
 */
#include "jax_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef xla_error *schedule_function(xla_schedule *arguments);
typedef xla_error *threads_function(xla_num_threads *arguments);
typedef void destroy_function(xla_error_destroy *arguments);

typedef struct jax_team {
  void (*task)(void *argument, int64_t i);
  void *argument;
  int64_t count;
  atomic_int_fast64_t next, finished;
  atomic_int_fast64_t references;
  pthread_mutex_t lock;
  pthread_cond_t all_finished;
} jax_team;

static void release(jax_team *team, int64_t references) {
  if (atomic_fetch_sub(&team->references, references) != references) return;
  pthread_mutex_destroy(&team->lock);
  pthread_cond_destroy(&team->all_finished);
  free(team);
}

static void work(jax_team *team) {
  for (;;) {
    int64_t i = atomic_fetch_add(&team->next, 1);
    if (i >= team->count) return;
    team->task(team->argument, i);
    if (atomic_fetch_add(&team->finished, 1) + 1 < team->count) continue;
    pthread_mutex_lock(&team->lock);
    pthread_cond_signal(&team->all_finished);
    pthread_mutex_unlock(&team->lock);
  }
}

static void help(void *data) {
  jax_team *team = data;
  work(team);
  release(team, 1);
}

static void destroy_error(const xla_api *api, xla_error *error) {
  destroy_function *destroy = (destroy_function *)jax_function(api, XLA_ERROR_DESTROY);
  xla_error_destroy arguments = {sizeof arguments, NULL, error};
  if (destroy != NULL) destroy(&arguments);
}

/* Asks for helpers; returns how many come. */
static int64_t ask(const jax_pool *pool, jax_team *team, int64_t helpers) {
  schedule_function *schedule = (schedule_function *)jax_function(pool->api, XLA_SCHEDULE);
  for (int64_t i = 0; i < helpers; i++) {
    xla_schedule arguments = {sizeof arguments, NULL, pool->context, help, team};
    xla_error *error = schedule(&arguments);
    if (error == NULL) continue;
    destroy_error(pool->api, error);
    return i;
  }
  return helpers;
}

static jax_team *new_team(int64_t count, void (*task)(void *, int64_t), void *argument, int64_t helpers) {
  jax_team *team = malloc(sizeof *team);
  if (team == NULL) return NULL;
  team->task = task;
  team->argument = argument;
  team->count = count;
  atomic_init(&team->next, 0);
  atomic_init(&team->finished, 0);
  atomic_init(&team->references, helpers + 1);
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->all_finished, NULL);
  return team;
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  const jax_pool *pool = context;
  int64_t helpers = (count < pool->executor.threads ? count : pool->executor.threads) - 1;
  jax_team *team = helpers < 1 ? NULL : new_team(count, task, argument, helpers);
  if (team == NULL) {
    for (int64_t i = 0; i < count; i++) task(argument, i);
    return;
  }
  int64_t missing = helpers - ask(pool, team, helpers);
  work(team);
  pthread_mutex_lock(&team->lock);
  while (atomic_load(&team->finished) < count) pthread_cond_wait(&team->all_finished, &team->lock);
  pthread_mutex_unlock(&team->lock);
  release(team, missing + 1);
}

const gather_executor *jax_executor(const xla_frame *frame, jax_pool *pool) {
  threads_function *ask_threads = (threads_function *)jax_function(frame->api, XLA_NUM_THREADS);
  int64_t threads = 1;
  if (ask_threads == NULL || jax_function(frame->api, XLA_SCHEDULE) == NULL) return NULL;
  xla_num_threads arguments = {sizeof arguments, NULL, frame->context, &threads};
  xla_error *error = ask_threads(&arguments);
  if (error != NULL) destroy_error(frame->api, error);
  if (error != NULL || threads < 2) return NULL;
  pool->api = frame->api;
  pool->context = frame->context;
  pool->executor = (gather_executor){pool, parallel_for, threads > 4096 ? 4096 : (int32_t)threads};
  return &pool->executor;
}
