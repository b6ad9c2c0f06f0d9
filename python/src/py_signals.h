/* SPDX-License-Identifier: MIT
 *
 * py_signals.h: Python's signal handlers during calls that take long. They run where the main thread would have seen the signal: between
 * two reads, or two looks at a job. What a handler raises (KeyboardInterrupt) ends the call.
 */
#ifndef GATHER_PY_SIGNALS_H
#define GATHER_PY_SIGNALS_H

#include "py_table.h"

/* So long is waited between two looks at most, in seconds: a handler runs well within a tenth of a second. */
#define GATHER_PY_SLICE 0.03

/* Work that can be interrupted. */
typedef struct gather_py_interruption {
  gather_py_handle *handle; /* NULL = the work uses no table of Python's */
  PyThreadState *state;     /* of the thread that works, which has no GIL */
  pthread_t thread;
  int64_t next;     /* when handlers are to be run, in nanoseconds */
  bool interrupted; /* a handler raised */
} gather_py_interruption;

/* Before the GIL is released; *options then lead to the interruption, whose state is to be set. In threads other than the main one, in
 * which Python runs no handlers, nothing is done. */
void gather_py_interruption_init(gather_py_interruption *interruption, gather_py_handle *handle,
                                 gather_table_take_options *options);
/* The same for other work: returns whether gather_py_is_interrupted is to be its `stop`, with the interruption as context. */
bool gather_py_interruption_begin(gather_py_interruption *interruption, gather_py_handle *handle);
bool gather_py_is_interrupted(void *interruption);

/* Waits for a job's end and runs handlers meanwhile: -1 where one of them raised. */
int gather_py_await_job(gather_py_job *job);
/* The same for all jobs of a table that is about to be closed. */
int gather_py_await_jobs(gather_py_handle *handle);

#endif
