/* SPDX-License-Identifier: MIT
 *
 * terminal_windows.c: what the console can show. Since Windows 10 it understands escape sequences, once it is asked to.
 */
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "terminal.h"

enum { DEFAULT_WIDTH = 80, MOST_WIDTH = 10000 };

static HANDLE handle_of(int fd) { return (HANDLE)_get_osfhandle(fd); }

/* TERM is not set in a console; programs that play terminals set it. */
bool gather_cli_terminal_escapes(int fd) {
  const char *term = getenv("TERM");
  DWORD mode;
  if (term && strcmp(term, "dumb") == 0) return false;
  if (!GetConsoleMode(handle_of(fd), &mode)) return false;
  return SetConsoleMode(handle_of(fd), mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

/* The program sets the code page of the console; files and pipes take any bytes. */
bool gather_cli_terminal_utf8(void) {
  const UINT page = GetConsoleOutputCP();
  return page == 0 || page == CP_UTF8;
}

int gather_cli_terminal_width(int fd) {
  const char *columns = getenv("COLUMNS");
  CONSOLE_SCREEN_BUFFER_INFO about;
  char *end;
  long width = columns ? strtol(columns, &end, 10) : 0;
  if (columns && (*end || width > MOST_WIDTH)) width = 0;
  if (width <= 0 && GetConsoleScreenBufferInfo(handle_of(fd), &about)) width = about.srWindow.Right - about.srWindow.Left + 1;
  return width > 0 ? (int)width : DEFAULT_WIDTH;
}
