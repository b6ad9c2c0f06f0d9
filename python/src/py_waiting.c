/* SPDX-License-Identifier: MIT
 *
 * py_waiting.c: a thread opens the file, and the main thread waits for it in short steps. After Ctrl-C the thread goes on by itself until
 * the server answers or the time limit ends it.
 */
#include "py_waiting.h"

#include <stdlib.h>

#include "py_signals.h"

/* ---- the thread */

static int drop(void *object) {
  Py_DECREF((PyObject *)object);
  return 0;
}

static void release(gather_py_waiting *self) {
  gather_py_condition_free(&self->changed);
  gather_py_lock_free(&self->lock);
  free(self);
}

static void run(void *argument) {
  gather_py_waiting *self = argument;
  self->work(self);
  gather_py_lock_take(&self->lock);
  self->done = true;
  const bool abandoned = self->abandoned;
  gather_py_condition_tell(&self->changed);
  gather_py_lock_leave(&self->lock);
  if (!abandoned) return;
  self->discard(self);
  if (Py_IsInitialized()) (void)Py_AddPendingCall(drop, self->keeps); /* which needs no GIL */
  release(self);
}

/* ---- the main thread */

/* Waits for a slice: whether the work is done. */
static bool await(gather_py_waiting *self) {
  gather_py_lock_take(&self->lock);
  if (!self->done) gather_py_condition_wait_for(&self->changed, &self->lock, GATHER_PY_SLICE);
  const bool done = self->done;
  gather_py_lock_leave(&self->lock);
  return done;
}

/* Leaves the work to its thread, or discards it if it has just been done. */
static void abandon(gather_py_waiting *self) {
  gather_py_lock_take(&self->lock);
  self->abandoned = true;
  const bool done = self->done;
  gather_py_lock_leave(&self->lock);
  if (!done) return;
  self->discard(self);
  gather_py_waiting_free(self);
}

int gather_py_wait(gather_py_waiting *self, PyObject *keeps, bool alone) {
  gather_py_interruption interruption;
  Py_INCREF(keeps);
  self->keeps = keeps;
  self->done = self->abandoned = false;
  gather_py_lock_init(&self->lock);
  gather_py_condition_init(&self->changed);
  PyThreadState *state;
  if (!alone || !gather_py_interruption_begin(&interruption, NULL) || !gather_py_thread_start(run, self)) {
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
