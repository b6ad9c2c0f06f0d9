/* SPDX-License-Identifier: MIT
 *
 * signals_windows.c: Ctrl-C, Ctrl-Break and the closing of the window, which Windows reports on a thread of its own; and files that can
 * no longer be read while they are mapped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <windows.h>

#include "json.h"
#include "show.h"
#include "signals.h"

enum { INTERRUPTED = 128 + 2, TERMINATED = 128 + 15 };

static char temporary[4096];
static volatile LONG has_temporary;
static char note[16384];
static volatile LONG note_bytes;

/* The message for a mapped file that was truncated, or whose disk failed during a read. */
static char lost_answer[512];
static size_t lost_bytes;
static int lost_descriptor = STDERR_FILENO;

/* Held while a temporary file is made and registered: the program does not end meanwhile. */
static SRWLOCK holding = SRWLOCK_INIT;

static void remove_temporary(void) {
  if (has_temporary) (void)unlink(temporary);
}

void gather_cli_signals_put_note(void) {
  ssize_t written = note_bytes > 0 ? write(STDERR_FILENO, note, (size_t)note_bytes) : 0;
  (void)written;
}

static BOOL WINAPI on_end(DWORD event) {
  AcquireSRWLockExclusive(&holding);
  remove_temporary();
  gather_cli_signals_put_note();
  (void)TerminateProcess(GetCurrentProcess(), event == CTRL_C_EVENT ? INTERRUPTED : TERMINATED);
  return TRUE;
}

static LONG WINAPI on_lost(EXCEPTION_POINTERS *exception) {
  static volatile LONG answered;
  if (exception->ExceptionRecord->ExceptionCode != (DWORD)EXCEPTION_IN_PAGE_ERROR) return EXCEPTION_CONTINUE_SEARCH;
  /* Several threads may fail at once; the first one reports and ends the program. */
  while (InterlockedExchange(&answered, 1)) Sleep(INFINITE);
  remove_temporary();
  ssize_t written = write(lost_descriptor, lost_answer, lost_bytes);
  (void)written;
  gather_cli_signals_put_note();
  (void)TerminateProcess(GetCurrentProcess(), (UINT)gather_status_exit_code(GATHER_IO_ERROR));
  return EXCEPTION_EXECUTE_HANDLER;
}

static void prepare_lost_answer(const gather_cli_args *args) {
  static const char MESSAGE[] = "a file was truncated, or could not be read, while in use";
  if (!args->value[GATHER_CLI_JSON]) {
    lost_bytes = (size_t)snprintf(lost_answer, sizeof lost_answer, "gather: error: %s\n", MESSAGE);
    return;
  }
  lost_descriptor = gather_cli_json_stream(args) == stdout ? STDOUT_FILENO : STDERR_FILENO;
  lost_bytes = (size_t)snprintf(lost_answer, sizeof lost_answer,
                                "{\"command\":\"%s\",\"error\":{\"status\":\"%s\",\"code\":%d,\"message\":\"%s\"}}\n",
                                args->command ? args->command->name : "", gather_status_name(GATHER_IO_ERROR),
                                (int)GATHER_IO_ERROR, MESSAGE);
}

void gather_cli_signals_start(const gather_cli_args *args) {
  prepare_lost_answer(args);
  (void)SetConsoleCtrlHandler(on_end, TRUE);
  (void)SetUnhandledExceptionFilter(on_lost);
}

void gather_cli_signals_hold(void) { AcquireSRWLockExclusive(&holding); }
void gather_cli_signals_release(void) { ReleaseSRWLockExclusive(&holding); }

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
  note_bytes = (LONG)strlen(text);
}

/* A write of no bytes tells, too. */
bool gather_cli_signals_pipe_broken(void) {
  HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD written;
  if (GetFileType(out) != FILE_TYPE_PIPE || WriteFile(out, "", 0, &written, NULL)) return false;
  return GetLastError() == ERROR_NO_DATA || GetLastError() == ERROR_BROKEN_PIPE;
}

/* Descriptors of Windows are not numbers of files: none is taken by another file. */
void gather_cli_signals_fill_descriptors(void) {}
