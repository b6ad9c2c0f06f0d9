/* SPDX-License-Identifier: MIT
 *
 * signals.c: signal handlers. They call only functions that POSIX allows there: everything they print is prepared
 * before.
 */
#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "show.h"

static char temporary[4096];
static volatile sig_atomic_t has_temporary;
static char note[16384];
static volatile sig_atomic_t note_bytes;
static volatile sig_atomic_t pipe_broken;

/* The message for SIGBUS: a mapped file was truncated, or the disk failed during a read. */
static char bus_answer[512];
static size_t bus_bytes;
static int bus_descriptor = STDERR_FILENO;

static void remove_temporary(void) {
  if (has_temporary) unlink(temporary);
}

void gather_cli_signals_put_note(void) {
  ssize_t written = note_bytes > 0 ? write(STDERR_FILENO, note, (size_t)note_bytes) : 0;
  (void)written;
}

static void on_end(int number) {
  remove_temporary();
  gather_cli_signals_put_note();
  _exit(128 + number);
}

static void on_bus(int number) {
  static atomic_flag answered = ATOMIC_FLAG_INIT;
  (void)number;
  /* Several threads may fault at once; the first one reports and ends the program. */
  while (atomic_flag_test_and_set(&answered)) pause();
  remove_temporary();
  ssize_t written = write(bus_descriptor, bus_answer, bus_bytes);
  (void)written;
  gather_cli_signals_put_note();
  _exit(gather_status_exit_code(GATHER_IO_ERROR));
}

static void on_pipe(int number) {
  (void)number;
  pipe_broken = 1;
}

static void prepare_bus_answer(const gather_cli_args *args) {
  static const char MESSAGE[] = "a file was truncated, or could not be read, while in use";
  if (!args->value[GATHER_CLI_JSON]) {
    bus_bytes = (size_t)snprintf(bus_answer, sizeof bus_answer, "gather: error: %s\n", MESSAGE);
    return;
  }
  bus_descriptor = gather_cli_json_stream(args) == stdout ? STDOUT_FILENO : STDERR_FILENO;
  bus_bytes = (size_t)snprintf(bus_answer, sizeof bus_answer,
                               "{\"command\":\"%s\",\"error\":{\"status\":\"%s\",\"code\":%d,\"message\":\"%s\"}}\n",
                               args->command ? args->command->name : "", gather_status_name(GATHER_IO_ERROR),
                               (int)GATHER_IO_ERROR, MESSAGE);
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
  prepare_bus_answer(args);
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

void gather_cli_signals_temporary(const char *path) {
  has_temporary = 0;
  if (!path || !*path || strlen(path) >= sizeof temporary) return;
  memcpy(temporary, path, strlen(path) + 1);
  has_temporary = 1;
}

void gather_cli_signals_note(const char *text) {
  note_bytes = 0;
  if (!text || strlen(text) > sizeof note) return;
  memcpy(note, text, strlen(text));
  note_bytes = (sig_atomic_t)strlen(text);
}

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
