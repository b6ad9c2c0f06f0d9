/* SPDX-License-Identifier: MIT
 *
 * py_signals.h: Python's signal handlers during long calls. They run in the main thread, between
 * two reads or two polls of a job. What a handler raises (KeyboardInterrupt) ends the call.
 */
#ifndef GATHER_PY_SIGNALS_H
#define GATHER_PY_SIGNALS_H

#include "py_table.h"

/* Longest wait between two polls, in seconds: a handler runs well within a tenth of a second. */
#define GATHER_PY_SLICE 0.03

/* Work that can be interrupted. */
typedef struct gather_py_interruption {
  gather_py_handle *handle; /* NULL = the work uses no Python table */
  PyThreadState *state;     /* of the working thread, which does not have the GIL */
  gather_py_thread thread;
  int64_t next;     /* when to run handlers next, in nanoseconds */
  bool interrupted; /* a handler raised */
} gather_py_interruption;

/* Call it before the GIL is released; *options then refer to the interruption, whose state must be set. In threads other than the main one,
 * where Python runs no handlers, it does nothing. */
void gather_py_interruption_init(gather_py_interruption *interruption, gather_py_handle *handle, gather_table_take_options *options);
/* The same for other work: returns whether gather_py_is_interrupted must be its `stop`, with the interruption as context. */
bool gather_py_interruption_begin(gather_py_interruption *interruption, gather_py_handle *handle);
bool gather_py_is_interrupted(void *interruption);

/* Waits for a job's end and runs handlers meanwhile: -1 if one of them raised. */
int gather_py_await_job(gather_py_job *job);
/* The same for all jobs of a table before it is closed. */
int gather_py_await_jobs(gather_py_handle *handle);

#endif
