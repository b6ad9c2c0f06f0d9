/* SPDX-License-Identifier: MIT
 *
 * py_signals.c: runs Python's signal handlers while rows are read or shuffled.
 */
#include "py_signals.h"

/* When the slice that begins now ends. */
static int64_t in_a_slice(void) { return gather_py_now() + (int64_t)(GATHER_PY_SLICE * 1e9); }

bool gather_py_is_interrupted(void *context) {
  gather_py_interruption *self = context;
  if (!gather_py_thread_is_self(self->thread)) return false; /* a thread of a pool */
  if (self->interrupted) return true;
  if (gather_py_now() < self->next) return false;
  if (self->handle) gather_py_handle_handling(self->handle, true);
  PyEval_RestoreThread(self->state);
  self->interrupted = PyErr_CheckSignals() < 0;
  self->state = PyEval_SaveThread();
  if (self->handle) gather_py_handle_handling(self->handle, false);
  self->next = in_a_slice();
  return self->interrupted;
}

bool gather_py_interruption_begin(gather_py_interruption *self, gather_py_handle *handle) {
  *self = (gather_py_interruption){.handle = handle, .thread = gather_py_thread_self()};
  if (!gather_py_thread_is_main()) return false;
  self->next = in_a_slice();
  return true;
}

void gather_py_interruption_init(gather_py_interruption *self, gather_py_handle *handle, gather_table_take_options *options) {
  if (!gather_py_interruption_begin(self, handle)) return;
  options->stop = gather_py_is_interrupted;
  options->stop_context = self;
}

int gather_py_await_job(gather_py_job *job) {
  for (bool done = false; !done;) {
    PyThreadState *state = PyEval_SaveThread();
    done = gather_py_job_await(job, GATHER_PY_SLICE);
    PyEval_RestoreThread(state);
    if (!done && PyErr_CheckSignals() < 0) return -1;
  }
  return 0;
}

int gather_py_await_jobs(gather_py_handle *handle) {
  for (bool done = false; !done;) {
    PyThreadState *state = PyEval_SaveThread();
    done = gather_py_handle_await(handle, GATHER_PY_SLICE);
    PyEval_RestoreThread(state);
    if (!done && PyErr_CheckSignals() < 0) return -1;
  }
  return 0;
}
