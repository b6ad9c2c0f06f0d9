/* SPDX-License-Identifier: MIT
 *
 * py_system.c: py_system.h for POSIX.
 */
#define _GNU_SOURCE 1 /* POSIX threads and clocks, and syscall() */
#include "py_system.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

/* ---- locks */

void gather_py_lock_init(gather_py_lock *lock) { (void)pthread_mutex_init(lock, NULL); }
void gather_py_lock_free(gather_py_lock *lock) { (void)pthread_mutex_destroy(lock); }
void gather_py_lock_take(gather_py_lock *lock) { (void)pthread_mutex_lock(lock); }
void gather_py_lock_leave(gather_py_lock *lock) { (void)pthread_mutex_unlock(lock); }

void gather_py_condition_init(gather_py_condition *condition) { (void)pthread_cond_init(condition, NULL); }
void gather_py_condition_free(gather_py_condition *condition) { (void)pthread_cond_destroy(condition); }
void gather_py_condition_tell(gather_py_condition *condition) { (void)pthread_cond_broadcast(condition); }

void gather_py_condition_wait(gather_py_condition *condition, gather_py_lock *lock) { (void)pthread_cond_wait(condition, lock); }

void gather_py_condition_wait_for(gather_py_condition *condition, gather_py_lock *lock, double seconds) {
  struct timespec end = {0};
  (void)clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += (long)(seconds * 1e9);
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  (void)pthread_cond_timedwait(condition, lock, &end);
}

/* ---- threads */

gather_py_thread gather_py_thread_self(void) { return pthread_self(); }
bool gather_py_thread_is_self(gather_py_thread thread) { return pthread_equal(thread, pthread_self()) != 0; }

bool gather_py_thread_is_main(void) {
#if defined(__linux__)
  return (pid_t)syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return true;
#endif
}

typedef struct beginning {
  void (*run)(void *argument);
  void *argument;
} beginning;

static void *begin(void *object) {
  const beginning given = *(beginning *)object;
  free(object);
  given.run(given.argument);
  return NULL;
}

bool gather_py_thread_start(void (*run)(void *argument), void *argument) {
  sigset_t all, before;
  pthread_t thread;
  beginning *given = malloc(sizeof *given);
  if (!given) return false;
  *given = (beginning){run, argument};
  (void)sigfillset(&all);
  (void)sigdelset(&all, SIGBUS); /* the library's handler is for every thread */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, NULL, begin, given) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started)
    (void)pthread_detach(thread);
  else
    free(given);
  return started;
}

bool gather_py_on_fork(void (*before)(void), void (*after)(void), void (*after_in_child)(void)) {
  return pthread_atfork(before, after, after_in_child) == 0;
}

/* ---- the clock */

int64_t gather_py_now(void) {
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
