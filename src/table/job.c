/* SPDX-License-Identifier: MIT
 *
 * job.c: takes that run in the background, each on a thread of the table. Threads are started when there are more jobs
 * than threads, up to the number of takes that may read at once.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/system/condition.h"
#include "table/table_internal.h"

struct gather_table_job {
  gather_table_job *next;               /* in the queue */
  gather_table_job *later, **back_here; /* in the list of all */
  gather_table *table;
  gather_taking taking;
  gather_cancel cancel;
  atomic_bool done;
  gather_status status;
  gather_error error;
};

static void run(gather_table_job *job) {
  gather_rows_count rows;
  job->status = gather_taking_run(&job->taking, &rows, &job->error);
}

static void finish(gather_table_job *job) {
  gather_table *table = job->table;
  (void)pthread_mutex_lock(&table->lock);
  atomic_store_explicit(&job->done, true, memory_order_release);
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
}

/* Waits for the next job; NULL when the table closes. */
static gather_table_job *next_job(gather_table *table) {
  (void)pthread_mutex_lock(&table->lock);
  table->threads_idle++;
  while (!table->queue && !table->closing) (void)pthread_cond_wait(&table->changed, &table->lock);
  table->threads_idle--;
  gather_table_job *job = table->queue;
  if (job) table->queue = job->next;
  if (!table->queue) table->queue_end = &table->queue;
  (void)pthread_mutex_unlock(&table->lock);
  return job;
}

static void *work(void *argument) {
  gather_table *table = argument;
  gather_table_job *job;
  while ((job = next_job(table)) != NULL) {
    run(job);
    finish(job);
  }
  return NULL;
}

/* The program's signals must not run on our threads. */
static bool start_thread(gather_table *table) {
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)sigdelset(&all, SIGBUS); /* the guard's */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&table->thread[table->threads], NULL, work, table) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) table->threads++;
  return started;
}

/* Gives a job to the threads; false if there are none and none can be started. */
static bool enqueue(gather_table *table, gather_table_job *job) {
  (void)pthread_mutex_lock(&table->lock);
  bool may_start = table->threads < table->budget.workers && table->threads < GATHER_MOST_WORKERS;
  bool taken = table->threads_idle > 0 && !table->queue;
  if (!taken && may_start) (void)start_thread(table);
  taken = table->threads > 0;
  if (taken) {
    *table->queue_end = job;
    table->queue_end = &job->next;
  }
  job->later = table->running_jobs, job->back_here = &table->running_jobs;
  if (job->later) job->later->back_here = &job->later;
  table->running_jobs = job;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
  return taken;
}

gather_status gather_table_submit(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                  const gather_table_take_options *options, gather_table_job **job, gather_error *error) {
  if (!table || !job) return gather_fail(error, GATHER_USAGE, "gather_table_submit: table or job is NULL");
  *job = NULL;
  gather_table_enter(table);
  gather_table_job *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a job");
  gather_table_take_options full;
  const gather_status status = gather_taking_prepare(&made->taking, table, indices, out, options, &full, error);
  if (status != GATHER_OK) {
    gather_free(made);
    return status;
  }
  made->table = table;
  made->taking.cancel = &made->cancel;
  if (!enqueue(table, made)) { /* no thread can be started: it runs here */
    run(made);
    finish(made);
  }
  *job = made;
  return GATHER_OK;
}

static bool is_done(const gather_table_job *job) { return !job || atomic_load_explicit(&job->done, memory_order_acquire); }

/* Whether it was submitted in this process. Call with the lock held. */
static bool is_ours(const gather_table *table, const gather_table_job *job) {
  const gather_table_job *other = table->running_jobs;
  while (other && other != job) other = other->later;
  return other != NULL;
}

void gather_table_job_cancel(gather_table_job *job) {
  if (!job) return;
  gather_table_enter(job->table);
  atomic_store_explicit(&job->cancel.stopped, true, memory_order_relaxed);
}

/* A long wait is limited to thirty years. */
bool gather_table_job_await(gather_table_job *job, double seconds) {
  const double most = 1e9;
  if (is_done(job) || !(seconds > 0)) return is_done(job);
  gather_table *table = job->table;
  bool waiting = true;
  const double wait = seconds < most ? seconds : most;
  const struct timespec end = gather_condition_end((int64_t)(wait * 1e9));
  gather_table_enter(table);
  (void)pthread_mutex_lock(&table->lock);
  while (waiting && is_ours(table, job) && !is_done(job)) waiting = gather_condition_wait(&table->changed, &table->lock, &end);
  (void)pthread_mutex_unlock(&table->lock);
  return is_done(job);
}

static void destroy(gather_table_job *job) {
  gather_plan_destroy(job->taking.plan);
  gather_free(job);
}

/* Call with the lock held. Removes it from the list of all. */
static void leave_list(gather_table_job *job) {
  *job->back_here = job->later;
  if (job->later) job->later->back_here = job->back_here;
}

gather_status gather_table_wait(gather_table_job *job, gather_error *error) {
  if (!job) return gather_fail(error, GATHER_USAGE, "gather_table_wait: job is NULL");
  gather_table *table = job->table;
  gather_table_enter(table);
  (void)pthread_mutex_lock(&table->lock);
  bool ours = is_ours(table, job);
  while (ours && !is_done(job)) (void)pthread_cond_wait(&table->changed, &table->lock);
  if (ours) leave_list(job);
  (void)pthread_mutex_unlock(&table->lock);
  gather_status status =
      ours ? job->status : gather_fail(&job->error, GATHER_USAGE, "the job was submitted before fork(); only the parent can wait for it");
  if (status != GATHER_OK && error) *error = job->error;
  destroy(job);
  return status;
}

void gather_table_end_jobs(gather_table *table) {
  (void)pthread_mutex_lock(&table->lock);
  for (gather_table_job *job = table->running_jobs; job; job = job->later)
    while (!is_done(job)) (void)pthread_cond_wait(&table->changed, &table->lock);
  table->closing = true;
  (void)pthread_cond_broadcast(&table->changed);
  (void)pthread_mutex_unlock(&table->lock);
  for (int32_t i = 0; i < table->threads; i++) (void)pthread_join(table->thread[i], NULL);
  for (gather_table_job *job = table->running_jobs, *later; job; job = later) {
    later = job->later;
    destroy(job);
  }
}
