/* SPDX-License-Identifier: MIT
 *
 * texts_windows.c: functions of POSIX on texts, streams by names in UTF-8, and the environment.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <windows.h>

#include "core/system/windows/wide_path.h"
#include "core/system/windows/windows_error.h"

static int folded(char byte) { return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : (unsigned char)byte; }

int strncasecmp(const char *a, const char *b, size_t most) {
  for (; most > 0; a++, b++, most--) {
    if (folded(*a) != folded(*b)) return folded(*a) - folded(*b);
    if (!*a) return 0;
  }
  return 0;
}

int strcasecmp(const char *a, const char *b) { return strncasecmp(a, b, SIZE_MAX); }

char *strndup(const char *text, size_t most) {
  const size_t bytes = strnlen(text, most);
  char *copy = malloc(bytes + 1);
  if (copy) memcpy(copy, text, bytes), copy[bytes] = '\0';
  return copy;
}

char *strdup(const char *text) { return strndup(text, strlen(text)); }

FILE *gather_posix_fopen(const char *path, const char *mode) {
  wchar_t wide_mode[8];
  wchar_t *wide = gather_wide_path(path);
  size_t n = 0;
  if (!wide) return NULL;
  for (; mode[n] && n + 2 < sizeof wide_mode / sizeof *wide_mode; n++) wide_mode[n] = (wchar_t)mode[n];
  if (!strchr(mode, 'b')) wide_mode[n++] = L'b'; /* the ends of lines stay */
  wide_mode[n] = L'\0';
  FILE *file = _wfopen(wide, wide_mode);
  free(wide);
  return file;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  (void)alignment;
  *memory = malloc(bytes);
  return *memory ? 0 : ENOMEM;
}

int poll(struct pollfd *files, unsigned long count, int timeout) {
  (void)timeout;
  for (unsigned long i = 0; i < count; i++) files[i].revents = files[i].events;
  return (int)count;
}
