/* SPDX-License-Identifier: MIT
 *
 * threads_windows.c: threads, by the locks and condition variables of Windows, so that the library needs no library of POSIX threads; and
 * clocks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <windows.h>

#include "core/system/windows/windows_internal.h"

/* ---- threads */

typedef struct begun {
  void *(*run)(void *argument);
  void *argument;
} begun;

static DWORD WINAPI begin(LPVOID given) {
  const begun what = *(begun *)given;
  free(given);
  (void)what.run(what.argument);
  return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *argument), void *argument) {
  begun *what = malloc(sizeof *what);
  if (!what) return EAGAIN;
  *what = (begun){run, argument};
  const size_t stack = attributes ? attributes->stack_bytes : 0;
  *thread = CreateThread(NULL, stack, begin, what, stack ? STACK_SIZE_PARAM_IS_A_RESERVATION : 0, NULL);
  if (*thread) return 0;
  free(what);
  return EAGAIN;
}

int pthread_join(pthread_t thread, void **result) {
  if (result) *result = NULL;
  if (WaitForSingleObject(thread, INFINITE) != WAIT_OBJECT_0) return EINVAL;
  (void)CloseHandle(thread);
  return 0;
}

int pthread_attr_init(pthread_attr_t *attributes) { return attributes->stack_bytes = 0, 0; }

int pthread_attr_destroy(pthread_attr_t *attributes) { return (void)attributes, 0; }

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes) { return attributes->stack_bytes = bytes, 0; }

/* ---- locks */

static SRWLOCK *lock_of(pthread_mutex_t *mutex) { return (SRWLOCK *)&mutex->lock; }

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  (void)attributes;
  InitializeSRWLock(lock_of(mutex));
  return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex) { return (void)mutex, 0; }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  AcquireSRWLockExclusive(lock_of(mutex));
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  ReleaseSRWLockExclusive(lock_of(mutex));
  return 0;
}

/* ---- conditions */

static CONDITION_VARIABLE *waiting_of(pthread_cond_t *condition) { return (CONDITION_VARIABLE *)&condition->waiting; }

int pthread_condattr_init(pthread_condattr_t *attributes) { return attributes->clock = CLOCK_REALTIME, 0; }

int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) { return attributes->clock = clock, 0; }

int pthread_condattr_destroy(pthread_condattr_t *attributes) { return (void)attributes, 0; }

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
  InitializeConditionVariable(waiting_of(condition));
  condition->clock = attributes ? attributes->clock : CLOCK_REALTIME;
  return 0;
}

int pthread_cond_destroy(pthread_cond_t *condition) { return (void)condition, 0; }

int pthread_cond_signal(pthread_cond_t *condition) {
  WakeConditionVariable(waiting_of(condition));
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
  WakeAllConditionVariable(waiting_of(condition));
  return 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  return SleepConditionVariableSRW(waiting_of(condition), lock_of(mutex), INFINITE, 0) ? 0 : EINVAL;
}

/* Whole milliseconds until then, rounded up. */
static DWORD until(const struct timespec *end, clockid_t clock) {
  enum { LONGEST = 1 << 30 };
  struct timespec now;
  (void)clock_gettime(clock, &now);
  const long long left = ((long long)end->tv_sec - now.tv_sec) * 1000000000 + (end->tv_nsec - now.tv_nsec);
  const long long milliseconds = left <= 0 ? 0 : (left + 999999) / 1000000;
  return milliseconds > LONGEST ? LONGEST : (DWORD)milliseconds;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end) {
  const DWORD milliseconds = until(end, condition->clock);
  if (SleepConditionVariableSRW(waiting_of(condition), lock_of(mutex), milliseconds, 0)) return 0;
  return GetLastError() == ERROR_TIMEOUT ? ETIMEDOUT : EINVAL;
}

/* ---- once, and a value for each thread */

static BOOL CALLBACK run_once(PINIT_ONCE once, PVOID run, PVOID *context) {
  (void)once, (void)context;
  void (*function)(void);
  *(PVOID *)(void *)&function = run;
  function();
  return TRUE;
}

int pthread_once(pthread_once_t *once, void (*run)(void)) {
  PVOID function;
  *(void (**)(void))(void *)&function = run;
  return InitOnceExecuteOnce((PINIT_ONCE)(void *)&once->state, run_once, function, NULL) ? 0 : EINVAL;
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *value)) {
  (void)destroy; /* nothing here keeps what would have to be freed */
  *key = TlsAlloc();
  return *key == TLS_OUT_OF_INDEXES ? EAGAIN : 0;
}

int pthread_setspecific(pthread_key_t key, const void *value) { return TlsSetValue(key, (LPVOID)(uintptr_t)value) ? 0 : ENOMEM; }

void *pthread_getspecific(pthread_key_t key) { return TlsGetValue(key); }

/* ---- what Windows does not have: signals for threads, and fork() */

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
  (void)how, (void)set;
  if (before) *before = 0;
  return 0;
}

int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
  (void)before, (void)parent, (void)child;
  return 0;
}

/* ---- clocks, and waiting */

enum { PER_SECOND = 1000000000 };

static struct timespec of_hundreds(unsigned long long hundreds) {
  return (struct timespec){.tv_sec = (time_t)(hundreds / 10000000), .tv_nsec = (long)(hundreds % 10000000 * 100)};
}

static unsigned long long hundreds_of(FILETIME time) { return (unsigned long long)time.dwHighDateTime << 32 | time.dwLowDateTime; }

static struct timespec monotonic(void) {
  LARGE_INTEGER ticks, frequency;
  (void)QueryPerformanceFrequency(&frequency);
  (void)QueryPerformanceCounter(&ticks);
  const long long seconds = ticks.QuadPart / frequency.QuadPart, rest = ticks.QuadPart % frequency.QuadPart;
  return (struct timespec){.tv_sec = seconds, .tv_nsec = (long)(rest * PER_SECOND / frequency.QuadPart)};
}

static struct timespec since_1970(void) {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  return of_hundreds(hundreds_of(now) - 116444736000000000u);
}

static struct timespec used_by(clockid_t which) {
  FILETIME created, ended, kernel = {0}, user = {0};
  if (which == CLOCK_THREAD_CPUTIME_ID)
    (void)GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user);
  else
    (void)GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
  return of_hundreds(hundreds_of(kernel) + hundreds_of(user));
}

int clock_gettime(clockid_t which, struct timespec *now) {
  *now = which == CLOCK_MONOTONIC ? monotonic() : which == CLOCK_REALTIME ? since_1970() : used_by(which);
  return 0;
}

/* Whole milliseconds, rounded up: Windows waits no shorter. */
int nanosleep(const struct timespec *time, struct timespec *left) {
  if (time->tv_nsec < 0 || time->tv_nsec >= PER_SECOND || time->tv_sec < 0) return gather_windows_fail_as(EINVAL);
  if (left) *left = (struct timespec){0};
  Sleep((DWORD)(time->tv_sec * 1000 + (time->tv_nsec + 999999) / 1000000));
  return 0;
}

unsigned sleep(unsigned seconds) {
  Sleep(seconds * 1000);
  return 0;
}

int usleep(unsigned microseconds) {
  Sleep((microseconds + 999) / 1000);
  return 0;
}
