/* SPDX-License-Identifier: MIT
 *
 * time_windows.c: clocks, and waiting.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <windows.h>

#include "core/system/windows/windows_error.h"

enum { PER_SECOND = 1000000000 };

static struct timespec of_hundreds(unsigned long long hundreds) {
  return (struct timespec){.tv_sec = (time_t)(hundreds / 10000000), .tv_nsec = (long)(hundreds % 10000000 * 100)};
}

static unsigned long long hundreds_of(FILETIME time) {
  return (unsigned long long)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

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
