/* SPDX-License-Identifier: MIT
 *
 * begin_windows.c: Windows has the command line as UTF-16; what main() gets lacks the characters that the user's code page lacks.
 */
#include "begin.h"

#include <io.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include <shellapi.h>

static UINT code_page_before;

static void restore_code_page(void) { (void)SetConsoleOutputCP(code_page_before); }

/* A console shows bytes by a code page, which outlives the program. */
static void show_utf8(void) {
  code_page_before = GetConsoleOutputCP();
  if (code_page_before != 0 && SetConsoleOutputCP(CP_UTF8)) (void)atexit(restore_code_page);
}

/* Nothing turns the ends of lines. */
static void pass_bytes(void) {
  enum { BINARY = 0x8000 };
  (void)_setmode(0, BINARY);
  (void)_setmode(1, BINARY);
  (void)_setmode(2, BINARY);
}

static char *narrow(const wchar_t *wide) {
  const int room = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char *text = room > 0 ? malloc((size_t)room) : NULL;
  if (text) (void)WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, room, NULL, NULL);
  return text;
}

/* The arguments stay for as long as the program runs. Without memory for them, those that main() got are used. */
static void take_arguments(int *argc, char ***argv) {
  int count = 0;
  wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
  char **texts = wide ? calloc((size_t)count + 1, sizeof *texts) : NULL;
  bool good = texts != NULL;
  for (int i = 0; good && i < count; i++) good = (texts[i] = narrow(wide[i])) != NULL;
  (void)LocalFree((HLOCAL)wide);
  if (good) *argc = count, *argv = texts;
}

void gather_cli_begin(int *argc, char ***argv) {
  pass_bytes();
  show_utf8();
  take_arguments(argc, argv);
}
