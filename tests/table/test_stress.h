/* SPDX-License-Identifier: MIT
 *
 * test_stress.h: what the stress tests share: a time limit, an end instead of a hang, and what sanitizers must let happen.
 */
#ifndef GATHER_TESTS_TABLE_TEST_STRESS_H
#define GATHER_TESTS_TABLE_TEST_STRESS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "table/test_engines.h"

/* A sanitizer's allocator has locks that it does not take at a fork: a child of a program whose threads allocate may wait for one for
 * ever, whatever the library does. */
#if defined GATHER_TEST_TSAN || defined GATHER_TEST_ASAN
#define STRESS_NO_FORK 1
#endif

/* TSan ends the children of programs with threads when they make threads of their own, unless it is told not to; ASan takes SIGBUS
 * for itself. */
const char *__tsan_default_options(void);
const char *__asan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
const char *__asan_default_options(void) { return "handle_sigbus=0:allow_user_segv_handler=1"; }

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What GATHER_STRESS_SECONDS says, or a share of it: all tests of a program together take about that long. */
static inline double stress_seconds(double share) {
  const char *text = getenv("GATHER_STRESS_SECONDS");
  return (text && *text ? strtod(text, NULL) : 2) * share;
}

/* A process that hangs ends by SIGALRM, which is a failure. */
static inline void no_hang(double seconds) { alarm((unsigned)seconds + 60); }

/* The first thing that a child does: a failed assertion ends it instead of going on with the parent's tests, no signal is cmocka's, and
 * it does not hang. */
static inline void become_child(unsigned seconds) {
  setenv("CMOCKA_TEST_ABORT", "1", 1);
  signal(SIGBUS, SIG_DFL);
  alarm(seconds);
}

/* Waits for a child; 0 = it said that all was well. Else its exit code, or 1000 + the signal that ended it. */
static inline int end_of(pid_t child) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child) return -1;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
