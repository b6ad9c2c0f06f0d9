/* SPDX-License-Identifier: MIT
 *
 * ending.c: the temporary file, the note and the message that handlers need, in static memory.
 */
#include "ending.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "show.h"
#include "signals.h"
#include "system.h"
#include "terminal.h"

static char temporary[4096];
static volatile sig_atomic_t has_temporary;
static char note[16384];
static volatile sig_atomic_t note_bytes;

static char lost_answer[512];
static size_t lost_bytes;
static int lost_descriptor = STDERR_FILENO;

static void remove_temporary(void) {
  if (has_temporary) (void)unlink(temporary);
}

void gather_cli_signals_put_note(void) {
  ssize_t written = note_bytes > 0 ? write(STDERR_FILENO, note, (size_t)note_bytes) : 0;
  (void)written;
}

void gather_cli_ending_tidy(void) {
  remove_temporary();
  if (gather_cli_progress_is_shown() && write(STDERR_FILENO, "\n", 1) < 0) return; /* the shell's prompt begins a line */
  gather_cli_signals_put_note();
}

int gather_cli_ending_lost(void) {
  remove_temporary();
  ssize_t written = write(lost_descriptor, lost_answer, lost_bytes);
  (void)written;
  gather_cli_signals_put_note();
  return gather_cli_exit_code(GATHER_IO_ERROR);
}

void gather_cli_ending_prepare(const gather_cli_args *args) {
  static const char MESSAGE[] = "a file was truncated, or could not be read, while in use";
  if (!args->value[GATHER_CLI_JSON]) {
    lost_bytes = (size_t)snprintf(lost_answer, sizeof lost_answer, "gather: error: %s\n", MESSAGE);
    return;
  }
  lost_descriptor = gather_cli_json_stream(args) == stdout ? STDOUT_FILENO : STDERR_FILENO;
  lost_bytes = (size_t)snprintf(
      lost_answer, sizeof lost_answer, "{\"command\":\"%s\",\"error\":{\"status\":\"%s\",\"code\":%d,\"message\":\"%s\"}}\n",
      args->command ? args->command->name : "", gather_status_name(GATHER_IO_ERROR), (int)GATHER_IO_ERROR, MESSAGE);
}

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
