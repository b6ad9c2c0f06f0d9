/* SPDX-License-Identifier: MIT
 *
 * windows_tests.c: what tests call besides the library's functions of POSIX, on Windows.
 */
#include "support/windows_tests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include "base/windows/wide_path.h"

char *mkdtemp(char *path) {
  char *end = path + strlen(path) - 6;
  for (unsigned i = 0; i < 1000; i++) {
    (void)snprintf(end, 7, "%06u", ((unsigned)getpid() * 1000 + i) % 1000000);
    if (mkdir(path, 0700) == 0) return path;
    if (errno != EEXIST) return NULL;
  }
  return NULL;
}

int chdir(const char *path) {
  wchar_t *wide = gather_wide_path(path);
  const int result = wide && SetCurrentDirectoryW(wide) ? 0 : -1;
  free(wide);
  return result;
}

unsigned alarm(unsigned seconds) {
  (void)seconds;
  return 0;
}
