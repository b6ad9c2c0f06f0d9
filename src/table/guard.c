/* SPDX-License-Identifier: MIT
 *
 * guard.c: the SIGBUS handler. It jumps out of a guarded copy whose thread touched a mapping of its table, and passes
 * every other signal to the previous handler or to the default action.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include "table/guard.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* The variable is read in a signal handler, which must not allocate thread-local storage. */
#if defined(__GNUC__) && defined(__ELF__)
#define GUARD_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define GUARD_THREAD _Thread_local
#endif

typedef struct guard {
  sigjmp_buf jump;
  const gather_table_source *sources;
  int32_t count;
  int32_t source;
  int64_t offset;
} guard;

static GUARD_THREAD guard *volatile active;
static GUARD_THREAD volatile sig_atomic_t handing_on;
static struct sigaction before;
static _Atomic int64_t installing; /* the process that installs; a child of fork() does not wait for its parent */

static bool find_source(guard *g, const char *address) {
  for (int32_t i = 0; i < g->count; i++) {
    const gather_table_source *source = &g->sources[i];
    if (!source->map || address < source->map || address - source->map >= source->size) continue;
    g->source = i;
    g->offset = address - source->map;
    return true;
  }
  return false;
}

/* The default action: an access is retried and fails again, a sent signal is sent again. */
static void give_up(bool sent) {
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  (void)sigaction(SIGBUS, &plain, NULL);
  if (sent) (void)raise(SIGBUS);
}

static void hand_on(int number, siginfo_t *info, void *context) {
  bool has_function = (before.sa_flags & SA_SIGINFO) != 0, sent = info->si_code <= 0;
  if (!has_function && before.sa_handler == SIG_IGN && sent) return;
  /* Handlers that pass signals to each other would loop forever. */
  if (handing_on || (!has_function && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))) {
    give_up(sent);
    return;
  }
  handing_on = 1;
  if (has_function)
    before.sa_sigaction(number, info, context);
  else
    before.sa_handler(number);
  handing_on = 0;
}

static void on_bus(int number, siginfo_t *info, void *context) {
  guard *g = active;
  /* si_code above 0: the kernel sends it for an access, not another process. */
  if (g && info->si_code > 0 && find_source(g, info->si_addr)) siglongjmp(g->jump, 1);
  hand_on(number, info, context);
}

static void lock_installing(void) {
  const int64_t here = (int64_t)getpid();
  int64_t holder = 0;
  while (!atomic_compare_exchange_strong(&installing, &holder, here)) {
    if (holder == here) {
      (void)sched_yield();
      holder = 0;
    } /* else set by the parent before fork(): take it over */
  }
}

gather_status gather_guard_install(gather_error *error) {
  struct sigaction now, ours;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = on_bus;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER |
                  SA_ONSTACK; /* not deferred: the handler is left by siglongjmp, which unblocks nothing */
  (void)sigemptyset(&ours.sa_mask);
  lock_installing();
  bool good = sigaction(SIGBUS, NULL, &now) == 0;
  if (good && !((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus)) {
    before = now;
    good = sigaction(SIGBUS, &ours, NULL) == 0;
  }
  atomic_store(&installing, 0);
  return good ? GATHER_OK : gather_fail(error, GATHER_IO_ERROR, "cannot install a handler for SIGBUS");
}

/* A blocked SIGBUS would kill the process. */
static bool unblock(sigset_t *before_it) {
  sigset_t bus;
  (void)sigemptyset(&bus);
  (void)sigaddset(&bus, SIGBUS);
  return pthread_sigmask(SIG_UNBLOCK, &bus, before_it) == 0 && sigismember(before_it, SIGBUS) == 1;
}

static bool run(guard *g, void (*body)(void *argument), void *argument) {
  if (sigsetjmp(g->jump, 0) != 0) return false;
  active = g;
  body(argument);
  return true;
}

bool gather_guard_run(const gather_table_source *sources, int32_t count, void (*body)(void *argument), void *argument,
                      int32_t *source, int64_t *offset) {
  guard g;
  guard *outer = active;
  sigset_t mask;
  bool blocked = unblock(&mask);
  g.sources = sources, g.count = count;
  bool good = run(&g, body, argument);
  active = outer;
  if (blocked || !good) (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (!good) *source = g.source, *offset = g.offset;
  return good;
}
