/* SPDX-License-Identifier: MIT
 *
 * py_table.h: the types Table and TableJob, over the library's tables in files. libgather/table.py makes the public class of Table.
 * The library's calls run without the GIL; a table's handle counts its calls and lists its jobs, under our own lock.
 */
#ifndef GATHER_PY_TABLE_H
#define GATHER_PY_TABLE_H

#include "py_core.h"
/* Python.h must be first. */
#include "gather/table.h"
#include "py_system.h"

/* The layout of raw bytes, with its shape. */
typedef struct gather_py_raw {
  gather_raw raw;
  int64_t shape[GATHER_MAX_RANK];
} gather_py_raw;

/* table_open.c: reads it; -1 with an exception. type and shape (a tuple of int) belong to the caller. */
int gather_py_read_raw(const char *type, PyObject *shape, int64_t offset, bool as_is, gather_py_raw *raw);
/* The texts of a tuple of bytes, which their objects own; PyMem_Free frees the array. NULL with an exception. */
const char **gather_py_read_paths(PyObject *paths);
/* py_shuffle.c: _shuffle(). */
PyObject *gather_py_shuffle(PyObject *self, PyObject *args);

/* Adds the types to the module. */
int gather_py_table_init(PyObject *module);

/* ---- handles (py_table_handle.c): call these without the GIL ---- */

typedef enum gather_py_job_state {
  GATHER_PY_JOB_NONE = 0, /* never submitted */
  GATHER_PY_JOB_RUNNING,
  GATHER_PY_JOB_AWAITED, /* one thread waits in the library */
  GATHER_PY_JOB_ENDED,
  GATHER_PY_JOB_LOST /* it runs in the parent process, from before a fork */
} gather_py_job_state;

/* A job of the library. It is in its handle's list until it has ended. */
typedef struct gather_py_job {
  gather_table_job *job;
  gather_py_job_state state;
  bool seen_done;
  int asking;           /* threads that poll the library */
  gather_status status; /* how it ended */
  gather_error error;
  struct gather_py_job *next, **link;
} gather_py_job;

/* An open table. */
typedef struct gather_py_handle {
  gather_table *table; /* NULL once it is closed */
  bool closing;        /* no call may start */
  bool refusing;       /* the same: closing is about to start */
  bool handling;       /* the thread below runs signal handlers within a call */
  gather_py_thread handler;
  int64_t calls; /* in progress */
  gather_py_job *jobs;
  struct gather_py_handle *next, **link;
} gather_py_handle;

int gather_py_handle_init(void);
/* Takes ownership of an open table. */
void gather_py_handle_open(gather_py_handle *handle, gather_table *table);
/* The table for a call, which must then leave it; NULL if it is closed. */
gather_table *gather_py_handle_enter(gather_py_handle *handle);
void gather_py_handle_leave(gather_py_handle *handle);
/* Waits for all calls and jobs, and closes the table. May be called again. */
void gather_py_handle_close(gather_py_handle *handle);
bool gather_py_handle_is_closed(const gather_py_handle *handle);
/* Lets no further call start. Then waits for running jobs, at most so many seconds: true if none is left. */
bool gather_py_handle_await(gather_py_handle *handle, double seconds);
/* Cancels all jobs. */
void gather_py_handle_cancel(gather_py_handle *handle);
/* Sets whether this thread runs signal handlers within a call. */
void gather_py_handle_handling(gather_py_handle *handle, bool handling);
/* Whether it does: then it must not wait for the table, whose call waits for this thread. */
bool gather_py_handle_is_handling(const gather_py_handle *handle);
/* Within a call: hands a submitted job over to the handle. */
void gather_py_job_begin(gather_py_handle *handle, gather_py_job *job, gather_table_job *submitted);
/* Waits until it has ended, or is lost. */
gather_py_job_state gather_py_job_finish(gather_py_job *job);
bool gather_py_job_is_done(gather_py_job *job);
/* Waits at most so many seconds: returns whether it has ended, or is lost. */
bool gather_py_job_await(gather_py_job *job, double seconds);
/* Cancels it. */
void gather_py_job_cancel(gather_py_job *job);

/* ---- the type Table (py_table.c) ---- */

typedef struct gather_py_table {
  PyObject ob_base;
  gather_py_handle handle;
  /* Its properties, valid after closing too. */
  gather_tensor tensor;
  int64_t rows, row_bytes, shape[GATHER_MAX_RANK];
  bool packed;          /* elements of less than a byte: rows are copied as bytes */
  PyObject *like;       /* an array without elements, of the table's dtype */
  PyObject *bytes_like; /* of uint8, if it is packed; else NULL */
  PyObject *format, *name, *type;
  PyObject *codec; /* of decoded rows; else None */
} gather_py_table;

extern PyType_Spec gather_py_job_spec;

/* Table(paths, engine, memory, cache, depth, buffered, keep_signals, raw type, raw shape, raw offset, dtype, raw as is,
 * links, decode_as, codec), no keywords. */
PyObject *gather_py_table_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
/* A text of the library as a str; invalid UTF-8 is replaced, NULL is "". */
PyObject *gather_py_table_text(const char *text);
/* Raises the error of a closed table; returns NULL. */
PyObject *gather_py_table_closed(void);
/* In a signal handler that interrupts a call of the table: raises an error and returns -1; else 0. */
int gather_py_table_may_wait(const gather_py_table *table);

/* ---- one take (py_table_take.c) ---- */

/* A take with its tensors, whose views point into it: it must not be moved. Starts as all zero. */
typedef struct gather_py_rows {
  gather_py_call call;
  gather_py_view indices, out, fill;
  PyObject *fill_owner;
  int32_t lead;         /* dimensions of the result that come from the indices */
  int32_t selected;     /* dimensions of the table that an index selects on: 1, or the numbers of a tuple */
  gather_tensor target; /* what the library writes: out, with the table's type */
  int64_t shape[GATHER_MAX_RANK];
  gather_table_take_options options;
} gather_py_rows;

/* Reads arguments and tensors, and makes the output if none is given. Clear it in every case. */
int gather_py_rows_read(const gather_py_function *function, gather_py_table *table, PyObject *const *args, Py_ssize_t count,
                        PyObject *names, gather_py_rows *rows);
void gather_py_rows_clear(gather_py_rows *rows);
/* The caller's object after a successful take. */
PyObject *gather_py_rows_result(const gather_py_table *table, gather_py_rows *rows);

extern const gather_py_function gather_py_table_submits;
/* The same with the first byte of each row that is wanted, and how many. */
PyObject *gather_py_table_take_part(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *gather_py_table_take(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_table_gather_nd(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *gather_py_table_subscript(PyObject *self, PyObject *key);

/* ---- jobs (py_table_job.c) ---- */

PyObject *gather_py_table_submit(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
