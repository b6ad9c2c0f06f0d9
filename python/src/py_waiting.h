/* SPDX-License-Identifier: MIT
 *
 * py_waiting.h: opening files of servers, which may be silent for a minute, while Python's signal handlers run.
 */
#ifndef GATHER_PY_WAITING_H
#define GATHER_PY_WAITING_H

#include "py_core.h"
/* Python.h must be first. */
#include "py_system.h"

/* Work that waits for a server. It begins a struct of malloc() that has its arguments and results. */
typedef struct gather_py_waiting {
  void (*work)(struct gather_py_waiting *self);    /* without the GIL */
  void (*discard)(struct gather_py_waiting *self); /* what was made: nobody wants it any more; without the GIL */
  PyObject *keeps;                                 /* objects that the arguments belong to */
  gather_status status;                            /* for `work` to set */
  gather_error error;
  gather_py_lock lock;
  gather_py_condition changed;
  bool done, abandoned;
} gather_py_waiting;

/* Does the work and runs signal handlers meanwhile; not in threads other than the main one, and not where `alone` is false, where it is
 * the caller that works. keeps: gets one more reference. Returns 0 when the work is done; gather_py_waiting_free then frees self. Returns
 * -1 with an exception if a handler raised: then self is no longer the caller's, and what the work makes will be discarded. */
int gather_py_wait(gather_py_waiting *self, PyObject *keeps, bool alone);
void gather_py_waiting_free(gather_py_waiting *self);

#endif
