/* SPDX-License-Identifier: MIT
 *
 * signals.c: signal handlers. They call only functions that POSIX allows there; ending.c has what they print.
 */
#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "ending.h"

static volatile sig_atomic_t pipe_broken;

static void on_end(int number) {
  gather_cli_ending_tidy();
  _exit(128 + number);
}

static void on_bus(int number) {
  static atomic_flag answered = ATOMIC_FLAG_INIT;
  (void)number;
  /* Several threads may fault at once; the first one reports and ends the program. */
  while (atomic_flag_test_and_set(&answered)) pause();
  _exit(gather_cli_ending_lost());
}

static void on_pipe(int number) {
  (void)number;
  pipe_broken = 1;
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

/* nohup and background jobs of shells ignore signals on purpose. */
static void handle_unless_ignored(int number) {
  struct sigaction now;
  if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN) handle(number, on_end);
}

void gather_cli_signals_start(const gather_cli_args *args) {
  gather_cli_ending_prepare(args);
  handle_unless_ignored(SIGINT);
  handle_unless_ignored(SIGTERM);
  handle_unless_ignored(SIGHUP);
  handle(SIGBUS, on_bus);
  handle(SIGXFSZ, SIG_IGN); /* a file beyond the user's size limit is then a write error */
  handle(SIGPIPE, on_pipe); /* a handler, not SIG_IGN: it distinguishes a closed pipe from a full disk */
}

static void mask(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigprocmask(how, &set, NULL);
}

void gather_cli_signals_hold(void) { mask(SIG_BLOCK); }
void gather_cli_signals_release(void) { mask(SIG_UNBLOCK); }

bool gather_cli_signals_pipe_broken(void) { return pipe_broken; }

void gather_cli_signals_fill_descriptors(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    /* The wrong direction: reading or writing there fails, as it would on a closed one. open() gives the lowest number.
     */
    int got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (got != fd && got >= 0) close(got);
  }
}
