/* SPDX-License-Identifier: MIT
 *
 * py_system_windows.c: py_system.h for Windows.
 */
#include "py_system.h"

#include <process.h>
#include <stdlib.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* ---- locks */

static PSRWLOCK slim(gather_py_lock *lock) { return (PSRWLOCK)&lock->word; }
static PCONDITION_VARIABLE variable(gather_py_condition *condition) { return (PCONDITION_VARIABLE)&condition->word; }

void gather_py_lock_init(gather_py_lock *lock) { InitializeSRWLock(slim(lock)); }
void gather_py_lock_free(gather_py_lock *lock) { (void)lock; }
void gather_py_lock_take(gather_py_lock *lock) { AcquireSRWLockExclusive(slim(lock)); }
void gather_py_lock_leave(gather_py_lock *lock) { ReleaseSRWLockExclusive(slim(lock)); }

void gather_py_condition_init(gather_py_condition *condition) { InitializeConditionVariable(variable(condition)); }
void gather_py_condition_free(gather_py_condition *condition) { (void)condition; }
void gather_py_condition_tell(gather_py_condition *condition) { WakeAllConditionVariable(variable(condition)); }

void gather_py_condition_wait(gather_py_condition *condition, gather_py_lock *lock) {
  (void)SleepConditionVariableSRW(variable(condition), slim(lock), INFINITE, 0);
}

void gather_py_condition_wait_for(gather_py_condition *condition, gather_py_lock *lock, double seconds) {
  (void)SleepConditionVariableSRW(variable(condition), slim(lock), (DWORD)(seconds * 1e3), 0);
}

/* ---- threads */

gather_py_thread gather_py_thread_self(void) { return GetCurrentThreadId(); }
bool gather_py_thread_is_self(gather_py_thread thread) { return thread == GetCurrentThreadId(); }
/* Python itself asks again before it runs a handler. */
bool gather_py_thread_is_main(void) { return true; }

typedef struct first_call {
  void (*run)(void *argument);
  void *argument;
} first_call;

static unsigned __stdcall begin(void *object) {
  const first_call given = *(first_call *)object;
  free(object);
  given.run(given.argument);
  return 0;
}

bool gather_py_thread_start(void (*run)(void *argument), void *argument) {
  first_call *given = malloc(sizeof *given);
  if (!given) return false;
  *given = (first_call){run, argument};
  const uintptr_t thread = _beginthreadex(NULL, 0, begin, given, 0, NULL);
  if (thread == 0) {
    free(given);
    return false;
  }
  (void)CloseHandle((HANDLE)thread);
  return true;
}

/* Windows has no forks. */
bool gather_py_on_fork(void (*before)(void), void (*after)(void), void (*after_in_child)(void)) {
  (void)before, (void)after, (void)after_in_child;
  return true;
}

/* ---- the clock */

int64_t gather_py_now(void) {
  LARGE_INTEGER rate, now;
  (void)QueryPerformanceFrequency(&rate);
  (void)QueryPerformanceCounter(&now);
  const int64_t seconds = now.QuadPart / rate.QuadPart, rest = now.QuadPart % rate.QuadPart;
  return seconds * 1000000000 + rest * 1000000000 / rate.QuadPart;
}
