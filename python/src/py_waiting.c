/* SPDX-License-Identifier: MIT
 *
 * py_waiting.c: a thread opens the file, and the main thread waits for it in short steps. After Ctrl-C the thread goes on by itself until
 * the server answers or the time limit ends it.
 */
#include "py_waiting.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "py_signals.h"

/* ---- the thread */

static int drop(void *object) {
  Py_DECREF((PyObject *)object);
  return 0;
}

static void release(gather_py_waiting *self) {
  (void)pthread_cond_destroy(&self->changed);
  (void)pthread_mutex_destroy(&self->lock);
  free(self);
}

static void *run(void *argument) {
  gather_py_waiting *self = argument;
  self->work(self);
  (void)pthread_mutex_lock(&self->lock);
  self->done = true;
  const bool abandoned = self->abandoned;
  (void)pthread_cond_signal(&self->changed);
  (void)pthread_mutex_unlock(&self->lock);
  if (!abandoned) return NULL;
  self->discard(self);
  if (Py_IsInitialized()) (void)Py_AddPendingCall(drop, self->keeps); /* which needs no GIL */
  release(self);
  return NULL;
}

/* The program's signals must not run on our thread. */
static bool start(gather_py_waiting *self) {
  sigset_t all, before;
  pthread_t thread;
  (void)sigfillset(&all);
  (void)sigdelset(&all, SIGBUS); /* the library's handler is for every thread */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, NULL, run, self) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) (void)pthread_detach(thread);
  return started;
}

/* ---- the main thread */

/* Waits for a slice: whether the work is done. */
static bool await(gather_py_waiting *self) {
  struct timespec end = {0};
  (void)clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += (long)(GATHER_PY_SLICE * 1e9);
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  (void)pthread_mutex_lock(&self->lock);
  if (!self->done) (void)pthread_cond_timedwait(&self->changed, &self->lock, &end);
  const bool done = self->done;
  (void)pthread_mutex_unlock(&self->lock);
  return done;
}

/* Leaves the work to its thread, or discards it if it has just been done. */
static void abandon(gather_py_waiting *self) {
  (void)pthread_mutex_lock(&self->lock);
  self->abandoned = true;
  const bool done = self->done;
  (void)pthread_mutex_unlock(&self->lock);
  if (!done) return;
  self->discard(self);
  gather_py_waiting_free(self);
}

int gather_py_wait(gather_py_waiting *self, PyObject *keeps, bool alone) {
  gather_py_interruption interruption;
  Py_INCREF(keeps);
  self->keeps = keeps;
  self->done = self->abandoned = false;
  (void)pthread_mutex_init(&self->lock, NULL);
  (void)pthread_cond_init(&self->changed, NULL);
  PyThreadState *state;
  if (!alone || !gather_py_interruption_begin(&interruption, NULL) || !start(self)) {
    state = PyEval_SaveThread();
    self->work(self);
    PyEval_RestoreThread(state);
    return 0;
  }
  for (bool done = false; !done;) {
    state = PyEval_SaveThread();
    done = await(self);
    PyEval_RestoreThread(state);
    if (done || PyErr_CheckSignals() == 0) continue;
    abandon(self);
    return -1;
  }
  return 0;
}

void gather_py_waiting_free(gather_py_waiting *self) {
  Py_DECREF(self->keeps);
  release(self);
}
