/* SPDX-License-Identifier: MIT
 *
 * py_table_handle.c: open tables and their jobs: closing waits for all users of a table; one thread waits for a job, the rest for that thread.
 * One lock guards everything and is never held for long, so that a fork finds a consistent state: the child keeps the tables, and
 * has neither calls nor jobs.
 */
#include <pthread.h>

#include "py_table.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a call or a job has ended, a table is closed */
static gather_py_handle *handles;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void unlink_handle(gather_py_handle *handle) {
  handle->table = NULL;
  *handle->link = handle->next;
  if (handle->next) handle->next->link = handle->link;
}

static void after_fork_in_child(void) {
  for (gather_py_handle *handle = handles, *next; handle; handle = next) {
    next = handle->next;
    handle->calls = 0;
    handle->handling = handle->refusing = false;
    for (gather_py_job *job = handle->jobs; job; job = job->next) job->state = GATHER_PY_JOB_LOST;
    handle->jobs = NULL;
    if (handle->closing) unlink_handle(handle); /* a thread of the parent was closing it */
  }
  (void)pthread_cond_init(&changed, NULL); /* the waiting threads are not in the child */
  pthread_mutex_unlock(&lock);
}

int gather_py_handle_init(void) {
  static int registered;
  if (registered) return 0;
  if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  registered = 1;
  return 0;
}

void gather_py_handle_open(gather_py_handle *handle, gather_table *table) {
  pthread_mutex_lock(&lock);
  handle->table = table;
  handle->next = handles;
  handle->link = &handles;
  if (handles) handles->link = &handle->next;
  handles = handle;
  pthread_mutex_unlock(&lock);
}

gather_table *gather_py_handle_enter(gather_py_handle *handle) {
  pthread_mutex_lock(&lock);
  gather_table *table = handle->closing || handle->refusing ? NULL : handle->table;
  if (table) handle->calls++;
  pthread_mutex_unlock(&lock);
  return table;
}

void gather_py_handle_leave(gather_py_handle *handle) {
  pthread_mutex_lock(&lock);
  handle->calls--;
  if (handle->closing) pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

bool gather_py_handle_is_closed(const gather_py_handle *handle) {
  pthread_mutex_lock(&lock);
  bool closed = handle->closing || handle->refusing || !handle->table;
  pthread_mutex_unlock(&lock);
  return closed;
}

/* Waits in the library for a running job that no other thread waits for. The lock is held before and after. */
static void await_job(gather_py_job *job) {
  job->state = GATHER_PY_JOB_AWAITED;
  while (job->asking > 0) pthread_cond_wait(&changed, &lock); /* the library is about to free it */
  pthread_mutex_unlock(&lock);
  gather_status status = gather_table_wait(job->job, &job->error);
  pthread_mutex_lock(&lock);
  job->job = NULL;
  job->status = status;
  job->state = GATHER_PY_JOB_ENDED;
  *job->link = job->next;
  if (job->next) job->next->link = job->link;
  pthread_cond_broadcast(&changed); /* after this only its owner touches the job */
}

static void close_table(gather_py_handle *handle) {
  handle->closing = true;
  while (handle->calls > 0) pthread_cond_wait(&changed, &lock);
  while (handle->jobs) {
    if (handle->jobs->state == GATHER_PY_JOB_RUNNING)
      await_job(handle->jobs);
    else
      pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  gather_table_close(handle->table);
  pthread_mutex_lock(&lock);
  unlink_handle(handle);
  pthread_cond_broadcast(&changed);
}

void gather_py_handle_close(gather_py_handle *handle) {
  pthread_mutex_lock(&lock);
  if (handle->table && !handle->closing) close_table(handle);
  while (handle->table) pthread_cond_wait(&changed, &lock); /* another thread is closing it */
  pthread_mutex_unlock(&lock);
}

void gather_py_job_begin(gather_py_handle *handle, gather_py_job *job, gather_table_job *submitted) {
  pthread_mutex_lock(&lock);
  job->job = submitted;
  job->state = GATHER_PY_JOB_RUNNING;
  job->next = handle->jobs;
  job->link = &handle->jobs;
  if (handle->jobs) handle->jobs->link = &job->next;
  handle->jobs = job;
  pthread_mutex_unlock(&lock);
}

gather_py_job_state gather_py_job_finish(gather_py_job *job) {
  pthread_mutex_lock(&lock);
  while (job->state == GATHER_PY_JOB_AWAITED) pthread_cond_wait(&changed, &lock);
  if (job->state == GATHER_PY_JOB_RUNNING) await_job(job);
  gather_py_job_state state = job->state;
  pthread_mutex_unlock(&lock);
  return state;
}

/* Polls the library for a running job, without our lock: the library has its own, which a fork may take before ours. Our lock is held
 * before and after. */
static void ask(gather_py_job *job, double seconds) {
  job->asking++;
  pthread_mutex_unlock(&lock);
  bool done = gather_table_job_await(job->job, seconds);
  pthread_mutex_lock(&lock);
  job->seen_done = job->seen_done || done;
  if (--job->asking == 0) pthread_cond_broadcast(&changed);
}

static bool has_ended(const gather_py_job *job) {
  return job->state == GATHER_PY_JOB_ENDED || (job->state != GATHER_PY_JOB_LOST && job->seen_done);
}

bool gather_py_job_is_done(gather_py_job *job) {
  pthread_mutex_lock(&lock);
  if (job->state == GATHER_PY_JOB_RUNNING && !job->seen_done) ask(job, 0);
  bool done = has_ended(job);
  pthread_mutex_unlock(&lock);
  return done;
}

bool gather_py_job_await(gather_py_job *job, double seconds) {
  pthread_mutex_lock(&lock);
  if (job->state == GATHER_PY_JOB_RUNNING && !job->seen_done) ask(job, seconds);
  bool over = has_ended(job) || job->state != GATHER_PY_JOB_RUNNING; /* AWAITED is as good as ended */
  pthread_mutex_unlock(&lock);
  return over;
}

static void cancel(gather_py_job *job) {
  if (job->state == GATHER_PY_JOB_RUNNING) gather_table_job_cancel(job->job); /* takes no lock */
}

void gather_py_job_cancel(gather_py_job *job) {
  pthread_mutex_lock(&lock);
  cancel(job);
  pthread_mutex_unlock(&lock);
}

bool gather_py_handle_await(gather_py_handle *handle, double seconds) {
  pthread_mutex_lock(&lock);
  handle->refusing = true;
  gather_py_job *job = handle->closing ? NULL : handle->jobs;
  while (job && (job->state != GATHER_PY_JOB_RUNNING || job->seen_done)) job = job->next;
  if (job) ask(job, seconds);
  pthread_mutex_unlock(&lock);
  return !job;
}

void gather_py_handle_cancel(gather_py_handle *handle) {
  pthread_mutex_lock(&lock);
  for (gather_py_job *job = handle->jobs; job; job = job->next) cancel(job);
  pthread_mutex_unlock(&lock);
}

void gather_py_handle_handling(gather_py_handle *handle, bool handling) {
  pthread_mutex_lock(&lock);
  handle->handling = handling;
  handle->handler = pthread_self();
  pthread_mutex_unlock(&lock);
}

bool gather_py_handle_is_handling(const gather_py_handle *handle) {
  pthread_mutex_lock(&lock);
  bool handling = handle->handling && pthread_equal(handle->handler, pthread_self());
  pthread_mutex_unlock(&lock);
  return handling;
}
