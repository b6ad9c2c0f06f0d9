/* SPDX-License-Identifier: MIT
 *
 * windows_tests.c: what tests call besides the library's functions of POSIX, on Windows.
 */
#include "support/windows_tests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include "core/system/windows/windows_internal.h"

static void number_name(char *path, unsigned number) {
  (void)snprintf(path + strlen(path) - 6, 7, "%06u", ((unsigned)getpid() * 1000 + number) % 1000000);
}

char *mkdtemp(char *path) {
  for (unsigned i = 0; i < 1000; i++) {
    number_name(path, i);
    if (mkdir(path, 0700) == 0) return path;
    if (errno != EEXIST) return NULL;
  }
  return NULL;
}

int gather_test_mkstemp(char *path) {
  int fd = -1;
  for (unsigned i = 0; i < 1000 && fd < 0; i++) {
    number_name(path, i);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
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
