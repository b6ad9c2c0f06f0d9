/* SPDX-License-Identifier: MIT
 *
 * py_system.h: what the extension asks of the operating system itself: locks, threads, forks, a clock. py_system.c has it for POSIX,
 * windows/py_system_windows.c for Windows; the build takes one of them.
 */
#ifndef GATHER_PY_SYSTEM_H
#define GATHER_PY_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef _WIN32
/* A slim lock and a condition variable are one pointer each, of which all zero is the beginning; windows.h is not needed to say so. */
typedef struct gather_py_lock {
  void *word;
} gather_py_lock;
typedef struct gather_py_condition {
  void *word;
} gather_py_condition;
typedef unsigned long gather_py_thread;
#define GATHER_PY_LOCK_INIT \
  { 0 }
#define GATHER_PY_CONDITION_INIT \
  { 0 }
#else
#include <pthread.h>
typedef pthread_mutex_t gather_py_lock;
typedef pthread_cond_t gather_py_condition;
typedef pthread_t gather_py_thread;
#define GATHER_PY_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define GATHER_PY_CONDITION_INIT PTHREAD_COND_INITIALIZER
#endif

void gather_py_lock_init(gather_py_lock *lock);
void gather_py_lock_free(gather_py_lock *lock);
void gather_py_lock_take(gather_py_lock *lock);
void gather_py_lock_leave(gather_py_lock *lock);

void gather_py_condition_init(gather_py_condition *condition);
void gather_py_condition_free(gather_py_condition *condition);
/* Wakes all threads that wait for it. */
void gather_py_condition_tell(gather_py_condition *condition);
/* Waits with the lock left, and takes it again; like every condition it may also wake for no reason. */
void gather_py_condition_wait(gather_py_condition *condition, gather_py_lock *lock);
/* The same, for at most so many seconds (less than one). */
void gather_py_condition_wait_for(gather_py_condition *condition, gather_py_lock *lock, double seconds);

gather_py_thread gather_py_thread_self(void);
bool gather_py_thread_is_self(gather_py_thread thread);
/* Whether Python runs signal handlers in this thread; true where the system does not tell. */
bool gather_py_thread_is_main(void);
/* Starts a thread that nobody waits for, and on which the program's signals do not run. */
bool gather_py_thread_start(void (*run)(void *argument), void *argument);

/* Calls these around every fork of the process; nothing where there are no forks. Returns whether that was possible. */
bool gather_py_on_fork(void (*before)(void), void (*after)(void), void (*after_in_child)(void));

/* Nanoseconds of a clock that nobody sets. */
int64_t gather_py_now(void);

#endif
