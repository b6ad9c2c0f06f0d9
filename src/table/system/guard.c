/* SPDX-License-Identifier: MIT
 *
 * guard.c: the SIGBUS handler. It jumps out of a guarded copy whose thread touched a mapping of its table, and passes
 * every other signal to the previous handler or to the default action.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include "table/system/table_system.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"

typedef struct guard {
  sigjmp_buf jump;
  const gather_table_source *sources;
  int32_t count;
  int32_t source;
  int64_t offset;
} guard;

/* The guard that each thread is in. Thread-local variables would need either static TLS, of which a process has little
 * for libraries that it loads later, or an allocation when the handler runs on a thread that has no guard. Reading a key
 * allocates nothing. */
static pthread_key_t active;
static pthread_once_t active_once = PTHREAD_ONCE_INIT;
static int active_error;
/* The threads whose signal is with the handler before ours. Threads that find no room are not noted. */
enum { HANDING_ON = 16 };
static _Atomic uintptr_t handing_on[HANDING_ON];
static struct sigaction before;
static _Atomic int64_t installing; /* the process that installs; a child of fork() does not wait for its parent */

/* The default action: an access is retried and fails again, a sent signal is sent again. */
static void give_up(bool sent) {
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  (void)sigaction(SIGBUS, &plain, NULL);
  if (sent) (void)raise(SIGBUS);
}

static uintptr_t this_thread(void) { return (uintptr_t)pthread_self(); }

static bool is_handing_on(void) {
  for (int i = 0; i < HANDING_ON; i++)
    if (atomic_load(&handing_on[i]) == this_thread()) return true;
  return false;
}

/* The place where this thread was noted, or NULL. */
static _Atomic uintptr_t *note_handing_on(void) {
  for (int i = 0; i < HANDING_ON; i++) {
    uintptr_t nobody = 0;
    if (atomic_compare_exchange_strong(&handing_on[i], &nobody, this_thread())) return &handing_on[i];
  }
  return NULL;
}

static void hand_on(int number, siginfo_t *info, void *context) {
  bool has_function = (before.sa_flags & SA_SIGINFO) != 0, sent = info->si_code <= 0;
  if (!has_function && before.sa_handler == SIG_IGN && sent) return;
  /* Handlers that pass signals to each other would loop forever. */
  if (is_handing_on() || (!has_function && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))) {
    give_up(sent);
    return;
  }
  _Atomic uintptr_t *noted = note_handing_on();
  if (has_function)
    before.sa_sigaction(number, info, context);
  else
    before.sa_handler(number);
  if (noted) atomic_store(noted, 0);
}

static void on_bus(int number, siginfo_t *info, void *context) {
  guard *g = pthread_getspecific(active);
  /* si_code above 0: the kernel sends it for an access, not another process. */
  if (g && info->si_code > 0 && gather_guard_find(g->sources, g->count, info->si_addr, &g->source, &g->offset)) siglongjmp(g->jump, 1);
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

static void make_active(void) { active_error = pthread_key_create(&active, NULL); }
static bool has_active(void) { return pthread_once(&active_once, make_active) == 0 && active_error == 0; }

gather_status gather_guard_install(gather_error *error) {
  if (!has_active()) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no key for a thread's data is left in this process");
  struct sigaction now, ours;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = on_bus;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK; /* not deferred: the handler is left by siglongjmp, which unblocks nothing */
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
  body(argument);
  return true;
}

bool gather_guard_run(const gather_table_source *sources, int32_t count, void (*body)(void *argument), void *argument, int32_t *source,
                      int64_t *offset) {
  guard g;
  sigset_t mask;
  g.sources = sources, g.count = count;
  guard *outer = has_active() ? pthread_getspecific(active) : NULL;
  if (active_error != 0 || pthread_setspecific(active, &g) != 0) {
    *source = -1;
    return false;
  }
  bool blocked = unblock(&mask);
  bool good = run(&g, body, argument);
  (void)pthread_setspecific(active, outer); /* it has room since the first call */
  if (blocked || !good) (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (!good) *source = g.source, *offset = g.offset;
  return good;
}
