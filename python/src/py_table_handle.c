/* SPDX-License-Identifier: MIT
 *
 * py_table_handle.c: open tables and their jobs: closing waits for all users of a table; one thread waits for a job, the rest for that
 * thread. One lock guards everything and is never held for long, so that a fork finds a consistent state: the child keeps the tables, and
 * has neither calls nor jobs.
 */

#include "py_table.h"

static gather_py_lock lock = GATHER_PY_LOCK_INIT;
static gather_py_condition changed = GATHER_PY_CONDITION_INIT; /* a call or a job has ended, a table is closed */
static gather_py_handle *handles;

static void before_fork(void) { gather_py_lock_take(&lock); }
static void after_fork(void) { gather_py_lock_leave(&lock); }

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
  gather_py_condition_init(&changed); /* the waiting threads are not in the child */
  gather_py_lock_leave(&lock);
}

int gather_py_handle_init(void) {
  static int registered;
  if (registered) return 0;
  if (!gather_py_on_fork(before_fork, after_fork, after_fork_in_child)) {
    PyErr_NoMemory();
    return -1;
  }
  registered = 1;
  return 0;
}

void gather_py_handle_open(gather_py_handle *handle, gather_table *table) {
  gather_py_lock_take(&lock);
  handle->table = table;
  handle->next = handles;
  handle->link = &handles;
  if (handles) handles->link = &handle->next;
  handles = handle;
  gather_py_lock_leave(&lock);
}

gather_table *gather_py_handle_enter(gather_py_handle *handle) {
  gather_py_lock_take(&lock);
  gather_table *table = handle->closing || handle->refusing ? NULL : handle->table;
  if (table) handle->calls++;
  gather_py_lock_leave(&lock);
  return table;
}

void gather_py_handle_leave(gather_py_handle *handle) {
  gather_py_lock_take(&lock);
  handle->calls--;
  if (handle->closing) gather_py_condition_tell(&changed);
  gather_py_lock_leave(&lock);
}

bool gather_py_handle_is_closed(const gather_py_handle *handle) {
  gather_py_lock_take(&lock);
  bool closed = handle->closing || handle->refusing || !handle->table;
  gather_py_lock_leave(&lock);
  return closed;
}

/* Waits in the library for a running job that no other thread waits for. The lock is held before and after. */
static void await_job(gather_py_job *job) {
  job->state = GATHER_PY_JOB_AWAITED;
  while (job->asking > 0) gather_py_condition_wait(&changed, &lock); /* the library is about to free it */
  gather_py_lock_leave(&lock);
  gather_status status = gather_table_wait(job->job, &job->error);
  gather_py_lock_take(&lock);
  job->job = NULL;
  job->status = status;
  job->state = GATHER_PY_JOB_ENDED;
  *job->link = job->next;
  if (job->next) job->next->link = job->link;
  gather_py_condition_tell(&changed); /* after this only its owner touches the job */
}

static void close_table(gather_py_handle *handle) {
  handle->closing = true;
  while (handle->calls > 0) gather_py_condition_wait(&changed, &lock);
  while (handle->jobs) {
    if (handle->jobs->state == GATHER_PY_JOB_RUNNING)
      await_job(handle->jobs);
    else
      gather_py_condition_wait(&changed, &lock);
  }
  gather_py_lock_leave(&lock);
  gather_table_close(handle->table);
  gather_py_lock_take(&lock);
  unlink_handle(handle);
  gather_py_condition_tell(&changed);
}

void gather_py_handle_close(gather_py_handle *handle) {
  gather_py_lock_take(&lock);
  if (handle->table && !handle->closing) close_table(handle);
  while (handle->table) gather_py_condition_wait(&changed, &lock); /* another thread is closing it */
  gather_py_lock_leave(&lock);
}

void gather_py_job_begin(gather_py_handle *handle, gather_py_job *job, gather_table_job *submitted) {
  gather_py_lock_take(&lock);
  job->job = submitted;
  job->state = GATHER_PY_JOB_RUNNING;
  job->next = handle->jobs;
  job->link = &handle->jobs;
  if (handle->jobs) handle->jobs->link = &job->next;
  handle->jobs = job;
  gather_py_lock_leave(&lock);
}

gather_py_job_state gather_py_job_finish(gather_py_job *job) {
  gather_py_lock_take(&lock);
  while (job->state == GATHER_PY_JOB_AWAITED) gather_py_condition_wait(&changed, &lock);
  if (job->state == GATHER_PY_JOB_RUNNING) await_job(job);
  gather_py_job_state state = job->state;
  gather_py_lock_leave(&lock);
  return state;
}

/* Polls the library for a running job, without our lock: the library has its own, which a fork may take before ours. Our lock is held
 * before and after. */
static void ask(gather_py_job *job, double seconds) {
  job->asking++;
  gather_py_lock_leave(&lock);
  bool done = gather_table_job_await(job->job, seconds);
  gather_py_lock_take(&lock);
  job->seen_done = job->seen_done || done;
  if (--job->asking == 0) gather_py_condition_tell(&changed);
}

static bool has_ended(const gather_py_job *job) {
  return job->state == GATHER_PY_JOB_ENDED || (job->state != GATHER_PY_JOB_LOST && job->seen_done);
}

bool gather_py_job_is_done(gather_py_job *job) {
  gather_py_lock_take(&lock);
  if (job->state == GATHER_PY_JOB_RUNNING && !job->seen_done) ask(job, 0);
  bool done = has_ended(job);
  gather_py_lock_leave(&lock);
  return done;
}

bool gather_py_job_await(gather_py_job *job, double seconds) {
  gather_py_lock_take(&lock);
  if (job->state == GATHER_PY_JOB_RUNNING && !job->seen_done) ask(job, seconds);
  bool over = has_ended(job) || job->state != GATHER_PY_JOB_RUNNING; /* AWAITED is as good as ended */
  gather_py_lock_leave(&lock);
  return over;
}

static void cancel(gather_py_job *job) {
  if (job->state == GATHER_PY_JOB_RUNNING) gather_table_job_cancel(job->job); /* takes no lock */
}

void gather_py_job_cancel(gather_py_job *job) {
  gather_py_lock_take(&lock);
  cancel(job);
  gather_py_lock_leave(&lock);
}

bool gather_py_handle_await(gather_py_handle *handle, double seconds) {
  gather_py_lock_take(&lock);
  handle->refusing = true;
  gather_py_job *job = handle->closing ? NULL : handle->jobs;
  while (job && (job->state != GATHER_PY_JOB_RUNNING || job->seen_done)) job = job->next;
  if (job) ask(job, seconds);
  gather_py_lock_leave(&lock);
  return !job;
}

void gather_py_handle_cancel(gather_py_handle *handle) {
  gather_py_lock_take(&lock);
  for (gather_py_job *job = handle->jobs; job; job = job->next) cancel(job);
  gather_py_lock_leave(&lock);
}

void gather_py_handle_handling(gather_py_handle *handle, bool handling) {
  gather_py_lock_take(&lock);
  handle->handling = handling;
  handle->handler = gather_py_thread_self();
  gather_py_lock_leave(&lock);
}

bool gather_py_handle_is_handling(const gather_py_handle *handle) {
  gather_py_lock_take(&lock);
  bool handling = handle->handling && gather_py_thread_is_self(handle->handler);
  gather_py_lock_leave(&lock);
  return handling;
}
