/* SPDX-License-Identifier: MIT
 *
 * signals_windows.c: Ctrl-C, Ctrl-Break and the closing of the window, which Windows reports on a thread of its own; and files that can
 * no longer be read while they are mapped.
 */
#include <windows.h>

#include "ending.h"
#include "signals.h"

enum { INTERRUPTED = 128 + 2, TERMINATED = 128 + 15 };

/* Held while a temporary file is made and registered: the program does not end meanwhile. */
static SRWLOCK holding = SRWLOCK_INIT;

static BOOL WINAPI on_end(DWORD event) {
  AcquireSRWLockExclusive(&holding);
  gather_cli_ending_tidy();
  (void)TerminateProcess(GetCurrentProcess(), event == CTRL_C_EVENT ? INTERRUPTED : TERMINATED);
  return TRUE;
}

static LONG WINAPI on_lost(EXCEPTION_POINTERS *exception) {
  static volatile LONG answered;
  if (exception->ExceptionRecord->ExceptionCode != (DWORD)EXCEPTION_IN_PAGE_ERROR) return EXCEPTION_CONTINUE_SEARCH;
  /* Several threads may fail at once; the first one reports and ends the program. */
  while (InterlockedExchange(&answered, 1)) Sleep(INFINITE);
  (void)TerminateProcess(GetCurrentProcess(), (UINT)gather_cli_ending_lost());
  return EXCEPTION_EXECUTE_HANDLER;
}

void gather_cli_signals_start(const gather_cli_args *args) {
  gather_cli_ending_prepare(args);
  (void)SetConsoleCtrlHandler(on_end, TRUE);
  (void)SetUnhandledExceptionFilter(on_lost);
}

void gather_cli_signals_hold(void) { AcquireSRWLockExclusive(&holding); }
void gather_cli_signals_release(void) { ReleaseSRWLockExclusive(&holding); }

/* A write of no bytes tells, too. */
bool gather_cli_signals_pipe_broken(void) {
  HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD written;
  if (GetFileType(out) != FILE_TYPE_PIPE || WriteFile(out, "", 0, &written, NULL)) return false;
  return GetLastError() == ERROR_NO_DATA || GetLastError() == ERROR_BROKEN_PIPE;
}

/* Descriptors of Windows are not numbers of files: none is taken by another file. */
void gather_cli_signals_fill_descriptors(void) {}
